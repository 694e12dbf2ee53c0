/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include <axon/axonapi.h>

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

/**
 * AxonErrorReason:
 * @AXON_REASON_UNKNOWN: the message says all
 * @AXON_REASON_ENCODING: the bytes are no protobuf message
 * @AXON_REASON_VERSION: a version of the format
 * @AXON_REASON_OPERATOR: an operator that is not there, or not in this version
 * @AXON_REASON_ATTRIBUTE: an operator's attribute has a value that is not there
 * @AXON_REASON_SHAPE: a shape or rank
 * @AXON_REASON_DTYPE: an element type
 * @AXON_REASON_UNREACHABLE: the device cannot be reached at the moment, and may come back
 *
 * What an error is about, where programs choose by it.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_REASON_UNKNOWN,
  AXON_REASON_ENCODING,
  AXON_REASON_VERSION,
  AXON_REASON_OPERATOR,
  AXON_REASON_ATTRIBUTE,
  AXON_REASON_SHAPE,
  AXON_REASON_DTYPE,
  AXON_REASON_UNREACHABLE,
} AxonErrorReason;

#define AXON_ERROR (axon_error_quark ())
AXON_API GQuark axon_error_quark (void);
AXON_API AxonErrorReason axon_error_get_reason (const GError *error);
AXON_API void axon_error_set_reason (GError **error, AxonErrorReason reason);

AXON_API gchar *axon_nearest_name (const gchar *name, const gchar *const *names);

G_END_DECLS
