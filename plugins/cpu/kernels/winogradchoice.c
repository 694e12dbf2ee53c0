/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which convolutions are computed after Winograd, and by which tiles. */
#include "winograd-private.h"

#include "convchoice.h"
#include "convparts.h"
#include "convshape.h"
#include "../cpuisa.h"
#include "../onednn/cpudnn.h"

/* In one dimension. Every second pixel of a dilated filter would meet all taps, or none. */
static gboolean
fits_along (gint kernel, gint stride, gint dilation)
{
  return kernel == 1 || (kernel == 3 && (stride == 1 || (stride == 2 && dilation == 1)));
}

static gboolean
fits (const CpuConv *c)
{
  gboolean line = (c->kernel_h == 1) != (c->kernel_w == 1);
  gboolean square = c->kernel_h == 3 && c->kernel_w == 3 && c->stride_h == c->stride_w;
  return (line || square) && fits_along (c->kernel_h, c->stride_h, c->dilation_h) &&
         fits_along (c->kernel_w, c->stride_w, c->dilation_w) && c->groups == 1 && !c->depthwise;
}

/* Costs are products of one pixel, one input and one output channel. */

/* A weight that comes from beyond the second cache takes as long as so many of them: here, where
 * it is fetched ahead, and where convolutions are computed as they are defined. */
#define FAR 20
#define FAR_DEFINITION 64

/* Where products are made in half precision, they take this share of the time. */
#define HALF 0.55

/* Transforming one channel of a tile, and of a line: those of a vector together, whether they fill
 * it or not. */
typedef struct {
  gint size, stride;
  gdouble source, result, line_source, line_result;
} Transform;

static const Transform transforms[] = {
  { 4, 1, 560, 800, 100, 130 },
  { 2, 1, 180, 240, 50, 60 },
  { 4, 2, 1260, 600, 150, 110 },
  { 2, 2, 280, 160, 60, 45 },
};

static gdouble
cost_of_products (gdouble n, gdouble weights, gdouble if_far)
{
  gboolean far = weights * sizeof (gfloat) > (gdouble)cpu_second_cache ();
  return weights * (far ? MAX (n, if_far) : n);
}

static gdouble
cost_of (const CpuWinograd *w, const Transform *t, gint lanes)
{
  const CpuConv *c = &w->conv;
  gboolean line = w->tile.rows == 1 || w->tile.columns == 1;
  gdouble sources = (gdouble)cpu_ceil_div (c->channels, lanes) * lanes;
  gdouble results = (gdouble)cpu_ceil_div (c->out_channels, lanes) * lanes;
  gdouble weights = (gdouble)cpu_winograd_count_filters (w->tile) * c->channels * c->out_channels;
  gdouble each = (gdouble)cpu_winograd_count_terms (w->tile) / cpu_winograd_count_filters (w->tile);
  return cost_of_products (w->n_tiles * each, weights, FAR) +
         w->n_tiles * ((line ? t->line_source : t->source) * sources +
                       (line ? t->line_result : t->result) * results);
}

/* oneDNN's blocks are computed whole, whether channels fill them or not, but for pictures of few.
 */
static gdouble
cost_of_definition (const CpuPlan *plan, const CpuConv *c, gboolean half)
{
  gint block = plan->channels_last || cpu_dnn_is_channels_last () ? 1 : CPU_DNN_BLOCK;
  gint channels = c->channels > block ? cpu_ceil_div (c->channels, block) * block : c->channels;
  gdouble pixels = (gdouble)c->frames * c->out_h * c->out_w;
  gdouble weights = (gdouble)c->kernel_h * c->kernel_w * channels * c->out_channels;
  return cost_of_products (pixels, weights, FAR_DEFINITION) * (half ? HALF : 1);
}

/* Where oneDNN wants blocks of channels, what is around this node lies so, or is converted; at
 * least its result fills them. */
static gboolean
has_layout (CpuPlan *plan, const AxonNode *node, const CpuConv *c, gint lanes)
{
  return plan->channels_last || cpu_dnn_is_channels_last () ||
         cpu_conv_get_block (plan, node, c, lanes) > 0 ||
         cpu_conv_get_result_block (plan, c, lanes) > 0;
}

/* Pixels of a side that tiles have wherever there can be such, faster or not; 0: where they are. */
static gint
wanted_size (const CpuPlan *plan)
{
  return plan->choice == CPU_WINOGRAD_4x4   ? 4
         : plan->choice == CPU_WINOGRAD_2x2 ? 2
                                            : plan->winograd.all;
}

gint
cpu_conv_choose_winograd (CpuPlan *plan, const AxonNode *node, const CpuConv *c)
{
  const CpuWinogradLimits *limits = &plan->winograd;
  gint size = 0, lanes = cpu_isa_get ()->vector->winograd->lanes, all = wanted_size (plan);
  gsize bytes = 0;
  gdouble least =
      all > 0 ? G_MAXDOUBLE : cost_of_definition (plan, c, cpu_conv_takes_halves (plan, node));
  /* plans of tails are made while a frame waits */
  if (!limits->enabled || plan->packed != NULL || !fits (c) || cpu_conv_takes_bf16 (plan, node) ||
      (all == 0 && !has_layout (plan, node, c, lanes)))
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (transforms); i++) {
    const Transform *t = &transforms[i];
    CpuWinograd shape;
    gdouble cost;
    cpu_winograd_init (&shape, c, t->size);
    cost = cost_of (&shape, t, lanes);
    if (t->stride != shape.tile.stride || t->size > limits->most || (all > 0 && t->size != all) ||
        cost >= least || cpu_winograd_weights_size (&shape, lanes) > limits->bytes)
      continue;
    least = cost;
    size = t->size;
    bytes = cpu_winograd_weights_size (&shape, lanes);
  }
  plan->winograd.bytes -= bytes;
  return size;
}
