/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linear Resize of the two innermost dimensions of row-major data, for the coordinate modes that
 * oneDNN lacks: taps are computed when building, rows are blended, then columns. */
#include "kernels.h"
#include "../cpuisa.h"

#include <math.h>

typedef struct {
  gint64 planes, h_in, w_in, h_out, w_out;
  gint32 *x0, *x1, *y0, *y1;
  gfloat *fx, *fy;
  const CpuResize *loops;
} ResizePlan;

static void
plan_free (gpointer data)
{
  ResizePlan *r = data;
  g_free (r->x0);
  g_free (r->x1);
  g_free (r->y0);
  g_free (r->y1);
  g_free (r->fx);
  g_free (r->fy);
  g_free (r);
}

static void
run_resize (const CpuStep *step, const CpuInstance *instance)
{
  const ResizePlan *r = step->data;
  const gfloat *x = cpu_tensor_data (instance, step->in[0]);
  gfloat *y = cpu_tensor_data (instance, step->out[0]);
  gfloat *row = cpu_tensor_data (instance, step->out[1]);
  for (gint64 p = 0; p < r->planes; p++, x += r->h_in * r->w_in)
    for (gint64 o = 0; o < r->h_out; o++, y += r->w_out) {
      r->loops->blend_rows (row, x + r->y0[o] * r->w_in, x + r->y1[o] * r->w_in, r->w_in, r->fy[o]);
      r->loops->blend_columns (y, row, r->x0, r->x1, r->fx, r->w_out);
    }
}

static void
make_taps (const gchar *mode, gint64 n_in, gint64 n_out, gdouble scale, gint32 **lo, gint32 **hi,
           gfloat **f)
{
  *lo = g_new (gint32, (gsize)n_out);
  *hi = g_new (gint32, (gsize)n_out);
  *f = g_new (gfloat, (gsize)n_out);
  for (gint64 o = 0; o < n_out; o++) {
    gdouble c = g_str_equal (mode, "align_corners")
                    ? (n_out > 1 ? (gdouble)o * (gdouble)(n_in - 1) / (gdouble)(n_out - 1) : 0)
                : g_str_equal (mode, "asymmetric") ? (gdouble)o / scale
                                                   : ((gdouble)o + 0.5) / scale - 0.5;
    gdouble base = floor (c);
    (*f)[o] = (gfloat)(c - base);
    (*lo)[o] = (gint32)CLAMP ((gint64)base, 0, n_in - 1);
    (*hi)[o] = (gint32)CLAMP ((gint64)base + 1, 0, n_in - 1);
  }
}

/* The scale that the node names, else the ratio of sizes. */
static gdouble
axis_scale (const AxonNode *node, gint axis)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const AxonTensor *scales = cpu_node_constant (node, node->op->max_in == 4 ? 2 : 1);
  guint n;
  const gfloat *attr = axon_node_get_floats (node, "scales", &n);
  if (attr != NULL)
    return (gdouble)attr[axis];
  if (scales != NULL && (gint)axon_tensor_get_numel (scales) == x->rank)
    return axon_tensor_get_value (scales, (gsize)axis);
  return (gdouble)y->dims[axis] / (gdouble)x->dims[axis];
}

/* Whole lengths, every axis named in its place: what the taps above and oneDNN compute. */
gboolean
cpu_resize_is_plain (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  if (axon_node_get_int (node, "antialias") != 0 || axon_node_find_attr (node, "axes") != NULL ||
      axon_node_find_attr (node, "keep_aspect_ratio_policy") != NULL)
    return FALSE;
  for (gint d = 0; d < x->rank; d++)
    if (fabs ((gdouble)x->dims[d] * axis_scale (node, d) - (gdouble)y->dims[d]) > 1e-3)
      return FALSE;
  return TRUE;
}

gboolean
cpu_build_resize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *mode = axon_node_get_string (node, "coordinate_transformation_mode");
  AxonShape row = AXON_SHAPE (x->rank >= 2 ? x->dims[x->rank - 1] : 0);
  CpuTensor *src, *out[2];
  ResizePlan *r;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank < 3 || !cpu_resize_is_plain (node) ||
      !g_str_equal (axon_node_get_string (node, "mode"), "linear") ||
      (!g_str_equal (mode, "align_corners") && !g_str_equal (mode, "asymmetric") &&
       !g_str_equal (mode, "half_pixel")))
    return FALSE;
  r = g_new0 (ResizePlan, 1);
  r->loops = cpu_isa_get ()->vector->resize;
  r->planes = 1;
  for (gint d = 0; d < x->rank - 2; d++) {
    r->planes *= x->dims[d];
    if (x->dims[d] != y->dims[d]) {
      plan_free (r);
      return FALSE;
    }
  }
  r->h_in = x->dims[x->rank - 2];
  r->w_in = x->dims[x->rank - 1];
  r->h_out = y->dims[x->rank - 2];
  r->w_out = y->dims[x->rank - 1];
  make_taps (mode, r->h_in, r->h_out, axis_scale (node, x->rank - 2), &r->y0, &r->y1, &r->fy);
  make_taps (mode, r->w_in, r->w_out, axis_scale (node, x->rank - 1), &r->x0, &r->x1, &r->fx);
  src = cpu_plan_input_as (plan, node, 0, NULL);
  out[0] = cpu_plan_output (plan, node, 0, NULL);
  out[1] = cpu_plan_scratch (plan, AXON_DTYPE_F32, &row, NULL);
  cpu_plan_add_step (plan, run_resize, r, plan_free, "own", &src, 1, out, 2);
  return TRUE;
}
