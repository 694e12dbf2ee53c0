/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MaxPool (1 to 22), AveragePool (1 to 22), LpPool (1 to 22) and their global forms. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

static gboolean
pool_window (AxonWindow *w, const AxonNode *node, const AxonShape *x, GError **error)
{
  guint n;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  if (n != (guint)x->rank - 2)
    FAIL (MODEL, "kernel_shape: expected %d values, got %u", x->rank - 2, n);
  return axon_window_init (w, node, x, kernel, axon_node_get_int (node, "ceil_mode") != 0, error);
}

gboolean
axon_window_of_node (AxonWindow *w, const AxonNode *node, GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  guint weights = g_str_equal (node->op->name, "QLinearConv") ? 3 : 1;
  return axon_node_find_attr (node, "kernel_shape") != NULL || node->n_inputs < 2
             ? pool_window (w, node, x, error)
             : axon_window_init (w, node, x, node->inputs[weights]->type.shape.dims + 2, FALSE,
                                 error);
}

gboolean
axon_infer_pool (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  AxonWindow w;
  axon_infer_same (node, in, out, error);
  if (node->n_outputs > 1)
    out[1].dtype = AXON_DTYPE_I64;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_rank (in, 0, 3, 5, error) || !pool_window (&w, node, &in[0].shape, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    axon_window_shape (&w, &out[i].shape);
  return TRUE;
}

typedef enum { MAX_POOL, AVERAGE_POOL, LP_POOL } Kind;

typedef struct {
  gdouble max, sum, powers; /* powers: sum of |x|^p */
  gint64 count, argmax;
} Cell;

/* What is no number is the largest, as in ReduceMax. */
static void
add_to_cell (Cell *cell, const gdouble *x, gint64 at, gdouble p)
{
  if (x[at] > cell->max || isnan (x[at]) || cell->argmax < 0) {
    cell->max = x[at];
    cell->argmax = at;
  }
  cell->sum += x[at];
  cell->powers += p > 0 ? pow (fabs (x[at]), p) : 0;
  cell->count++;
}

/* One output position: everything a pooling operator may want to know about its window. */
static Cell
pool_cell (const AxonWindow *w, const gdouble *x, const gint64 *o, gdouble p)
{
  Cell cell = { .max = -INFINITY, .argmax = -1 };
  gint64 first[3], end[3];
  for (gint d = 0; d < 3; d++)
    end[d] = axon_window_taps (w, d, o[d], 0, w->in[d], &first[d]);
  for (gint64 kz = first[0]; kz < end[0]; kz++)
    for (gint64 ky = first[1]; ky < end[1]; ky++)
      for (gint64 kx = first[2]; kx < end[2]; kx++) {
        gint64 z = o[0] * w->stride[0] + kz * w->dilation[0] - w->pad[0];
        gint64 r = o[1] * w->stride[1] + ky * w->dilation[1] - w->pad[1];
        gint64 c = o[2] * w->stride[2] + kx * w->dilation[2] - w->pad[2];
        add_to_cell (&cell, x, (z * w->in[1] + r) * w->in[2] + c, p);
      }
  return cell;
}

/* With count_include_pad a window counts its padding, but not what ceil_mode adds beyond it. A
 * double, for the padding may be larger than any input. */
static gdouble
padded_count (const AxonWindow *w, const gint64 *o)
{
  gdouble count = 1;
  for (gint d = 0; d < 3; d++) {
    gint64 first, end = axon_window_taps (w, d, o[d], -w->pad[d], w->in[d] + w->pad_end[d], &first);
    count *= (gdouble)(end - first);
  }
  return count;
}

/* Flat index of @argmax in its plane, counted column by column where storage_order is 1. */
static gint64
plane_index (const AxonWindow *w, gint64 argmax, gboolean column_major)
{
  gint64 x = argmax % w->in[2], y = argmax / w->in[2] % w->in[1], z = argmax / w->in[2] / w->in[1];
  return column_major ? (x * w->in[1] + y) * w->in[0] + z : argmax;
}

static gdouble
finish_cell (const AxonNode *node, const AxonWindow *w, const Cell *cell, Kind kind,
             const gint64 *o)
{
  gdouble count = (gdouble)cell->count;
  if (kind == MAX_POOL)
    return cell->max;
  if (kind == LP_POOL)
    return pow (cell->powers, 1.0 / (gdouble)axon_node_get_int (node, "p"));
  if (axon_node_get_int (node, "count_include_pad") != 0)
    count = padded_count (w, o);
  return cell->sum / MAX (count, 1);
}

static gboolean
eval_pool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, Kind kind,
           GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 *indices = node->n_outputs > 1 && out[1] ? axon_tensor_get_data (out[1]) : NULL;
  gboolean column_major = axon_node_get_int (node, "storage_order") != 0;
  gdouble p = kind == LP_POOL ? (gdouble)axon_node_get_int (node, "p") : 0;
  gint64 at = 0, plane;
  AxonWindow w;
  if (!pool_window (&w, node, xs, error))
    return FALSE;
  plane = w.in[0] * w.in[1] * w.in[2];
  for (gint64 nc = 0; nc < xs->dims[0] * xs->dims[1]; nc++)
    for (gint64 oz = 0; oz < w.out[0]; oz++)
      for (gint64 oy = 0; oy < w.out[1] && ROW_WANTED (oy); oy++)
        for (gint64 ox = 0; ox < w.out[2]; ox++, at++) {
          const gint64 o[] = { oz, oy, ox };
          Cell cell = pool_cell (&w, x + nc * plane, o, p);
          y[at] = finish_cell (node, &w, &cell, kind, o);
          if (indices != NULL)
            indices[at] = nc * plane + plane_index (&w, cell.argmax, column_major);
        }
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
eval_lp_pool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_pool (node, in, out, LP_POOL, error);
}

