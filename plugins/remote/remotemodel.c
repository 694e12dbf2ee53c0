/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model on a server. A request is on its way without a thread: its front runs on the processor,
 * the client's thread sends and receives, and ends the run. */
#include "remotemodel.h"
#include "remoteregion.h"

#include "config.h"
#include <axon/axon-remote.h>
#include <glib/gi18n-lib.h>
#include <string.h>

#define MIB (1024u * 1024u)
#define MOST_HEADERS (256u * 1024u) /* of an answer's JSON beside its values */
#define LEAST_GZIP 1024u
#define JSON_BYTES 32u /* of a value, at most */

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *model;
  RemoteClient *client;
  RemoteServer *server;
  GPtrArray *inputs, *outputs; /* RemotePort */
  GArray *sources;             /* RemoteSource */
  AxonCompiledModel *front;    /* NULL: none */
  GArray *front_inputs;        /* guint */
  gchar *path, *device;
  gboolean binary, shared, gzip, any_coding, profile;
  gsize most;
} RemoteModel;

typedef AxonCompiledModelClass RemoteModelClass;
static GType remote_model_get_type (void);
G_DEFINE_TYPE (RemoteModel, remote_model, AXON_TYPE_COMPILED_MODEL)

/* A request: what it has on its way. */
typedef struct {
  AxonInferRequest *outer; /* owns this */
  AxonInferRequest *front; /* NULL: none */
  AxonTensor **tensors;    /* what is sent; owned by the requests */
  RemoteShared *shared;    /* NULL: none */
  gboolean used_shared;
  gint64 started;
  GMutex lock;
  RemoteCall *call; /* lock: NULL: none is on its way */
} Run;

static RemoteModel *
model_of (const Run *run)
{
  return (RemoteModel *)axon_infer_request_get_compiled_model (run->outer);
}

static void
run_free (gpointer data)
{
  Run *run = data;
  g_clear_pointer (&run->shared, remote_shared_free);
  g_clear_object (&run->front);
  g_free (run->tensors);
  g_mutex_clear (&run->lock);
  g_free (run);
}

static void
finish (Run *run, GError *error)
{
  RemoteModel *self = model_of (run);
  gdouble time = (gdouble)(g_get_monotonic_time () - run->started);
  AxonProfilingInfo info = { .node_name = self->server->model,
                             .node_type = "Model",
                             .exec_type = self->device };
  if (run->front != NULL)
    axon_infer_request_unbind (run->front);
  if (error == NULL && self->profile)
    axon_infer_request_set_profiling (run->outer, 1, &info, &time);
  if (error == NULL)
    axon_infer_request_finish_outputs (run->outer, &error);
  axon_infer_request_complete (run->outer, error);
}

static AxonTensor *
take_output (guint index, const AxonShape *shape, gpointer data, GError **error)
{
  return axon_infer_request_prepare_output (((Run *)data)->outer, index, shape, error);
}

static gboolean send_request (Run *run, GError **error);

/* A server that was started anew knows no regions: from now on this request does without. */
static gboolean
send_without_region (Run *run)
{
  if (!run->used_shared || axon_infer_request_is_cancelled (run->outer))
    return FALSE;
  g_clear_pointer (&run->shared, remote_shared_free);
  return send_request (run, NULL);
}

/* A server that says what cannot be is asked again when it describes its model as before. */
static void
read_answer (Run *run, const RemoteAnswer *answer, GError **error)
{
  RemoteModel *self = model_of (run);
  if (remote_decode (self->outputs, answer->body, answer->json_length,
                     run->used_shared ? &run->shared->region : NULL, take_output, run, error) ||
      g_error_matches (*error, AXON_ERROR, AXON_ERROR_ARGUMENT))
    return;
  g_prefix_error (error, _ ("device REMOTE: %s: model \"%s\": "),
                  remote_client_get_url (self->client), self->server->model);
  axon_error_set_reason (error, AXON_REASON_UNREACHABLE);
}

