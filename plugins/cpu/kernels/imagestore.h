/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pixels become elements of the tensor, normalised, of any type and in either layout. */
#pragma once

#include "../vector/image.h"

#include <axon/axon-plugin.h>

typedef struct {
  const AxonImageTarget *target;
  const CpuImage *loops;
  gpointer out;
} CpuImageStore;

/* @n pixels of row @y from column @x on; @values of each channel. */
void cpu_image_store (const CpuImageStore *store, gint y, gint x, const gfloat *const *values,
                      gint n);
