/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Spreads requests over compiled models of several devices: what MULTI and AUTO share. Any
 * thread. */
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
  AXON_SCHEDULER_FIRST = 1 << 3,       /* the first device alone; the others stand by */
} AxonSchedulerFlags;

/**
 * axon_scheduler_new:
 * @flags: how requests are spread
 *
 * Makes a scheduler without devices.
 *
 * Returns: (transfer full): a scheduler
 *
 * Since: 1.0
 */
AXON_API AxonScheduler *axon_scheduler_new (AxonSchedulerFlags flags);

/**
 * axon_scheduler_ref:
 * @scheduler: a scheduler
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @scheduler
 *
 * Since: 1.0
 */
AXON_API AxonScheduler *axon_scheduler_ref (AxonScheduler *scheduler);

/**
 * axon_scheduler_unref:
 * @scheduler: (transfer full): a scheduler
 *
 * Drops a reference.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_unref (AxonScheduler *scheduler);

/**
 * axon_scheduler_set_empty_func:
 * @scheduler: a scheduler
 * @func: (nullable): asked when no device is left
 * @user_data: for the function
 *
 * Says who may bring another device when the last one has failed. Before the first request.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_set_empty_func (AxonScheduler *scheduler, AxonSchedulerEmptyFunc func,
                                             gpointer user_data);

/**
 * axon_scheduler_add:
 * @scheduler: a scheduler
 * @device: the device
 * @shown: its name in `EXECUTION_DEVICES`
 * @compiled: the model there; a reference is taken
 * @n_workers: requests that it runs at a time; 0: as many as it likes
 *
 * Adds a device, of less priority than those that are there, unless axon_candidates_await() gave
 * it a place. Requests that wait begin there.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_add (AxonScheduler *scheduler, const gchar *device, const gchar *shown,
                                  AxonCompiledModel *compiled, guint n_workers);

/**
 * axon_scheduler_retire:
 * @scheduler: a scheduler
 * @shown: name of a device, as given to axon_scheduler_add()
 *
 * Gives a device nothing more to do; it is dropped when it has finished.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_retire (AxonScheduler *scheduler, const gchar *shown);

/**
 * axon_scheduler_fail:
 * @scheduler: a scheduler
 * @error: why
 *
 * Ends every waiting request with a copy of @error.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_fail (AxonScheduler *scheduler, const GError *error);

/**
 * axon_scheduler_start:
 * @scheduler: a scheduler
 * @request: a request whose run has begun, in the class's `start`
 * @error: return location
 *
 * Runs a request on an idle device, or lets it wait for one. axon_infer_request_complete() is
 * called when it has run. Fails with %AXON_ERROR_DEVICE where no device is left, with
 * %AXON_ERROR_ARGUMENT where its tensors lie in memory that no device reaches.
 *
 * Returns: %TRUE if it runs or waits
 *
 * Since: 1.0
 */
AXON_API gboolean axon_scheduler_start (AxonScheduler *scheduler, AxonInferRequest *request,
                                        GError **error);

/**
 * axon_scheduler_cancel:
 * @scheduler: a scheduler
 * @request: a request that was started
 *
 * Ends a waiting request at once; cancels one that runs on its device.
 *
 * Since: 1.0
 */
AXON_API void axon_scheduler_cancel (AxonScheduler *scheduler, AxonInferRequest *request);

/**
 * axon_scheduler_get_n_devices:
 * @scheduler: a scheduler
 *
 * Counts the devices that get requests.
 *
 * Returns: the number of devices
 *
 * Since: 1.0
 */
AXON_API guint axon_scheduler_get_n_devices (AxonScheduler *scheduler);

/**
 * axon_scheduler_get_runtime_model:
 * @scheduler: a scheduler
 * @error: return location
 *
 * Gives the graph as it runs on the device that comes first.
 *
 * Returns: (transfer full): a model; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API AxonModel *axon_scheduler_get_runtime_model (AxonScheduler *scheduler, GError **error);

/**
 * axon_scheduler_get_property:
 * @scheduler: a scheduler
 * @key: `OPTIMAL_NUMBER_OF_INFER_REQUESTS`, `EXECUTION_DEVICES`, `DEVICE_PROPERTIES`,
 *   `LOADED_FROM_CACHE` or `DEVICE_SHARES` (`a{sd}`: share of the runs)
 *
 * Answers a property for all devices.
 *
 * Returns: (transfer floating) (nullable): the value; %NULL for other keys
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_scheduler_get_property (AxonScheduler *scheduler, const gchar *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonScheduler, axon_scheduler_unref)

G_END_DECLS
