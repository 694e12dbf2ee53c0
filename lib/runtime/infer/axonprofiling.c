/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Profiling rows of a request's last run. */
#include "axoncompiledmodel-private.h"
#include "axoninferrequest-private.h"

/**
 * axon_infer_request_get_n_profiling:
 * @request: an idle request
 *
 * Returns: rows of the last run's profile; 0 unless compiled with `PERF_COUNT`
 *
 * Since: 1.0
 */
guint
axon_infer_request_get_n_profiling (AxonInferRequest *request)
{
  return request->profiling->len;
}

/**
 * axon_infer_request_get_profiling: (skip)
 * @request: an idle request
 * @index: a row, in execution order
 *
 * Returns: (transfer none): the row; valid until the next run
 *
 * Since: 1.0
 */
const AxonProfilingInfo *
axon_infer_request_get_profiling (AxonInferRequest *request, guint index)
{
  g_return_val_if_fail (index < request->profiling->len, NULL);
  return &g_array_index (request->profiling, AxonProfilingInfo, index);
}

/**
 * axon_infer_request_dup_profiling:
 * @request: an idle request
 *
 * Returns: (transfer full): the profile as `a(sssdd)`: node, operator, implementation, microseconds
 *   of the wall clock, microseconds of processor time (0: not measured). An empty implementation: a
 *   pass removed the node or fused it into another.
 *
 * Since: 1.0
 */
GVariant *
axon_infer_request_dup_profiling (AxonInferRequest *request)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a(sssdd)"));
  for (guint i = 0; i < request->profiling->len; i++) {
    const AxonProfilingInfo *row = axon_infer_request_get_profiling (request, i);
    g_variant_builder_add (&builder, "(sssdd)", row->node_name, row->node_type, row->exec_type,
                           row->real_time_us, row->cpu_time_us);
  }
  return g_variant_ref_sink (g_variant_builder_end (&builder));
}

/* The request outlives plans and requests behind it: texts are its own. */
static void
append_row (AxonInferRequest *request, AxonProfilingInfo row)
{
  if (request->names == NULL)
    request->names = g_string_chunk_new (1024);
  row.node_name = g_string_chunk_insert_const (request->names, row.node_name);
  row.node_type = g_string_chunk_insert_const (request->names, row.node_type);
  row.exec_type = g_string_chunk_insert_const (request->names, row.exec_type);
  g_array_append_val (request->profiling, row);
}

void
axon_infer_request_set_profiling (AxonInferRequest *request, guint n, const AxonProfilingInfo *info,
                                  const gdouble *times)
{
  g_array_set_size (request->profiling, 0);
  if (times == NULL)
    return;
  for (guint i = 0; i < n; i++) {
    AxonProfilingInfo row = info[i];
    row.real_time_us = times[i];
    row.status = AXON_PROFILING_EXECUTED;
    append_row (request, row);
  }
  axon_compiled_model_add_profile (request->compiled, request->profiling);
}

void
axon_infer_request_add_profiling (AxonInferRequest *request, const gchar *prefix,
                                  AxonInferRequest *part)
{
  for (guint i = 0; i < part->profiling->len; i++) {
    AxonProfilingInfo row = *axon_infer_request_get_profiling (part, i);
    g_autofree gchar *name = g_strconcat (prefix, row.node_name, NULL);
    row.node_name = name;
    append_row (request, row);
  }
}
