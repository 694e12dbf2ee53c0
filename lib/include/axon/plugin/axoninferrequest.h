/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request, as the device that runs it sees it. */
#pragma once

#include <axon/plugin/axoncompiledmodel.h>

G_BEGIN_DECLS

/* While the request runs */
AXON_API AxonTensor *axon_infer_request_peek_input (AxonInferRequest *request, guint index);
AXON_API AxonTensor *axon_infer_request_peek_output (AxonInferRequest *request, guint index);
AXON_API AxonTensor *axon_infer_request_prepare_output (AxonInferRequest *request, guint index,
                                                        const AxonShape *shape, GError **error);
AXON_API gboolean axon_infer_request_take_output (AxonInferRequest *request, guint index,
                                                  AxonTensor *tensor, GError **error);
AXON_API gboolean axon_infer_request_is_cancelled (AxonInferRequest *request);
AXON_API void axon_infer_request_complete (AxonInferRequest *request, GError *error);
AXON_API void axon_infer_request_set_profiling (AxonInferRequest *request, guint n,
                                                const AxonProfilingInfo *info,
                                                const gdouble *times);
/* Requests behind requests */
AXON_API gboolean axon_infer_request_finish_outputs (AxonInferRequest *request, GError **error);
AXON_API AxonCompiledModel *axon_infer_request_get_compiled_model (AxonInferRequest *request);
AXON_API void axon_infer_request_unbind (AxonInferRequest *request);
AXON_API void axon_infer_request_unbind_inputs (AxonInferRequest *request);
AXON_API AxonTensor *axon_infer_request_get_own_input (AxonInferRequest *request, guint index,
                                                       GError **error);
AXON_API void axon_infer_request_add_profiling (AxonInferRequest *request, const gchar *prefix,
                                                AxonInferRequest *part);
AXON_API gpointer axon_infer_request_get_data (AxonInferRequest *request);
AXON_API void axon_infer_request_set_data (AxonInferRequest *request, gpointer data,
                                           GDestroyNotify destroy);
/* One request behind another with the same ports: bindings there, results back. */
AXON_API gboolean axon_infer_request_forward (AxonInferRequest *outer, AxonInferRequest *inner,
                                              GError **error);
AXON_API gboolean axon_infer_request_gather (AxonInferRequest *outer, AxonInferRequest *inner,
                                             GError **error);

G_END_DECLS
