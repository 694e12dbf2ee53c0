/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators on row-major f32 that oneDNN lacks, or whose broadcasting it lacks: rows
 * along the last dimensions, each by a loop that the compiler vectorises. */
#include "kernels.h"
#include "../onednn/cpudnn.h"

#include <math.h>
#include <string.h>

/* Rows of this many elements are worth a thread. */
#define PARALLEL 16384

typedef void (*UnaryFunc) (gfloat *restrict y, const gfloat *restrict x, gint64 n);

/* exp (x) for x <= 0: powers of two, and the series of the rest, |r| <= ln 2 / 2. */
static inline gfloat
exp_of_negative (gfloat x)
{
  gfloat least = x > -87 ? x : -87; /* not fmaxf: it keeps loops from being vectorised */
  gfloat k = rintf (least * 1.44269504f), r = least - k * 0.693359375f, power;
  guint32 bits = (guint32)((gint32)k + 127) << 23;
  r += k * 2.12194440e-4f; /* ln 2 in two parts (Cody and Waite 1980) */
  memcpy (&power, &bits, sizeof power);
  return power *
         (1 +
          r * (1 + r * (1.0f / 2 + r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r / 720))))));
}

/* Abramowitz and Stegun 7.1.26 (error below 1.5e-7), near 0 the series 7.1.5. */
static inline gfloat
erf_of (gfloat x)
{
  gfloat a = fabsf (x), s = x * x, t = 1 / (1 + 0.3275911f * a);
  gfloat far =
      1 - t *
              (0.254829592f +
               t * (-0.284496736f + t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f)))) *
              exp_of_negative (-s);
  gfloat near =
      1.12837917f * x *
      (1 - s * (1.0f / 3 - s * (1.0f / 10 - s * (1.0f / 42 - s * (1.0f / 216 - s / 1320)))));
  return a < 0.5f ? near : copysignf (far, x);
}

#define UNARY(name, expr)                                                                          \
  CPU_CLONES static void name (gfloat *restrict y, const gfloat *restrict x, gint64 n)             \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++) {                                                               \
      gfloat v = x[i];                                                                             \
      y[i] = expr;                                                                                 \
    }                                                                                              \
  }
UNARY (unary_ceil, ceilf (v))
UNARY (unary_cos, cosf (v))
UNARY (unary_floor, floorf (v))
UNARY (unary_gelu, 0.5f * v * (1 + erf_of (v * 0.70710678f)))
UNARY (unary_neg, -v)
UNARY (unary_reciprocal, 1 / v)
UNARY (unary_round, rintf (v))
UNARY (unary_sign, (gfloat)((v > 0) - (v < 0)))
UNARY (unary_sin, sinf (v))
UNARY (unary_softsign, v / (1 + fabsf (v)))
UNARY (unary_square, v *v)
UNARY (unary_root, sqrtf (v))
UNARY (unary_erf, erf_of (v))
#undef UNARY

static const struct {
  const gchar *name;
  UnaryFunc func;
} unaries[] = {
  { "Ceil", unary_ceil },         { "Cos", unary_cos },   { "Erf", unary_erf },
  { "Floor", unary_floor },       { "Neg", unary_neg },   { "Reciprocal", unary_reciprocal },
  { "Round", unary_round },       { "Sign", unary_sign }, { "Sin", unary_sin },
  { "Softsign", unary_softsign },
};

typedef struct {
  UnaryFunc func;
  gint64 n;
} UnaryPlan;

static void
run_unary (const CpuStep *step, const CpuInstance *instance)
{
  const UnaryPlan *p = step->data;
  gfloat *y = cpu_tensor_data (instance, step->out[0]);
  const gfloat *x = cpu_tensor_data (instance, step->in[0]);
  gint64 chunks = (p->n + PARALLEL - 1) / PARALLEL;
#pragma omp parallel for if (chunks > 1)
  for (gint64 c = 0; c < chunks; c++)
    p->func (y + c * PARALLEL, x + c * PARALLEL, MIN (PARALLEL, p->n - c * PARALLEL));
}

