/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv and ConvTranspose of floats by our own kernels, channels last or in blocks of channels, with
 * all that was fused. */
#include "convchoice.h"
#include "convfinish.h"
#include "convparts.h"
#include "convshape.h"
#include "floatlayers.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../cpulater.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Of one run. */
typedef struct {
  const CpuFloatLayers *plan;
  const gfloat *x, *residual;
  gfloat *y;
  guint8 *scratch;
} Run;

static CpuFloatConvFunc
kernel_of (const CpuFloatLayers *self, const CpuConv *c)
{
  return c->depthwise ? self->kernels->depthwise
         : c->spread  ? self->kernels->grouped
                      : self->kernels->dense;
}

static void
run_part (gpointer data, gint64 index)
{
  const Run *r = data;
  const CpuFloatLayers *p = r->plan;
  const CpuFloatLayer *layer = p->layers;
  gint i = (gint)index, n;
  CpuConvPart part;
  CpuFloatConvRun run = { .x = r->x,
                          .bias = p->bias,
                          .slopes = p->slopes,
                          .slopes_last = p->posts.slopes_last,
                          .before = p->posts.before,
                          .after = p->posts.after };
  for (; i >= (n = cpu_conv_count_parts (&layer->conv)); layer++)
    i -= n;
  part = cpu_conv_get_part (&layer->conv, i);
  run.y = r->y + layer->origin;
  run.residual = r->residual ? r->residual + layer->origin : NULL;
  run.weights = layer->weights;
  run.factors = layer->factors;
  if (layer->pixels > 0)
    run.wide = (CpuFloatWide){ &layer->wide, layer->pixels, layer->wide_weights, p->wide_bias,
                               p->wide_slopes };
  kernel_of (p, &layer->conv) (&layer->conv, &run, &part,
                               r->scratch + (gsize)cpu_parallel_thread () * p->scratch);
}

static void
run_float_conv (const CpuStep *step, const CpuInstance *instance)
{
  const CpuFloatLayers *p = step->data;
  Run run = { p, cpu_tensor_data (instance, step->in[0]),
              step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL,
              cpu_tensor_data (instance, step->out[0]), cpu_tensor_data (instance, step->out[1]) };
  cpu_parallel (p->n_parts, run_part, &run);
}

static const gchar *
name_of (const CpuFloatLayers *self)
{
  if (self->kernels->is_half)
    return "own:dense-f16";
  if (self->layers[0].conv.depthwise)
    return "own:depthwise";
  return self->layers[0].conv.spread ? "own:grouped" : "own:dense";
}

/* @residual: nullable. */
static void
add_step_to (CpuPlan *plan, CpuFloatLayers *self, CpuTensor *x, CpuTensor *residual, CpuTensor *y)
{
  CpuTensor *in[2] = { x, residual }, *out[2] = { y, NULL };
  plan->lacks_memory |= self->lacks_memory;
  out[1] = cpu_plan_scratch_bytes (plan, self->scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_float_conv, self, cpu_float_layers_free, name_of (self), in,
                     residual != NULL ? 2 : 1, out, 2);
}

/* The result lies as @md says. */
static void
add_step_as (CpuPlan *plan, const AxonNode *node, CpuFloatLayers *self, CpuTensor *x,
             const CpuMd *md)
{
  CpuTensor *residual, *y = cpu_float_destination (plan, node, &self->posts, md, &residual);
  add_step_to (plan, self, x, residual, y);
}

/* Where groups are near then, blocks of channels are taken as they are; so is one pixel if it lies
 * in them. (free *@md) */
