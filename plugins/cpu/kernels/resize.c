/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize of the two innermost dimensions, in every mode, of floats channels last or row-major: taps
 * are computed when building. And Resize of bytes to the nearest pixel, channels last. */
#include "kernels.h"
#include "../onednn/cpudnn.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <math.h>
#include <string.h>

/* Bytes that are worth a thread. */
#define PARALLEL 32768
#define PARTS_PER_THREAD 3

/* What the places along one axis are made of: sums of @n taps each. */
typedef struct {
  gint n;         /* 0: nothing changes */
  gint32 *at;     /* [place][tap], or [tap][place] of single elements */
  gfloat *weight; /* the same */
} Taps;

typedef struct {
  gint64 frames, h, w, h_out, w_out;
  gint64 inner; /* channels that lie last, or 1: planes of single elements, as few channels are */
  Taps y, x;
  guint8 *used; /* planes: rows of the source that somebody reads */
  gint64 bands; /* planes: into how many runs of rows each is cut */
  const CpuResize *loops;
} ResizePlan;

static void
plan_free (gpointer data)
{
  ResizePlan *r = data;
  g_free (r->x.at);
  g_free (r->x.weight);
  g_free (r->y.at);
  g_free (r->y.weight);
  g_free (r->used);
  g_free (r);
}

/* Of one run; the scratch is the threads'. */
typedef struct {
  const ResizePlan *plan;
  const gfloat *x;
  gfloat *y, *scratch;
  gsize scratch_size;
} ResizeRun;

/* Channels last: a row of the result is a mixture of rows, of which pixels are mixed. */
static void
resize_rows (gpointer data, gint64 first, gint64 end)
{
  const ResizeRun *run = data;
  const ResizePlan *r = run->plan;
  gfloat *scratch = run->scratch + cpu_parallel_thread () * run->scratch_size;
  gint64 length = r->w * r->inner;
  for (gint64 i = first; i < end; i++) {
    const gfloat *frame = run->x + i / r->h_out * r->h * length, *row;
    gint64 o = i % r->h_out;
    gfloat *out = run->y + i * r->w_out * r->inner, *mixed = r->x.n ? scratch : out;
    row = r->y.n ? mixed : frame + o * length;
    if (r->y.n != 0)
      r->loops->mix_rows (mixed, frame, r->y.at + o * r->y.n, r->y.weight + o * r->y.n, r->y.n,
                          length, length);
    if (r->x.n != 0)
      r->loops->mix_pixels (out, row, r->x.at, r->x.weight, r->x.n, r->inner, r->w_out);
    else if (row != out)
      memcpy (out, row, (gsize)length * sizeof *out);
  }
}

/* Rows of the source that rows from @first to @end of the result read. */
static void
find_band (const ResizePlan *r, gint64 first, gint64 end, gint64 *low, gint64 *high)
{
  *low = r->y.n ? r->h : first;
  *high = r->y.n ? 0 : end;
  for (gint64 i = first * r->y.n; i < end * r->y.n; i++) {
    *low = MIN (*low, r->y.at[i]);
    *high = MAX (*high, r->y.at[i] + 1);
  }
}

/* Columns first, of every row that is read: fewer are mixed so where a plane grows. */
static void
resize_band (const ResizeRun *run, gint64 plane, gint64 first, gint64 end, gfloat *scratch)
{
  const ResizePlan *r = run->plan;
  const gfloat *x = run->x + plane * r->h * r->w;
  gfloat *y = run->y + plane * r->h_out * r->w_out, *wide = r->y.n ? scratch : y;
  gint64 low, high;
  find_band (r, first, end, &low, &high);
  for (gint64 i = low; r->x.n != 0 && i < high; i++)
    if (r->used[i])
      r->loops->mix_columns (wide + i * r->w_out, x + i * r->w, r->x.at, r->x.weight, r->x.n,
                             r->w_out);
  for (gint64 o = first; r->y.n != 0 && o < end; o++)
    r->loops->mix_rows (y + o * r->w_out, r->x.n ? wide : x, r->y.at + o * r->y.n,
                        r->y.weight + o * r->y.n, r->y.n, r->w_out, r->w_out);
  if (r->x.n == 0 && r->y.n == 0)
    memcpy (y + first * r->w, x + first * r->w, (gsize)((end - first) * r->w) * sizeof *y);
}

static void
resize_planes (gpointer data, gint64 first, gint64 end)
{
  const ResizeRun *run = data;
  const ResizePlan *r = run->plan;
  gfloat *scratch = run->scratch + cpu_parallel_thread () * run->scratch_size;
  for (gint64 i = first; i < end; i++) {
    gint64 band = i % r->bands;
    resize_band (run, i / r->bands, r->h_out * band / r->bands, r->h_out * (band + 1) / r->bands,
                 scratch);
  }
}

static gsize
scratch_size (const ResizePlan *r)
{
  return (gsize)(r->used ? r->h * r->w_out : r->w * r->inner);
}

static void
run_resize (const CpuStep *step, const CpuInstance *instance)
{
  const ResizePlan *r = step->data;
  ResizeRun run = { r, cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->out[0]),
                    cpu_tensor_data (instance, step->out[1]), scratch_size (r) };
  if (r->used != NULL)
    cpu_parallel_ranges (r->frames * r->bands, PARALLEL / 4 * r->bands / (r->h_out * r->w_out) + 1,
                         resize_planes, &run);
  else
    cpu_parallel_ranges (r->frames * r->h_out, PARALLEL / 4 / (r->w_out * r->inner) + 1,
                         resize_rows, &run);
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

