/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DeformConv of floats without groups, channels last: a row of sampled pixels for each place of the
 * result, then one product of all rows. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>
#include <string.h>

#define PARALLEL 16384

typedef struct {
  const CpuSample *loops;
  AxonWindow window;
  gint64 channels, groups, h, w, h_out, w_out, kernel_w, taps;
} Deform;

typedef struct {
  const Deform *plan;
  const gfloat *x, *offset, *mask;
  gfloat *rows;
} DeformRun;

/* Four pixels around (y, x); those outside are before the first. */
static void
corners (const Deform *d, gdouble y, gdouble x, gint32 *at, gfloat *weight)
{
  gdouble y0 = floor (y), x0 = floor (x);
  gboolean near = y > -1 && y < (gdouble)d->h && x > -1 && x < (gdouble)d->w;
  for (gint k = 0; k < 4; k++) {
    gint64 r = near ? (gint64)y0 + k / 2 : -1, c = near ? (gint64)x0 + k % 2 : -1;
    gdouble wy = k / 2 ? y - y0 : 1 - (y - y0), wx = k % 2 ? x - x0 : 1 - (x - x0);
    at[k] = r >= 0 && r < d->h && c >= 0 && c < d->w ? (gint32)(r * d->w + c) : -1;
    weight[k] = (gfloat)(wy * wx);
  }
}

/* The channels of one group at one tap; @at: of frame, group and tap. */
static void
sample_group (const DeformRun *run, const gfloat *x, gint64 at, gint64 tap, gint64 place,
              gfloat *out)
{
  const Deform *d = run->plan;
  const AxonWindow *w = &d->window;
  gint64 places = d->h_out * d->w_out, oy = place / d->w_out, ox = place % d->w_out;
  gint64 n = d->channels / d->groups;
  gint64 y = oy * w->stride[1] + tap / d->kernel_w * w->dilation[1] - w->pad[1];
  gint64 x0 = ox * w->stride[2] + tap % d->kernel_w * w->dilation[2] - w->pad[2];
  gint32 pixel[4];
  gfloat weight[4];
  corners (d, (gdouble)y + (gdouble)run->offset[at * 2 * places + place],
           (gdouble)x0 + (gdouble)run->offset[(at * 2 + 1) * places + place], pixel, weight);
  memset (out, 0, (gsize)n * sizeof *out);
  for (gint k = 0; k < 4; k++) /* a group's channels are not all of a pixel's */
    if (pixel[k] >= 0)
      d->loops->add_pixels (out, x + pixel[k] * d->channels, (gint32[]){ 0 }, &weight[k], 1, n);
  if (run->mask != NULL)
    for (gint64 c = 0; c < n; c++)
      out[c] *= run->mask[at * places + place];
}

static void
sample_places (gpointer data, gint64 first, gint64 end)
{
  const DeformRun *run = data;
  const Deform *d = run->plan;
  gint64 places = d->h_out * d->w_out, n = d->channels / d->groups;
  for (gint64 i = first; i < end; i++) {
    gint64 frame = i / places;
    const gfloat *x = run->x + frame * d->h * d->w * d->channels;
    gfloat *row = run->rows + i * d->taps * d->channels;
    for (gint64 t = 0; t < d->taps; t++)
      for (gint64 g = 0; g < d->groups; g++)
        sample_group (run, x + g * n, (frame * d->groups + g) * d->taps + t, t, i % places,
                      row + t * d->channels + g * n);
  }
}

static void
run_samples (const CpuStep *step, const CpuInstance *instance)
{
  const Deform *d = step->data;
  DeformRun run = { d, cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->in[1]),
                    step->n_in > 2 ? cpu_tensor_data (instance, step->in[2]) : NULL,
                    cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (step->in[0]->shape.dims[0] * d->h_out * d->w_out,
                       PARALLEL / (d->taps * d->channels) + 1, sample_places, &run);
}

/* [out, channels, taps] to [taps, channels, out] */
static gfloat *
pack_weights (const gfloat *from, gint64 out, gint64 channels, gint64 taps)
{
  gfloat *w = g_new (gfloat, (gsize)(out * channels * taps));
  for (gint64 o = 0; o < out; o++)
    for (gint64 c = 0; c < channels; c++)
      for (gint64 t = 0; t < taps; t++)
        w[(t * channels + c) * out + o] = *from++;
  return w;
}

static gboolean
deform_init (Deform *d, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const AxonShape *w = &node->inputs[1]->type.shape;
  *d = (Deform){ .loops = cpu_isa_get ()->vector->sample,
                 .channels = x->dims[1],
                 .groups = axon_node_get_int (node, "offset_group"),
                 .h = x->dims[2],
                 .w = x->dims[3],
                 .h_out = y->dims[2],
                 .w_out = y->dims[3],
                 .kernel_w = w->dims[3],
                 .taps = w->dims[2] * w->dims[3] };
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_node_get_int (node, "group") == 1 &&
         cpu_node_constant (node, 1) != NULL &&
         (axon_node_get_input (node, 3) == NULL || cpu_node_constant (node, 3) != NULL) &&
         axon_shape_get_numel (x) > 0 && axon_shape_get_numel (x) <= G_MAXINT32 &&
         axon_shape_get_numel (y) > 0 && axon_shape_get_numel (w) > 0 &&
         axon_window_init (&d->window, node, x, w->dims + 2, FALSE, NULL);
}

static gboolean
build_deform (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const AxonTensor *bias = cpu_node_constant (node, 3);
  g_autofree gfloat *weights = NULL;
  g_autoptr (CpuMd) from = NULL;
  g_autoptr (CpuMd) to = NULL;
  guint n_in = axon_node_get_input (node, 4) ? 3 : 2;
  CpuTensor *in[3], *rows;
  AxonShape shape;
  Deform d;
  if (!deform_init (&d, node))
    return FALSE;
  from = cpu_md_channels_last (AXON_DTYPE_F32, x);
  to = cpu_md_channels_last (AXON_DTYPE_F32, y);
  shape = AXON_SHAPE (y->dims[0] * d.h_out * d.w_out, d.taps * d.channels);
  in[0] = cpu_plan_input_as (plan, node, 0, from);
  in[1] = cpu_plan_input_as (plan, node, 2, NULL);
  in[2] = n_in > 2 ? cpu_plan_input_as (plan, node, 4, NULL) : NULL;
  rows = cpu_plan_scratch (plan, AXON_DTYPE_F32, &shape, NULL);
  weights = pack_weights (axon_tensor_get_data (cpu_node_constant (node, 1)), y->dims[1],
                          d.channels, d.taps);
  cpu_plan_add_step (plan, run_samples, g_memdup2 (&d, sizeof d), g_free, "own", in, n_in, &rows,
                     1);
  cpu_dnn_add_product (
      plan, rows, &(CpuProduct){ shape.dims[0], shape.dims[1], y->dims[1], weights },
      bias ? g_memdup2 (axon_tensor_get_data (bias), (gsize)y->dims[1] * sizeof (gfloat))
           : g_new0 (gfloat, (gsize)y->dims[1]),
      cpu_plan_output (plan, node, 0, to));
  return TRUE;
}

const CpuKernel cpu_deformconv_kernels[] = {
  { .name = "DeformConv", .impl = "own", .build = build_deform },
  { 0 },
};
