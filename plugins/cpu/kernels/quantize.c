/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, in whatever order memory lies, with
 * one scale or one for each place along an axis. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>

void
cpu_byte_range (const AxonNode *node, gfloat *lo, gfloat *hi)
{
  gboolean is_signed = node->outputs[0]->type.dtype == AXON_DTYPE_I8;
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  *lo = is_signed ? -128 : 0;
  *hi = is_signed ? 127 : 255;
  if (clip != NULL) {
    *lo = MAX (*lo, (gfloat)clip[0]);
    *hi = MIN (*hi, (gfloat)clip[1]);
  }
}

/* Operands of rows: the result, the source, the scales. */
enum { Y, X, SCALE, N_OPERANDS };

typedef struct {
  CpuRows rows;
  const CpuQuantize *kernels;
  CpuQuantType from;
  gfloat lo, hi;
  guint n;         /* scales, then as many zero points */
  gfloat values[]; /* 2 * n */
} Plan;

/* While a step runs. */
typedef struct {
  const Plan *plan;
  gpointer y;
  gconstpointer x;
} Run;

static CpuQuantScale
scale_at (const Plan *p, const gint64 *at, const gint64 *step)
{
  return (CpuQuantScale){ p->values + at[SCALE], p->values + p->n + at[SCALE], step[SCALE] };
}

static void
quantize_row (gpointer user, const gint64 *at, const gint64 *step, gint64 n)
{
  const Run *r = user;
  r->plan->kernels->quantize ((guint8 *)r->y + at[Y], (const gfloat *)r->x + at[X], n,
                              scale_at (r->plan, at, step), r->plan->lo, r->plan->hi);
}

static void
dequantize_row (gpointer user, const gint64 *at, const gint64 *step, gint64 n)
{
  const Run *r = user;
  CpuQuantType from = r->plan->from;
  gsize size = from == CPU_QUANT_I32 ? sizeof (gint32) : 1;
  r->plan->kernels->dequantize[from]((gfloat *)r->y + at[Y],
                                     (const guint8 *)r->x + (gsize)at[X] * size, n,
                                     scale_at (r->plan, at, step));
}

static void
run_rows (const CpuStep *step, const CpuInstance *instance, CpuRowFunc func)
{
  const Plan *p = step->data;
  Run run = { p, cpu_tensor_data (instance, step->out[0]),
              cpu_tensor_data (instance, step->in[0]) };
  cpu_rows_run (&p->rows, func, &run);
}

static void
run_quantize (const CpuStep *step, const CpuInstance *instance)
{
  run_rows (step, instance, quantize_row);
}

static void
run_dequantize (const CpuStep *step, const CpuInstance *instance)
{
  run_rows (step, instance, dequantize_row);
}

/* Constant scales and zero points, one or one for each place along an axis; NULL where they are
 * others, or no floats hold them. */
static Plan *
plan_new (const AxonNode *node)
{
  const AxonTensor *scale = cpu_node_constant (node, 1), *zero = cpu_node_constant (node, 2);
  guint n = scale ? (guint)axon_tensor_get_numel (scale) : 0;
  g_autofree Plan *p = g_malloc0 (sizeof *p + 2 * n * sizeof *p->values);
  if (n == 0 || axon_tensor_get_shape (scale)->rank > 1 ||
      (zero == NULL && axon_node_get_input (node, 2) != NULL))
    return NULL;
  p->kernels = cpu_isa_get ()->vector->quantize;
  p->n = n;
  for (guint i = 0; i < n; i++) {
    gdouble z = zero ? axon_tensor_get_value (zero, i) : 0;
    p->values[i] = (gfloat)axon_tensor_get_value (scale, i);
    p->values[n + i] = (gfloat)z;
    if ((gdouble)p->values[n + i] != z)
      return NULL;
  }
  return g_steal_pointer (&p);
}

static gboolean
set_rows (Plan *p, const AxonNode *node, const CpuTensor *x, const CpuTensor *y)
{
  const AxonShape *shape = &y->shape;
  gint64 strides[N_OPERANDS][AXON_MAX_RANK] = { { 0 } };
  cpu_md_get_strides (y->md, shape, strides[Y]);
  cpu_md_get_strides (x->md, shape, strides[X]);
  if (p->n > 1) {
    gint64 axis = axon_node_get_int (node, "axis");
    strides[SCALE][axis + (axis < 0 ? shape->rank : 0)] = 1;
  }
  return cpu_rows_init (&p->rows, shape, strides, N_OPERANDS);
}

static gboolean
add_step (CpuPlan *plan, const AxonNode *node, Plan *p, CpuStepFunc run)
{
  CpuTensor *x = cpu_rows_input (plan, node, 0), *y;
  g_autoptr (CpuMd) md = cpu_rows_result (x, node->outputs[0]->type.dtype, &x->shape);
  y = cpu_plan_output (plan, node, 0, md);
  if (!set_rows (p, node, x, y) || cpu_rows_are_short (&p->rows)) {
    x = cpu_rows_convert (plan, node, 0, y);
    set_rows (p, node, x, y);
  }
  cpu_plan_add_step (plan, run, p, g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

static gboolean
build_quantize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Plan *p;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
      !(AXON_DTYPE_BIT (node->outputs[0]->type.dtype) & AXON_DTYPES_BYTE) ||
      (p = plan_new (node)) == NULL)
    return FALSE;
  cpu_byte_range (node, &p->lo, &p->hi);
  return add_step (plan, node, p, run_quantize);
}

