/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RoiAlign of floats by averages, and MaxRoiPool, channels last: where the samples of a bin lie is
 * computed once for all channels. */
#include "indices.h"
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>
#include <string.h>

#define MOST_SAMPLES 4096 /* along an axis, as the reference */

typedef struct {
  const AxonNode *node;
  gint64 frames, channels, h, w, h_out, w_out;
  gdouble scale;
  /* of RoiAlign */
  const CpuSample *loops;
  gint64 ratio;
  gdouble offset;
} Pooling;

typedef struct {
  const Pooling *plan;
  const gfloat *x, *rois; /* of MaxRoiPool a frame is before the corners */
  CpuIndices batch;
  gfloat *y;
} PoolingRun;

typedef struct {
  gdouble y, x, bin_h, bin_w; /* first corner and size of a bin, in pixels */
  gint64 ny, nx;              /* samples in a bin */
} Region;

static Region
read_region (const Pooling *a, const gfloat *roi)
{
  gdouble w = ((gdouble)roi[2] - (gdouble)roi[0]) * a->scale;
  gdouble h = ((gdouble)roi[3] - (gdouble)roi[1]) * a->scale;
  Region r = { .y = (gdouble)roi[1] * a->scale - a->offset,
               .x = (gdouble)roi[0] * a->scale - a->offset };
  if (a->offset == 0) {
    w = fmax (w, 1);
    h = fmax (h, 1);
  }
  r.bin_h = h / (gdouble)a->h_out;
  r.bin_w = w / (gdouble)a->w_out;
  r.ny = a->ratio > 0 ? a->ratio : (gint64)CLAMP (ceil (r.bin_h), 0, MOST_SAMPLES);
  r.nx = a->ratio > 0 ? a->ratio : (gint64)CLAMP (ceil (r.bin_w), 0, MOST_SAMPLES);
  return r;
}

/* Adds the bilinear sample at (y, x), times @share; what lies more than a pixel outside is 0. */
static void
add_sample (const Pooling *a, const gfloat *frame, gdouble y, gdouble x, gdouble share, gfloat *out)
{
  gint64 y0, x0, y1, x1;
  gdouble fy, fx;
  if (!(y >= -1 && y <= (gdouble)a->h && x >= -1 && x <= (gdouble)a->w))
    return;
  y = CLAMP (y, 0, (gdouble)(a->h - 1));
  x = CLAMP (x, 0, (gdouble)(a->w - 1));
  y0 = (gint64)y;
  x0 = (gint64)x;
  y1 = MIN (y0 + 1, a->h - 1);
  x1 = MIN (x0 + 1, a->w - 1);
  fy = y - (gdouble)y0;
  fx = x - (gdouble)x0;
  const gint32 at[] = { (gint32)(y0 * a->w + x0), (gint32)(y0 * a->w + x1),
                        (gint32)(y1 * a->w + x0), (gint32)(y1 * a->w + x1) };
  const gfloat weight[] = { (gfloat)((1 - fy) * (1 - fx) * share), (gfloat)((1 - fy) * fx * share),
                            (gfloat)(fy * (1 - fx) * share), (gfloat)(fy * fx * share) };
  a->loops->add_pixels (out, frame, at, weight, 4, a->channels);
}

/* A unit: a row of bins of a region. */
static void
align_rows (gpointer data, gint64 first, gint64 end)
{
  const PoolingRun *run = data;
  const Pooling *a = run->plan;
  for (gint64 i = first; i < end; i++) {
    gint64 n = i / a->h_out, py = i % a->h_out;
    Region r = read_region (a, run->rois + n * 4);
    const gfloat *frame =
        run->x + cpu_index_at (&run->batch, n, a->frames) * a->h * a->w * a->channels;
    gfloat *y = run->y + i * a->w_out * a->channels;
    memset (y, 0, (gsize)(a->w_out * a->channels) * sizeof *y);
    for (gint64 px = 0; px < a->w_out; px++)
      for (gint64 s = 0; s < r.ny * r.nx; s++)
        add_sample (
            a, frame,
            r.y + (gdouble)py * r.bin_h + ((gdouble)(s / r.nx) + 0.5) * r.bin_h / (gdouble)r.ny,
            r.x + (gdouble)px * r.bin_w + ((gdouble)(s % r.nx) + 0.5) * r.bin_w / (gdouble)r.nx,
            1 / (gdouble)(r.ny * r.nx), y + px * a->channels);
  }
}

static void
run_align (const CpuStep *step, const CpuInstance *instance)
{
  const Pooling *a = step->data;
  gint bad = FALSE;
  PoolingRun run = { a,
                     cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->in[1]),
                     { cpu_tensor_data (instance, step->in[2]),
                       step->in[2]->dtype == AXON_DTYPE_I64, &bad },
                     cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (step->in[1]->shape.dims[0] * a->h_out, 1, align_rows, &run);
  if (bad)
    cpu_refuse_index (a->node, instance, &run.batch, step->in[1]->shape.dims[0], a->frames);
}

/* FALSE: not of floats, or there is nothing. */
static gboolean
pooling_init (Pooling *p, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  *p = (Pooling){ .node = node,
                  .frames = x->dims[0],
                  .channels = x->dims[1],
                  .h = x->dims[2],
                  .w = x->dims[3],
                  .h_out = y->dims[2],
                  .w_out = y->dims[3],
                  .scale = axon_node_get_float (node, "spatial_scale") };
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_shape_get_numel (x) > 0 &&
         axon_shape_get_numel (y) > 0;
}

