/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reductions, and what walks lines along an axis. */
#include "kernels.h"

#include <string.h>

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
static guint
collect_axes (const AxonShape *shape, const gboolean *reduced, gboolean which, gint64 *dims,
              gint64 *strides)
{
  gint64 own[AXON_MAX_RANK];
  guint n = 0;
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

static gint32
reduce_numbers (GpuPlan *plan, const AxonShape *shape, const gboolean *reduced, gint64 *count)
{
  gint64 dims[2][AXON_MAX_RANK], strides[2][AXON_MAX_RANK];
  guint n[2];
  GpuNumbers numbers = { .n = 0 };
  *count = 1;
  for (gint d = 0; d < shape->rank; d++)
    *count *= reduced[d] ? shape->dims[d] : 1;
  for (guint k = 0; k < 2; k++)
    n[k] = collect_axes (shape, reduced, k == 1, dims[k], strides[k]);
  gpu_numbers_add (&numbers, n[0]);
  gpu_numbers_add (&numbers, n[1]);
  gpu_numbers_add (&numbers, *count);
  for (guint k = 0; k < 2; k++) {
    for (guint d = 0; d < n[k]; d++)
      gpu_numbers_add (&numbers, dims[k][d]);
    for (guint d = 0; d < n[k]; d++)
      gpu_numbers_add (&numbers, strides[k][d]);
  }
  return gpu_numbers_write (&numbers, plan);
}

static AxonDType
widest_float (const GpuPlan *plan)
{
  return plan->device->fp64 ? AXON_DTYPE_F64 : AXON_DTYPE_F32;
}

static void
add_reduce (GpuPlan *plan, const Reduction *row, const GpuTensor *x, const GpuTensor *y,
            const gboolean *reduced)
{
  gboolean exponential = row->shifts && !axon_dtype_is_float (x->dtype);
  const Accumulator acc = accumulator (exponential ? widest_float (plan) : x->dtype);
  g_autofree gchar *init = with_limits (row->init, &acc);
  g_autofree gchar *add = with_limits (row->add, &acc);
  g_autofree gchar *result = with_limits (row->result, &acc);
  g_autofree gchar *name = NULL;
  gint64 count, n = axon_shape_get_numel (&y->shape);
  gint32 p = reduce_numbers (plan, &x->shape, reduced, &count);
  gboolean group = count >= 2 * GPU_GROUP && row->join != NULL && n * GPU_GROUP < G_MAXINT32;
  g_autofree gchar *base = g_strdup_printf ("%s%s", row->name, group ? "_group" : "");
  GpuStep *step;
  name =
      gpu_kernel_for (plan, base, group ? "reducegroup" : "reduce", x->dtype, "A", acc.type, "INIT",
                      init, "ACC", add, "JOIN", row->join ? row->join : "", "FIN", result, "SHIFT",
                      row->shifts ? acc.least : "0", "FIRST", row->shifts ? "0" : "1", NULL);
  step = gpu_plan_step (plan, name, p, group ? n * GPU_GROUP : n, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
}

static const Reduction *
find_reduction (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (reductions[i].name, name))
      return &reductions[i];
  return NULL;
}

gboolean
gpu_build_reduce (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const Reduction *row = find_reduction (node->op->name);
  gint rank = node->inputs[0]->type.shape.rank;
  gboolean reduced[AXON_MAX_RANK] = { FALSE };
  gint64 axes[2 * AXON_MAX_RANK];
  gboolean by_attr = axon_node_find_attr (node, "axes") != NULL;
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
  add_reduce (plan, row, gpu_plan_input (plan, node, 0), gpu_plan_output (plan, node, 0), reduced);
  return TRUE;
}

gboolean
gpu_build_global_pool (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  static const gchar *const names[][2] = { { "GlobalAveragePool", "ReduceMean" },
                                           { "GlobalMaxPool", "ReduceMax" },
                                           { "GlobalLpPool", "ReduceL2" } };
  const Reduction *row = NULL;
  gint rank = node->inputs[0]->type.shape.rank;
  gboolean reduced[AXON_MAX_RANK] = { FALSE };
  for (gint d = 2; d < rank; d++)
    reduced[d] = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (names[i][0], node->op->name))
      row = find_reduction (names[i][1]);
  if (!g_str_equal (node->op->name, "GlobalLpPool") || axon_node_get_int (node, "p") == 2) {
    add_reduce (plan, row, gpu_plan_input (plan, node, 0), gpu_plan_output (plan, node, 0),
                reduced);
    return TRUE;
  }
  *why = g_strdup ("only p = 2");
  return FALSE;
}

static gint32
line_numbers (GpuPlan *plan, const GpuLines *lines, gint64 a, gint64 b)
{
  GpuNumbers numbers = { .n = 0 };
  gpu_numbers_add (&numbers, lines->inner);
  gpu_numbers_add (&numbers, lines->length);
  gpu_numbers_add (&numbers, a);
  gpu_numbers_add (&numbers, b);
  return gpu_numbers_write (&numbers, plan);
}

