/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv of floats by 3x3 filters after Winograd, with all that was fused: docs/design/winograd.md */
#include "convparts.h"
#include "convshape.h"
#include "floatposts.h"
#include "winograd-private.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <sys/mman.h>

#define HUGE_PAGE (2 * 1024 * 1024)

typedef struct {
  const CpuWinogradKernels *kernels;
  CpuWinogradCut cut;
  CpuFloatPosts posts;
  gfloat *memory; /* weights, bias, slopes */
  gfloat *bias, *slopes;
} Winograd;

static void
winograd_free (gpointer data)
{
  Winograd *self = data;
  g_aligned_free (self->memory);
  g_free (self);
}

/* Of one run. */
typedef struct {
  const Winograd *plan;
  CpuFloatConvRun run;
  guint8 *scratch;
} Run;

static gfloat *
floats_at (const Run *r, gsize n_bytes)
{
  return (gfloat *)(gpointer)(r->scratch + n_bytes);
}

static void
run_block (gpointer data, gint64 index)
{
  const Run *r = data;
  const CpuWinogradKernels *k = r->plan->kernels;
  const CpuWinogradCut *cut = &r->plan->cut;
  const CpuWinograd *w = &cut->shape;
  gsize own = cpu_parallel_thread () * (cut->source + cut->products);
  CpuWinogradPart part = { (gint)index * w->block, MIN (((gint)index + 1) * w->block, w->n_tiles),
                           0, w->conv.n_panels };
  k->source (w, r->run.x, part.tile0, part.tile1, floats_at (r, own));
  k->result (w, &r->run, &part, floats_at (r, own), floats_at (r, own + cut->source));
}

static void
run_range (gpointer data, gint64 index)
{
  const Run *r = data;
  const CpuWinogradCut *cut = &r->plan->cut;
  gint64 n = cut->shape.n_tiles, first = n * index / cut->n_ranges;
  r->plan->kernels->source (&cut->shape, r->run.x, (gint)first,
                            (gint)(n * (index + 1) / cut->n_ranges),
                            floats_at (r, 0) + (gsize)first * cut->shape.source_tile);
}

static void
run_share (gpointer data, gint64 index)
{
  const Run *r = data;
  const CpuWinogradCut *cut = &r->plan->cut;
  const CpuWinograd *w = &cut->shape;
  CpuWinogradPart part = { 0, w->n_tiles, (gint)index * w->panels,
                           MIN (((gint)index + 1) * w->panels, w->conv.n_panels) };
  r->plan->kernels->result (w, &r->run, &part, floats_at (r, 0),
                            floats_at (r, cut->source + cpu_parallel_thread () * cut->products));
}

static void
run_winograd (const CpuStep *step, const CpuInstance *instance)
{
  const Winograd *p = step->data;
  Run r = { .plan = p,
            .run = { .x = cpu_tensor_data (instance, step->in[0]),
                     .y = cpu_tensor_data (instance, step->out[0]),
                     .residual = step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL,
                     .weights = p->memory,
                     .bias = p->bias,
                     .slopes = p->slopes,
                     .slopes_last = p->posts.slopes_last,
                     .before = p->posts.before,
                     .after = p->posts.after },
            .scratch = cpu_tensor_data (instance, step->out[1]) };
  if (p->cut.n_ranges == 0) {
    cpu_parallel (p->cut.n_blocks, run_block, &r);
    return;
  }
  cpu_parallel (p->cut.n_ranges, run_range, &r);
  cpu_parallel (p->cut.n_shares, run_share, &r);
}

/* Many weights are read once in a run, page by page. */
static gpointer
large_memory (gsize n_bytes)
{
  gpointer memory;
#ifdef MADV_HUGEPAGE
  if (n_bytes >= 2 * HUGE_PAGE) {
    memory = g_aligned_alloc (n_bytes, 1, HUGE_PAGE);
    madvise (memory, n_bytes, MADV_HUGEPAGE);
    return memory;
  }
#endif
  memory = g_aligned_alloc (n_bytes, 1, 64);
  return memory;
}

