/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "gpuprogram.h"

/* What a compile call brings along. */
typedef struct {
  GCancellable *cancellable;
  AxonProgressFunc progress;
  gpointer user_data;
} GpuCompile;

/* What an export keeps besides the graph. */
typedef struct {
  GVariant *binaries; /* a(say) */
  GVariant *tuned;    /* a{si} */
} GpuStored;

/* @transformed: after the common passes. @context: what its buffers live in. @stored (nullable): of
 * an earlier export. */
AxonCompiledModel *gpu_model_new (AxonPlugin *plugin, const GpuDevice *device, AxonModel *original,
                                  AxonModel *transformed, AxonRemoteContext *context,
                                  const AxonConfig *config, const GpuStored *stored,
                                  const GpuCompile *call, GError **error);

/* A clone with the GPU's passes applied. */
AxonModel *gpu_lower_model (AxonModel *model, const GpuOptions *options, GCancellable *cancellable,
                            GError **error);
GpuOptions gpu_options_of (const GpuDevice *device, const AxonConfig *config);

/* TRUE if every node is the GPU's once shapes are known; else @error tells of all that are not.
 * @reasons (nullable): node -> why not (transfer full), and no error. */
gboolean gpu_model_check (const GpuDevice *device, const GpuOptions *options, AxonModel *lowered,
                          GHashTable *reasons, GError **error);

/* Stores in half precision what may be. */
gboolean gpu_pass_halve (AxonModel *model, GError **error);
