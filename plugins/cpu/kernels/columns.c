/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv and ConvTranspose of floats to few output channels, as the last one of networks that make
 * pictures or maps has them: ../vector/floatcolumns.c. */
#include "convparts.h"
#include "convshape.h"
#include "floatconv-private.h"
#include "floatposts.h"
#include "../cpuisa.h"
#include "../cpupages.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <stdlib.h>
#include <string.h>

/* Rows of the result that have the same taps: of a transposed convolution every n-th one. */
typedef struct {
  CpuFloatColumns columns;
  gsize origin; /* element of the output where it begins */
  gint *rows;   /* of the filter: [row of the result][tap] */
  gfloat *weights;
} Layer;

typedef struct {
  const CpuFloatConvKernels *kernels;
  Layer *layers;
  guint n_layers;
  CpuColumnPhase *phases;
  gint n_phases;
  gint n_parts; /* of all layers */
  CpuFloatPosts posts;
  gfloat *bias;  /* a vector, then zeros for the products */
  gsize scratch; /* bytes of a thread */
} Columns;

static void
columns_free (gpointer data)
{
  Columns *self = data;
  for (guint i = 0; i < self->n_layers; i++) {
    free (self->layers[i].weights);
    g_free (self->layers[i].rows);
  }
  g_free (self->layers);
  g_free (self->phases);
  g_free (self->bias);
  g_free (self);
}

static void
run_part (gpointer data, gint64 index)
{
  const CpuFloatParts *r = data;
  const Columns *self = r->plan;
  const Layer *layer = self->layers;
  CpuFloatConvRun run = r->run;
  gint i = (gint)index, n;
  CpuConvPart part;
  for (; i >= (n = cpu_conv_count_parts (&layer->columns.conv)); layer++)
    i -= n;
  part = cpu_conv_get_part (&layer->columns.conv, i);
  run.y += layer->origin;
  run.residual = run.residual ? run.residual + layer->origin : NULL;
  run.weights = layer->weights;
  self->kernels->columns (&layer->columns, &run, &part,
                          r->scratch + (gsize)cpu_parallel_thread () * self->scratch);
}

static void
run_columns (const CpuStep *step, const CpuInstance *instance)
{
  const Columns *p = step->data;
  CpuFloatParts run = cpu_float_parts_begin (&p->posts, step, instance);
  run.run.bias = p->bias;
  cpu_parallel (p->n_parts, run_part, &run);
}

/* Vectors of products a pixel of the result takes: of two kinds of kernel, and what they cost
 * besides. */
#define OF_SUM 2    /* of one product to the others */
#define OF_LAYOUT 2 /* of a vector of the source that lies in blocks */
#define GAIN 0.75   /* that is worth it */

/* @taps: that a pixel of the result has in each dimension, and @wide: columns of the source for one
 * of the result */
static gboolean
is_faster (CpuPlan *plan, const AxonNode *node, const CpuConv *c, const gdouble taps[2],
           gdouble wide, gint lanes)
{
  gdouble run = c->channels * taps[0];
  gdouble definition = run * taps[1] * cpu_ceil_div (c->out_channels, lanes);
  gdouble columns =
      run * wide * cpu_ceil_div (c->out_channels * c->kernel_w, lanes) + OF_SUM * (taps[1] + 1);
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  if (x->md != NULL && cpu_md_get_block (x->md, x->dtype, &x->shape) > 0)
    columns += OF_LAYOUT * wide * cpu_ceil_div (c->channels, lanes) * c->in_h / c->out_h;
  return plan->choice == CPU_COLUMNS || columns < GAIN * definition;
}

/* One row has no bands. */
static gboolean
fits (const CpuConv *c, gint lanes)
{
  return c->groups == 1 && !c->depthwise && c->out_channels < lanes && c->kernel_w > 1 &&
         c->out_h > 1;
}

/* As products have them: [row of the result][column][out][in][tap] (g_free); NULL: there is no
 * memory. */
static gfloat *
turn_weights (const Layer *layer, const CpuFloatWeights *w)
{
  const CpuConv *c = &layer->columns.conv;
  gsize run = (gsize)(c->channels * c->kernel_h);
  gfloat *turned = g_try_new0 (gfloat, (gsize)layer->columns.products.out_channels * run);
  gfloat *to = turned;
  for (gint k = 0; turned != NULL && k < layer->columns.rows * c->kernel_w; k++)
    for (gsize o = 0; o < (gsize)c->out_channels; o++)
      for (gsize i = 0; i < (gsize)c->channels; i++)
        for (gint r = 0; r < c->kernel_h; r++) {
          gint row = layer->rows[k / c->kernel_w * c->kernel_h + r];
          *to++ = w->data[o * w->out + i * w->in + (gsize)(row * c->kernel_w + k % c->kernel_w)];
        }
  return turned;
}

