/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "floatconv-private.h"
#include "floatposts.h"

typedef struct {
  const CpuFloatConvKernels *kernels;
  CpuFloatLayer *layers; /* of a transposed convolution one for each phase */
  guint n_layers;
  gint n_parts;      /* of all layers */
  GPtrArray *memory; /* weights of all layers, and what follows, which some of them lack */
  gboolean lacks_memory;
  const gfloat *given_bias, *given_slopes; /* while it is built, as the next; NULL: none */
  CpuFloatWeights given;                   /* of the only layer */
  gfloat *bias, *slopes, *wide_bias, *wide_slopes;
  CpuFloatPosts posts;
  gsize scratch; /* bytes of a thread */
} CpuFloatLayers;

CpuFloatLayers *cpu_float_layers_new (const CpuFloatConvKernels *kernels);
void cpu_float_layers_free (gpointer self);

/* Makes @conv, of @weights, the only layer. */
void cpu_float_layers_add (CpuFloatLayers *self, const CpuConv *conv,
                           const CpuFloatWeights *weights, guint threads);

/* Cuts all layers into parts, and says what scratch they need. */
void cpu_float_layers_setup (CpuFloatLayers *self, guint threads);

/* Packs @weights, those of each layer, bias and slopes; or sets lacks_memory. */
void cpu_float_layers_pack (CpuFloatLayers *self, const CpuFloatWeights *weights);
