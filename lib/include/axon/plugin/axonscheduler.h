/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spreads requests over compiled models of several devices: what MULTI and AUTO share. */
#pragma once

#include <axon/axoninferrequest.h>

G_BEGIN_DECLS

typedef struct _AxonScheduler AxonScheduler;

/* No device is left for waiting requests; the last one failed with @error. TRUE: one will be added,
 * or axon_scheduler_fail() called. Any thread, no lock held. */
typedef gboolean (*AxonSchedulerEmptyFunc) (const GError *error, gpointer user_data);

typedef enum {
  AXON_SCHEDULER_ROUND_ROBIN = 1 << 0, /* else: first idle device in order of priority */
  AXON_SCHEDULER_BIND = 1 << 1,        /* a request stays with its device */
  AXON_SCHEDULER_RETRY = 1 << 2,       /* a request whose device failed runs on another */
} AxonSchedulerFlags;

AXON_API AxonScheduler *axon_scheduler_new (AxonSchedulerFlags flags);
AXON_API AxonScheduler *axon_scheduler_ref (AxonScheduler *scheduler);
AXON_API void axon_scheduler_unref (AxonScheduler *scheduler);
AXON_API void axon_scheduler_set_empty_func (AxonScheduler *scheduler, AxonSchedulerEmptyFunc func,
                                             gpointer user_data);
/* @n_workers 0: as many as the device likes. Devices are added in order of priority; @shown is the
 * name in EXECUTION_DEVICES. */
AXON_API void axon_scheduler_add (AxonScheduler *scheduler, const gchar *device, const gchar *shown,
                                  AxonCompiledModel *compiled, guint n_workers);
/* Gets nothing more to do; is dropped when it has finished. */
AXON_API void axon_scheduler_retire (AxonScheduler *scheduler, const gchar *shown);
AXON_API void axon_scheduler_fail (AxonScheduler *scheduler, const GError *error);
AXON_API gboolean axon_scheduler_start (AxonScheduler *scheduler, AxonInferRequest *request,
                                        GError **error);
AXON_API void axon_scheduler_cancel (AxonScheduler *scheduler, AxonInferRequest *request);
AXON_API guint axon_scheduler_get_n_devices (AxonScheduler *scheduler);
/* Floating: OPTIMAL_NUMBER_OF_INFER_REQUESTS, EXECUTION_DEVICES, DEVICE_PROPERTIES,
 * LOADED_FROM_CACHE, DEVICE_SHARES (a{sd}: share of the runs); NULL for other keys */
AXON_API AxonModel *axon_scheduler_get_runtime_model (AxonScheduler *scheduler, GError **error);
AXON_API GVariant *axon_scheduler_get_property (AxonScheduler *scheduler, const gchar *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonScheduler, axon_scheduler_unref)

G_END_DECLS
