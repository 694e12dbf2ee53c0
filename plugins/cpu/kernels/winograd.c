/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv of floats by filters of 3x3 and of 3 in a line after Winograd, with all that was fused:
 * docs/design/winograd.md */
#include "convparts.h"
#include "convshape.h"
#include "floatposts.h"
#include "winograd-private.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../cpulater.h"
#include "../cpupages.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <stdlib.h>

typedef struct {
  const CpuWinogradKernels *kernels;
  CpuWinogradCut cut;
  CpuFloatPosts posts;
  const AxonNode *node; /* while it is built */
  gfloat *memory;       /* weights, bias, slopes */
  gfloat *bias, *slopes;
} Winograd;

static void
winograd_free (gpointer data)
{
  Winograd *self = data;
  free (self->memory);
  g_free (self);
}

static void
run_source (gpointer data, gint64 index)
{
  cpu_winograd_run_part (data, 0, (gint)index, cpu_parallel_thread ());
}

static void
run_result (gpointer data, gint64 index)
{
  cpu_winograd_run_part (data, 1, (gint)index, cpu_parallel_thread ());
}

static void
run_winograd (const CpuStep *step, const CpuInstance *instance)
{
  const Winograd *p = step->data;
  CpuWinogradRun r = { .cut = &p->cut,
                       .kernels = p->kernels,
                       .run = cpu_float_run_begin (&p->posts, step, instance),
                       .scratch = cpu_tensor_data (instance, step->out[1]) };
  r.run.weights = p->memory;
  r.run.bias = p->bias;
  r.run.slopes = p->slopes;
  cpu_parallel (cpu_winograd_count_parts (&p->cut, 0), run_source, &r);
  if (p->cut.n_ranges > 0)
    cpu_parallel (cpu_winograd_count_parts (&p->cut, 1), run_result, &r);
}

/* FALSE: there is no memory. */
static gboolean
pack (gpointer data)
{
  Winograd *self = data;
  const AxonNode *node = self->node;
  const gfloat *bias = cpu_float_constant (node, 2);
  const CpuWinograd *w = &self->cut.shape;
  gsize array = (gsize)w->conv.padded;
  gsize weights = cpu_winograd_weights_size (w, self->kernels->lanes) / sizeof (gfloat);
  self->memory = cpu_pages_new ((weights + 2 * array) * sizeof (gfloat));
  if (self->memory == NULL)
    return FALSE;
  cpu_winograd_weights_pack (w, cpu_float_constant (node, 1), self->kernels, self->memory);
  self->bias = self->memory + weights;
  memset (self->bias, 0, array * sizeof (gfloat));
  if (bias != NULL)
    cpu_float_array_pack (&w->conv, bias, 0, self->bias);
  if (self->posts.has_slopes) {
    self->slopes = self->bias + array;
    cpu_float_array_pack (&w->conv, cpu_float_constant (node, CPU_CONV_SLOPES), 0, self->slopes);
  }
  return TRUE;
}

/* Blocks of channels are read and written as they are, or only written, where those of the source
 * would not be full; everything else channels last. (free *@md) */
static CpuTensor *
choose_layout (CpuPlan *plan, const AxonNode *node, CpuConv *c, gint lanes, CpuMd **md)
{
  gint block = cpu_conv_get_block (plan, node, c, lanes);
  if (block > 0)
    return cpu_conv_blocks (plan, node, c, block, md);
  block = cpu_conv_get_result_block (plan, c, lanes);
  *md = block > 0 ? cpu_conv_result_blocks (node, c, block)
                  : cpu_md_channels_last (AXON_DTYPE_F32, &node->outputs[0]->type.shape);
  return cpu_conv_source (plan, node, 0, c);
}

#define NAME(rows, columns, stride)                                                                \
  [stride][rows][columns] = "own:winograd-" #rows "x" #columns OF_STRIDE_##stride,
#define OF_STRIDE_1 ""
#define OF_STRIDE_2 "-stride2"

static const gchar *const names CPU_WINOGRAD_TABLE = { CPU_WINOGRAD_TILES (NAME) };

static void
add_step (CpuPlan *plan, const AxonNode *node, Winograd *self)
{
  g_autoptr (CpuMd) md = NULL;
  CpuWinograd *w = &self->cut.shape;
  CpuTensor *in[2] = { choose_layout (plan, node, &w->conv, self->kernels->lanes, &md), NULL },
            *out[2];
  cpu_winograd_setup (&self->cut, self->kernels, plan->n_threads);
  self->node = node;
  out[0] = cpu_float_destination (plan, node, &self->posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, self->cut.scratch);
  cpu_plan_add_step (plan, run_winograd, self, winograd_free,
                     names[w->tile.stride][w->tile.rows][w->tile.columns], in,
                     in[1] != NULL ? 2 : 1, out, 2);
  cpu_later_add (plan->later, pack, self);
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
  cpu_winograd_init (&self->cut.shape, &conv, size);
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
