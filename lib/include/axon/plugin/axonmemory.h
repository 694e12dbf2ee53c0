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

/**
 * axon_memory_new_host:
 * @n_bytes: size
 *
 * Allocates host memory, aligned to a cache line and padded to one. Never aborts, for sizes come
 * from models and caps.
 *
 * Returns: (transfer full) (nullable): uninitialised memory; %NULL when memory is exhausted
 *
 * Since: 1.0
 */
AXON_API AxonMemory *axon_memory_new_host (gsize n_bytes);

/**
 * axon_memory_new_wrapped:
 * @data: host memory
 * @n_bytes: its size
 * @notify: (nullable): called with @user_data when nobody holds the memory any more, in any thread
 * @user_data: for the function
 *
 * Makes a memory of bytes that belong to somebody else.
 *
 * Returns: (transfer full): a memory
 *
 * Since: 1.0
 */
AXON_API AxonMemory *axon_memory_new_wrapped (gpointer data, gsize n_bytes, GDestroyNotify notify,
                                              gpointer user_data);

/**
 * axon_memory_ref:
 * @memory: a memory
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @memory
 *
 * Since: 1.0
 */
AXON_API AxonMemory *axon_memory_ref (AxonMemory *memory);

/**
 * axon_memory_unref:
 * @memory: (transfer full): a memory
 *
 * Drops a reference; the last one calls the class's `free`, and lets go of the context after it.
 *
 * Since: 1.0
 */
AXON_API void axon_memory_unref (AxonMemory *memory);

/**
 * axon_memory_is_shared:
 * @memory: a memory
 *
 * Tells whether somebody else holds a reference.
 *
 * Returns: %TRUE if so
 *
 * Since: 1.0
 */
AXON_API gboolean axon_memory_is_shared (AxonMemory *memory);

/**
 * axon_memory_is_remote:
 * @memory: a memory
 *
 * Tells whether the host reaches it only by copying.
 *
 * Returns: %TRUE if its class has `read`
 *
 * Since: 1.0
 */
AXON_API gboolean axon_memory_is_remote (const AxonMemory *memory);

/**
 * axon_memory_check_range:
 * @memory: a memory
 * @offset: bytes from the beginning
 * @n_bytes: bytes to copy
 * @error: return location
 *
 * For `read` and `write` of a class of memory. Fails with %AXON_ERROR_ARGUMENT.
 *
 * Returns: %TRUE if the range lies within the memory
 *
 * Since: 1.0
 */
AXON_API gboolean axon_memory_check_range (const AxonMemory *memory, gsize offset, gsize n_bytes,
                                           GError **error);

/* Tensors on it */

/**
 * axon_tensor_new_with_memory:
 * @dtype: element type
 * @shape: a static shape
 * @memory: (transfer full): of a device or of the host, at least as large as the tensor; also let
 *   go of on failure
 * @error: return location
 *
 * Makes a dense tensor that begins where the memory does.
 *
 * Returns: (transfer full): a tensor; %NULL with @error where the shape is wrong or too large
 *
 * Since: 1.0
 */
AXON_API AxonTensor *axon_tensor_new_with_memory (AxonDType dtype, const AxonShape *shape,
                                                  AxonMemory *memory, GError **error);

/**
 * axon_tensor_get_memory:
 * @tensor: a tensor
 * @offset: (out) (optional): bytes from the beginning of the memory to the tensor
 *
 * Gives what a tensor stands on.
 *
 * Returns: (transfer none): the memory
 *
 * Since: 1.0
 */
AXON_API AxonMemory *axon_tensor_get_memory (const AxonTensor *tensor, gsize *offset);

G_END_DECLS
