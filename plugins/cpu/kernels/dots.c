/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv of floats to very few output channels from whole vectors of input channels, as heads that
 * score or mask have them: ../vector/floatdots.c. */
#include "convparts.h"
#include "convshape.h"
#include "floatconv-private.h"
#include "floatposts.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <stdlib.h>

typedef struct {
  const CpuFloatConvKernels *kernels;
  CpuConv conv;
  CpuFloatPosts posts;
  gfloat *weights; /* [row][column][vector of input channels][output channel][lane] */
  gfloat *bias;    /* a vector of pixels side by side */
} Dots;

static void
dots_free (gpointer data)
{
  Dots *self = data;
  free (self->weights);
  g_free (self->bias);
  g_free (self);
}

static void
run_part (gpointer data, gint64 index)
{
  const CpuFloatParts *r = data;
  const Dots *self = r->plan;
  const CpuConv *c = &self->conv;
  CpuConvPart part = cpu_conv_get_part (c, (gint)index);
  self->kernels->dots (c, &r->run, &part, r->scratch + (gsize)cpu_parallel_thread () * c->scratch);
}

static void
run_dots (const CpuStep *step, const CpuInstance *instance)
{
  const Dots *p = step->data;
  CpuFloatParts run = cpu_float_parts_begin (&p->posts, step, instance);
  run.run.weights = p->weights;
  run.run.bias = p->bias;
  cpu_parallel (cpu_conv_count_parts (&p->conv), run_part, &run);
}

static gboolean
fits (const CpuConv *c, gint lanes)
{
  return c->groups == 1 && !c->depthwise && c->out_channels <= CPU_FLOAT_DOTS &&
         c->channels % lanes == 0;
}

/* Instructions a pixel of the result takes: products, of which those of other kernels have as many
 * as their vectors hold; the totals; and a vector of the source that lies in blocks. */
#define OF_TOTAL 3
#define OF_LAYOUT 2
#define GAIN 0.75 /* that is worth it */

/* Ours, and by definition or by columns (columns.c), whichever takes less. */
static gboolean
is_faster (CpuPlan *plan, const AxonNode *node, const CpuConv *c, gint lanes)
{
  gdouble vectors = (gdouble)c->channels / lanes, rows = (gdouble)c->channels * c->kernel_h;
  gdouble dots = c->out_channels * (vectors * c->kernel_h * c->kernel_w + OF_TOTAL);
  gdouble columns = rows * cpu_ceil_div (c->out_channels * c->kernel_w, lanes);
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  if (x->md != NULL && cpu_md_get_block (x->md, x->dtype, &x->shape) > 0)
    dots += OF_LAYOUT * vectors * c->in_h * c->in_w / (c->out_h * c->out_w);
  return plan->choice == CPU_DOTS || dots < GAIN * columns;
}

/* FALSE: there is no memory. */
static gboolean
pack (Dots *self, const AxonNode *node)
{
  const CpuConv *c = &self->conv;
  const gfloat *w = cpu_float_constant (node, 1), *bias = cpu_float_constant (node, 2);
  const gint lanes = self->kernels->lanes, outs = c->out_channels;
  const gsize taps = (gsize)(c->kernel_h * c->kernel_w), n = taps * (gsize)(outs * c->channels);
  gpointer memory = NULL;
  gfloat *to;
  self->bias = g_new0 (gfloat, lanes);
  for (gint i = 0; bias != NULL && i < lanes / outs * outs; i++)
    self->bias[i] = bias[i % outs];
  if (posix_memalign (&memory, 64, n * sizeof *to) != 0)
    return FALSE;
  self->weights = to = memory;
  for (gsize tap = 0; tap < taps; tap++)
    for (gint v = 0; v < c->channels; v += lanes)
      for (gint o = 0; o < outs; o++)
        for (gint i = v; i < v + lanes; i++)
          *to++ = w[(gsize)(o * c->channels + i) * taps + tap];
  return TRUE;
}

static void
cut (CpuConv *c, gint lanes, guint threads)
{
  cpu_conv_cut_pixels (c, lanes, threads);
  c->scratch = (gsize)(c->band_w * c->out_channels + 2 * lanes) * sizeof (gfloat);
  c->scratch = (c->scratch + 63) / 64 * 64;
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonValue *value = node->outputs[0];
  const CpuFloatConvKernels *kernels = &cpu_isa_get ()->vector->floats;
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2], *out[2];
  CpuFloatPosts posts;
  CpuConv c;
  Dots *self;
  if (!cpu_float_conv_has_constants (node) ||
      !cpu_conv_init (&c, node, axon_tensor_get_shape (cpu_node_constant (node, 1))) ||
      !fits (&c, kernels->lanes) || !is_faster (plan, node, &c, kernels->lanes) ||
      !cpu_float_posts_init (&posts, node) || posts.has_slopes)
    return FALSE;
  self = g_new0 (Dots, 1);
  in[0] = cpu_conv_source (plan, node, 0, &c);
  cpu_conv_flatten (&c);
  cut (&c, kernels->lanes, plan->n_threads);
  *self = (Dots){ .kernels = kernels, .conv = c, .posts = posts };
  plan->lacks_memory |= !pack (self, node);
  md = cpu_md_channels_last (value->type.dtype, &value->type.shape);
  out[0] = cpu_float_destination (plan, node, &posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, c.scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_dots, self, dots_free, "own:dots", in, in[1] != NULL ? 2 : 1, out,
                     2);
  return TRUE;
}

const CpuKernel cpu_dots_kernels[] = {
  { .name = "Conv", .impl = "own:dots", .build = build_conv },
  { 0 },
};