static gboolean
infer_lp_pool (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_get_int (node, "p") < 1)
    FAIL (MODEL, "p is %" G_GINT64_FORMAT ", expected 1 or more", axon_node_get_int (node, "p"));
  return strstr (node->op->name, "Global") == NULL ? axon_infer_pool (node, in, out, error)
                                                   : axon_infer_global (node, in, out, error);
}

static gboolean
eval_max_pool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  return eval_pool (node, in, out, MAX_POOL, error);
}

gboolean
axon_eval_average_pool (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                        GError **error)
{
  return eval_pool (node, in, out, AVERAGE_POOL, error);
}

gboolean
axon_infer_global (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  axon_infer_same (node, in, out, error);
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  for (gint i = 2; i < out[0].shape.rank; i++)
    out[0].shape.dims[i] = 1;
  return TRUE;
}

static gboolean
eval_global (AxonTensor *const *in, AxonTensor *const *out, gboolean max, GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize n = axon_tensor_get_numel (out[0]), each = axon_tensor_get_numel (in[0]) / MAX (n, 1);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble sum = 0, top = -INFINITY;
    for (gsize k = 0; k < each; k++) {
      sum += x[i * each + k];
      top = isnan (x[i * each + k]) || x[i * each + k] > top ? x[i * each + k] : top;
    }
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      max ? top : sum / (gdouble)each);
  }
  return TRUE;
}

gboolean
axon_eval_global_average (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in,
                          AxonTensor *const *out, GError **error)
{
  return eval_global (in, out, FALSE, error);
}

static gboolean
eval_global_max (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                 GError **error)
{
  return eval_global (in, out, TRUE, error);
}

static gboolean
eval_global_lp (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gsize n = axon_tensor_get_numel (out[0]), each = axon_tensor_get_numel (in[0]) / MAX (n, 1);
  gdouble p = (gdouble)axon_node_get_int (node, "p");
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gdouble sum = 0;
    for (gsize k = 0; k < each; k++)
      sum += pow (fabs (x[i * each + k]), p);
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      pow (sum, 1 / p));
  }
  return TRUE;
}

#define POOL_ATTRS                                                                                 \
  ATTR_S ("auto_pad", "NOTSET"), ATTR_I ("ceil_mode", 0), ATTR_INTS ("dilations"),                 \
      REQUIRED ("kernel_shape", AXON_ATTR_INTS), ATTR_INTS ("pads"), ATTR_INTS ("strides")
#define F AXON_DTYPES_FLOAT

static const AxonOp rows[] = {
  {
      .name = "MaxPool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 2 },
      .types = F | AXON_DTYPES_BYTE,
      .same_type_inputs = 1,
      .attrs = ATTRS (POOL_ATTRS, ATTR_I ("storage_order", 0)),
      .infer = axon_infer_pool,
      .eval = eval_max_pool,
  },
  {
      .name = "AveragePool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (POOL_ATTRS, ATTR_I ("count_include_pad", 0)),
      .infer = axon_infer_pool,
      .eval = axon_eval_average_pool,
  },
  {
      .name = "LpPool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (POOL_ATTRS, ATTR_I ("p", 2)),
      .infer = infer_lp_pool,
      .eval = eval_lp_pool,
  },
  {
      .name = "GlobalLpPool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("p", 2)),
      .infer = infer_lp_pool,
      .eval = eval_global_lp,
  },
  {
      .name = "GlobalAveragePool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .infer = axon_infer_global,
      .eval = axon_eval_global_average,
  },
  {
      .name = "GlobalMaxPool",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 1,
      .infer = axon_infer_global,
      .eval = eval_global_max,
  },
};

DEFINE_FAMILY (pool, rows)