/* Whole lengths, every axis named in its place: what oneDNN computes. */
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

/* Whole pixels, or @elements of one each, in the order in which their vectors read them. FALSE:
 * some place reads nothing. */
static gboolean
set_taps (Taps *taps, const AxonResizeAxis *a, gint64 elements)
{
  gint64 per_pixel = MAX (elements, 1), n_out = a->n_out * per_pixel;
  gsize n = (gsize)(a->n * n_out);
  *taps = (Taps){ a->n, g_new (gint32, n + 1), g_new (gfloat, n + 1) };
  for (gint64 o = 0; o < n_out; o++)
    for (gint64 t = 0; t < a->n; t++) {
      gint64 at = elements > 0 ? t * n_out + o : o * a->n + t;
      gint32 index = a->index[o / per_pixel * a->n + t];
      taps->at[at] = (gint32)(index * per_pixel + o % per_pixel);
      taps->weight[at] = a->weight[o / per_pixel * a->n + t];
      if (index < 0)
        return FALSE;
    }
  return TRUE;
}

/* Channels last would leave most of a vector empty. */
gboolean
cpu_resize_is_narrow (const AxonShape *x)
{
  return x->rank == 4 && 2 * x->dims[1] <= cpu_isa_get ()->vector->floats.lanes;
}

static void
find_used_rows (ResizePlan *r)
{
  r->used = g_new0 (guint8, (gsize)r->h + 1);
  if (r->y.n == 0)
    memset (r->used, TRUE, (gsize)r->h);
  for (gint64 i = 0; i < r->h_out * r->y.n; i++)
    r->used[r->y.at[i]] = TRUE;
}

/* The two innermost dimensions of @x alone may change. */
static gboolean
resize_init (ResizePlan *r, const AxonNode *node, GArray *axes, gboolean channels_last)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint last = x->rank - 1;
  gboolean whole = channels_last && !cpu_resize_is_narrow (x);
  gint64 elements = channels_last && !whole ? x->dims[1] : 1; /* of a column */
  *r = (ResizePlan){ .frames = 1,
                     .h = x->rank > 3 ? x->dims[last - 1] : 1,
                     .w = x->dims[last] * elements,
                     .h_out = x->rank > 3 ? y->dims[last - 1] : 1,
                     .w_out = y->dims[last] * elements,
                     .inner = whole ? x->dims[1] : 1,
                     .loops = cpu_isa_get ()->vector->resize };
  r->frames = axon_shape_get_numel (x) / (r->h * r->w * r->inner);
  for (guint i = 0; i < axes->len; i++) {
    const AxonResizeAxis *a = &g_array_index (axes, AxonResizeAxis, i);
    if ((a->axis != last && (a->axis != last - 1 || x->rank < 4)) ||
        !set_taps (a->axis == last ? &r->x : &r->y, a, a->axis == last && !whole ? elements : 0))
      return FALSE;
  }
  if (!whole)
    find_used_rows (r);
  return TRUE;
}

/* Where there are fewer planes than threads want. */
static gint64
count_bands (const ResizePlan *r, guint threads)
{
  gint64 wanted = ((gint64)threads * PARTS_PER_THREAD + r->frames - 1) / r->frames;
  return threads > 1 ? CLAMP (wanted, 1, r->h_out) : 1;
}

/* Scales, sizes and the region are known. */
static gboolean
is_known (const AxonNode *node)
{
  for (guint i = 1; i < node->n_inputs; i++)
    if (axon_node_get_input (node, i) != NULL && cpu_node_constant (node, i) == NULL)
      return FALSE;
  return TRUE;
}

static gboolean
build_floats (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  g_autoptr (GArray) axes = NULL;
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *src, *out[2];
  ResizePlan *r;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank < 3 || x->rank > 5 ||
      axon_shape_get_numel (x) < 1 || axon_shape_get_numel (y) < 1 || !is_known (node))
    return FALSE;
  axes = axon_resize_axes (node, NULL);
  if (axes == NULL)
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  if (src->md != NULL && x->rank == 4) {
    g_autoptr (CpuMd) from = cpu_md_channels_last (AXON_DTYPE_F32, x);
    src = cpu_plan_input_as (plan, node, 0, from);
    md = cpu_md_channels_last (AXON_DTYPE_F32, y);
  } else {
    src = cpu_plan_input_as (plan, node, 0, NULL);
  }
  r = g_new (ResizePlan, 1);
  if (!resize_init (r, node, axes, md != NULL)) {
    plan_free (r);
    return FALSE;
  }
  r->bands = count_bands (r, plan->n_threads);
  out[0] = cpu_plan_output (plan, node, 0, md);
  out[1] = cpu_plan_scratch_bytes (plan, plan->n_threads * scratch_size (r) * sizeof (gfloat));
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
  { .name = "Resize", .impl = "own", .build = build_floats },
  { .name = "Upsample", .impl = "own", .build = build_floats },
  { .name = "Resize", .impl = "own", .build = build_nearest },
  { 0 },
};
