/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Host memory: owned (64-byte aligned) and wrapped. */
#include <axon/plugin/axonmemory.h>
#include <axon/plugin/axonwork.h>
#include "axontensor-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

typedef struct {
  AxonMemory parent;
  gpointer data;
  GDestroyNotify notify;
  gpointer user_data;
} HostMemory;

static gpointer
host_map (AxonMemory *memory)
{
  return ((HostMemory *)memory)->data;
}

static void
host_free (AxonMemory *memory)
{
  HostMemory *host = (HostMemory *)memory;
  if (host->notify != NULL)
    host->notify (host->user_data);
  g_free (host);
}

static const AxonMemoryClass host_class = { .name = "host", .map = host_map, .free = host_free };

AxonMemory *
axon_memory_new_host_full (gsize n_bytes, GError **error)
{
  gpointer data = axon_scratch_new (n_bytes, 1, error);
  return data ? axon_memory_new_wrapped (data, n_bytes, axon_scratch_free, data) : NULL;
}

AxonMemory *
axon_memory_new_host (gsize n_bytes)
{
  return axon_memory_new_host_full (n_bytes, NULL);
}

AxonMemory *
axon_memory_new_wrapped (gpointer data, gsize n_bytes, GDestroyNotify notify, gpointer user_data)
{
  HostMemory *host = g_new0 (HostMemory, 1);
  host->parent.klass = &host_class;
  host->parent.n_bytes = n_bytes;
  g_atomic_ref_count_init (&host->parent.ref_count);
  host->data = data;
  host->notify = notify;
  host->user_data = user_data;
  return &host->parent;
}

/* TRUE: memory of somebody who is not told when it is no longer needed. */
static gboolean
is_borrowed (const AxonMemory *memory)
{
  return memory->klass == &host_class && ((const HostMemory *)memory)->notify == NULL;
}

gboolean
axon_tensor_is_borrowed (const AxonTensor *tensor)
{
  return is_borrowed (tensor->memory);
}

AxonMemory *
axon_memory_ref (AxonMemory *memory)
{
  g_atomic_ref_count_inc (&memory->ref_count);
  return memory;
}

void
axon_memory_unref (AxonMemory *memory)
{
  g_autoptr (GObject) context = NULL;
  if (!g_atomic_ref_count_dec (&memory->ref_count))
    return;
  context = memory->context; /* outlives its memory */
  memory->klass->free (memory);
}

gboolean
axon_memory_is_shared (AxonMemory *memory)
{
  return !g_atomic_ref_count_compare (&memory->ref_count, 1);
}

gboolean
axon_memory_is_remote (const AxonMemory *memory)
{
  return memory->klass->read != NULL;
}

gboolean
axon_memory_check_range (const AxonMemory *memory, gsize offset, gsize n_bytes, GError **error)
{
  if (offset <= memory->n_bytes && n_bytes <= memory->n_bytes - offset)
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("the copy reaches beyond the buffer"));
  return FALSE;
}
