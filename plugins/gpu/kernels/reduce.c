/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reduce*. */
#include "kernels.h"

/* Of a: what it begins as, how v is added, how two parts (a, v) join, what the result is. m is the
 * largest element where the reduction asks for it. */
typedef struct {
  const gchar *name, *init, *add, *join, *result;
  gboolean shifts;
} Reduction;

static const Reduction reductions[] = {
  { "ReduceSum", "0", "a + v", "a + v", "a", FALSE },
  { "ReduceMean", "0", "a + v", "a + v", "a / count", FALSE },
  { "ReduceMax", "LEAST", "v > a || v != v ? v : a", "v > a || v != v ? v : a", "a", FALSE },
  { "ReduceMin", "MOST", "v < a || v != v ? v : a", "v < a || v != v ? v : a", "a", FALSE },
  { "ReduceProd", "1", "a * v", "a * v", "a", FALSE },
  { "ReduceL1", "0", "a + (v < 0 ? -v : v)", "a + v", "a", FALSE },
  { "ReduceL2", "0", "a + v * v", "a + v", "sqrt((ROOT)a)", FALSE },
  { "ReduceSumSquare", "0", "a + v * v", "a + v", "a", FALSE },
  { "ReduceLogSum", "0", "a + v", "a + v", "log((ROOT)a)", FALSE },
  { "ReduceLogSumExp", "0", "a + exp((ROOT)(v - m))", NULL, "log((ROOT)a) + m", TRUE },
};

typedef struct {
  const gchar *type, *least, *most, *root;
} Accumulator;

/* The limits are what a reduction of nothing gives. */
static Accumulator
accumulator (AxonDType dtype)
{
  static const struct {
    AxonDType dtype;
    Accumulator sum;
  } rows[] = {
    { AXON_DTYPE_F64, { "double", "(-INFINITY)", "INFINITY", "double" } },
    { AXON_DTYPE_I8, { "long", "CHAR_MIN", "CHAR_MAX", "float" } },
    { AXON_DTYPE_I16, { "long", "SHRT_MIN", "SHRT_MAX", "float" } },
    { AXON_DTYPE_I32, { "long", "INT_MIN", "INT_MAX", "float" } },
    { AXON_DTYPE_I64, { "long", "LONG_MIN", "LONG_MAX", "float" } },
    { AXON_DTYPE_U8, { "ulong", "0", "UCHAR_MAX", "float" } },
    { AXON_DTYPE_U16, { "ulong", "0", "USHRT_MAX", "float" } },
    { AXON_DTYPE_U32, { "ulong", "0", "UINT_MAX", "float" } },
    { AXON_DTYPE_U64, { "ulong", "0", "ULONG_MAX", "float" } },
    { AXON_DTYPE_BOOL, { "ulong", "0", "1", "float" } },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].dtype == dtype)
      return rows[i].sum;
  return (Accumulator){ "float", "(-INFINITY)", "INFINITY", "float" };
}

static gchar *
with_limits (const gchar *text, const Accumulator *acc)
{
  GString *s = g_string_new (text);
  g_string_replace (s, "LEAST", acc->least, 0);
  g_string_replace (s, "MOST", acc->most, 0);
  g_string_replace (s, "ROOT", acc->root, 0);
  return g_string_free (s, FALSE);
}

/* Sizes and steps of the axes that are (not) reduced, neighbours as one. */
static gint
collect_axes (const AxonShape *shape, const gboolean *reduced, gboolean which, gint64 *dims,
              gint64 *strides)
{
  gint64 own[AXON_MAX_RANK];
  gint n = 0;
  gboolean last = FALSE;
  gpu_strides (shape, own);
  for (gint d = 0; d < shape->rank; d++) {
    gboolean joins = last && reduced[d] == which;
    last = reduced[d] == which;
    if (!last)
      continue;
    if (joins)
      dims[n - 1] *= shape->dims[d];
    else
      dims[n++] = shape->dims[d];
    strides[n - 1] = own[d];
  }
  return n;
}

