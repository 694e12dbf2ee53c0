/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* com.microsoft's QLinear operators on elements: sums and products in the arithmetic of the
 * reference kernels, functions of one byte by tables. */
#include "qlinear.h"
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define TOGETHER 2048 /* bytes */

/* Which inputs are data: from @first, every @every, before @end; the others are scalars. */
static const struct {
  const gchar *name;
  guint first, every, end;
} operators[] = {
  { "QLinearAdd", 0, 3, 6 },
  { "QLinearMul", 0, 3, 6 },
  { "QLinearSigmoid", 0, 1, 1 },
  { "QLinearLeakyRelu", 0, 1, 1 },
  { "QLinearAveragePool", 0, 1, 1 },
  { "QLinearGlobalAveragePool", 0, 1, 1 },
  { "QLinearConcat", 2, 3, G_MAXUINT },
};

static gboolean
is_plain_pool (const AxonNode *node)
{
  gint rank = node->inputs[0]->type.shape.rank;
  return strstr (node->op->name, "Pool") == NULL || (rank >= 3 && rank <= 5);
}

gboolean
cpu_has_qlinear (const AxonNode *node)
{
  AxonDType dtype = node->outputs[0] ? node->outputs[0]->type.dtype : AXON_DTYPE_UNDEFINED;
  guint k = 0;
  gdouble ignored;
  while (k < G_N_ELEMENTS (operators) &&
         !axon_node_is_in (node, AXON_DOMAIN_MICROSOFT, operators[k].name))
    k++;
  if (k == G_N_ELEMENTS (operators) || !(AXON_DTYPE_BIT (dtype) & AXON_DTYPES_BYTE))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    gboolean data = i >= operators[k].first && i < operators[k].end &&
                    (i - operators[k].first) % operators[k].every == 0;
    if (data ? node->inputs[i]->type.dtype != dtype : !axon_quant_scalar (node, i, &ignored))
      return FALSE;
  }
  return is_plain_pool (node);
}

gboolean
cpu_byte_table_init (CpuByteTable *table, const AxonNode *node, AxonTensor **in, guint n_in,
                     guint data, gint rank, gint axis)
{
  AxonShape shape = { .rank = rank };
  g_autoptr (AxonTensor) x = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (GError) error = NULL;
  AxonNode plain = *node;
  guint8 *bytes;
  for (gint d = 0; d < rank; d++)
    shape.dims[d] = d == axis ? 256 : 1;
  x = axon_tensor_new (node->outputs[0]->type.dtype, &shape, NULL);
  y = axon_tensor_new (node->outputs[0]->type.dtype, &shape, NULL);
  bytes = axon_tensor_get_data (x);
  for (guint i = 0; i < 256; i++)
    bytes[i] = (guint8)i;
  in[data] = x;
  plain.n_inputs = n_in;
  if (!node->op->eval (&plain, in, &y, &error))
    return FALSE;
  memcpy (table->to, axon_tensor_get_data (y), sizeof table->to);
  table->same = memcmp (table->to, bytes, sizeof table->to) == 0;
  return TRUE;
}

void
cpu_byte_table_rescale (CpuByteTable *table, gboolean is_signed, gfloat factor, gfloat offset)
{
  CpuRescale by = { factor, offset, is_signed ? -128 : 0, is_signed ? 127 : 255 };
  CpuRescaleFunc rescale = cpu_isa_get ()->vector->quantize->rescale[is_signed];
  guint8 bytes[256], to[256];
  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    bytes[i] = (guint8)i;
  rescale (to, bytes, G_N_ELEMENTS (bytes), &by);
  if (memcmp (to, table->to, sizeof to) != 0)
    return;
  table->by = by;
  table->rescale = rescale;
}

/* Rows of a few bytes side by side, which vectors are longer than. */
static void
rescale_rows (const CpuByteTable *table, guint8 *y, gint64 y_step, const guint8 *x, gint64 x_step,
              gint64 n, gint64 count)
{
  CpuCopyRunsFunc copy = cpu_isa_get ()->vector->move->copy_runs;
  guint8 from[TOGETHER], to[TOGETHER];
  gint64 most = TOGETHER / n;
  for (gint64 rows; count > 0; count -= rows, y += rows * y_step, x += rows * x_step) {
    rows = MIN (count, most);
    copy (from, (gsize)n, x, (gsize)x_step, (gsize)n, rows);
    table->rescale (to, from, rows * n, &table->by);
    copy (y, (gsize)y_step, to, (gsize)n, (gsize)n, rows);
  }
}

void
cpu_byte_table_rows (gpointer user, const gint64 *at, G_GNUC_UNUSED const gint64 *step, gint64 n,
                     const gint64 *next, gint64 count)
{
  const CpuByteRun *r = user;
  const CpuByteTable *table = r->table;
  guint8 *restrict y = r->y + at[0];
  const guint8 *restrict x = r->x + at[1], *restrict to = table->to;
  if (table->same)
    cpu_isa_get ()->vector->move->copy_runs (y, (gsize)next[0], x, (gsize)next[1], (gsize)n, count);
  else if (table->rescale != NULL && n * 2 <= TOGETHER)
    rescale_rows (table, y, next[0], x, next[1], n, count);
  else if (table->rescale != NULL)
    for (; count > 0; count--, y += next[0], x += next[1])
      table->rescale (y, x, n, &table->by);
  else
    for (; count > 0; count--, y += next[0], x += next[1])
      for (gint64 i = 0; i < n; i++)
        y[i] = to[x[i]];
}

typedef struct {
  CpuRows rows;
  CpuByteTable table;
} UnaryPlan;