static void
on_answer (const RemoteAnswer *answer, const GError *error, gpointer data)
{
  Run *run = data;
  GError *failed = error ? g_error_copy (error) : NULL;
  RemoteCall *call;
  g_mutex_lock (&run->lock);
  call = g_steal_pointer (&run->call);
  g_mutex_unlock (&run->lock);
  remote_call_unref (call);
  if (error != NULL && send_without_region (run)) {
    g_error_free (failed);
    return;
  }
  if (answer != NULL)
    read_answer (run, answer, &failed);
  finish (run, failed);
}

/* All of a body as one, compressed. */
static GBytes *
compress (GPtrArray *body, GError **error)
{
  g_autoptr (GConverter) gzip =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 1));
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream = g_converter_output_stream_new (memory, gzip);
  for (guint i = 0; i < body->len; i++) {
    gsize n;
    gconstpointer data = g_bytes_get_data (body->pdata[i], &n);
    if (!g_output_stream_write_all (stream, data, n, NULL, NULL, error))
      return NULL;
  }
  return g_output_stream_close (stream, NULL, error)
             ? g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory))
             : NULL;
}

static gsize
body_size (const GPtrArray *body)
{
  gsize n = 0;
  for (guint i = 0; i < body->len; i++)
    n += g_bytes_get_size (body->pdata[i]);
  return n;
}

static gboolean
make_question (Run *run, RemoteQuestion *question, GError **error)
{
  RemoteModel *self = model_of (run);
  GBytes *small;
  run->used_shared = run->shared != NULL;
  *question = (RemoteQuestion){ .any_coding = self->any_coding, .most = self->most };
  for (guint i = 0; run->used_shared && i < self->inputs->len; i++)
    memcpy (run->shared->region.data + run->shared->inputs[i],
            axon_tensor_get_data (run->tensors[i]), axon_tensor_get_n_bytes (run->tensors[i]));
  question->body =
      remote_encode (self->inputs, self->outputs, run->tensors, self->binary && !run->used_shared,
                     run->used_shared ? &run->shared->region : NULL, &question->json_length, error);
  if (question->body == NULL)
    return FALSE;
  if (self->gzip && body_size (question->body) >= LEAST_GZIP) {
    small = compress (question->body, error);
    if (small == NULL) {
      g_clear_pointer (&question->body, g_ptr_array_unref);
      return FALSE;
    }
    g_ptr_array_set_size (question->body, 0);
    g_ptr_array_add (question->body, small);
    question->gzip = TRUE;
  }
  question->path = g_strdup (self->path);
  return TRUE;
}

static gboolean
send_request (Run *run, GError **error)
{
  RemoteModel *self = model_of (run);
  RemoteQuestion question;
  if (!make_question (run, &question, error))
    return FALSE;
  g_mutex_lock (&run->lock);
  run->call = remote_client_ask (self->client, &question, on_answer, run);
  if (axon_infer_request_is_cancelled (run->outer))
    remote_call_cancel (run->call);
  g_mutex_unlock (&run->lock);
  return TRUE;
}

static AxonTensor *
tensor_of (const Run *run, const RemoteSource *source)
{
  return source->from_front ? axon_infer_request_peek_output (run->front, source->index)
                            : axon_infer_request_peek_input (run->outer, source->index);
}

static gboolean
send_tensors (Run *run, GError **error)
{
  RemoteModel *self = model_of (run);
  for (guint i = 0; i < self->sources->len; i++)
    run->tensors[i] = tensor_of (run, &g_array_index (self->sources, RemoteSource, i));
  return send_request (run, error);
}

static void
on_front_done (G_GNUC_UNUSED AxonInferRequest *front, const GError *error, gpointer data)
{
  Run *run = data;
  GError *failed = error ? g_error_copy (error) : NULL;
  if (failed != NULL || !send_tensors (run, &failed))
    finish (run, failed);
}

