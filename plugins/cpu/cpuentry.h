/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph made ready for shapes of its inputs: a plan, or segments where shapes follow from data.
 * Counted; any number of threads may run it, each on an instance of its own. */
#pragma once

#include "cpuplan.h"

typedef struct _CpuSegments CpuSegments;
typedef struct _CpuTuning CpuTuning; /* cputune.h */

/* What everything that is made of one compiled model has in common. It outlives them. */
typedef struct {
  GPtrArray *extensions;
  CpuPlanOptions options;
  AxonPlanCache *tails; /* CpuEntry: see cputail.h */
  CpuPacked *packed;    /* nullable */
  guint depth;          /* tails around it */
  CpuTuning *tuning;    /* nullable: kernels of plans are measured; while compiling */
} CpuContext;

typedef struct {
  gatomicrefcount ref_count;
  gconstpointer graph; /* whose, in a cache of several graphs' */
  GDestroyNotify release;
  AxonShape *shapes; /* of the inputs */
  guint n_inputs;
  gint *kinds;           /* of outputs, where there may be more rows than are wanted; or NULL */
  AxonModel *model;      /* for these shapes */
  CpuPlan *plan;         /* NULL: shapes depend on data */
  CpuSegments *segments; /* then these run */
  GMutex lock;
  GPtrArray *idle; /* lock: CpuInstance */
} CpuEntry;

/* One run. Rows of the profile gather where one is wanted. */
typedef struct {
  AxonInferRequest *request;
  GArray *info, *times; /* AxonProfilingInfo and microseconds, or NULL */
  GPtrArray *kept;      /* CpuEntry: whose names are in info */
} CpuRun;

/* Caller: has called cpu_threads_use (), for oneDNN fixes the number of threads of a primitive when
 * it is made. @planned: shapes are known to be known. */
CpuEntry *cpu_entry_new (AxonModel *model, gboolean planned, const CpuContext *context,
                         const CpuCompile *call, GError **error);
/* For @shapes of the inputs of @model. */
CpuEntry *cpu_entry_new_for (AxonModel *model, const AxonShape *shapes, const CpuContext *context,
                             const CpuCompile *call, GError **error);
gpointer cpu_entry_ref (gpointer entry);
void cpu_entry_unref (gpointer entry);

/* What a cache of entries looks for. */
typedef struct {
  gconstpointer graph;
  const AxonShape *shapes;
} CpuKey;

gboolean cpu_entry_fits (gconstpointer entry, gconstpointer key);

/* An instance of the plan that nobody uses at the moment. */
CpuInstance *cpu_entry_borrow (CpuEntry *self, GError **error);
void cpu_entry_give_back (CpuEntry *self, CpuInstance *instance);

/* @out: new tensors. After a failure, too, they are the caller's. */
gboolean cpu_entry_run (CpuEntry *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
                        GError **error);
