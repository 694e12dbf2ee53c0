/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonMemory: bytes that a tensor stands on. Reference counted, any thread; a device's memory
 * brings its own class, and is mapped before the host reads it. */
#pragma once

#include <glib.h>

typedef struct _AxonMemory AxonMemory;

typedef struct {
  const gchar *name;
  gpointer (*map) (AxonMemory *memory); /* required: host address, stays valid until free */
  void (*free) (AxonMemory *memory);    /* required: releases memory and the struct */
} AxonMemoryClass;

struct _AxonMemory {
  const AxonMemoryClass *klass;
  gatomicrefcount ref_count;
  gsize n_bytes;
};

AxonMemory *axon_memory_new_host (gsize n_bytes);
AxonMemory *axon_memory_new_wrapped (gpointer data, gsize n_bytes, GDestroyNotify notify,
                                     gpointer user_data);
AxonMemory *axon_memory_ref (AxonMemory *memory);
void axon_memory_unref (AxonMemory *memory);
gboolean axon_memory_is_shared (AxonMemory *memory);
