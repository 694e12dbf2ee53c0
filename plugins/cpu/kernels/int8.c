/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plan of a product of bytes, and its run. */
#include "convparts.h"
#include "int8-private.h"
#include "../cpuisa.h"
#include "../cpupages.h"
#include "../cpupool.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  const CpuInt8Kernels *kernels;
  CpuInt8Layer *layers;
  CpuInt8Spec *specs; /* of weights that come at run time only the first is used */
  guint n_layers;
  CpuInt8Runtime runtime;
  gpointer memory; /* of the layers' arrays */
  gfloat scale;    /* of weights that come at run time, as the next */
  gint32 zero;
  gsize scratch; /* bytes of a thread */
  gsize arrays;  /* bytes before it: bias and scale of this run, or a whole layer */
} Step;

static void
step_free (gpointer data)
{
  Step *self = data;
  free (self->memory);
  g_free (self->layers);
  g_free (self->specs);
  g_free (self);
}

/* bias - zero point * sum of weights. */
static void
correct_bias (const CpuInt8Layer *layer, gint32 zero, const gint32 *bias, gint32 *to)
{
  guint32 z = (guint32)(zero + layer->conv.offset);
  for (gsize i = 0; i < layer->n; i++)
    to[i] = (gint32)((guint32)bias[i] - z * (guint32)layer->sums[i]);
}

/* Of one run. */
typedef struct {
  const CpuInt8Conv *conv;
  const CpuInt8Run *run;
  CpuInt8Func func;
  guint8 *scratch;
  gsize each; /* bytes of a thread */
} LayerRun;

static void
run_part (gpointer data, gint64 index)
{
  const LayerRun *layer = data;
  CpuConvPart part = cpu_conv_get_part (&layer->conv->shape, (gint)index);
  layer->func (layer->conv, layer->run, &part,
               layer->scratch + (gsize)cpu_parallel_thread () * layer->each);
}

static void
run_layer (const Step *self, const CpuInt8Layer *layer, const CpuInt8Run *run, guint8 *scratch)
{
  const CpuInt8Conv *c = &layer->conv;
  LayerRun all = { c, run, c->shape.depthwise ? self->kernels->depthwise : self->kernels->dense,
                   scratch, self->scratch };
  cpu_parallel (cpu_conv_count_parts (&c->shape), run_part, &all);
}

static gint32
read_zero (const Step *self, const CpuStep *step, const CpuInstance *instance)
{
  const CpuTensor *t = step->in[self->runtime.zero];
  const guint8 *zero = cpu_tensor_data (instance, t);
  return t->dtype == AXON_DTYPE_I8 ? (gint32)(gint8)*zero : (gint32)*zero;
}