static gboolean
build_dequantize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype;
  Plan *p;
  if ((!(AXON_DTYPE_BIT (from) & AXON_DTYPES_BYTE) && from != AXON_DTYPE_I32) ||
      node->outputs[0]->type.dtype != AXON_DTYPE_F32 || (p = plan_new (node)) == NULL)
    return FALSE;
  p->from = from == AXON_DTYPE_U8   ? CPU_QUANT_U8
            : from == AXON_DTYPE_I8 ? CPU_QUANT_I8
                                    : CPU_QUANT_I32;
  return add_step (plan, node, p, run_dequantize);
}

typedef struct {
  const Plan *plan;
  const gfloat *x;
  gfloat low, high;
} Range;

static void
range_row (gpointer user, const gint64 *at, G_GNUC_UNUSED const gint64 *step, gint64 n)
{
  Range *r = user;
  r->plan->kernels->range (r->x + at[X], n, &r->low, &r->high);
}

/* Every thread has a range of its own. */
static void
range_units (gpointer data, gint64 unit)
{
  Range *own = (Range *)data + cpu_parallel_thread ();
  cpu_rows_run_unit (&own->plan->rows, unit, range_row, own);
}

/* The range, widened to hold 0. @ranges: one for each thread */
static Range
find_range (const Plan *p, const gfloat *x, Range *ranges)
{
  guint n = cpu_parallel_width ();
  Range all = { p, x, 0, 0 };
  for (guint i = 0; i < n; i++)
    ranges[i] = all;
  cpu_parallel (p->rows.units, range_units, ranges);
  for (guint i = 0; i < n; i++) {
    all.low = MIN (all.low, ranges[i].low);
    all.high = MAX (all.high, ranges[i].high);
  }
  return all;
}

#define SHORT 256 /* elements of a row that are read twice: fewer are laid out without gaps */

/* @user: the scale, the zero point */
typedef struct {
  Run run;
  gfloat scale, zero;
} Dynamic;

static void
dynamic_row (gpointer user, const gint64 *at, G_GNUC_UNUSED const gint64 *step, gint64 n)
{
  const Dynamic *d = user;
  d->run.plan->kernels->quantize ((guint8 *)d->run.y + at[Y], (const gfloat *)d->run.x + at[X], n,
                                  (CpuQuantScale){ &d->scale, &d->zero, 0 }, d->run.plan->lo,
                                  d->run.plan->hi);
}

static void
run_dynamic (const CpuStep *step, const CpuInstance *instance)
{
  const Plan *p = step->data;
  Dynamic d = { .run = { p, cpu_tensor_data (instance, step->out[0]),
                         cpu_tensor_data (instance, step->in[0]) } };
  Range range = find_range (p, d.run.x, cpu_tensor_data (instance, step->out[3]));
  gfloat scale = (range.high - range.low) / 255, zero = rintf (-range.low / scale);
  d.zero = scale > 0 && isfinite (zero) ? CLAMP (zero, 0, 255) : 0;
  d.scale = scale > 0 ? scale : 1; /* of nothing but 0 any scale makes 0 */
  cpu_rows_run (&p->rows, dynamic_row, &d);
  if (step->out[1] != NULL)
    *(gfloat *)cpu_tensor_data (instance, step->out[1]) = scale;
  if (step->out[2] != NULL)
    *(guint8 *)cpu_tensor_data (instance, step->out[2]) = (guint8)d.zero;
}

static gboolean
build_dynamic (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuTensor *x, *out[4] = { NULL };
  g_autoptr (CpuMd) md = NULL;
  Plan *p;
  if (node->outputs[0] == NULL)
    return FALSE;
  p = g_new0 (Plan, 1);
  p->kernels = cpu_isa_get ()->vector->quantize;
  cpu_byte_range (node, &p->lo, &p->hi);
  x = cpu_rows_input (plan, node, 0);
  md = cpu_rows_result (x, AXON_DTYPE_U8, &x->shape);
  for (guint i = 0; i < node->n_outputs; i++)
    out[i] = node->outputs[i] ? cpu_plan_output (plan, node, i, i == 0 ? md : NULL) : NULL;
  if (!set_rows (p, node, x, out[0]) || (p->rows.n < SHORT && p->rows.rows > 1)) {
    x = cpu_rows_convert (plan, node, 0, out[0]);
    set_rows (p, node, x, out[0]);
  }
  out[3] = cpu_plan_scratch_bytes (plan, plan->n_threads * sizeof (Range));
  cpu_plan_add_step (plan, run_dynamic, p, g_free, "own", &x, 1, out, 4);
  return TRUE;
}

const CpuKernel cpu_quantize_kernels[] = {
  { .name = "QuantizeLinear", .impl = "own", .build = build_quantize },
  { .name = "DequantizeLinear", .impl = "own", .build = build_dequantize },
  { .name = "DynamicQuantizeLinear", .impl = "own", .build = build_dynamic },
  { 0 },
};
