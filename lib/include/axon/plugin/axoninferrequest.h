/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request, as the device that runs it sees it. In the thread that runs the request, but
 * where another is said. */
#pragma once

#include <axon/plugin/axoncompiledmodel.h>

G_BEGIN_DECLS

/* While the request runs */

/**
 * axon_infer_request_peek_input:
 * @request: a request
 * @index: less than the number of inputs
 *
 * Gives an input as the device shall see it: dense and in host memory, unless the class accepts
 * more.
 *
 * Returns: (transfer none): the tensor, until the run ends
 *
 * Since: 1.0
 */
AXON_API AxonTensor *axon_infer_request_peek_input (AxonInferRequest *request, guint index);

/**
 * axon_infer_request_peek_output:
 * @request: a request
 * @index: less than the number of outputs
 *
 * Gives what the run left for an output, dense.
 *
 * Returns: (transfer none) (nullable): the tensor, until the run ends
 *
 * Since: 1.0
 */
AXON_API AxonTensor *axon_infer_request_peek_output (AxonInferRequest *request, guint index);

/**
 * axon_infer_request_prepare_output:
 * @request: a request
 * @index: less than the number of outputs
 * @shape: its static shape in this run
 * @error: return location
 *
 * Gives the tensor that an output is written to: the user's where the device can write to it, else
 * the last one where nobody else holds it, else a new one. Fails with %AXON_ERROR_ARGUMENT where
 * the user's tensor has another shape, with %AXON_ERROR_MEMORY.
 *
 * Returns: (transfer none): the tensor, until the run ends; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API AxonTensor *axon_infer_request_prepare_output (AxonInferRequest *request, guint index,
                                                        const AxonShape *shape, GError **error);

/**
 * axon_infer_request_take_output:
 * @request: a request
 * @index: less than the number of outputs
 * @tensor: (transfer full): the result, of the output's type
 * @error: return location
 *
 * Makes a tensor the result of an output without a copy; copies where the user has set a tensor.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_take_output (AxonInferRequest *request, guint index,
                                                  AxonTensor *tensor, GError **error);

/**
 * axon_infer_request_is_cancelled:
 * @request: a request
 *
 * Tells whether the run shall end soon: asked between steps. Any thread.
 *
 * Returns: %TRUE if it was cancelled
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_is_cancelled (AxonInferRequest *request);

/**
 * axon_infer_request_goes_on:
 * @request: a request
 * @error: return location
 *
 * As axon_infer_request_is_cancelled(), for a device that then ends the run with an error.
 *
 * Returns: %FALSE with @error, %AXON_ERROR_CANCELLED, if it was cancelled
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_goes_on (AxonInferRequest *request, GError **error);

/**
 * axon_infer_request_complete:
 * @request: a request
 * @error: (nullable) (transfer full): why the run failed
 *
 * Ends a run that the class's `start` took: wakes those who wait, calls the callback. Exactly once
 * per run; any thread. A run that was cancelled ends so, whatever @error says.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_complete (AxonInferRequest *request, GError *error);

/**
 * axon_infer_request_set_profiling:
 * @request: a request
 * @n: rows
 * @info: (array length=n): the rows; texts are copied
 * @times: (array length=n) (nullable): microseconds per row; %NULL: not measured
 *
 * Says what the last run took; %NULL times empty the profile.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_set_profiling (AxonInferRequest *request, guint n,
                                                const AxonProfilingInfo *info,
                                                const gdouble *times);

/* Requests behind requests */

/**
 * axon_infer_request_finish_outputs:
 * @request: a request
 * @error: return location
 *
 * Copies results to where the user wants them, where the device could not write there itself. At
 * the end of a run that `start` took.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_finish_outputs (AxonInferRequest *request, GError **error);

/**
 * axon_infer_request_get_compiled_model:
 * @request: a request
 *
 * Gives the model of the request. Any thread.
 *
 * Returns: (transfer none): the compiled model
 *
 * Since: 1.0
 */
AXON_API AxonCompiledModel *axon_infer_request_get_compiled_model (AxonInferRequest *request);

/**
 * axon_infer_request_unbind:
 * @request: a request
 *
 * Drops every tensor that came from outside; results of its own are kept for the next run.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_unbind (AxonInferRequest *request);

/**
 * axon_infer_request_unbind_inputs:
 * @request: a request
 *
 * Drops what was set for inputs.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_unbind_inputs (AxonInferRequest *request);

/**
 * axon_infer_request_add_profiling:
 * @request: a request
 * @prefix: put before the names
 * @part: a request behind this one
 *
 * Appends the rows of another request's profile.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_add_profiling (AxonInferRequest *request, const gchar *prefix,
                                                AxonInferRequest *part);

/**
 * axon_infer_request_get_data:
 * @request: a request
 *
 * Gives what the plugin keeps for the request.
 *
 * Returns: (transfer none) (nullable): as axon_infer_request_set_data() set it
 *
 * Since: 1.0
 */
AXON_API gpointer axon_infer_request_get_data (AxonInferRequest *request);

/**
 * axon_infer_request_set_data:
 * @request: a request
 * @data: (nullable): what the plugin keeps for the request
 * @destroy: (nullable): frees it with the request
 *
 * Keeps something for a request; once, from the class's `init_request`.
 *
 * Since: 1.0
 */
AXON_API void axon_infer_request_set_data (AxonInferRequest *request, gpointer data,
                                           GDestroyNotify destroy);

/* One request behind another with the same ports: bindings there, results back. */

/**
 * axon_infer_request_forward:
 * @outer: the request that runs
 * @inner: a request behind it, with the same ports
 * @error: return location
 *
 * Binds what @outer has to @inner: inputs as they are, outputs into what @outer wants written,
 * where the size is known.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_forward (AxonInferRequest *outer, AxonInferRequest *inner,
                                              GError **error);

/**
 * axon_infer_request_gather:
 * @outer: the request that runs
 * @inner: the request behind it, whose run has ended
 * @error: return location
 *
 * Takes results and profile of @inner, and unbinds it.
 *
 * Returns: %TRUE if it could
 *
 * Since: 1.0
 */
AXON_API gboolean axon_infer_request_gather (AxonInferRequest *outer, AxonInferRequest *inner,
                                             GError **error);

G_END_DECLS
