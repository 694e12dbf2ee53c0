/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a plan is on the device: its program, its parameters and its weights. Immutable; any thread.
 */
#pragma once

#include "gpuplan.h"

/* What all plans of a compiled model share: programs by source, weights by tensor. */
typedef struct _GpuStore GpuStore;

typedef struct {
  const GpuPlan *plan;
  GpuStore *store;
  cl_program program;
  cl_mem params;
  cl_mem *constants; /* by index; NULL: only what is prepared needed it */
  cl_mem *prepared;  /* by index */
} GpuProgram;

GpuStore *gpu_store_new (const GpuDevice *device, cl_context context, const GpuOptions *options);
GpuStore *gpu_store_ref (GpuStore *store);
void gpu_store_unref (GpuStore *store);
cl_context gpu_store_get_context (const GpuStore *store);
const GpuDevice *gpu_store_get_device (const GpuStore *store);
const GpuOptions *gpu_store_get_options (const GpuStore *store);

/* What was measured, by node: of this process or of an earlier one (transfer full). */
void gpu_store_set_tuned (GpuStore *store, GHashTable *tuned);
/* a{si}, floating. */
GVariant *gpu_store_get_tuned (GpuStore *store);

/* Binaries of an earlier process: tried first, never needed. */
void gpu_store_offer_binary (GpuStore *store, const gchar *key, GBytes *binary);
/* One (key, binary) per program: a(say), floating. */
GVariant *gpu_store_get_binaries (GpuStore *store);

GpuProgram *gpu_program_new (GpuStore *store, const GpuPlan *plan, GError **error);
/* What a kernel's argument is, as far as the program knows it. */
cl_mem gpu_program_get_mem (const GpuProgram *program, const GpuBuffer *buffer);
void gpu_program_free (GpuProgram *program);