static CpuTensor *
choose_source (CpuPlan *plan, const AxonNode *node, CpuConv *c, gint lanes, CpuMd **md)
{
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  gboolean one = c->in_h * c->in_w == 1 && cpu_md_get_block (x->md, x->dtype, &x->shape) > 0;
  gint block = c->groups > 1 || c->depthwise || one ? cpu_conv_get_block (plan, node, c, lanes) : 0;
  if (block > 0)
    return cpu_conv_blocks (plan, node, c, block, md);
  *md = cpu_md_channels_last (AXON_DTYPE_F32, &node->outputs[0]->type.shape);
  return cpu_conv_has_planes (plan, node) ? cpu_conv_planes (plan, node, c)
                                          : cpu_conv_source (plan, node, 0, c);
}

static void
add_step (CpuPlan *plan, const AxonNode *node, CpuFloatLayers *self, CpuTensor *x)
{
  const AxonValue *value = node->outputs[0];
  g_autoptr (CpuMd) md = cpu_md_channels_last (value->type.dtype, &value->type.shape);
  add_step_as (plan, node, self, x, md);
}

static gboolean
is_ready (const CpuPlan *plan, const AxonNode *node)
{
  return cpu_conv_is_own (plan, node) && cpu_float_conv_has_constants (node);
}

/* NULL: something is fused into @node that the kernels do not know. */
static CpuFloatLayers *
layers_new_for (const CpuPlan *plan, const AxonNode *node)
{
  const CpuVector *vector = cpu_isa_get ()->vector;
  CpuFloatLayers *self =
      cpu_float_layers_new (cpu_conv_takes_halves (plan, node) ? vector->halves : &vector->floats);
  self->given_bias = cpu_float_constant (node, 2);
  self->given_slopes = cpu_float_constant (node, CPU_CONV_SLOPES);
  if (cpu_float_posts_init (&self->posts, node))
    return self;
  cpu_float_layers_free (self);
  return NULL;
}

static gboolean
pack_layer_given (gpointer data)
{
  CpuFloatLayers *self = data;
  cpu_float_layers_pack (self, &self->given);
  return !self->lacks_memory;
}

gboolean
cpu_float_product_build (CpuPlan *plan, const AxonNode *node, const CpuConv *conv,
                         const CpuFloatWeights *weights)
{
  CpuFloatLayers *self = layers_new_for (plan, node);
  if (self == NULL)
    return FALSE;
  cpu_float_layers_add (self, conv, weights, plan->n_threads);
  add_step_as (plan, node, self, cpu_plan_input_as (plan, node, 0, NULL), NULL);
  cpu_later_add (plan->later, pack_layer_given, self);
  return TRUE;
}

void
cpu_float_product_add (CpuPlan *plan, CpuTensor *x, const CpuConv *conv,
                       const CpuFloatWeights *weights, const gfloat *bias, CpuTensor *y)
{
  CpuFloatLayers *self = cpu_float_layers_new (&cpu_isa_get ()->vector->floats);
  self->given_bias = bias;
  cpu_float_layers_add (self, conv, weights, plan->n_threads);
  cpu_float_layers_pack (self, weights); /* which the caller may not keep */
  add_step_to (plan, self, x, NULL, y);
}

/* What takes long is a pass over blocks of channels: what a tile has of it does not fill the
 * processor. */
static gboolean
is_finished_apart (const CpuFloatLayers *self, const AxonNode *node)
{
  const CpuConv *c = &self->layers[0].conv;
  return c->depthwise && c->block > 0 && cpu_conv_is_finished_apart (node);
}