/* Zero point and scale of this run: bias and scales are made anew. */
static void
apply_runtime (const Step *self, const CpuInt8Layer *layer, const CpuStep *step,
               const CpuInstance *instance, CpuInt8Run *run, guint8 *arrays)
{
  gint32 *bias = (gint32 *)(gpointer)arrays;
  gfloat *scale = (gfloat *)(gpointer)(bias + layer->n);
  if (self->runtime.zero != 0) {
    run->x_zero = read_zero (self, step, instance);
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

static CpuInt8Run
run_of (const Step *self, const CpuInt8Layer *layer, const CpuInt8Spec *spec, const CpuStep *step,
        const CpuInstance *instance)
{
  guint8 *y = cpu_tensor_data (instance, step->out[0]);
  return (CpuInt8Run){ .x = cpu_tensor_data (instance, step->in[0]),
                       .y = y + spec->y_origin * axon_dtype_get_size (step->out[0]->dtype),
                       .weights = layer->weights,
                       .bias = layer->bias,
                       .scale = layer->scale,
                       .shift = layer->shift,
                       .x_zero = spec->x_zero };
}

static void
run_step (const CpuStep *step, const CpuInstance *instance)
{
  const Step *self = step->data;
  guint8 *scratch = cpu_tensor_data (instance, step->out[1]);
  for (guint i = 0; i < self->n_layers; i++) {
    const CpuInt8Layer *layer = &self->layers[i];
    CpuInt8Run run = run_of (self, layer, &self->specs[i], step, instance);
    apply_runtime (self, layer, step, instance, &run, scratch);
    run_layer (self, layer, &run, scratch + self->arrays);
  }
}

/* Weights of this run, for each frame its own: packed, then multiplied. */
static void
run_two_sources (const CpuStep *step, const CpuInstance *instance)
{
  const Step *self = step->data;
  const CpuInt8Conv *c = &self->specs[0].conv;
  guint8 *scratch = cpu_tensor_data (instance, step->out[1]);
  const guint8 *weights = cpu_tensor_data (instance, step->in[self->runtime.weights]);
  gsize size = axon_dtype_get_size (step->out[0]->dtype);
  CpuInt8Layer layer = self->layers[0];
  CpuInt8Spec spec = self->specs[0];
  CpuInt8Run run;
  cpu_int8_layer_place (&layer, scratch);
  run = run_of (self, &layer, &spec, step, instance);
  if (self->runtime.zero != 0)
    run.x_zero = read_zero (self, step, instance);
  for (gint f = 0; f < c->shape.frames; f++) {
    spec.weights.data = weights + (gsize)f * self->runtime.weight_frame;
    cpu_int8_layer_fill (&layer, &spec, self->kernels);
    correct_bias (&layer, run.x_zero, layer.bias, layer.bias);
    run_layer (self, &layer, &run, scratch + self->arrays);
    run.x += c->shape.x_frame;
    run.y = (guint8 *)run.y + c->shape.y_frame * size;
  }
}

/* The arrays of all layers in one block; those of a run are in the stream's scratch. FALSE: there
 * is no memory. */
static gboolean
fill_layers (Step *self, const CpuInt8Spec *specs)
{
  gsize total = 0, at = 0;
  for (guint i = 0; i < self->n_layers; i++)
    total += cpu_int8_layer_plan (&self->layers[i], &self->layers[i].conv);
  self->memory = cpu_pages_new (total + 64);
  if (self->memory == NULL)
    return FALSE;
  memset (self->memory, 0, total + 64);
  for (guint i = 0; i < self->n_layers; i++) {
    CpuInt8Layer *layer = &self->layers[i];
    cpu_int8_layer_place (layer, (guint8 *)self->memory + at);
    at += cpu_int8_layer_plan (layer, &layer->conv);
    cpu_int8_layer_fill (layer, &specs[i], self->kernels);
    if (self->runtime.zero == 0)
      correct_bias (layer, specs[i].x_zero, layer->bias, layer->bias);
  }
  return TRUE;
}

static gboolean
needs_pairs (const Step *self, const CpuInt8Spec *spec)
{
  const CpuConv *c = &spec->conv.shape;
  if (!self->kernels->dot4)
    return TRUE;
  if (c->depthwise && c->stride_w > 1 && c->channels <= 2 * self->kernels->lanes)
    return TRUE; /* of fours half of the channels would be empty */
  if (self->runtime.weights == 0)
    return !cpu_int8_fits_s8 (spec);
  return self->zero != (spec->weights.is_signed ? 0 : 128);
}

/* What a spec points to is its builder's: of a constant product nothing is needed any more, of
 * another one number each. */
static void
keep_specs (Step *self, const CpuInt8Spec *specs, guint n)
{
  self->specs = g_memdup2 (specs, n * sizeof *specs);
  for (guint i = 0; i < n; i++) {
    CpuInt8Spec *spec = &self->specs[i];
    self->scale = spec->scale ? spec->scale[0] : 1;
    self->zero = spec->weights.n_zero ? spec->weights.zero[0] : 0;
    spec->scale = &self->scale;
    spec->weights.zero = &self->zero;
    spec->bias = NULL;
    spec->shift = NULL;
  }
}

/* Geometry, and the memory that a stream needs. */
static void
plan_layer (Step *self, CpuInt8Layer *layer, const CpuInt8Spec *spec, guint threads)
{
  CpuInt8Conv *c = &layer->conv;
  gsize all;
  *c = spec->conv;
  c->pairs = needs_pairs (self, spec);
  if (self->runtime.weights != 0)
    c->shape.frames = 1; /* one after the other */
  cpu_int8_setup (c, self->kernels, threads);
  all = cpu_int8_layer_plan (layer, c);
  self->scratch = MAX (self->scratch, c->shape.scratch);
  if (self->runtime.weights != 0)
    self->arrays = all;
  else if (self->runtime.zero != 0 || self->runtime.scale != 0)
    self->arrays = MAX (self->arrays, (layer->n * 8 + 127) / 64 * 64);
}

void
cpu_int8_add_step (CpuPlan *plan, const CpuInt8Spec *specs, guint n, CpuInt8Runtime runtime,
                   CpuTensor *const *in, guint n_in, CpuTensor *out)
{
  Step *self = g_new0 (Step, 1);
  CpuTensor *outs[2] = { out, NULL };
  const CpuInt8Conv *c;
  self->kernels = &cpu_isa_get ()->vector->int8;
  self->layers = g_new0 (CpuInt8Layer, n);
  self->n_layers = n;
  self->runtime = runtime;
  keep_specs (self, specs, n);
  for (guint i = 0; i < n; i++)
    plan_layer (self, &self->layers[i], &specs[i], plan->n_threads);
  if (runtime.weights == 0)
    plan->lacks_memory |= !fill_layers (self, specs);
  outs[1] = cpu_plan_scratch_bytes (plan, self->arrays + self->scratch * plan->n_threads + 64);
  c = &self->layers[0].conv;
  cpu_plan_add_step (plan, runtime.weights ? run_two_sources : run_step, self, step_free,
                     c->shape.depthwise ? "int8:depthwise"
                     : c->pairs         ? "int8:pairs"
                                        : "int8:dot",
                     in, n_in, outs, 2);
}