/* Pictures and results channels last, all else row-major; @scratch: nullable. */
static gboolean
add_pooling (CpuPlan *plan, const Pooling *p, CpuStepFunc run, CpuTensor *scratch)
{
  const AxonNode *node = p->node;
  g_autoptr (CpuMd) from = cpu_md_channels_last (AXON_DTYPE_F32, &node->inputs[0]->type.shape);
  g_autoptr (CpuMd) to = cpu_md_channels_last (AXON_DTYPE_F32, &node->outputs[0]->type.shape);
  CpuTensor *in[3], *out[2];
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = cpu_plan_input_as (plan, node, i, i == 0 ? from : NULL);
  out[0] = cpu_plan_output (plan, node, 0, to);
  out[1] = scratch;
  cpu_plan_add_step (plan, run, g_memdup2 (p, sizeof *p), g_free, "own", in, node->n_inputs, out,
                     scratch ? 2 : 1);
  return TRUE;
}

static gboolean
build_align (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *mode = axon_node_get_string (node, "coordinate_transformation_mode");
  AxonDType batch = node->inputs[2]->type.dtype;
  Pooling p;
  if (!pooling_init (&p, node))
    return FALSE;
  p.loops = cpu_isa_get ()->vector->sample;
  p.ratio = axon_node_get_int (node, "sampling_ratio");
  p.offset = mode && g_str_equal (mode, "half_pixel") ? 0.5 : 0;
  return p.ratio <= MOST_SAMPLES && (batch == AXON_DTYPE_I32 || batch == AXON_DTYPE_I64) &&
         g_str_equal (axon_node_get_string (node, "mode"), "avg") &&
         axon_shape_get_numel (x) <= G_MAXINT32 &&
         axon_shape_get_numel (&node->inputs[2]->type.shape) == y->dims[0] &&
         add_pooling (plan, &p, run_align, NULL);
}

/* Pixels of bin @i of @n along an axis of @size, between corners @from and @to. */
static void
pixels_of_bin (gint64 i, gint64 n, gint64 from, gint64 to, gint64 size, gint64 *first, gint64 *end)
{
  gdouble bin = (gdouble)MAX (to - from + 1, 1) / (gdouble)n;
  *first = CLAMP ((gint64)floor ((gdouble)i * bin) + from, 0, size);
  *end = CLAMP ((gint64)ceil ((gdouble)(i + 1) * bin) + from, 0, size);
}

/* A bin without pixels, and one of which none is a number, is 0. */
static void
max_of_bin (const Pooling *m, const gfloat *frame, const gint64 *rows, const gint64 *columns,
            gfloat *restrict y)
{
  for (gint64 c = 0; c < m->channels; c++)
    y[c] = -INFINITY;
  for (gint64 i = rows[0]; i < rows[1]; i++)
    for (gint64 j = columns[0]; j < columns[1]; j++) {
      const gfloat *x = frame + (i * m->w + j) * m->channels;
      for (gint64 c = 0; c < m->channels; c++)
        y[c] = x[c] > y[c] ? x[c] : y[c];
    }
  for (gint64 c = 0; c < m->channels; c++)
    y[c] = y[c] > -INFINITY ? y[c] : 0;
}

/* A unit: a row of bins of a region. */
static void
pool_rows (gpointer data, gint64 first, gint64 end)
{
  const PoolingRun *run = data;
  const Pooling *m = run->plan;
  for (gint64 u = first; u < end; u++) {
    gint64 n = u / m->h_out, corner[4], rows[2], columns[2];
    const gfloat *frame =
        run->x + cpu_index_at (&run->batch, n, m->frames) * m->h * m->w * m->channels;
    for (gint i = 0; i < 4; i++) /* what is no number is far away */
      corner[i] =
          (gint64)fmax (fmin (round ((gdouble)run->rois[n * 5 + 1 + i] * m->scale), 1e9), -1e9);
    pixels_of_bin (u % m->h_out, m->h_out, corner[1], corner[3], m->h, &rows[0], &rows[1]);
    for (gint64 px = 0; px < m->w_out; px++) {
      pixels_of_bin (px, m->w_out, corner[0], corner[2], m->w, &columns[0], &columns[1]);
      max_of_bin (m, frame, rows, columns, run->y + (u * m->w_out + px) * m->channels);
    }
  }
}

static void
run_max_pool (const CpuStep *step, const CpuInstance *instance)
{
  const Pooling *m = step->data;
  gint64 n = step->in[1]->shape.dims[0], *frame = cpu_tensor_data (instance, step->out[1]);
  gint bad = FALSE;
  PoolingRun run = { m,
                     cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->in[1]),
                     { frame, TRUE, &bad },
                     cpu_tensor_data (instance, step->out[0]) };
  for (gint64 i = 0; i < n; i++)
    frame[i] = axon_dtype_load_int (AXON_DTYPE_F32, run.rois, (gsize)(i * 5));
  cpu_parallel_ranges (n * m->h_out, 1, pool_rows, &run);
  if (bad)
    cpu_refuse_index (m->node, instance, &run.batch, n, m->frames);
}

static gboolean
build_max_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gsize n = (gsize)node->outputs[0]->type.shape.dims[0];
  Pooling p;
  return pooling_init (&p, node) &&
         add_pooling (plan, &p, run_max_pool, cpu_plan_scratch_bytes (plan, n * sizeof (gint64)));
}

const CpuKernel cpu_roi_kernels[] = {
  { .name = "RoiAlign", .impl = "own", .build = build_align },
  { .name = "MaxRoiPool", .impl = "own", .build = build_max_pool },
  { 0 },
};