/* FALSE: there is no memory. */
static gboolean
pack_layer (const Columns *self, Layer *layer, const CpuFloatWeights *w)
{
  const CpuConv *c = &layer->columns.conv;
  g_autofree gfloat *turned = turn_weights (layer, w);
  const CpuFloatWeights weights = {
    .data = turned, .out = (gsize)(c->channels * c->kernel_h), .in = (gsize)c->kernel_h, .tap = 1
  };
  if (turned == NULL)
    return FALSE;
  layer->weights = cpu_pages_new (cpu_float_weights_size (&layer->columns.products));
  if (layer->weights == NULL)
    return FALSE;
  cpu_float_weights_pack (&layer->columns.products, &weights, self->kernels, layer->weights);
  return TRUE;
}

/* @bias: nullable */
static void
pack_bias (Columns *self, const gfloat *bias)
{
  const CpuFloatColumns *first = &self->layers[0].columns;
  gint n = first->conv.out_channels, products = first->rows * first->conv.kernel_w * n;
  gfloat *to = self->bias;
  if (bias == NULL)
    return;
  memcpy (to, bias, (gsize)n * sizeof *bias);
  to += self->kernels->lanes;
  for (gint i = 0; first->is_copied && i < products; i++)
    to[i] = bias[i % n];
}

/* FALSE: there is no memory. */
static gboolean
pack (Columns *self, const AxonNode *node, const CpuFloatWeights *w)
{
  self->bias =
      g_try_new0 (gfloat, (gsize)(self->kernels->lanes + self->layers[0].columns.products.padded));
  if (self->bias != NULL)
    pack_bias (self, cpu_float_constant (node, 2));
  for (guint i = 0; i < self->n_layers; i++)
    if (!pack_layer (self, &self->layers[i], w))
      return FALSE;
  return self->bias != NULL;
}

/* With as many layers and phases; NULL: something else follows. */
static Columns *
columns_new (const AxonNode *node, guint n_layers, gint n_phases)
{
  CpuFloatPosts posts;
  Columns *self;
  if (!cpu_float_posts_init (&posts, node) || posts.has_slopes)
    return NULL;
  self = g_new (Columns, 1);
  *self = (Columns){ .kernels = &cpu_isa_get ()->vector->floats,
                     .layers = g_new0 (Layer, n_layers),
                     .n_layers = n_layers,
                     .phases = g_new0 (CpuColumnPhase, n_phases),
                     .n_phases = n_phases,
                     .posts = posts };
  return self;
}

/* Every column of the filter makes a column of the result, and no other one adds to that. */
static gboolean
is_copied (const Columns *self, const CpuConv *c)
{
  for (gint i = 0; i < self->n_phases; i++)
    if (self->phases[i].taps != 1 || self->phases[i].first != 0 || self->phases[i].step != 1 ||
        self->phases[i].column != i)
      return FALSE;
  return c->kernel_w == self->n_phases && c->out_w == c->in_w * self->n_phases;
}

/* Layers and phases are described. */
static void
add_step (CpuPlan *plan, const AxonNode *node, Columns *self, CpuTensor *x,
          const CpuFloatWeights *w)
{
  const AxonValue *y = node->outputs[0];
  CpuTensor *in[2] = { x, NULL }, *out[2];
  g_autoptr (CpuMd) md = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  for (guint i = 0; i < self->n_layers; i++) {
    CpuFloatColumns *c = &self->layers[i].columns;
    c->phases = self->phases;
    c->n_phases = self->n_phases;
    c->rows = MAX (c->rows, 1);
    c->is_copied = is_copied (self, &c->conv);
    cpu_float_columns_setup (c, self->kernels, plan->n_threads);
    self->scratch = MAX (self->scratch, c->conv.scratch);
    self->n_parts += cpu_conv_count_parts (&c->conv);
  }
  plan->lacks_memory |= !pack (self, node, w);
  out[0] = cpu_float_destination (plan, node, &self->posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, self->scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_columns, self, columns_free, "own:columns", in,
                     in[1] != NULL ? 2 : 1, out, 2);
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint lanes = cpu_isa_get ()->vector->floats.lanes;
  CpuFloatWeights weights = { 0 };
  CpuTensor *x;
  Columns *self;
  CpuConv c;
  if (!cpu_float_conv_has_constants (node) ||
      !cpu_conv_init (&c, node, axon_tensor_get_shape (cpu_node_constant (node, 1))) ||
      !fits (&c, lanes) ||
      !is_faster (plan, node, &c, (const gdouble[]){ c.kernel_h, c.kernel_w },
                  (gdouble)c.in_w / c.out_w, lanes) ||
      (self = columns_new (node, 1, 1)) == NULL)
    return FALSE;
  weights.data = cpu_float_constant (node, 1);
  weights.in = (gsize)(c.kernel_h * c.kernel_w);
  weights.out = weights.in * (gsize)c.channels;
  x = cpu_conv_source (plan, node, 0, &c);
  self->layers[0].columns.conv = c;
  self->layers[0].rows = g_new (gint, c.kernel_h);
  for (gint r = 0; r < c.kernel_h; r++)
    self->layers[0].rows[r] = r;
  self->phases[0] = (CpuColumnPhase){ .taps = c.kernel_w,
                                      .first = -c.pad_left,
                                      .step = c.stride_w,
                                      .dilation = c.dilation_w,
                                      .stride = 1 };
  add_step (plan, node, self, x, &weights);
  return TRUE;
}

