/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of two inputs, and Where, that broadcast as oneDNN does not: rows along the
 * last dimensions, by the loops of the level in use. */
#include "inblocks.h"
#include "kernels.h"
#include "whole.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Rows of this many elements are worth a thread. */
#define PARALLEL 16384

#define MAX_OPERANDS 3
#define UNSIGNED                                                                                   \
  (AXON_DTYPE_BIT (AXON_DTYPE_U8) | AXON_DTYPE_BIT (AXON_DTYPE_U16) |                              \
   AXON_DTYPE_BIT (AXON_DTYPE_U32) | AXON_DTYPE_BIT (AXON_DTYPE_U64))

/* Strides in elements of up to three operands over the output, dimensions merged where all operands
 * allow; the last one is the row. */
typedef struct {
  gint rank;
  gint64 dims[AXON_MAX_RANK], strides[MAX_OPERANDS][AXON_MAX_RANK];
  gint64 rows;
  CpuPairFunc pair;
  CpuChooseFunc choose;
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

/* Of one run. */
typedef struct {
  const BroadcastPlan *plan;
  guint8 *y;
  const guint8 *in[3];
} BroadcastRun;

static BroadcastRun
run_of (const CpuStep *step, const CpuInstance *instance)
{
  BroadcastRun run = { .plan = step->data, .y = cpu_tensor_data (instance, step->out[0]) };
  for (guint i = 0; i < step->n_in; i++)
    run.in[i] = cpu_tensor_data (instance, step->in[i]);
  return run;
}

/* Chunks of rows, counted through all rows. */
static void
pair_chunks (gpointer data, gint64 from, gint64 end)
{
  const BroadcastRun *run = data;
  const BroadcastPlan *p = run->plan;
  gint64 n = p->dims[p->rank - 1], chunks = (n + PARALLEL - 1) / PARALLEL;
  gint64 sa = p->strides[0][p->rank - 1], sb = p->strides[1][p->rank - 1];
  for (gint64 i = from; i < end; i++) {
    gint64 r = i / chunks, first = i % chunks * PARALLEL;
    p->pair (run->y + (gsize)(r * n + first) * p->out_size,
             run->in[0] + (gsize)(row_offset (p, 0, r) + first * sa) * p->size[0],
             run->in[1] + (gsize)(row_offset (p, 1, r) + first * sb) * p->size[1],
             MIN (PARALLEL, n - first), sa, sb);
  }
}

static void
run_pair (const CpuStep *step, const CpuInstance *instance)
{
  BroadcastRun run = run_of (step, instance);
  gint64 n = run.plan->dims[run.plan->rank - 1], chunks = (n + PARALLEL - 1) / PARALLEL;
  cpu_parallel_ranges (run.plan->rows * chunks, PARALLEL / MAX (n, 1) + 1, pair_chunks, &run);
}

/* Operands of one shape and type, none of which is broadcast, may lie in any order. */
static gboolean
is_flat (const BroadcastPlan *p, const AxonNode *node)
{
  for (guint k = 0; k < p->n; k++)
    if (node->inputs[k]->type.dtype != node->inputs[0]->type.dtype ||
        !axon_shape_equal (&node->inputs[k]->type.shape, &node->outputs[0]->type.shape))
      return FALSE;
  return axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

static gboolean
add_broadcast (CpuPlan *plan, const AxonNode *node, const BroadcastPlan *p, CpuStepFunc run)
{
  CpuTensor *in[MAX_OPERANDS], *dst;
  g_autoptr (CpuMd) md = NULL;
  gboolean flat = is_flat (p, node);
  for (guint k = 0; k < p->n; k++)
    in[k] = flat && k == 0 ? cpu_dense_input (plan, node, 0, node->outputs[0]->type.dtype, &md)
                           : cpu_plan_input_as (plan, node, k, flat ? in[0]->md : NULL);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run, g_memdup2 (p, sizeof *p), g_free, "own", in, p->n, &dst, 1);
  return TRUE;
}

static gboolean
add_pair (CpuPlan *plan, const AxonNode *node, CpuPairFunc func)
{
  BroadcastPlan p;
  if (node->n_inputs != 2)
    return FALSE;
  plan_broadcast (&p, node);
  p.pair = func;
  return add_broadcast (plan, node, &p, run_pair);
}

static gboolean
build_pair (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  guint kind = (guint)plan->row->kind;
  CpuPairFunc whole;
  if (node->n_inputs != 2)
    return FALSE;
  if (node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
      node->inputs[1]->type.dtype == AXON_DTYPE_F32) { /* Pow's may be another */
    CpuPairFunc pair = cpu_isa_get ()->vector->eltwise->pair[kind];
    return cpu_pair_in_blocks (plan, node, pair) || add_pair (plan, node, pair);
  }
  whole = cpu_whole_pair (node, kind);
  return whole != NULL && add_pair (plan, node, whole);
}

/* Of floats only that with the sign of the first. */
static gboolean
build_modulo (CpuPlan *plan, const AxonNode *node, GError **error)
{
  return (axon_node_get_int (node, "fmod") != 0 || node->inputs[0]->type.dtype != AXON_DTYPE_F32) &&
         build_pair (plan, node, error);
}

/* Of elements of 1 << i bytes; -1: they have another size, share bytes or are texts. */
static gint
word_of (const AxonValue *value)
{
  AxonDType dtype = value->type.dtype;
  gint word = g_bit_nth_lsf (axon_dtype_get_size (dtype), -1);
  gboolean plain = !axon_dtype_is_packed (dtype) && !axon_dtype_is_boxed (dtype);
  return plain && word < CPU_N_WORDS ? word : -1;
}

static gboolean
build_bits (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint word = word_of (node->inputs[0]);
  return word >= 0 &&
         add_pair (plan, node, cpu_isa_get ()->vector->eltwise->bits[plan->row->kind][word]);
}

/* Of words without a sign, which are all that ai.onnx has. */
static gboolean
build_shift (CpuPlan *plan, const AxonNode *node, GError **error)
{
  static const gchar *const directions[] = { [CPU_BITS_LEFT] = "LEFT", [CPU_BITS_RIGHT] = "RIGHT" };
  return (AXON_DTYPE_BIT (node->inputs[0]->type.dtype) & UNSIGNED) != 0 &&
         g_str_equal (axon_node_get_string (node, "direction"), directions[plan->row->kind]) &&
         build_bits (plan, node, error);
}

static void
choose_rows (gpointer data, gint64 first, gint64 end)
{
  const BroadcastRun *run = data;
  const BroadcastPlan *p = run->plan;
  const gsize size = p->out_size;
  gint last = p->rank - 1;
  gint64 n = p->dims[last];
  for (gint64 r = first; r < end; r++)
    p->choose (run->y + (gsize)(r * n) * size, run->in[0] + row_offset (p, 0, r),
               run->in[1] + (gsize)row_offset (p, 1, r) * size,
               run->in[2] + (gsize)row_offset (p, 2, r) * size, n, p->strides[0][last],
               p->strides[1][last], p->strides[2][last]);
}

static void
run_where (const CpuStep *step, const CpuInstance *instance)
{
  BroadcastRun run = run_of (step, instance);
  gint64 n = run.plan->dims[run.plan->rank - 1];
  cpu_parallel_ranges (run.plan->rows, PARALLEL / MAX (n, 1) + 1, choose_rows, &run);
}

/* Elements of 1 to 8 bytes, whatever they mean. */
static gboolean
build_where (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint word = word_of (node->outputs[0]);
  BroadcastPlan p;
  if (word < 0 || axon_shape_get_numel (&node->outputs[0]->type.shape) < 1)
    return FALSE;
  plan_broadcast (&p, node);
  p.choose = cpu_isa_get ()->vector->eltwise->choose[word];
  return add_broadcast (plan, node, &p, run_where);
}

const CpuKernel cpu_binary_kernels[] = {
  { .name = "Add", .impl = "own", .build = build_pair, .kind = CPU_PAIR_ADD },
  { .name = "Sub", .impl = "own", .build = build_pair, .kind = CPU_PAIR_SUB },
  { .name = "Mul", .impl = "own", .build = build_pair, .kind = CPU_PAIR_MUL },
  { .name = "Div", .impl = "own", .build = build_pair, .kind = CPU_PAIR_DIV },
  { .name = "Max", .impl = "own", .build = build_pair, .kind = CPU_PAIR_MAX },
  { .name = "Min", .impl = "own", .build = build_pair, .kind = CPU_PAIR_MIN },
  { .name = "Pow", .impl = "own", .build = build_pair, .kind = CPU_PAIR_POW },
  { .name = "Equal", .impl = "own", .build = build_pair, .kind = CPU_PAIR_EQUAL },
  { .name = "Greater", .impl = "own", .build = build_pair, .kind = CPU_PAIR_GREATER },
  { .name = "GreaterOrEqual", .impl = "own", .build = build_pair, .kind = CPU_PAIR_GREATER_EQUAL },
  { .name = "Less", .impl = "own", .build = build_pair, .kind = CPU_PAIR_LESS },
  { .name = "LessOrEqual", .impl = "own", .build = build_pair, .kind = CPU_PAIR_LESS_EQUAL },
  { .name = "Mod", .impl = "own", .build = build_modulo, .kind = CPU_PAIR_FMOD },
  { .name = "And", .impl = "own", .build = build_bits, .kind = CPU_BITS_AND },
  { .name = "Or", .impl = "own", .build = build_bits, .kind = CPU_BITS_OR },
  { .name = "Xor", .impl = "own", .build = build_bits, .kind = CPU_BITS_XOR },
  { .name = "BitwiseAnd", .impl = "own", .build = build_bits, .kind = CPU_BITS_AND },
  { .name = "BitwiseOr", .impl = "own", .build = build_bits, .kind = CPU_BITS_OR },
  { .name = "BitwiseXor", .impl = "own", .build = build_bits, .kind = CPU_BITS_XOR },
  { .name = "BitShift", .impl = "own", .build = build_shift, .kind = CPU_BITS_LEFT },
  { .name = "BitShift", .impl = "own", .build = build_shift, .kind = CPU_BITS_RIGHT },
  { .name = "Where", .impl = "own", .build = build_where },
  { 0 },
};
