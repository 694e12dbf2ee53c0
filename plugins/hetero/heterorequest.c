/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Part i+1 starts in the thread that ended part i; tensors between parts are handed on, not
 * copied. */
#include "heteroparts.h"

/* A request: one for each part. */
typedef struct {
  AxonInferRequest *outer; /* owns this */
  AxonInferRequest **inner;
  guint n, at; /* at: the part that runs */
} Run;

static void
run_free (gpointer data)
{
  Run *run = data;
  for (guint i = 0; i < run->n; i++)
    g_object_unref (run->inner[i]);
  g_free (run->inner);
  g_free (run);
}

static void on_part_done (AxonInferRequest *inner, const GError *error, gpointer user_data);

void
hetero_request_init (AxonCompiledModel *compiled, AxonInferRequest *request)
{
  HeteroModel *self = (HeteroModel *)compiled;
  Run *run = g_new0 (Run, 1);
  run->outer = request;
  run->n = self->parts->len;
  run->inner = g_new0 (AxonInferRequest *, run->n + 1);
  for (guint i = 0; i < run->n; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    run->inner[i] = axon_compiled_model_create_infer_request (part->compiled);
    axon_infer_request_set_direct_callback (run->inner[i], on_part_done, run);
  }
  axon_infer_request_set_data (request, run, run_free);
}

/* The tensor of a source that is there already (transfer none). */
static AxonTensor *
source_tensor (Run *run, const Source *source)
{
  switch (source->kind) {
  case FROM_INPUT:
    return axon_infer_request_peek_input (run->outer, source->index);
  case FROM_PART:
    return axon_infer_request_peek_output (run->inner[source->part], source->index);
  default:
    return source->constant;
  }
}

/* Results of the model are written where the model's request wants them. */
static gboolean
bind_outputs (HeteroModel *self, Run *run, guint part, GError **error)
{
  for (guint i = 0; i < self->outputs->len; i++) {
    const Source *source = &g_array_index (self->outputs, Source, i);
    const AxonShape *shape = axon_compiled_model_get_output_shape (&self->parent_instance, i);
    AxonTensor *t;
    if (source->kind != FROM_PART || source->part != part || !axon_shape_is_static (shape))
      continue;
    t = axon_infer_request_prepare_output (run->outer, i, shape, error);
    if (t == NULL ||
        !axon_infer_request_set_output_tensor (run->inner[part], source->index, t, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
start_part (HeteroModel *self, Run *run, GError **error)
{
  Part *part = g_ptr_array_index (self->parts, run->at);
  AxonInferRequest *inner = run->inner[run->at];
  guint n = axon_compiled_model_get_n_inputs (part->compiled);
  for (guint i = 0; i < n; i++)
    if (!axon_infer_request_set_input_tensor (inner, i, source_tensor (run, &part->inputs[i]),
                                              error))
      return FALSE;
  return bind_outputs (self, run, run->at, error) && axon_infer_request_start_async (inner, error);
}

static gboolean
collect_outputs (HeteroModel *self, Run *run, GError **error)
{
  for (guint i = 0; i < self->outputs->len; i++) {
    const Source *source = &g_array_index (self->outputs, Source, i);
    AxonTensor *t = axon_tensor_ref (source_tensor (run, source));
    if (source->kind != FROM_PART) { /* the request's own: an input may be written to later */
      AxonTensor *copy =
          axon_infer_request_prepare_output (run->outer, i, axon_tensor_get_shape (t), error);
      gboolean ok = copy != NULL && axon_tensor_copy_to (t, copy, error);
      axon_tensor_unref (t);
      if (!ok)
        return FALSE;
    } else if (!axon_infer_request_take_output (run->outer, i, t, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

gchar *
hetero_part_prefix (guint part)
{
  return g_strdup_printf ("subgraph%u: ", part);
}

static void
finish (HeteroModel *self, Run *run, GError *error)
{
  gboolean profile =
      axon_config_get_bool (axon_compiled_model_get_config (&self->parent_instance), "PERF_COUNT");
  AxonInferRequest *outer = run->outer;
  if (error == NULL && !axon_infer_request_is_cancelled (outer))
    collect_outputs (self, run, &error);
  axon_infer_request_set_profiling (outer, 0, NULL, NULL);
  for (guint i = 0; i < run->n; i++) {
    g_autofree gchar *prefix = hetero_part_prefix (i);
    if (profile && error == NULL)
      axon_infer_request_add_profiling (outer, prefix, run->inner[i]);
    axon_infer_request_unbind (run->inner[i]);
  }
  if (error == NULL)
    axon_infer_request_finish_outputs (outer, &error);
  axon_infer_request_complete (outer, error);
}

static void
on_part_done (G_GNUC_UNUSED AxonInferRequest *inner, const GError *error, gpointer user_data)
{
  Run *run = user_data;
  HeteroModel *self = (HeteroModel *)axon_infer_request_get_compiled_model (run->outer);
  GError *failure = error ? g_error_copy (error) : NULL;
  run->at++;
  if (failure == NULL && run->at < run->n && !axon_infer_request_is_cancelled (run->outer)) {
    if (start_part (self, run, &failure))
      return;
  }
  finish (self, run, failure);
}

gboolean
hetero_request_start (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  Run *run = axon_infer_request_get_data (request);
  run->at = 0;
  if (run->n > 0)
    return start_part (self, run, error);
  finish (self, run, NULL); /* outputs are inputs or constants */
  return TRUE;
}

void
hetero_request_cancel (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request)
{
  Run *run = axon_infer_request_get_data (request);
  for (guint i = 0; i < run->n; i++)
    axon_infer_request_cancel (run->inner[i]);
}
