/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Linear Resize of the two innermost dimensions of row-major data, for the coordinate modes that
 * oneDNN lacks: taps are computed when building, rows are blended, then columns. And Resize of
 * bytes to the nearest pixel, channels last. */
#include "kernels.h"
#include "../onednn/cpudnn.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <math.h>
#include <string.h>

/* Bytes that are worth a thread. */
#define PARALLEL 32768

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
  const AxonTensor *scales =
      cpu_node_constant (node, axon_node_has_form (node, AXON_FORM_SCALES_ONLY) ? 1 : 2);
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

static gboolean
build_linear (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
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

/* Bytes of the nearest pixel: rows and columns of the source, channels last. */
typedef struct {
  gsize channels, row, frame; /* of the source, in bytes */
  gint64 frames, h, w;        /* of the output */
  gint32 *y, *x;
} Nearest;

static void
nearest_free (gpointer data)
{
  Nearest *n = data;
  g_free (n->y);
  g_free (n->x);
  g_free (n);
}

/* Of one run. */
typedef struct {
  const Nearest *plan;
  const guint8 *x;
  guint8 *y;
} NearestRun;

static void
nearest_rows (gpointer data, gint64 first, gint64 end)
{
  const NearestRun *run = data;
  const Nearest *n = run->plan;
  for (gint64 r = first; r < end; r++) {
    const guint8 *from = run->x + (gsize)(r / n->h) * n->frame + (gsize)n->y[r % n->h] * n->row;
    guint8 *to = run->y + (gsize)(r * n->w) * n->channels;
    for (gint64 i = 0; i < n->w; i++)
      memcpy (to + (gsize)i * n->channels, from + (gsize)n->x[i] * n->channels, n->channels);
  }
}

static void
run_nearest (const CpuStep *step, const CpuInstance *instance)
{
  const Nearest *n = step->data;
  NearestRun run = { n, cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (n->frames * n->h, PARALLEL / MAX (n->w * (gint64)n->channels, 1) + 1,
                       nearest_rows, &run);
}

/* Where each output along @axis comes from; the same place if nothing changes there. NULL: not from
 * one place. */
static gint32 *
nearest_places (GArray *axes, gint axis, gint64 n)
{
  gint32 *places = g_new (gint32, n + 1);
  for (gint64 i = 0; i < n; i++)
    places[i] = (gint32)i;
  for (guint k = 0; k < axes->len; k++) {
    const AxonResizeAxis *a = &g_array_index (axes, AxonResizeAxis, k);
    for (gint64 i = 0; a->axis == axis && i < n; i++) {
      if (a->n != 1 || a->index[i] < 0) {
        g_free (places);
        return NULL;
      }
      places[i] = a->index[i];
    }
  }
  return places;
}

/* Resize of bytes to the nearest pixel. */
static gboolean
build_nearest (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTypeInfo *in = &node->inputs[0]->type;
  const AxonShape *x = &in->shape, *y = &node->outputs[0]->type.shape;
  g_autoptr (GArray) axes = NULL;
  g_autoptr (CpuMd) from = NULL;
  g_autoptr (CpuMd) to = NULL;
  CpuTensor *src, *dst;
  Nearest *n;
  if (!(AXON_DTYPE_BIT (in->dtype) & AXON_DTYPES_BYTE) || x->rank != 4 ||
      x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1] || axon_shape_get_numel (y) < 1 ||
      !g_str_equal (axon_node_get_string (node, "mode"), "nearest"))
    return FALSE;
  axes = axon_resize_axes (node, NULL);
  if (axes == NULL)
    return FALSE;
  n = g_new0 (Nearest, 1);
  *n = (Nearest){ .channels = (gsize)x->dims[1],
                  .row = (gsize)(x->dims[1] * x->dims[3]),
                  .frame = (gsize)(x->dims[1] * x->dims[3] * x->dims[2]),
                  .frames = y->dims[0],
                  .h = y->dims[2],
                  .w = y->dims[3],
                  .y = nearest_places (axes, 2, y->dims[2]),
                  .x = nearest_places (axes, 3, y->dims[3]) };
  if (n->y == NULL || n->x == NULL) {
    nearest_free (n);
    return FALSE;
  }
  from = cpu_md_channels_last (in->dtype, x);
  to = cpu_md_channels_last (in->dtype, y);
  src = cpu_plan_input_as (plan, node, 0, from);
  dst = cpu_plan_output (plan, node, 0, to);
  cpu_plan_add_step (plan, run_nearest, n, nearest_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_resize_kernels[] = {
  { .name = "Resize", .impl = "own", .build = build_linear },
  { .name = "Upsample", .impl = "own", .build = build_linear },
  { .name = "Resize", .impl = "own", .build = build_nearest },
  { 0 },
};
