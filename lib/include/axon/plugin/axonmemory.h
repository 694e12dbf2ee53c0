/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonMemory: bytes that a tensor stands on. Reference counted, any thread. A device's memory
 * brings its own class: with read and write it is remote, and the host reaches it only by copying.
 */
#pragma once

#include <axon/axontensor.h>

G_BEGIN_DECLS

typedef struct _AxonMemory AxonMemory;

typedef struct {
  const gchar *name;
  gpointer (*map) (AxonMemory *memory); /* address; of remote memory NULL, or for its device only */
  void (*free) (AxonMemory *memory);    /* required: releases memory and the struct */
  /* Remote memory: copies @n_bytes between @offset and the host. */
  gboolean (*read) (AxonMemory *memory, gsize offset, gpointer to, gsize n_bytes, GError **error);
  gboolean (*write) (AxonMemory *memory, gsize offset, gconstpointer from, gsize n_bytes,
                     GError **error);
  gpointer padding[4];
} AxonMemoryClass;

struct _AxonMemory {
  const AxonMemoryClass *klass;
  gatomicrefcount ref_count;
  gsize n_bytes;
  GObject *context; /* remote memory: the AxonRemoteContext that made it; a reference */
  gpointer padding[2];
};

AXON_API AxonMemory *axon_memory_new_host (gsize n_bytes);
AXON_API AxonMemory *axon_memory_new_wrapped (gpointer data, gsize n_bytes, GDestroyNotify notify,
                                              gpointer user_data);
AXON_API AxonMemory *axon_memory_ref (AxonMemory *memory);
AXON_API void axon_memory_unref (AxonMemory *memory);
AXON_API gboolean axon_memory_is_shared (AxonMemory *memory);
AXON_API gboolean axon_memory_is_remote (const AxonMemory *memory);
/* For read and write of a memory class. */
AXON_API gboolean axon_memory_check_range (const AxonMemory *memory, gsize offset, gsize n_bytes,
                                           GError **error);

/* Tensors on it */
AXON_API AxonTensor *axon_tensor_new_with_memory (AxonDType dtype, const AxonShape *shape,
                                                  AxonMemory *memory, GError **error);
AXON_API AxonMemory *axon_tensor_get_memory (const AxonTensor *tensor, gsize *offset);

G_END_DECLS