static GpuReduceParams
reduce_params (const AxonShape *shape, const gboolean *reduced, gint64 *count)
{
  gint64 dims[AXON_MAX_RANK], strides[AXON_MAX_RANK];
  GpuReduceParams params = { .kept = 0 };
  *count = 1;
  for (gint d = 0; d < shape->rank; d++)
    *count *= reduced[d] ? shape->dims[d] : 1;
  params.count = gpu_int (*count);
  params.kept = collect_axes (shape, reduced, FALSE, dims, strides);
  gpu_ints (dims, params.kept, params.kept_size);
  gpu_ints (strides, params.kept, params.kept_step);
  params.reduced = collect_axes (shape, reduced, TRUE, dims, strides);
  gpu_ints (dims, params.reduced, params.reduced_size);
  gpu_ints (strides, params.reduced, params.reduced_step);
  return params;
}

static AxonDType
widest_float (const GpuPlan *plan)
{
  return plan->device->fp64 ? AXON_DTYPE_F64 : AXON_DTYPE_F32;
}

static const Reduction *
find_reduction (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (reductions[i].name, name))
      return &reductions[i];
  g_assert_not_reached ();
}

void
gpu_reduce (GpuPlan *plan, const gchar *reduction, const GpuTensor *x, const GpuTensor *y,
            const gboolean *reduced)
{
  const Reduction *row = find_reduction (reduction);
  gboolean exponential = row->shifts && !axon_dtype_is_float (x->dtype);
  const Accumulator acc = accumulator (exponential ? widest_float (plan) : x->dtype);
  g_autofree gchar *init = with_limits (row->init, &acc);
  g_autofree gchar *add = with_limits (row->add, &acc);
  g_autofree gchar *result = with_limits (row->result, &acc);
  g_autofree gchar *name = NULL;
  gint64 count, n = axon_shape_get_numel (&y->shape);
  const GpuReduceParams params = reduce_params (&x->shape, reduced, &count);
  gboolean group = count >= 2 * GPU_GROUP && row->join != NULL && n * GPU_GROUP < G_MAXINT32;
  g_autofree gchar *base = g_strdup_printf ("%s%s", row->name, group ? "_group" : "");
  GpuStep *step;
  name =
      gpu_kernel_for (plan, base, group ? "reducegroup" : "reduce", x->dtype, "A", acc.type, "INIT",
                      init, "ACC", add, "JOIN", row->join ? row->join : "", "FIN", result, "SHIFT",
                      row->shifts ? acc.least : "0", "FIRST", row->shifts ? "0" : "1", NULL);
  step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), group ? n * GPU_GROUP : n, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
}

static gboolean
build_reduce (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gint rank = node->inputs[0]->type.shape.rank;
  gboolean reduced[AXON_MAX_RANK] = { FALSE };
  gint64 axes[2 * AXON_MAX_RANK];
  gboolean by_attr = axon_node_has_form (node, AXON_FORM_ATTRIBUTES);
  guint n;
  if (!gpu_node_constant_ints (node, 1, by_attr ? "axes" : NULL, axes, &n)) {
    *why = g_strdup ("axes are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  if (n == 0 && axon_node_find_attr (node, "noop_with_empty_axes") != NULL &&
      axon_node_get_int (node, "noop_with_empty_axes") != 0)
    return gpu_build_view (plan, node, why);
  for (gint d = 0; d < rank; d++)
    reduced[d] = n == 0;
  for (guint i = 0; i < n; i++)
    reduced[axes[i] < 0 ? axes[i] + rank : axes[i]] = TRUE;
  gpu_reduce (plan, node->op->name, gpu_plan_input (plan, node, 0), gpu_plan_output (plan, node, 0),
              reduced);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "ReduceSum", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceMean", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceMax", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceMin", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceProd", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceL1", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceL2", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceSumSquare", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceLogSum", .impl = "reduce", .build = build_reduce },
  { .name = "ReduceLogSumExp", .impl = "reduce", .build = build_reduce },
};

GPU_DEFINE_FAMILY (reduce, rows)
