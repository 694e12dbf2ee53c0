/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shapes and packed weights of a convolution of floats: of one, or of all phases of a transposed
 * one. */
#include "floatlayers.h"

#include "convparts.h"
#include "../cpuisa.h"
#include "../cpupages.h"

#include <stdlib.h>
#include <string.h>

void
cpu_float_layers_free (gpointer data)
{
  CpuFloatLayers *self = data;
  g_ptr_array_unref (self->memory);
  g_free (self->layers);
  g_free (self);
}

/* Memory that lives as long as @self, not set; NULL where there is none. */
static gfloat *
new_memory (CpuFloatLayers *self, gsize n_bytes)
{
  gpointer memory = cpu_pages_new (n_bytes);
  if (memory == NULL) {
    self->lacks_memory = TRUE;
    return NULL;
  }
  g_ptr_array_add (self->memory, memory);
  return memory;
}

/* Zeros if @from is NULL. */
static gfloat *
pack_array (CpuFloatLayers *self, const gfloat *from, const CpuConv *c, gint period)
{
  gsize n_bytes = (gsize)(c->groups * c->padded) * sizeof (gfloat);
  gfloat *to = new_memory (self, n_bytes);
  if (to == NULL)
    return NULL;
  if (from != NULL)
    cpu_float_array_pack (c, from, period, to);
  else
    memset (to, 0, n_bytes);
  return to;
}

static void
pack_wide (CpuFloatLayers *self, CpuFloatLayer *layer, const CpuFloatWeights *weights)
{
  CpuFloatWeights again = *weights;
  gint period = layer->conv.channels;
  again.period = (gsize)period;
  layer->wide_weights = new_memory (self, cpu_float_weights_size (&layer->wide));
  if (layer->wide_weights != NULL)
    cpu_float_weights_pack (&layer->wide, &again, self->kernels, layer->wide_weights);
  if (self->wide_bias == NULL) /* that of all layers */
    self->wide_bias = pack_array (self, self->given_bias, &layer->wide, period);
  if (self->wide_slopes == NULL && self->posts.has_slopes)
    self->wide_slopes = pack_array (self, self->given_slopes, &layer->wide, period);
}

static void
pack_halves (CpuFloatLayers *self, CpuFloatLayer *layer, const CpuFloatWeights *weights)
{
  const CpuConv *c = &layer->conv;
  gsize n_bytes = cpu_float_weights_size (c);
  g_autofree gfloat *packed = g_try_malloc (n_bytes);
  layer->weights = new_memory (self, n_bytes / 2);
  layer->factors = new_memory (self, (gsize)(c->groups * c->padded) * sizeof (gfloat));
  self->lacks_memory |= packed == NULL;
  if (self->lacks_memory)
    return;
  cpu_float_weights_pack (c, weights, self->kernels, packed);
  cpu_half_weights_pack (c, packed, self->kernels, cpu_isa_get ()->vector->half,
                         (guint16 *)(gpointer)layer->weights, layer->factors);
}

static void
pack_layer (CpuFloatLayers *self, CpuFloatLayer *layer, const CpuFloatWeights *weights)
{
  if (self->kernels->is_half) {
    pack_halves (self, layer, weights);
    return;
  }
  layer->weights = new_memory (self, cpu_float_weights_size (&layer->conv));
  if (layer->weights != NULL)
    cpu_float_weights_pack (&layer->conv, weights, self->kernels, layer->weights);
}

void
cpu_float_layers_pack (CpuFloatLayers *self, const CpuFloatWeights *weights)
{
  gint period = (gint)weights->period;
  self->bias = pack_array (self, self->given_bias, &self->layers[0].conv, period);
  if (self->posts.has_slopes)
    self->slopes = pack_array (self, self->given_slopes, &self->layers[0].conv, period);
  for (guint i = 0; i < self->n_layers; i++) {
    CpuFloatLayer *layer = &self->layers[i];
    pack_layer (self, layer, &weights[i]);
    if (layer->pixels > 0)
      pack_wide (self, layer, &weights[i]);
  }
}

void
cpu_float_layers_setup (CpuFloatLayers *self, guint threads)
{
  for (guint i = 0; i < self->n_layers; i++) {
    CpuConv *c = &self->layers[i].conv;
    cpu_conv_flatten (c);
    cpu_float_conv_setup (c, self->kernels, threads);
    self->layers[i].pixels = cpu_float_conv_widen (&self->layers[i].wide, c, self->kernels);
    self->scratch = MAX (self->scratch, c->scratch);
    self->n_parts += cpu_conv_count_parts (c);
  }
}

CpuFloatLayers *
cpu_float_layers_new (const CpuFloatConvKernels *kernels)
{
  CpuFloatLayers *self = g_new0 (CpuFloatLayers, 1);
  self->kernels = kernels;
  self->memory = g_ptr_array_new_with_free_func (free);
  return self;
}

void
cpu_float_layers_add (CpuFloatLayers *self, const CpuConv *conv, const CpuFloatWeights *weights,
                      guint threads)
{
  self->n_layers = 1;
  self->layers = g_new0 (CpuFloatLayer, 1);
  self->layers[0].conv = *conv;
  self->given = *weights;
  cpu_float_layers_setup (self, threads);
}