/* Every phase has taps. */
static gboolean
has_full_phases (const AxonWindow *w)
{
  return w->dilation[1] == 1 && w->dilation[2] == 1 && w->kernel[1] >= w->stride[1] &&
         w->kernel[2] >= w->stride[2] && w->in[1] >= w->stride[1] && w->in[2] >= w->stride[2];
}

static void
set_column_phase (CpuColumnPhase *phase, const CpuConv *whole, const AxonWindow *w, gint first)
{
  CpuConvPhase p = cpu_conv_get_phase (whole, w, 0, first);
  gint kernel_w = (gint)w->kernel[2];
  *phase = (CpuColumnPhase){ .taps = p.conv.kernel_w,
                             .first = -p.conv.pad_left,
                             .step = 1,
                             .dilation = p.conv.dilation_w,
                             .column = p.taps[0] % kernel_w,
                             .stride = p.conv.kernel_w > 1 ? p.taps[1] - p.taps[0] : 0 };
  g_free (p.taps);
}

/* All columns of some rows. */
static void
set_layer (Layer *layer, const CpuConv *whole, const AxonWindow *w, gint first)
{
  CpuConvPhase p = cpu_conv_get_phase (whole, w, first, 0);
  CpuConv *c = &layer->columns.conv;
  gint taps = p.conv.kernel_w, kernel_w = (gint)w->kernel[2];
  *c = p.conv;
  c->kernel_w = kernel_w;
  c->out_w = (gint)w->in[2];
  c->y_pixel = whole->y_pixel;
  layer->origin = p.origin;
  layer->rows = g_new (gint, c->kernel_h);
  for (gint r = 0; r < c->kernel_h; r++)
    layer->rows[r] = p.taps[r * taps] / kernel_w;
  g_free (p.taps);
}

/* TRUE if all rows that a row of the source makes fit into the vectors of one, and no other row of
 * the source adds to them. */
static gboolean
joins_rows (const CpuConv *c, const AxonWindow *w, gint lanes)
{
  gint row = c->kernel_w * c->out_channels;
  return w->kernel[1] == w->stride[1] && w->pad[1] == 0 && w->in[1] == w->out[1] * w->stride[1] &&
         cpu_ceil_div (row * c->kernel_h, lanes) == cpu_ceil_div (row, lanes);
}

static void
join_rows (Layer *layer, const CpuConv *whole, const AxonWindow *w)
{
  gint n = (gint)w->stride[1];
  set_layer (layer, whole, w, 0);
  layer->columns.rows = n;
  layer->columns.row_step = whole->y_row;
  layer->rows = g_renew (gint, layer->rows, n);
  for (gint i = 0; i < n; i++)
    layer->rows[i] = i;
}

/* Weights [I, O/g, k...]. */
static gboolean
build_transposed (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint lanes = cpu_isa_get ()->vector->floats.lanes;
  CpuFloatWeights weights = { 0 };
  gdouble taps[2];
  gboolean joined;
  AxonWindow w;
  CpuTensor *x;
  Columns *self;
  CpuConv c;
  if (!cpu_float_conv_has_constants (node) || !cpu_conv_init_transposed (&c, &w, node, 1) ||
      !has_full_phases (&w))
    return FALSE;
  c.kernel_h = (gint)w.kernel[1];
  c.kernel_w = (gint)w.kernel[2];
  c.out_h = (gint)w.in[1];
  taps[0] = (gdouble)c.kernel_h / (gdouble)w.stride[1];
  taps[1] = (gdouble)c.kernel_w / (gdouble)w.stride[2];
  if (!fits (&c, lanes) || !is_faster (plan, node, &c, taps, 1 / (gdouble)w.stride[2], lanes))
    return FALSE;
  joined = joins_rows (&c, &w, lanes);
  self = columns_new (node, joined ? 1 : (guint)w.stride[1], (gint)w.stride[2]);
  if (self == NULL)
    return FALSE;
  weights.data = cpu_float_constant (node, 1);
  weights.out = (gsize)(c.kernel_h * c.kernel_w);
  weights.in = weights.out * (gsize)c.out_channels;
  x = cpu_conv_source (plan, node, 0, &c);
  if (joined)
    join_rows (&self->layers[0], &c, &w);
  for (guint i = 0; !joined && i < self->n_layers; i++)
    set_layer (&self->layers[i], &c, &w, (gint)i);
  for (gint i = 0; i < self->n_phases; i++)
    set_column_phase (&self->phases[i], &c, &w, i);
  add_step (plan, node, self, x, &weights);
  return TRUE;
}

const CpuKernel cpu_columns_kernels[] = {
  { .name = "Conv", .impl = "own:columns", .build = build_conv },
  { .name = "ConvTranspose", .impl = "own:columns", .build = build_transposed },
  { 0 },
};
