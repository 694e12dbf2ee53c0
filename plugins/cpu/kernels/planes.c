/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv of floats of few channels to few, as filters of pictures are: ../vector/floatplanes.c. */
#include "convparts.h"
#include "convshape.h"
#include "floatconv-private.h"
#include "floatposts.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#define FARTHEST 4 /* columns from one output to the next */

typedef struct {
  const CpuFloatConvKernels *kernels;
  CpuFloatPlanes planes;
  CpuFloatPosts posts;
  gint *offsets;
  gfloat *weights; /* [row][input channel][column][output channel] */
  gfloat bias[CPU_FLOAT_PLANES];
} Planes;

static void
planes_free (gpointer data)
{
  Planes *self = data;
  g_free (self->offsets);
  g_free (self->weights);
  g_free (self);
}

static void
run_part (gpointer data, gint64 index)
{
  const CpuFloatParts *r = data;
  const Planes *self = r->plan;
  const CpuFloatPlanes *p = &self->planes;
  CpuConvPart part = cpu_conv_get_part (&p->conv, (gint)index);
  self->kernels->planes (p, &r->run, &part,
                         r->scratch + (gsize)cpu_parallel_thread () * p->conv.scratch);
}

static void
run_planes (const CpuStep *step, const CpuInstance *instance)
{
  const Planes *p = step->data;
  CpuFloatParts run = cpu_float_parts_begin (&p->posts, step, instance);
  run.run.weights = p->weights;
  run.run.bias = p->bias;
  cpu_parallel (cpu_conv_count_parts (&p->planes.conv), run_part, &run);
}

static gboolean
fits (const CpuConv *c, gint lanes)
{
  return c->groups == 1 && !c->depthwise && c->channels <= CPU_FLOAT_PLANES &&
         c->out_channels <= CPU_FLOAT_PLANES && c->stride_w <= FARTHEST && c->out_w >= lanes;
}

static void
pack (Planes *self, const AxonNode *node)
{
  const CpuConv *c = &self->planes.conv;
  const gfloat *w = cpu_float_constant (node, 1), *bias = cpu_float_constant (node, 2);
  gfloat *to = self->weights =
      g_new (gfloat, c->out_channels * c->channels * c->kernel_h * c->kernel_w);
  for (gint o = 0; o < c->out_channels && bias != NULL; o++)
    self->bias[o] = bias[o];
  for (gint y = 0; y < c->kernel_h; y++)
    for (gint i = 0; i < c->channels; i++)
      for (gint x = 0; x < c->kernel_w; x++)
        for (gint o = 0; o < c->out_channels; o++)
          *to++ = w[((o * c->channels + i) * c->kernel_h + y) * c->kernel_w + x];
}

/* Where taps of a row are from its first column on. */
static void
place_taps (Planes *self)
{
  CpuFloatPlanes *p = &self->planes;
  const CpuConv *c = &p->conv;
  gint *to = self->offsets = g_new (gint, c->channels * c->kernel_w);
  for (gint i = 0; i < c->channels; i++)
    for (gint k = 0; k < c->kernel_w; k++) {
      gint column = k * c->dilation_w;
      *to++ = (i * c->stride_w + column % c->stride_w) * p->width + column / c->stride_w;
    }
  p->offsets = self->offsets;
}

/* Reads and writes reach up to TOGETHER vectors beyond a row's end. */
static void
cut (CpuFloatPlanes *p, gint lanes, guint threads)
{
  CpuConv *c = &p->conv;
  gint together = lanes * CPU_FLOAT_PLANES_TOGETHER;
  cpu_conv_cut_pixels (c, lanes, threads);
  p->pitch = (gsize)(cpu_ceil_div (c->band_w, together) * together + lanes);
  p->width = (gint)p->pitch + (c->kernel_w - 1) * c->dilation_w / c->stride_w;
  p->row = (gsize)(c->channels * c->stride_w) * (gsize)p->width;
  p->n_taps = c->channels * c->kernel_w;
  p->heads[0] = (gsize)cpu_conv_patch_rows (c) * p->row * sizeof (gfloat);
  p->heads[1] = p->heads[0] + (gsize)c->out_channels * p->pitch * sizeof (gfloat);
  c->scratch = p->heads[1] + (gsize)c->out_channels * p->pitch * sizeof (gfloat);
  c->scratch = (c->scratch + 63) / 64 * 64;
}

/* The result lies as the source does: channels side by side, or (NULL) as planes. */
static CpuMd *
set_destination (CpuFloatPlanes *p, const CpuTensor *x, const AxonValue *y)
{
  CpuConv *c = &p->conv;
  if (x->md != NULL)
    return cpu_md_channels_last (y->type.dtype, &y->type.shape);
  p->y_plane = (gsize)c->out_h * (gsize)c->out_w;
  c->y_pixel = 1;
  c->y_row = (gsize)c->out_w;
  c->y_frame = (gsize)c->out_channels * p->y_plane;
  return NULL;
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuFloatConvKernels *kernels = &cpu_isa_get ()->vector->floats;
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2], *out[2];
  CpuFloatPosts posts;
  CpuFloatPlanes p = { 0 };
  Planes *self;
  if (!cpu_float_conv_has_constants (node) ||
      !cpu_conv_init (&p.conv, node, axon_tensor_get_shape (cpu_node_constant (node, 1))) ||
      !fits (&p.conv, kernels->lanes) || !cpu_float_posts_init (&posts, node) || posts.has_slopes)
    return FALSE;
  cut (&p, kernels->lanes, plan->n_threads);
  if (p.heads[0] > cpu_second_cache ())
    return FALSE;
  in[0] = cpu_conv_has_planes (plan, node) ? cpu_conv_planes (plan, node, &p.conv)
                                           : cpu_conv_source (plan, node, 0, &p.conv);
  md = set_destination (&p, in[0], node->outputs[0]);
  self = g_new (Planes, 1);
  *self = (Planes){ .kernels = kernels, .planes = p, .posts = posts };
  place_taps (self);
  pack (self, node);
  out[0] = cpu_float_destination (plan, node, &posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, self->planes.conv.scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_planes, self, planes_free, "own:planes", in, in[1] != NULL ? 2 : 1,
                     out, 2);
  return TRUE;
}

const CpuKernel cpu_planes_kernels[] = {
  { .name = "Conv", .impl = "own:planes", .build = build_conv },
  { 0 },
};