static gboolean
remote_model_start (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  RemoteModel *self = (RemoteModel *)compiled;
  Run *run = axon_infer_request_get_data (request);
  run->started = g_get_monotonic_time ();
  axon_infer_request_set_profiling (request, 0, NULL, NULL);
  if (run->front == NULL)
    return send_tensors (run, error);
  for (guint i = 0; i < self->front_inputs->len; i++)
    if (!axon_infer_request_set_input_tensor (
            run->front, i,
            axon_infer_request_peek_input (request, g_array_index (self->front_inputs, guint, i)),
            error))
      return FALSE;
  return axon_infer_request_start_async (run->front, error);
}

static void
remote_model_cancel (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request)
{
  Run *run = axon_infer_request_get_data (request);
  if (run->front != NULL)
    axon_infer_request_cancel (run->front);
  g_mutex_lock (&run->lock);
  if (run->call != NULL)
    remote_call_cancel (run->call);
  g_mutex_unlock (&run->lock);
}

static void
remote_model_init_request (AxonCompiledModel *compiled, AxonInferRequest *request)
{
  RemoteModel *self = (RemoteModel *)compiled;
  Run *run = g_new0 (Run, 1);
  g_autoptr (GError) error = NULL;
  g_mutex_init (&run->lock);
  run->outer = request;
  run->tensors = g_new0 (AxonTensor *, self->inputs->len + 1);
  if (self->front != NULL) {
    run->front = axon_compiled_model_create_infer_request (self->front);
    axon_infer_request_set_direct_callback (run->front, on_front_done, run);
  }
  if (self->shared) {
    run->shared = remote_shared_new (self->client, self->inputs, self->outputs, &error);
    if (run->shared == NULL)
      axon_plugin_log (axon_compiled_model_get_plugin (compiled),
                       axon_compiled_model_get_config (compiled), "LOG_WARNING",
                       "%s: a request does without shared memory: %s", self->device,
                       error->message);
  }
  axon_infer_request_set_data (request, run, run_free);
}

static GVariant *
remote_model_get_property (AxonCompiledModel *compiled, const gchar *key, GError **error)
{
  RemoteModel *self = (RemoteModel *)compiled;
  const AxonConfig *config = axon_compiled_model_get_config (compiled);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (self->device, NULL);
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 (2 * axon_config_get_int (config, AXON_REMOTE_CONNECTIONS));
  if (g_str_equal (key, AXON_REMOTE_TRANSFER))
    return g_variant_new_string (self->shared   ? "SHARED_MEMORY"
                                 : self->binary ? "BINARY_DATA"
                                                : "JSON");
  return axon_property_no_value (key, error);
}

static AxonModel *
remote_model_get_runtime_model (AxonCompiledModel *compiled, G_GNUC_UNUSED GError **error)
{
  RemoteModel *self = (RemoteModel *)compiled;
  AxonModel *model = axon_model_clone (self->model);
  for (guint i = 0; i < model->nodes->len; i++)
    axon_node_set_exec_type (g_ptr_array_index (model->nodes, i), self->device);
  return model;
}

static GVariant *
remote_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer,
                     G_GNUC_UNUSED GError **error)
{
  return axon_blob_writer_add_model (writer, ((RemoteModel *)compiled)->model);
}

static void
remote_model_finalize (GObject *object)
{
  RemoteModel *self = (RemoteModel *)object;
  g_clear_object (&self->front);
  g_clear_pointer (&self->client, remote_client_free);
  g_clear_pointer (&self->server, remote_server_free);
  g_clear_pointer (&self->inputs, g_ptr_array_unref);
  g_clear_pointer (&self->outputs, g_ptr_array_unref);
  g_clear_pointer (&self->sources, g_array_unref);
  g_clear_pointer (&self->front_inputs, g_array_unref);
  g_clear_object (&self->model);
  g_free (self->path);
  g_free (self->device);
  G_OBJECT_CLASS (remote_model_parent_class)->finalize (object);
}

