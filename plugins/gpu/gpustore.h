/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What all plans of a compiled model share: programs by source, weights and what is prepared of
 * them by content. Any thread. */
#pragma once

#include "gpuplan.h"

typedef struct _GpuStore GpuStore;

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

/* The program of @source, compiled or loaded; the store's. */
cl_program gpu_store_get_program (GpuStore *store, const gchar *source, GError **error);
/* A new buffer with these bytes. */
cl_mem gpu_store_upload (const GpuStore *store, gconstpointer data, gsize n_bytes, GError **error);
cl_mem gpu_store_upload_tensor (const GpuStore *store, AxonTensor *tensor, GError **error);
/* The buffer of constant @index, uploaded once; the store's. */
cl_mem gpu_store_get_weights (GpuStore *store, const GpuPlan *plan, guint index, GError **error);
/* A buffer that an earlier plan prepared (transfer full), or NULL; and for later ones. */
cl_mem gpu_store_find_prepared (GpuStore *store, const gchar *key);
void gpu_store_keep_prepared (GpuStore *store, const gchar *key, cl_mem mem);
