/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * AxonError:
 * @AXON_ERROR_MODEL: the model is wrong: get or make another file
 * @AXON_ERROR_UNSUPPORTED: the model is right, but this operator, type or device feature is missing
 * here
 * @AXON_ERROR_DEVICE: the device, its driver or its plugin failed
 * @AXON_ERROR_MEMORY: memory is exhausted or a limit is reached
 * @AXON_ERROR_ARGUMENT: the caller's value is wrong: change the call, the property or the file
 * given
 * @AXON_ERROR_BUSY: the object is in use: wait and try again
 * @AXON_ERROR_CANCELLED: somebody cancelled the work
 *
 * Codes by who can act.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_ERROR_MODEL,
  AXON_ERROR_UNSUPPORTED,
  AXON_ERROR_DEVICE,
  AXON_ERROR_MEMORY,
  AXON_ERROR_ARGUMENT,
  AXON_ERROR_BUSY,
  AXON_ERROR_CANCELLED,
} AxonError;

#define AXON_ERROR (axon_error_quark ())
GQuark axon_error_quark (void);

gchar *axon_nearest_name (const gchar *name, const gchar *const *names);

G_END_DECLS