static gboolean
add_unary (CpuPlan *plan, const AxonNode *node, UnaryFunc func)
{
  UnaryPlan p = { func, axon_shape_get_numel (&node->inputs[0]->type.shape) };
  CpuMd *md;
  CpuTensor *src, *dst;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  src = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_md_free (md);
  cpu_plan_add_step (plan, run_unary, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

gboolean
cpu_build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  guint i = 0;
  while (!axon_node_is (node, unaries[i].name))
    i++;
  return add_unary (plan, node, unaries[i].func);
}

/* By erf, where oneDNN's is not right for infinity; by tanh it is. */
gboolean
cpu_build_gelu (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  return g_str_equal (axon_node_get_string (node, "approximate"), "none") &&
         add_unary (plan, node, unary_gelu);
}

/* Pow by 2 or by a half. */
gboolean
cpu_build_square (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gdouble exponent;
  return axon_match_scalar (node->inputs[1], &exponent) && (exponent == 2 || exponent == 0.5) &&
         node->inputs[1]->type.shape.rank <= node->inputs[0]->type.shape.rank &&
         add_unary (plan, node, exponent == 2 ? unary_square : unary_root);
}

/* A row of @n with steps 0 or 1 through a and b. */
typedef void (*RowFunc) (gpointer y, gconstpointer a, gconstpointer b, gint64 n, gint64 sa,
                         gint64 sb);

#define ROW(name, in_type, out_type, expr)                                                         \
  CPU_CLONES static void name (gpointer y_, gconstpointer a_, gconstpointer b_, gint64 n,          \
                               gint64 sa, gint64 sb)                                               \
  {                                                                                                \
    out_type *restrict y = y_;                                                                     \
    const in_type *restrict pa = a_, *restrict pb = b_;                                            \
    if (sa && sb)                                                                                  \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = pa[i], b = pb[i];                                                              \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
    else if (sa)                                                                                   \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = pa[i], b = *pb;                                                                \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++) {                                                             \
        in_type a = *pa, b = pb[i * sb];                                                           \
        y[i] = (out_type)(expr);                                                                   \
      }                                                                                            \
  }
ROW (row_add, gfloat, gfloat, a + b)
ROW (row_sub, gfloat, gfloat, a - b)
ROW (row_mul, gfloat, gfloat, a *b)
ROW (row_div, gfloat, gfloat, a / b)
ROW (row_max, gfloat, gfloat, a > b || a != a ? a : b)
ROW (row_min, gfloat, gfloat, a < b || a != a ? a : b)
ROW (row_pow, gfloat, gfloat, powf (a, b))
ROW (row_equal, gfloat, guint8, a == b)
ROW (row_greater, gfloat, guint8, a > b)
ROW (row_greater_equal, gfloat, guint8, a >= b)
ROW (row_less, gfloat, guint8, a < b)
ROW (row_less_equal, gfloat, guint8, a <= b)
ROW (row_and, guint8, guint8, a &b)
ROW (row_or, guint8, guint8, a | b)
#undef ROW

static const struct {
  const gchar *name;
  RowFunc func;
  AxonDType in;
} pairs[] = {
  { "Add", row_add, AXON_DTYPE_F32 },
  { "Sub", row_sub, AXON_DTYPE_F32 },
  { "Mul", row_mul, AXON_DTYPE_F32 },
  { "Div", row_div, AXON_DTYPE_F32 },
  { "Max", row_max, AXON_DTYPE_F32 },
  { "Min", row_min, AXON_DTYPE_F32 },
  { "Pow", row_pow, AXON_DTYPE_F32 },
  { "Equal", row_equal, AXON_DTYPE_F32 },
  { "Greater", row_greater, AXON_DTYPE_F32 },
  { "GreaterOrEqual", row_greater_equal, AXON_DTYPE_F32 },
  { "Less", row_less, AXON_DTYPE_F32 },
  { "LessOrEqual", row_less_equal, AXON_DTYPE_F32 },
  { "And", row_and, AXON_DTYPE_BOOL },
  { "Or", row_or, AXON_DTYPE_BOOL },
};

#define MAX_OPERANDS 3

/* Strides in elements of up to three operands over the output, dimensions merged where all operands
 * allow; the last one is the row. */
typedef struct {
  gint rank;
  gint64 dims[AXON_MAX_RANK], strides[MAX_OPERANDS][AXON_MAX_RANK];
  gint64 rows;
  RowFunc func;
  gsize size[MAX_OPERANDS], out_size;
  guint n;
} BroadcastPlan;

static void
set_strides (BroadcastPlan *p, guint operand, const AxonShape *s, const AxonShape *y)
{
  gint64 step = 1;
  for (gint d = y->rank - 1; d >= 0; d--) {
    gint64 n = d < y->rank - s->rank ? 1 : s->dims[d - (y->rank - s->rank)];
    p->strides[operand][d] = n == 1 ? 0 : step;
    step *= n;
  }
}

/* Dimension d - 1 steps over all of dimension d, in every operand. */
static gboolean
can_merge (const BroadcastPlan *p, gint d)
{
  for (guint k = 0; k < p->n; k++)
    if (p->strides[k][d - 1] != p->strides[k][d] * p->dims[d])
      return FALSE;
  return TRUE;
}

static void
plan_broadcast (BroadcastPlan *p, const AxonNode *node)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  *p = (BroadcastPlan){ .n = node->n_inputs, .rows = 1 };
  p->out_size = axon_dtype_get_size (node->outputs[0]->type.dtype);
  for (guint k = 0; k < p->n; k++) {
    set_strides (p, k, &node->inputs[k]->type.shape, y);
    p->size[k] = axon_dtype_get_size (node->inputs[k]->type.dtype);
  }
  for (gint d = 0; d < y->rank; d++) {
    if (y->dims[d] == 1)
      continue;
    p->dims[p->rank] = y->dims[d];
    for (guint k = 0; k < p->n; k++)
      p->strides[k][p->rank] = p->strides[k][d];
    p->rank++;
    if (p->rank > 1 && can_merge (p, p->rank - 1)) {
      p->rank--;
      p->dims[p->rank - 1] *= p->dims[p->rank];
      for (guint k = 0; k < p->n; k++)
        p->strides[k][p->rank - 1] = p->strides[k][p->rank];
    }
  }
  if (p->rank == 0)
    p->dims[p->rank++] = 1;
  for (gint d = 0; d + 1 < p->rank; d++)
    p->rows *= p->dims[d];
}