static void
pack (Winograd *self, const AxonNode *node)
{
  const gfloat *bias = cpu_float_constant (node, 2);
  const CpuWinograd *w = &self->cut.shape;
  gsize array = (gsize)w->conv.padded;
  gsize weights = cpu_winograd_weights_size (w->conv.channels, w->conv.out_channels, w->size,
                                             self->kernels->lanes) /
                  sizeof (gfloat);
  self->memory = large_memory ((weights + 2 * array) * sizeof (gfloat));
  cpu_winograd_weights_pack (w, cpu_float_constant (node, 1), self->kernels, self->memory);
  self->bias = self->memory + weights;
  memset (self->bias, 0, array * sizeof (gfloat));
  if (bias != NULL)
    cpu_float_array_pack (&w->conv, bias, self->bias);
  if (self->posts.has_slopes) {
    self->slopes = self->bias + array;
    cpu_float_array_pack (&w->conv, cpu_float_constant (node, CPU_CONV_SLOPES), self->slopes);
  }
}

/* Blocks of as many channels as a vector has are read and written as they are; everything else
 * channels last. (free *@md) */
static CpuTensor *
choose_layout (CpuPlan *plan, const AxonNode *node, CpuWinograd *w, gint lanes, CpuMd **md)
{
  CpuTensor *x = cpu_plan_input (plan, node, 0);
  const AxonShape *y = &node->outputs[0]->type.shape;
  CpuConv *c = &w->conv;
  gsize lane = (gsize)lanes;
  w->x_vector = w->y_vector = lane;
  if (x->md == NULL || cpu_md_get_block (x->md, x->dtype, &x->shape) != lanes ||
      c->channels % lanes != 0 || c->out_channels % lanes != 0) {
    *md = cpu_md_channels_last (AXON_DTYPE_F32, y);
    return cpu_conv_source (plan, node, 0, c);
  }
  c->x_pixel = c->y_pixel = lane;
  c->x_row = lane * (gsize)c->in_w;
  c->y_row = lane * (gsize)c->out_w;
  w->x_vector = c->x_row * (gsize)c->in_h;
  w->y_vector = c->y_row * (gsize)c->out_h;
  c->x_frame = w->x_vector * (gsize)(c->channels / lanes);
  c->y_frame = w->y_vector * (gsize)(c->out_channels / lanes);
  *md = cpu_md_channel_blocks (AXON_DTYPE_F32, y, lanes);
  return x;
}

static void
add_step (CpuPlan *plan, const AxonNode *node, Winograd *self)
{
  g_autoptr (CpuMd) md = NULL;
  CpuWinograd *w = &self->cut.shape;
  CpuTensor *in[2] = { choose_layout (plan, node, w, self->kernels->lanes, &md), NULL }, *out[2];
  cpu_winograd_setup (&self->cut, self->kernels, plan->n_threads);
  pack (self, node);
  out[0] = cpu_float_destination (plan, node, &self->posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, self->cut.scratch);
  cpu_plan_add_step (plan, run_winograd, self, winograd_free,
                     w->size == 4 ? "own:winograd-4x4" : "own:winograd-2x2", in,
                     in[1] != NULL ? 2 : 1, out, 2);
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *w = cpu_node_constant (node, 1);
  Winograd *self;
  CpuConv conv;
  gint size;
  if (!cpu_float_conv_has_constants (node) ||
      !cpu_conv_init (&conv, node, axon_tensor_get_shape (w)) ||
      (size = cpu_conv_choose_winograd (plan, node, &conv)) == 0)
    return FALSE;
  self = g_new0 (Winograd, 1);
  self->kernels = cpu_isa_get ()->vector->winograd;
  self->cut.shape.conv = conv;
  self->cut.shape.size = size;
  if (!cpu_float_posts_init (&self->posts, node)) {
    g_free (self);
    return FALSE;
  }
  add_step (plan, node, self);
  return TRUE;
}

const CpuKernel cpu_winograd_kernels[] = {
  { .name = "Conv", .impl = "winograd", .build = build_conv },
  { 0 },
};
