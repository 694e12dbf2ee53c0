/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model at concrete shapes of its inputs, and, where shapes follow from values, concrete values
 * of its small inputs. Reference counted: a run keeps the entry that it runs. */
#pragma once

#include "gpuinstance.h"

typedef struct {
  gatomicrefcount ref_count;
  AxonShape *shapes;   /* of the inputs */
  AxonTensor **values; /* of the inputs that are part of the key, else NULL */
  guint n_inputs;
  GpuPlan *plan;
  GpuProgram *program;
  GMutex lock;
  GPtrArray *idle; /* lock: GpuInstance */
} GpuEntry;

/* What a run needs. */
typedef struct {
  const AxonShape *shapes;
  AxonTensor *const *inputs; /* or NULL, before a run */
} GpuEntryKey;

/* @inputs (nullable): tensors of a run; without them an entry whose shapes follow from values
 * cannot be made, which is an error, and *dynamic is set. */
GpuEntry *gpu_entry_new (GpuStore *store, AxonModel *model, const AxonShape *shapes,
                         AxonTensor *const *inputs, gboolean *dynamic, GCancellable *cancellable,
                         GError **error);
gboolean gpu_entry_tune (GpuStore *store, AxonModel *model, const AxonShape *shapes,
                         GCancellable *cancellable, GError **error);
gpointer gpu_entry_ref (gpointer entry);
void gpu_entry_unref (gpointer entry);
gboolean gpu_entry_fits (gconstpointer entry, gconstpointer key); /* AxonPlanFits */
GpuInstance *gpu_entry_take (GpuEntry *entry, GError **error);
void gpu_entry_give_back (GpuEntry *entry, GpuInstance *instance, gboolean works);
