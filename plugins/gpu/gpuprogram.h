/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a plan is on the device: its program, its parameters and its weights. Immutable; any thread.
 */
#pragma once

#include "gpustore.h"

typedef struct {
  const GpuPlan *plan;
  GpuStore *store;
  cl_program program;
  cl_mem params;
  cl_mem *constants; /* by index; NULL: only what is prepared needed it */
  cl_mem *prepared;  /* by index */
} GpuProgram;

GpuProgram *gpu_program_new (GpuStore *store, const GpuPlan *plan, GError **error);
/* What a kernel's argument is, as far as the program knows it. */
cl_mem gpu_program_get_mem (const GpuProgram *program, const GpuBuffer *buffer);
void gpu_program_free (GpuProgram *program);
