/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonTensor, for this room. */
#pragma once

#include <axon/plugin/axonmemory.h>

struct _AxonTensor {
  gatomicrefcount ref_count;
  AxonDType dtype;
  AxonShape shape;
  gint64 strides[AXON_MAX_RANK]; /* bytes */
  gboolean dense;                /* row-major without gaps */
  gsize numel;
  gpointer data; /* host address of the first element, looked up once; NULL: remote */
  gsize offset;  /* of the first element in the memory */
  AxonMemory *memory;
};

gboolean axon_tensor_checked_size (AxonDType dtype, const AxonShape *shape, gsize *n_bytes,
                                   GError **error);
/* NULL with AXON_ERROR_MEMORY, which says the sum. */
AxonMemory *axon_memory_new_host_full (gsize n_bytes, GError **error);
AxonMemory *axon_memory_new_boxed (gsize n_bytes, AxonDType dtype, GError **error);
/* TRUE: its memory is somebody's who is not told when it is no longer needed. */
gboolean axon_tensor_is_borrowed (const AxonTensor *tensor);
void axon_shape_dense_strides (AxonDType dtype, const AxonShape *shape, gint64 *strides);
