/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/plugin/axoninferrequest.h>
#include <axon/plugin/axonscheduler.h>

/* axonreturn.c */
typedef struct _AxonReturns AxonReturns;
void axon_returns_unref (AxonReturns *returns);
/* Priority of a device, 0 the first; G_MAXUINT: behind all. @returns is NULL or not. */
guint axon_returns_place (const AxonReturns *returns, const gchar *device);

typedef struct {
  gchar *name, *shown;
  guint place; /* devices are in its order */
  AxonCompiledModel *compiled;
  guint n_workers, n_busy;
  GPtrArray *idle; /* Worker */
  gboolean retired;
  gdouble latency; /* microseconds of a run, a moving mean */
  guint64 runs;
} Device;

typedef struct {
  AxonScheduler *scheduler; /* lives as long as its workers do */
  Device *device;
  AxonInferRequest *inner;
  AxonInferRequest *outer; /* lock: while it runs for one */
  gint64 started;
} Worker;

struct _AxonScheduler {
  gatomicrefcount ref_count;
  AxonSchedulerFlags flags;
  AxonSchedulerEmptyFunc empty;
  gpointer empty_data;
  AxonReturns *returns; /* NULL: who is lost is not awaited; set before devices are */
  GMutex lock;
  GPtrArray *devices;   /* lock: Device, by priority */
  GPtrArray *graveyard; /* lock: Device, retired; freed with the scheduler */
  GPtrArray *workers;   /* lock: Worker, all */
  GQueue waiting;       /* lock: AxonInferRequest */
  guint next;           /* lock: round robin */
};