/* Where the row begins in operand @k, in elements. */
static gint64
row_offset (const BroadcastPlan *p, guint k, gint64 row)
{
  gint64 at = 0;
  for (gint d = p->rank - 2; d >= 0; d--) {
    at += row % p->dims[d] * p->strides[k][d];
    row /= p->dims[d];
  }
  return at;
}

static void
run_pair (const CpuStep *step, const CpuInstance *instance)
{
  const BroadcastPlan *p = step->data;
  guint8 *y = cpu_tensor_data (instance, step->out[0]);
  const guint8 *a = cpu_tensor_data (instance, step->in[0]);
  const guint8 *b = cpu_tensor_data (instance, step->in[1]);
  gint64 n = p->dims[p->rank - 1], chunk = MAX (PARALLEL, 1), chunks = (n + chunk - 1) / chunk;
  gint64 sa = p->strides[0][p->rank - 1], sb = p->strides[1][p->rank - 1];
#pragma omp parallel for collapse(2) if (p->rows * n > PARALLEL)
  for (gint64 r = 0; r < p->rows; r++)
    for (gint64 c = 0; c < chunks; c++) {
      gint64 first = c * chunk;
      p->func (y + (gsize)(r * n + first) * p->out_size,
               a + (gsize)(row_offset (p, 0, r) + first * sa) * p->size[0],
               b + (gsize)(row_offset (p, 1, r) + first * sb) * p->size[1], MIN (chunk, n - first),
               sa, sb);
    }
}

static gboolean
add_broadcast (CpuPlan *plan, const AxonNode *node, const BroadcastPlan *p, CpuStepFunc run)
{
  CpuTensor *in[MAX_OPERANDS], *dst;
  for (guint k = 0; k < p->n; k++)
    in[k] = cpu_plan_input_as (plan, node, k, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run, g_memdup2 (p, sizeof *p), g_free, "own", in, p->n, &dst, 1);
  return TRUE;
}

gboolean
cpu_build_pair (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  BroadcastPlan p;
  guint i = 0;
  while (i < G_N_ELEMENTS (pairs) && !axon_node_is (node, pairs[i].name))
    i++;
  if (i == G_N_ELEMENTS (pairs) || node->n_inputs != 2 ||
      node->inputs[0]->type.dtype != pairs[i].in || node->inputs[1]->type.dtype != pairs[i].in)
    return FALSE;
  plan_broadcast (&p, node);
  p.func = pairs[i].func;
  return add_broadcast (plan, node, &p, run_pair);
}

CPU_CLONES static void
choose (guint32 *restrict y, const guint8 *restrict c, const guint32 *restrict a,
        const guint32 *restrict b, gint64 n, gint64 sc, gint64 sa, gint64 sb)
{
  /* Both are loaded, then one is taken: no branch in the loop. */
#define CHOOSE(at_a, at_b)                                                                         \
  for (gint64 i = 0; i < n; i++) {                                                                 \
    guint32 v = a[at_a], w = b[at_b];                                                              \
    y[i] = c[i] ? v : w;                                                                           \
  }
  if (sc && sa && sb)
    CHOOSE (i, i)
  else if (sc && sa)
    CHOOSE (i, 0)
  else if (sc && sb)
    CHOOSE (0, i)
  else
    for (gint64 i = 0; i < n; i++)
      y[i] = c[i * sc] ? a[i * sa] : b[i * sb];
#undef CHOOSE
}

static void
run_where (const CpuStep *step, const CpuInstance *instance)
{
  const BroadcastPlan *p = step->data;
  guint32 *y = cpu_tensor_data (instance, step->out[0]);
  const guint8 *c = cpu_tensor_data (instance, step->in[0]);
  const guint32 *a = cpu_tensor_data (instance, step->in[1]);
  const guint32 *b = cpu_tensor_data (instance, step->in[2]);
  gint last = p->rank - 1;
  gint64 n = p->dims[last];
#pragma omp parallel for if (p->rows > 1 && p->rows * n > PARALLEL)
  for (gint64 r = 0; r < p->rows; r++)
    choose (y + r * n, c + row_offset (p, 0, r), a + row_offset (p, 1, r), b + row_offset (p, 2, r),
            n, p->strides[0][last], p->strides[1][last], p->strides[2][last]);
}

/* Elements of four bytes, whatever they mean. */
gboolean
cpu_build_where (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  BroadcastPlan p;
  if (axon_dtype_get_size (node->outputs[0]->type.dtype) != 4)
    return FALSE;
  plan_broadcast (&p, node);
  return add_broadcast (plan, node, &p, run_where);
}