static void
add_step_and_pass (CpuPlan *plan, const AxonNode *node, CpuFloatLayers *self, CpuTensor *x,
                   const CpuMd *md)
{
  CpuTensor *y = cpu_plan_output (plan, node, 0, md);
  self->posts = (CpuFloatPosts){ 0 };
  add_step_to (plan, self, x, NULL, y);
  cpu_finish_conv (plan, node, y);
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *w = cpu_node_constant (node, 1);
  CpuFloatWeights weights = { .tap = 1 };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *x;
  CpuFloatLayers *self;
  CpuConv conv;
  if (!is_ready (plan, node) || !cpu_conv_init (&conv, node, axon_tensor_get_shape (w)) ||
      (self = layers_new_for (plan, node)) == NULL)
    return FALSE;
  weights.data = axon_tensor_get_data (w);
  weights.in = (gsize)(conv.kernel_h * conv.kernel_w);
  weights.out = weights.in * (gsize)axon_tensor_get_dim (w, 1);
  x = choose_source (plan, node, &conv, self->kernels->lanes, &md);
  cpu_float_conv_spread (&conv, self->kernels);
  cpu_float_layers_add (self, &conv, &weights, plan->n_threads);
  if (is_finished_apart (self, node))
    add_step_and_pass (plan, node, self, x, md);
  else
    add_step_as (plan, node, self, x, md);
  cpu_later_add (plan->later, pack_layer_given, self);
  return TRUE;
}

/* How many pixels side by side each pixel of the source makes, to which no other one adds: their
 * channels are computed as those of one. */
static gint
count_joined (const CpuConv *whole, const AxonWindow *w)
{
  gboolean alone = w->kernel[2] == w->stride[2] && w->dilation[2] == 1 && w->pad[2] == 0 &&
                   w->in[2] == w->out[2] * w->stride[2];
  return alone && whole->groups == 1 && !whole->depthwise ? (gint)w->kernel[2] : 1;
}

static void
add_phases (CpuFloatLayers *self, const CpuConv *whole, const AxonWindow *window,
            const CpuFloatWeights *all, guint threads)
{
  g_autofree CpuFloatWeights *weights = NULL;
  gint rows, columns, joined = count_joined (whole, window);
  cpu_conv_count_phases (window, &rows, &columns);
  columns = joined > 1 ? 1 : columns;
  self->n_layers = (guint)(rows * columns);
  self->layers = g_new0 (CpuFloatLayer, self->n_layers);
  weights = g_new (CpuFloatWeights, self->n_layers);
  for (guint i = 0; i < self->n_layers; i++) {
    CpuConvPhase phase = cpu_conv_get_phase (whole, window, (gint)i / columns, (gint)i % columns);
    self->layers[i].conv = phase.conv;
    self->layers[i].origin = phase.origin;
    weights[i] = *all;
    weights[i].taps = phase.taps;
    if (joined > 1) {
      weights[i].period = (gsize)whole->out_channels;
      weights[i].again = 1;
      self->layers[i].conv.out_channels *= joined;
    }
  }
  cpu_float_layers_setup (self, threads);
  cpu_float_layers_pack (self, weights);
  for (guint i = 0; i < self->n_layers; i++)
    g_free ((gpointer)weights[i].taps);
}

/* Weights [I, O/g, k...]. */
static gboolean
build_transposed (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTensor *w = cpu_node_constant (node, 1);
  CpuFloatWeights weights = { .tap = 1 };
  gsize outs, channels;
  AxonWindow window;
  CpuFloatLayers *self;
  CpuTensor *x;
  CpuConv conv;
  if (!is_ready (plan, node) || !cpu_conv_init_transposed (&conv, &window, node, 1) ||
      (self = layers_new_for (plan, node)) == NULL)
    return FALSE;
  outs = (gsize)axon_tensor_get_dim (w, 1);
  channels = (gsize)(node->inputs[0]->type.shape.dims[1] / axon_node_get_int (node, "group"));
  weights.data = axon_tensor_get_data (w);
  weights.out = (gsize)(window.kernel[1] * window.kernel[2]);
  weights.in = weights.out * outs;
  weights.per_group = outs;
  weights.group = weights.in * channels - weights.in;
  x = cpu_conv_source (plan, node, 0, &conv);
  add_phases (self, &conv, &window, &weights, plan->n_threads);
  add_step (plan, node, self, x);
  return TRUE;
}

const CpuKernel cpu_float_conv_kernels[] = {
  { .name = "Conv", .impl = "own", .build = build_conv },
  { .name = "ConvTranspose", .impl = "own", .build = build_transposed },
  { 0 },
};
