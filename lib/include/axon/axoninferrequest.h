/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axoncompiledmodel.h>

G_BEGIN_DECLS

#define AXON_TYPE_INFER_REQUEST (axon_infer_request_get_type ())
AXON_API
G_DECLARE_FINAL_TYPE (AxonInferRequest, axon_infer_request, AXON, INFER_REQUEST, GObject)

/**
 * AxonInferCallback:
 * @request: the request, idle again: it may be started from here
 * @error: (nullable): why it failed
 * @user_data: as given
 *
 * Called once per successful start, in the thread of callbacks.
 *
 * Since: 1.0
 */
typedef void (*AxonInferCallback) (AxonInferRequest *request, const GError *error,
                                   gpointer user_data);

/**
 * AxonProfilingStatus:
 * @AXON_PROFILING_NOT_RUN: was not reached
 * @AXON_PROFILING_OPTIMIZED_OUT: a pass removed it or fused it into another
 * @AXON_PROFILING_EXECUTED: ran
 *
 * Since: 1.0
 */
typedef enum {
  AXON_PROFILING_NOT_RUN,
  AXON_PROFILING_OPTIMIZED_OUT,
  AXON_PROFILING_EXECUTED,
} AxonProfilingStatus;

/**
 * AxonProfilingInfo:
 * @node_name: original name
 * @node_type: operator
 * @exec_type: implementation that ran it; empty where none did
 * @real_time_us: microseconds of the wall clock in the last run
 * @cpu_time_us: microseconds of processor time; 0: not measured
 * @status: whether it ran
 *
 * Since: 1.0
 */
typedef struct {
  const gchar *node_name;
  const gchar *node_type;
  const gchar *exec_type;
  gdouble real_time_us;
  gdouble cpu_time_us;
  AxonProfilingStatus status;
} AxonProfilingInfo;

AXON_API gboolean axon_infer_request_set_input_tensor (AxonInferRequest *request, guint index,
                                                       AxonTensor *tensor, GError **error);
AXON_API gboolean axon_infer_request_set_input_tensors (AxonInferRequest *request, guint index,
                                                        AxonTensor **tensors, guint n_tensors,
                                                        GError **error);
AXON_API gboolean axon_infer_request_set_output_tensor (AxonInferRequest *request, guint index,
                                                        AxonTensor *tensor, GError **error);
AXON_API AxonTensor *axon_infer_request_get_input_tensor (AxonInferRequest *request, guint index);
AXON_API AxonTensor *axon_infer_request_get_output_tensor (AxonInferRequest *request, guint index);
AXON_API gboolean axon_infer_request_infer (AxonInferRequest *request, GError **error);
AXON_API gboolean axon_infer_request_start_async (AxonInferRequest *request, GError **error);
AXON_API gboolean axon_infer_request_wait (AxonInferRequest *request, GError **error);
AXON_API gboolean axon_infer_request_wait_for (AxonInferRequest *request, guint milliseconds,
                                               gboolean *done, GError **error);
AXON_API void axon_infer_request_cancel (AxonInferRequest *request);
AXON_API void axon_infer_request_set_callback (AxonInferRequest *request,
                                               AxonInferCallback callback, gpointer user_data,
                                               GDestroyNotify notify);
AXON_API void axon_infer_request_set_direct_callback (AxonInferRequest *request,
                                                      AxonInferCallback callback,
                                                      gpointer user_data);
AXON_API guint axon_infer_request_get_n_profiling (AxonInferRequest *request);
AXON_API const AxonProfilingInfo *axon_infer_request_get_profiling (AxonInferRequest *request,
                                                                    guint index);

AXON_API GVariant *axon_infer_request_dup_profiling (AxonInferRequest *request);

G_END_DECLS