static void
run_unary (const CpuStep *step, const CpuInstance *instance)
{
  const UnaryPlan *p = step->data;
  CpuByteRun run = { &p->table, cpu_tensor_data (instance, step->out[0]),
                     cpu_tensor_data (instance, step->in[0]) };
  cpu_rows_run_blocks (&p->rows, cpu_byte_table_rows, &run);
}

static gboolean
build_unary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  g_autofree UnaryPlan *p = g_new0 (UnaryPlan, 1);
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, node->n_inputs);
  gint64 strides[2][AXON_MAX_RANK] = { { 0 } };
  CpuTensor *x, *y;
  CpuMd *md;
  for (guint i = 1; i < node->n_inputs; i++)
    in[i] = (AxonTensor *)cpu_node_constant (node, i);
  if (!cpu_has_qlinear (node) ||
      !cpu_byte_table_init (&p->table, node, in, node->n_inputs, 0, 1, 0))
    return FALSE;
  x = cpu_dense_input (plan, node, 0, node->outputs[0]->type.dtype, &md);
  y = cpu_plan_output (plan, node, 0, md);
  cpu_md_free (md);
  for (guint k = 0; k < 2; k++)
    cpu_md_get_strides (y->md, &y->shape, strides[k]);
  cpu_rows_init (&p->rows, &y->shape, strides, 2);
  cpu_plan_add_step (plan, run_unary, g_steal_pointer (&p), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

/* Operands of rows: the result, and the two that make it. */
enum { Y, A, B, N_OPERANDS };

enum { ADD, MUL };

typedef struct {
  CpuRows rows;
  CpuQuantPairFunc func;
  CpuQuantPair pair;
} PairPlan;

typedef struct {
  const PairPlan *plan;
  guint8 *y;
  const guint8 *a, *b;
} PairRun;

static void
pair_row (gpointer user, const gint64 *at, const gint64 *step, gint64 n)
{
  const PairRun *r = user;
  r->plan->func (r->y + at[Y], r->a + at[A], r->b + at[B], n, step[A], step[B], &r->plan->pair);
}

static void
run_pair (const CpuStep *step, const CpuInstance *instance)
{
  const PairPlan *p = step->data;
  PairRun run = { p, cpu_tensor_data (instance, step->out[0]),
                  cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->in[1]) };
  cpu_rows_run (&p->rows, pair_row, &run);
}

static void
set_pair (PairPlan *p, const AxonNode *node, gint kind)
{
  const CpuQuantize *kernels = cpu_isa_get ()->vector->quantize;
  gboolean is_signed = node->outputs[0]->type.dtype == AXON_DTYPE_I8;
  gfloat *to[] = { &p->pair.a_scale, &p->pair.a_zero, &p->pair.b_scale,
                   &p->pair.b_zero,  &p->pair.scale,  &p->pair.zero };
  static const guint inputs[] = { 1, 2, 4, 5, 6, 7 };
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    gdouble v;
    axon_quant_scalar (node, inputs[i], &v);
    *to[i] = (gfloat)v;
  }
  cpu_byte_range (node, &p->pair.lo, &p->pair.hi);
  p->func = kind == ADD ? kernels->add[is_signed] : kernels->mul[is_signed];
}

/* Operands in the order of @md: those that lie otherwise are converted; FALSE if that is not
 * enough. */
static gboolean
set_pair_rows (PairPlan *p, CpuPlan *plan, const AxonNode *node, const CpuMd *md, CpuTensor **in)
{
  const AxonShape *shape = &node->outputs[0]->type.shape;
  gint64 strides[N_OPERANDS][AXON_MAX_RANK];
  cpu_md_get_strides (md, shape, strides[Y]);
  for (guint pass = 0; pass < 2; pass++) {
    for (guint k = 0; k < 2; k++) {
      gboolean convert = pass == 1 && (md == NULL || axon_shape_equal (&in[k]->shape, shape));
      in[k] = convert ? cpu_plan_input_as (plan, node, 3 * k, md) : in[k];
      cpu_rows_broadcast (in[k], shape, strides[A + k]);
    }
    if (cpu_rows_init (&p->rows, shape, strides, N_OPERANDS))
      return TRUE;
  }
  return FALSE;
}

static gboolean
build_pair (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->outputs[0]->type.shape;
  AxonDType dtype = node->outputs[0]->type.dtype;
  g_autofree PairPlan *p = g_new0 (PairPlan, 1);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2], *y;
  if (!cpu_has_qlinear (node))
    return FALSE;
  set_pair (p, node, plan->row->kind);
  for (guint k = 0; k < 2; k++) {
    in[k] = cpu_rows_input (plan, node, 3 * k);
    if (md == NULL && axon_shape_equal (&in[k]->shape, shape))
      md = cpu_rows_result (in[k], dtype, shape);
  }
  if (!set_pair_rows (p, plan, node, md, in)) { /* row-major always works */
    g_clear_pointer (&md, cpu_md_free);
    set_pair_rows (p, plan, node, md, in);
  }
  y = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_pair, g_steal_pointer (&p), g_free, "own", in, 2, &y, 1);
  return TRUE;
}

const CpuKernel cpu_qlinear_kernels[] = {
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearAdd",
    .impl = "own",
    .build = build_pair,
    .kind = ADD },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearMul",
    .impl = "own",
    .build = build_pair,
    .kind = MUL },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearSigmoid",
    .impl = "own",
    .build = build_unary },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearLeakyRelu",
    .impl = "own",
    .build = build_unary },
  { 0 },
};