static void
remote_model_class_init (RemoteModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = remote_model_finalize;
  klass->start = remote_model_start;
  klass->cancel = remote_model_cancel;
  klass->init_request = remote_model_init_request;
  klass->get_property = remote_model_get_property;
  klass->get_runtime_model = remote_model_get_runtime_model;
  klass->export_model = remote_model_export;
}

static void
remote_model_init (G_GNUC_UNUSED RemoteModel *self)
{
}

/* Bytes that an answer may have. */
static gsize
most_of (const RemoteModel *self, const AxonConfig *config)
{
  gsize most = (gsize)axon_config_get_int (config, AXON_REMOTE_MAX_ANSWER_SIZE) * MIB;
  gsize sum = MOST_HEADERS;
  for (guint i = 0; i < self->outputs->len; i++) {
    const RemotePort *port = self->outputs->pdata[i];
    if (!axon_shape_is_static (&port->shape) || port->dtype == AXON_DTYPE_STRING)
      return most;
    sum += (gsize)axon_shape_get_numel (&port->shape) *
           (self->binary ? axon_dtype_get_size (port->dtype) : JSON_BYTES);
  }
  return MIN (most, sum);
}

/* What is asked for wins; AUTO: what the server lists. */
static gboolean
choose (const AxonConfig *config, const gchar *key, gboolean listed)
{
  const gchar *choice = axon_config_get_string (config, key);
  return g_str_equal (choice, "YES") || (g_str_equal (choice, "AUTO") && listed);
}

static gboolean
choose_transfer (RemoteModel *self, const AxonConfig *config, GError **error)
{
  const gchar *compression = axon_config_get_string (config, AXON_REMOTE_COMPRESSION);
  const gchar *url = remote_client_get_url (self->client);
  gboolean local = remote_is_local (url);
  g_autoptr (GError) failed = NULL;
  g_autoptr (RemoteShared) trial = NULL;
  self->binary = choose (config, AXON_REMOTE_BINARY_DATA, self->server->binary_data);
  self->gzip = g_str_equal (compression, "GZIP");
  self->any_coding = self->gzip || (g_str_equal (compression, "AUTO") && !self->binary && !local);
  self->most = most_of (self, config);
  if (!choose (config, AXON_REMOTE_SHARED_MEMORY, self->server->shared_memory && local))
    return TRUE;
  trial = remote_shared_new (self->client, self->inputs, self->outputs, &failed);
  self->shared = trial != NULL;
  if (trial != NULL ||
      g_str_equal (axon_config_get_string (config, AXON_REMOTE_SHARED_MEMORY), "AUTO"))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("device REMOTE: %s: shared memory: %s"),
               url, failed->message);
  return FALSE;
}

static gboolean
compile_front (RemoteModel *self, AxonPlugin *plugin, AxonModel *front, GCancellable *cancellable,
               GError **error)
{
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  if (core == NULL)
    return FALSE;
  self->front = axon_core_compile_model (core, front, "CPU", NULL, cancellable, NULL, NULL, error);
  return self->front != NULL;
}

AxonCompiledModel *
remote_model_new (AxonPlugin *plugin, AxonModel *model, RemoteView *view, RemoteClient *client,
                  RemoteServer *server, const AxonConfig *config, const gchar *device,
                  GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (remote_model_get_type (), NULL);
  RemoteModel *self = (RemoteModel *)compiled;
  self->model = g_object_ref (model);
  self->client = client;
  self->server = server;
  self->inputs = g_ptr_array_ref (view->inputs);
  self->outputs = g_ptr_array_ref (view->outputs);
  self->sources = g_array_ref (view->sources);
  self->front_inputs = g_array_ref (view->front_inputs);
  self->path = g_strconcat (server->path, "/infer", NULL);
  self->device = g_strdup (device);
  self->profile = axon_config_get_bool (config, "PERF_COUNT");
  if (!choose_transfer (self, config, error) ||
      (view->front != NULL && !compile_front (self, plugin, view->front, cancellable, error)))
    return NULL;
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  return g_steal_pointer (&compiled);
}