gboolean
gpu_build_arg_reduce (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  GpuLines lines = gpu_lines (&x->shape, gpu_node_axis (node, x->shape.rank));
  gboolean most = g_str_equal (node->op->name, "ArgMax");
  gboolean last = axon_node_find_attr (node, "select_last_index") != NULL &&
                  axon_node_get_int (node, "select_last_index") != 0;
  g_autofree gchar *name = gpu_kernel_for (plan, node->op->name, "argreduce", x->dtype, "BETTER",
                                           most ? ">" : "<", NULL);
  GpuStep *step = gpu_plan_step (plan, name, line_numbers (plan, &lines, last, 0),
                                 lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

gboolean
gpu_build_top_k (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0);
  GpuTensor *y = gpu_plan_output (plan, node, 0), *index = gpu_plan_output (plan, node, 1);
  gint axis = gpu_node_axis (node, x->shape.rank);
  GpuLines lines = gpu_lines (&x->shape, axis);
  gboolean most =
      axon_node_find_attr (node, "largest") == NULL || axon_node_get_int (node, "largest") != 0;
  static const gchar *const better[2][2] = {
    { "((v) < (w))", "((v) > (w))" },
    { "((v) < (w) || (isnan(w) && !isnan(v)))", "((v) > (w) || (isnan(v) && !isnan(w)))" },
  };
  g_autofree gchar *name =
      gpu_kernel_for (plan, most ? "topk" : "leastk", "topk", x->dtype, "BETTER",
                      better[axon_dtype_is_float (x->dtype)][most], NULL);
  GpuStep *step;
  if (y == NULL)
    y = gpu_plan_scratch (plan, x->dtype, &index->shape);
  if (index == NULL)
    index = gpu_plan_scratch (plan, AXON_DTYPE_I64, &y->shape);
  step = gpu_plan_step (plan, name, line_numbers (plan, &lines, y->shape.dims[axis], 0),
                        lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  gpu_step_write (plan, step, index);
  return TRUE;
}

gboolean
gpu_build_cumulate (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gboolean sum = g_str_equal (node->op->name, "CumSum");
  gint64 axis[2 * AXON_MAX_RANK];
  GpuTensor *x, *y;
  GpuLines lines;
  GpuStep *step;
  g_autofree gchar *name = NULL;
  guint n;
  if (!gpu_node_constant_ints (node, 1, NULL, axis, &n) || n != 1) {
    *why = g_strdup ("the axis is " GPU_NOT_CONSTANT);
    return FALSE;
  }
  x = gpu_plan_input (plan, node, 0);
  y = gpu_plan_output (plan, node, 0);
  lines = gpu_lines (&x->shape, (gint)(axis[0] < 0 ? axis[0] + x->shape.rank : axis[0]));
  name = gpu_kernel_for (plan, node->op->name, "cumulate", x->dtype, "INIT", sum ? "0" : "1", "ACC",
                         sum ? "a + v" : "a * v", NULL);
  step = gpu_plan_step (plan, name,
                        line_numbers (plan, &lines, axon_node_get_int (node, "exclusive"),
                                      axon_node_get_int (node, "reverse")),
                        lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

/* In the form that flattens, the axis begins a line that reaches to the end. */
gboolean
gpu_build_softmax (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  static const gchar *const results[][2] = { { "Softmax", "exp(v) / sum" },
                                             { "LogSoftmax", "v - log(sum)" },
                                             { "Hardmax", "j == best ? 1 : 0" } };
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  gint axis = gpu_node_axis (node, x->shape.rank);
  GpuLines lines = { 1, 1, 1 };
  g_autofree gchar *name = NULL;
  const gchar *result = NULL;
  GpuStep *step;
  if (x->shape.rank > 0 && axis < x->shape.rank)
    lines = gpu_lines (&x->shape, axis);
  if (axon_node_has_form (node, AXON_FORM_FLATTENS)) {
    lines.length *= lines.inner;
    lines.inner = 1;
  }
  for (guint i = 0; i < G_N_ELEMENTS (results); i++)
    if (g_str_equal (results[i][0], node->op->name))
      result = results[i][1];
  name = gpu_kernel_for (plan, node->op->name, "softmax", x->dtype, "RESULT", result, NULL);
  step = gpu_plan_step (plan, name, line_numbers (plan, &lines, 0, 0), lines.outer * lines.inner, 1,
                        1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}

gboolean
gpu_build_lp_norm (GpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED gchar **why)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *y = gpu_plan_output (plan, node, 0);
  GpuLines lines = gpu_lines (&x->shape, gpu_node_axis (node, x->shape.rank));
  g_autofree gchar *name = gpu_kernel_for (plan, "lpnorm", "lpnorm", x->dtype, NULL);
  GpuStep *step =
      gpu_plan_step (plan, name, line_numbers (plan, &lines, axon_node_get_int (node, "p"), 0),
                     lines.outer * lines.inner, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return TRUE;
}
