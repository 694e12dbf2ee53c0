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

#ifndef __GI_SCANNER__ /* for plugins, which are C */
AxonScheduler *axon_scheduler_new (AxonSchedulerFlags flags);
AxonScheduler *axon_scheduler_ref (AxonScheduler *scheduler);
void axon_scheduler_unref (AxonScheduler *scheduler);
void axon_scheduler_set_empty_func (AxonScheduler *scheduler, AxonSchedulerEmptyFunc func,
                                    gpointer user_data);
/* @n_workers 0: as many as the device likes. Devices are added in order of priority; @shown is the
 * name in EXECUTION_DEVICES. */
void axon_scheduler_add (AxonScheduler *scheduler, const gchar *device, const gchar *shown,
                         AxonCompiledModel *compiled, guint n_workers);
/* Gets nothing more to do; is dropped when it has finished. */
void axon_scheduler_retire (AxonScheduler *scheduler, const gchar *shown);
void axon_scheduler_fail (AxonScheduler *scheduler, const GError *error);
gboolean axon_scheduler_start (AxonScheduler *scheduler, AxonInferRequest *request, GError **error);
void axon_scheduler_cancel (AxonScheduler *scheduler, AxonInferRequest *request);
guint axon_scheduler_get_n_devices (AxonScheduler *scheduler);
/* Floating: OPTIMAL_NUMBER_OF_INFER_REQUESTS, EXECUTION_DEVICES, DEVICE_PROPERTIES,
 * LOADED_FROM_CACHE, DEVICE_SHARES (a{sd}: share of the runs); NULL for other keys */
AxonModel *axon_scheduler_get_runtime_model (AxonScheduler *scheduler, GError **error);
GVariant *axon_scheduler_get_property (AxonScheduler *scheduler, const gchar *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonScheduler, axon_scheduler_unref)

/* One request behind another with the same ports: bindings there, results back. */
gboolean axon_infer_request_forward (AxonInferRequest *outer, AxonInferRequest *inner,
                                     GError **error);
gboolean axon_infer_request_gather (AxonInferRequest *outer, AxonInferRequest *inner,
                                    GError **error);
#endif

G_END_DECLS
