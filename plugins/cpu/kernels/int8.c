/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan of a product of bytes, and its run. */
#include "int8.h"
#include "../cpuisa.h"
#include "../onednn/cpudnn.h"

#include <omp.h>
#include <string.h>

#define DENSE_PATCH (64 * 1024)      /* bytes of the source that a part lays out: well inside L2 */
#define DEPTHWISE_PATCH (128 * 1024) /* of a strip of channels */
#define SMALL 100000                 /* products that are not worth a second thread */
#define PARTS_PER_THREAD 3

typedef struct {
  CpuInt8Conv conv;
  guint8 *weights;
  gint32 *bias, *sums; /* of the weights: what the zero point is multiplied by */
  gfloat *scale, *shift;
  gint32 x_zero;
  gsize n; /* elements of the arrays */
} Layer;

struct _CpuInt8Step {
  const CpuInt8Kernels *kernels;
  Layer *layers;
  guint n_layers;
  CpuInt8Runtime runtime;
  gsize scratch; /* bytes of a thread */
  gsize arrays;  /* bytes at the start of the scratch: bias and scale of this run */
};

static void
step_free (gpointer data)
{
  CpuInt8Step *self = data;
  for (guint i = 0; i < self->n_layers; i++) {
    g_aligned_free (self->layers[i].weights);
    g_aligned_free (self->layers[i].bias);
    g_aligned_free (self->layers[i].scale);
    g_aligned_free (self->layers[i].shift);
    g_free (self->layers[i].sums);
  }
  g_free (self->layers);
  g_free (self);
}

static gint32
weight_zero (const CpuInt8Weights *w, gsize o)
{
  return w->n_zero == 0 ? 0 : w->zero[w->n_zero > 1 ? o : 0];
}

/* Weight less its zero point; @tap is row * kernel_w + column. */
static gint32
weight_at (const CpuInt8Weights *w, gsize o, gsize i, gint tap)
{
  gint t = w->taps ? w->taps[tap] : tap;
  const guint8 *at = w->data + o * w->out + i * w->in + (gsize)t * w->tap;
  return (w->is_signed ? (gint32)(gint8)*at : (gint32)*at) - weight_zero (w, o);
}

static gboolean
fits_s8 (const CpuInt8Spec *spec)
{
  const CpuInt8Conv *c = &spec->conv;
  for (gsize o = 0; o < (gsize)(c->groups * c->out_channels); o++)
    for (gsize i = 0; i < (gsize)c->channels; i++)
      for (gint t = 0; t < c->kernel_h * c->kernel_w; t++) {
        gint32 v = weight_at (&spec->weights, o, i, t);
        if (v < -128 || v > 127)
          return FALSE;
      }
  return TRUE;
}

/* A product of one pixel each is one long row. */
static void
flatten (CpuInt8Conv *c)
{
  if (c->kernel_h * c->kernel_w > 1 || c->stride_h > 1 || c->stride_w > 1 || c->in_h != c->out_h ||
      c->in_w != c->out_w || c->depthwise)
    return;
  if (c->x_row == (gsize)c->in_w * c->x_pixel && c->y_row == (gsize)c->out_w * c->y_pixel) {
    c->in_w = c->out_w = c->in_w * c->in_h;
    c->in_h = c->out_h = 1;
  }
  if (c->in_h == 1 && c->x_frame == (gsize)c->in_w * c->x_pixel &&
      c->y_frame == (gsize)c->out_w * c->y_pixel) {
    c->in_w = c->out_w = c->in_w * c->frames;
    c->frames = 1;
  }
}

