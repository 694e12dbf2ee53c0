/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One product of bytes, packed. */
#pragma once

#include "int8.h"

typedef struct {
  CpuInt8Conv conv;
  guint8 *weights;
  gint32 *bias, *sums; /* of the weights: what the zero point is multiplied by */
  gfloat *scale, *shift;
  gsize n, n_weights; /* elements of an array, bytes of the weights */
} CpuInt8Layer;

/* Fills what CpuInt8Conv leaves to it; `pairs` is decided. */
void cpu_int8_setup (CpuInt8Conv *conv, const CpuInt8Kernels *kernels, guint threads);

/* TRUE if every weight less its zero point is from -128 to 127. */
gboolean cpu_int8_fits_s8 (const CpuInt8Spec *spec);

/* Of a set up @conv: the memory that the arrays need, in bytes; they are 64 bytes apart. */
gsize cpu_int8_layer_plan (CpuInt8Layer *layer, const CpuInt8Conv *conv);
void cpu_int8_layer_place (CpuInt8Layer *layer, guint8 *memory);
void cpu_int8_layer_fill (CpuInt8Layer *layer, const CpuInt8Spec *spec,
                          const CpuInt8Kernels *kernels);