/* TRUE if tiles may read the source where it lies: no padding, no conversion, whole words. */
static gboolean
reads_directly (const CpuInt8Conv *c, gint run)
{
  return !c->pairs && !c->is_signed && run % 4 == 0 && c->pad_top == 0 && c->pad_left == 0 &&
         (c->kernel_w == 1 || c->dilation_w > 1 || c->x_pixel == (gsize)c->channels) &&
         (c->out_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h < c->in_h &&
         (c->out_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w < c->in_w;
}

static gint
ceil_div (gint a, gint b)
{
  return (a + b - 1) / b;
}

static gint
count_parts (const CpuInt8Conv *c)
{
  return c->frames * c->groups * ceil_div (c->out_h, c->band_h) * ceil_div (c->out_w, c->band_w) *
         ceil_div (c->n_panels, c->panels);
}

static gsize
patch_columns (const CpuInt8Conv *c)
{
  return (gsize)((c->band_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w + 1);
}

static gsize
patch_rows (const CpuInt8Conv *c)
{
  gint last = c->depthwise ? (c->kernel_h - 1) / 2 * 2 : c->kernel_h - 1;
  return (gsize)((c->band_h - 1) * c->stride_h + last * c->dilation_h + 1);
}

/* Bands that keep what a part reads near, and give every thread several parts. */
static void
cut (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  gsize pixel = c->depthwise ? (gsize)k->lanes * 8 : (gsize)c->channels * (c->pairs ? 2 : 1);
  gint budget = c->depthwise ? DEPTHWISE_PATCH : DENSE_PATCH, wanted, row;
  gdouble products = (gdouble)c->frames * c->groups * c->out_h * c->out_w * c->kernel_h *
                     c->kernel_w * c->channels * c->out_channels;
  c->band_h = c->out_h;
  c->band_w = c->out_w;
  c->panels = c->n_panels;
  if (c->out_h == 1) {
    c->band_w = CLAMP (budget / (gint)(pixel * (gsize)c->stride_w), 2 * k->pixels, c->out_w);
  } else {
    row = (gint)MIN (patch_columns (c) * pixel * (gsize)c->stride_h, G_MAXINT);
    c->band_h = CLAMP (budget / row, 1, c->out_h);
  }
  wanted = threads > 1 && products > SMALL ? (gint)threads * PARTS_PER_THREAD : 1;
  while (count_parts (c) < wanted && (c->band_h > 1 || c->band_w > 2 * k->pixels)) {
    gint *band = c->out_h > 1 && c->band_h > 1 ? &c->band_h : &c->band_w;
    if (band == &c->band_w && c->out_h > 1)
      break;
    *band = ceil_div (*band, 2);
  }
  c->band_h = ceil_div (c->out_h, ceil_div (c->out_h, c->band_h));
  c->band_w = ceil_div (c->out_w, ceil_div (c->out_w, c->band_w));
  while (count_parts (c) < wanted && c->panels > 2)
    c->panels = ceil_div (c->panels, 4) * 2; /* half, in twos */
}

static void
setup (CpuInt8Conv *c, const CpuInt8Kernels *k, guint threads)
{
  gint run = c->channels * c->kernel_w, vectors = c->depthwise ? 2 * k->lanes : k->lanes;
  gboolean by_rows = c->kernel_w == 1 || c->dilation_w == 1;
  gint width = c->depthwise ? c->channels : c->out_channels;
  gsize patch;
  flatten (c);
  if (!by_rows)
    run = c->channels;
  c->n_taps = by_rows ? c->kernel_h : c->kernel_h * c->kernel_w;
  c->n_groups = ceil_div (run * (c->pairs ? 2 : 1), 4);
  c->direct = !c->depthwise && reads_directly (c, run);
  c->padded = ceil_div (width, vectors) * vectors;
  c->n_panels = c->padded / k->lanes;
  cut (c, k, threads);
  patch = patch_rows (c) * patch_columns (c) *
          (c->depthwise ? (gsize)k->lanes * 8 : (gsize)c->channels * (c->pairs ? 2 : 1));
  /* the list of taps; the last word of a run may reach beyond */
  c->scratch = ((gsize)c->n_taps * 4 + 127) / 64 * 64 + (c->direct ? 0 : (patch + 191) / 64 * 64);
}

/* One output channel of a dense layer: word by word, @step bytes apart. */
static void
pack_channel (const CpuInt8Spec *spec, gsize o, guint8 *to, gsize step)
{
  const CpuInt8Conv *c = &spec->conv;
  gboolean by_rows = c->n_taps == c->kernel_h;
  gint run = by_rows ? c->channels * c->kernel_w : c->channels, each = c->pairs ? 2 : 4;
  for (gint t = 0; t < c->n_taps; t++)
    for (gint m = 0; m < c->n_groups; m++, to += step)
      for (gint e = 0; e < each && m * each + e < run; e++) {
        gint at = m * each + e, tap = by_rows ? t * c->kernel_w + at / c->channels : t;
        gint32 v = weight_at (&spec->weights, o, (gsize)(at % c->channels), tap);
        if (c->pairs)
          ((gint16 *)(gpointer)to)[e] = (gint16)v;
        else
          to[e] = (guint8)v;
      }
}

static void
pack_dense (const CpuInt8Spec *spec, const CpuInt8Kernels *k, guint8 *to)
{
  const CpuInt8Conv *c = &spec->conv;
  gsize words = (gsize)c->n_taps * (gsize)c->n_groups;
  for (gint g = 0; g < c->groups; g++)
    for (gint o = 0; o < c->out_channels; o++) {
      gint panel = o / (2 * k->lanes) * 2 * k->lanes;
      gint vectors = c->padded - panel > k->lanes ? 2 : 1;
      guint8 *at =
          to + ((gsize)g * (gsize)c->padded + (gsize)panel) * words * 4 + (gsize)(o - panel) * 4;
      pack_channel (spec, (gsize)(g * c->out_channels + o), at, (gsize)(vectors * k->lanes) * 4);
    }
}

static void
pack_depthwise (const CpuInt8Spec *spec, const CpuInt8Kernels *k, guint8 *to)
{
  const CpuInt8Conv *c = &spec->conv;
  gint width = 2 * k->lanes, pairs = (c->kernel_h + 1) / 2;
  for (gint o = 0; o < c->channels; o++) {
    gint16 *at =
        (gint16 *)(gpointer)(to + (gsize)(o / width * width) * 4 * (gsize)(pairs * c->kernel_w)) +
        2 * (o % width);
    for (gint y = 0; y < 2 * pairs; y++)
      for (gint x = 0; x < c->kernel_w; x++)
        if (y < c->kernel_h)
          at[(gsize)((y / 2 * c->kernel_w + x) * width) * 2 + (gsize)(y % 2)] =
              (gint16)weight_at (&spec->weights, (gsize)o, 0, y * c->kernel_w + x);
  }
}

static gpointer
array_new (gsize n, gsize size)
{
  gpointer data = g_aligned_alloc0 (n + 1, size, 64);
  return data;
}

/* Arrays by group and channel, padded as the kernels read them. */
static void
fill_arrays (Layer *layer, const CpuInt8Spec *spec)
{
  const CpuInt8Conv *c = &layer->conv;
  gint channels = c->depthwise ? c->channels : c->out_channels, in = c->depthwise ? 1 : c->channels;
  for (gint g = 0; g < c->groups; g++)
    for (gint i = 0; i < channels; i++) {
      gsize o = (gsize)(g * channels + i), at = (gsize)(g * c->padded + i);
      guint32 sum = 0; /* of 32 bits, as the products' sums are */
      for (gint k = 0; k < in; k++)
        for (gint t = 0; t < c->kernel_h * c->kernel_w; t++)
          sum += (guint32)weight_at (&spec->weights, o, (gsize)k, t);
      layer->sums[at] = (gint32)sum;
      layer->bias[at] = spec->bias ? spec->bias[o] : 0;
      layer->scale[at] = spec->scale ? spec->scale[spec->n_scale > 1 ? o : 0] : 1;
      layer->shift[at] = spec->shift ? spec->shift[o] : 0;
    }
}

/* bias - zero point * sum of weights. Sources of s8 that are multiplied as u8 are 128 more. */
static void
correct_bias (const Layer *layer, gint32 zero, const gint32 *bias, gint32 *to)
{
  guint32 z = (guint32)(zero + (layer->conv.is_signed && !layer->conv.pairs ? 128 : 0));
  for (gsize i = 0; i < layer->n; i++)
    to[i] = (gint32)((guint32)bias[i] - z * (guint32)layer->sums[i]);
}

static void
layer_init (Layer *layer, const CpuInt8Spec *spec, const CpuInt8Kernels *k, guint threads,
            gboolean zero_known)
{
  CpuInt8Spec own = *spec;
  gsize words;
  own.conv.pairs = own.conv.depthwise || !k->dot4 || !fits_s8 (spec);
  setup (&own.conv, k, threads);
  layer->conv = own.conv;
  layer->x_zero = spec->x_zero;
  layer->n = (gsize)own.conv.groups * (gsize)own.conv.padded;
  words = own.conv.depthwise ? (gsize)((own.conv.kernel_h + 1) / 2 * own.conv.kernel_w)
                             : (gsize)own.conv.n_taps * (gsize)own.conv.n_groups;
  layer->weights = array_new (layer->n * words, 4);
  layer->bias = array_new (layer->n, sizeof (gint32));
  layer->scale = array_new (layer->n, sizeof (gfloat));
  layer->shift = array_new (layer->n, sizeof (gfloat));
  layer->sums = g_new0 (gint32, layer->n + 1);
  fill_arrays (layer, &own);
  if (own.conv.depthwise)
    pack_depthwise (&own, k, layer->weights);
  else
    pack_dense (&own, k, layer->weights);
  if (zero_known)
    correct_bias (layer, spec->x_zero, layer->bias, layer->bias);
}

static CpuInt8Part
part_at (const CpuInt8Conv *c, gint index)
{
  gint panels = ceil_div (c->n_panels, c->panels), columns = ceil_div (c->out_w, c->band_w);
  gint rows = ceil_div (c->out_h, c->band_h), p = index % panels, x = index / panels % columns;
  gint y = index / panels / columns % rows, rest = index / panels / columns / rows;
  return (CpuInt8Part){ .frame = rest / c->groups,
                        .group = rest % c->groups,
                        .y0 = y * c->band_h,
                        .y1 = MIN ((y + 1) * c->band_h, c->out_h),
                        .x0 = x * c->band_w,
                        .x1 = MIN ((x + 1) * c->band_w, c->out_w),
                        .panel0 = p * c->panels,
                        .panel1 = MIN ((p + 1) * c->panels, c->n_panels) };
}

static void
run_layer (const CpuInt8Step *self, const Layer *layer, CpuInt8Run *run, guint8 *scratch)
{
  CpuInt8Func func = layer->conv.depthwise ? self->kernels->depthwise : self->kernels->dense;
  gint n = count_parts (&layer->conv);
#pragma omp parallel for schedule(dynamic) if (n > 1)
  for (gint i = 0; i < n; i++) {
    CpuInt8Part part = part_at (&layer->conv, i);
    func (&layer->conv, run, &part, scratch + (gsize)omp_get_thread_num () * self->scratch);
  }
}

/* Zero point and scale of this run: bias and scales are made anew. */
static void
apply_runtime (const CpuInt8Step *self, const Layer *layer, const CpuStep *step,
               const CpuInstance *instance, CpuInt8Run *run, guint8 *arrays)
{
  gint32 *bias = (gint32 *)(gpointer)arrays;
  gfloat *scale = (gfloat *)(gpointer)(bias + layer->n);
  if (self->runtime.zero != 0) {
    const CpuTensor *t = step->in[self->runtime.zero];
    const guint8 *zero = cpu_tensor_data (instance, t);
    run->x_zero = t->dtype == AXON_DTYPE_I8 ? (gint32)(gint8)*zero : (gint32)*zero;
    correct_bias (layer, run->x_zero, layer->bias, bias);
    run->bias = bias;
  }
  if (self->runtime.scale != 0) {
    const gfloat *by = cpu_tensor_data (instance, step->in[self->runtime.scale]);
    for (gsize i = 0; i < layer->n; i++)
      scale[i] = *by * layer->scale[i];
    run->scale = scale;
  }
}

static void
run_step (const CpuStep *step, const CpuInstance *instance)
{
  const CpuInt8Step *self = step->data;
  guint8 *scratch = cpu_tensor_data (instance, step->out[1]);
  for (guint i = 0; i < self->n_layers; i++) {
    const Layer *layer = &self->layers[i];
    CpuInt8Run run = { .x = cpu_tensor_data (instance, step->in[0]),
                       .y = cpu_tensor_data (instance, step->out[0]),
                       .weights = layer->weights,
                       .bias = layer->bias,
                       .scale = layer->scale,
                       .shift = layer->shift,
                       .x_zero = layer->x_zero };
    apply_runtime (self, layer, step, instance, &run, scratch);
    run_layer (self, layer, &run, scratch + self->arrays);
  }
}

void
cpu_int8_add_step (CpuPlan *plan, const CpuInt8Spec *specs, guint n, CpuInt8Runtime runtime,
                   CpuTensor *const *in, guint n_in, CpuTensor *out)
{
  CpuInt8Step *self = g_new0 (CpuInt8Step, 1);
  gboolean varies = runtime.zero != 0 || runtime.scale != 0;
  CpuTensor *outs[2] = { out, NULL };
  const gchar *impl;
  self->kernels = &cpu_isa_get ()->vector->int8;
  self->layers = g_new0 (Layer, n);
  self->n_layers = n;
  self->runtime = runtime;
  for (guint i = 0; i < n; i++) {
    Layer *layer = &self->layers[i];
    layer_init (layer, &specs[i], self->kernels, plan->n_threads, runtime.zero == 0);
    self->scratch = MAX (self->scratch, layer->conv.scratch);
    if (varies)
      self->arrays = MAX (self->arrays, (layer->n * 8 + 127) / 64 * 64);
  }
  impl = self->layers[0].conv.depthwise ? "int8:depthwise"
         : self->layers[0].conv.pairs   ? "int8:pairs"
                                        : "int8:dot";
  outs[1] = cpu_plan_scratch_bytes (plan, self->arrays + self->scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_step, self, step_free, impl, in, n_in, outs, 2);
}

CpuTensor *
cpu_int8_source (CpuPlan *plan, const AxonNode *node, guint index, CpuInt8Conv *c)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  gint64 strides[AXON_MAX_RANK];
  gint last = t->shape.rank - 1;
  if (!cpu_md_get_strides (t->md, &t->shape, strides) ||
      (strides[1] != 1 && t->shape.dims[1] != 1)) {
    CpuMd *md = cpu_md_channels_last (t->dtype, &t->shape);
    t = cpu_plan_input_as (plan, node, index, md);
    cpu_md_free (md);
    cpu_md_get_strides (t->md, &t->shape, strides);
  }
  c->is_signed = t->dtype == AXON_DTYPE_I8;
  c->x_pixel = (gsize)strides[last];
  c->x_row = last > 2 ? (gsize)strides[last - 1] : (gsize)c->in_w * c->x_pixel;
  c->x_frame = (gsize)strides[0];
  return t;
}

void
cpu_int8_set_range (CpuInt8Finish *finish, const AxonNode *node, gint32 zero)
{
  gboolean is_signed = node->outputs[0]->type.dtype == AXON_DTYPE_I8;
  gint64 lo = is_signed ? -128 : 0, hi = is_signed ? 127 : 255;
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  if (clip != NULL) {
    lo = MAX (lo, clip[0]);
    hi = MIN (hi, clip[1]);
  }
  finish->type = is_signed ? CPU_INT8_I8 : CPU_INT8_U8;
  finish->zero = zero;
  finish->lo = (gfloat)(lo - zero);
  finish->hi = (gfloat)(hi - zero);
}

gboolean
cpu_int8_geometry (CpuInt8Conv *c, const AxonNode *node, const AxonShape *w)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 group = axon_node_get_int (node, "group");
  AxonWindow win;
  if (x->rank < 3 || x->rank > 4 || axon_shape_get_numel (x) < 1 || axon_shape_get_numel (y) < 1 ||
      axon_shape_get_numel (x) > G_MAXINT / 8 || axon_shape_get_numel (y) > G_MAXINT / 8 ||
      !axon_window_init (&win, node, x, w->dims + 2, FALSE, NULL))
    return FALSE;
  *c = (CpuInt8Conv){ .groups = (gint)group,
                      .channels = (gint)w->dims[1],
                      .out_channels = (gint)(w->dims[0] / group),
                      .frames = (gint)x->dims[0],
                      .in_h = (gint)win.in[1],
                      .in_w = (gint)win.in[2],
                      .out_h = (gint)win.out[1],
                      .out_w = (gint)win.out[2],
                      .kernel_h = (gint)win.kernel[1],
                      .kernel_w = (gint)win.kernel[2],
                      .stride_h = (gint)win.stride[1],
                      .stride_w = (gint)win.stride[2],
                      .dilation_h = (gint)win.dilation[1],
                      .dilation_w = (gint)win.dilation[2],
                      .pad_top = (gint)win.pad[1],
                      .pad_left = (gint)win.pad[2] };
  c->y_pixel = (gsize)y->dims[1];
  c->y_row = (gsize)c->out_w * c->y_pixel;
  c->y_frame = (gsize)c->out_h * c->y_row;
  c->depthwise = group > 1 && c->channels == 1 && c->out_channels == 1;
  if (c->depthwise) {
    c->channels = (gint)group;
    c->groups = 1;
  }
  return TRUE;
}
