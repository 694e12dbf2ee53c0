/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model in parts. Part i+1 starts in the thread that ended part i; tensors between parts are
 * handed on, not copied. */
#include "hetero.h"

#include <string.h>

typedef enum { FROM_INPUT, FROM_PART, FROM_CONSTANT } SourceKind;

/* Where a value comes from. */
typedef struct {
  SourceKind kind;
  guint part, index;    /* index: of the model's input, or of the part's output */
  AxonTensor *constant; /* owned */
} Source;

typedef struct {
  gchar *device;
  AxonCompiledModel *compiled;
  AxonModel *model; /* kept where the device exports nothing */
  Source *inputs;   /* of each of the part's inputs */
} Part;

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *ports; /* inputs, then results of parts, as inputs; outputs: what an export needs */
  guint n_inputs;
  GPtrArray *parts; /* Part */
  GArray *outputs;  /* Source */
} HeteroModel;

typedef AxonCompiledModelClass HeteroModelClass;
static GType hetero_model_get_type (void);
G_DEFINE_TYPE (HeteroModel, hetero_model, AXON_TYPE_COMPILED_MODEL)

/* A request: one for each part. */
typedef struct {
  AxonInferRequest *outer; /* owns this */
  AxonInferRequest **inner;
  guint n, at; /* at: the part that runs */
} Run;

static void
part_free (gpointer data)
{
  Part *part = data;
  g_clear_object (&part->compiled);
  g_clear_object (&part->model);
  g_free (part->inputs);
  g_free (part->device);
  g_free (part);
}

static void
source_clear (gpointer data)
{
  g_clear_pointer (&((Source *)data)->constant, axon_tensor_unref);
}

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

static void
hetero_model_init_request (AxonCompiledModel *compiled, AxonInferRequest *request)
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
    g_autofree gchar *prefix = g_strdup_printf ("subgraph%u: ", i);
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

static gboolean
hetero_model_start (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  Run *run = axon_infer_request_get_data (request);
  run->at = 0;
  if (run->n > 0)
    return start_part (self, run, error);
  finish (self, run, NULL); /* outputs are inputs or constants */
  return TRUE;
}

static void
hetero_model_cancel (G_GNUC_UNUSED AxonCompiledModel *compiled, AxonInferRequest *request)
{
  Run *run = axon_infer_request_get_data (request);
  for (guint i = 0; i < run->n; i++)
    axon_infer_request_cancel (run->inner[i]);
}

static GVariant *
execution_devices (HeteroModel *self)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    if (g_hash_table_add (seen, part->device))
      g_variant_builder_add (&b, "s", part->device);
  }
  return g_variant_builder_end (&b);
}

static gint
optimal_requests (HeteroModel *self)
{
  gint most = 1;
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    g_autoptr (GVariant) n =
        axon_compiled_model_get_property (part->compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
    most = MAX (most, n ? g_variant_get_int32 (n) : 1);
  }
  return most;
}

/* Device -> its compiled properties. */
static GVariant *
device_properties (HeteroModel *self)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    if (!g_variant_dict_contains (&dict, part->device))
      g_variant_dict_insert_value (&dict, part->device,
                                   axon_compiled_model_dup_properties (part->compiled));
  }
  return g_variant_dict_end (&dict);
}

static GVariant *
hetero_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                           G_GNUC_UNUSED GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return execution_devices (self);
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 (optimal_requests (self));
  if (g_str_equal (key, "HETERO_NUMBER_OF_SUBMODELS"))
    return g_variant_new_int32 ((gint)self->parts->len);
  if (g_str_equal (key, "DEVICE_PROPERTIES"))
    return device_properties (self);
  return NULL;
}

/* The part's own export as a blob in the blob; else its graph. */
static GVariant *
export_part (Part *part, AxonBlobWriter *writer, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  if (part->model != NULL)
    return g_variant_new ("(sttv)", part->device, (guint64)0, (guint64)0,
                          axon_blob_writer_add_model (writer, part->model));
  if (!axon_compiled_model_export (part->compiled, stream, NULL, error) ||
      !g_output_stream_close (stream, NULL, error))
    return NULL;
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  return g_variant_new ("(sttv)", part->device,
                        axon_blob_writer_add (writer, bytes, AXON_BLOB_PAGE),
                        (guint64)g_bytes_get_size (bytes), g_variant_new_boolean (FALSE));
}

static GVariant *
hetero_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  GVariantBuilder parts;
  g_variant_builder_init (&parts, G_VARIANT_TYPE ("a(sttv)"));
  for (guint i = 0; i < self->parts->len; i++) {
    GVariant *part = export_part (g_ptr_array_index (self->parts, i), writer, error);
    if (part == NULL) {
      g_variant_builder_clear (&parts);
      return NULL;
    }
    g_variant_builder_add_value (&parts, part);
  }
  return g_variant_new ("(ua(sttv)v)", self->n_inputs, &parts,
                        axon_blob_writer_add_model (writer, self->ports));
}

static void
hetero_model_finalize (GObject *object)
{
  HeteroModel *self = (HeteroModel *)object;
  g_ptr_array_unref (self->parts);
  g_array_unref (self->outputs);
  g_clear_object (&self->ports);
  G_OBJECT_CLASS (hetero_model_parent_class)->finalize (object);
}

static void
hetero_model_class_init (HeteroModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = hetero_model_finalize;
  klass->init_request = hetero_model_init_request;
  klass->start = hetero_model_start;
  klass->cancel = hetero_model_cancel;
  klass->get_property = hetero_model_get_property;
  klass->export_model = hetero_model_export;
}

static void
hetero_model_init (HeteroModel *self)
{
  self->parts = g_ptr_array_new_with_free_func (part_free);
  self->outputs = g_array_new (FALSE, TRUE, sizeof (Source));
  g_array_set_clear_func (self->outputs, source_clear);
}

/* By name: the model's inputs, then what earlier parts make, then constants. */
static gboolean
find_source (HeteroModel *self, const gchar *name, guint before, Source *source, GError **error)
{
  const AxonValue *value = axon_model_find_value (self->ports, name);
  for (guint i = 0; i < self->n_inputs; i++)
    if (g_ptr_array_index (self->ports->inputs, i) == value && value != NULL) {
      *source = (Source){ FROM_INPUT, 0, i, NULL };
      return TRUE;
    }
  for (guint p = 0; p < before; p++) {
    Part *part = g_ptr_array_index (self->parts, p);
    gint at = axon_compiled_model_find_output (part->compiled, name);
    if (at >= 0) {
      *source = (Source){ FROM_PART, p, (guint)at, NULL };
      return TRUE;
    }
  }
  if (value != NULL && value->type.value != NULL) {
    *source = (Source){ FROM_CONSTANT, 0, 0, axon_tensor_ref (value->type.value) };
    return TRUE;
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "HETERO: no part makes \"%s\"", name);
  return FALSE;
}

static gboolean
link_parts (HeteroModel *self, GError **error)
{
  for (guint p = 0; p < self->parts->len; p++) {
    Part *part = g_ptr_array_index (self->parts, p);
    guint n = axon_compiled_model_get_n_inputs (part->compiled);
    part->inputs = g_new0 (Source, n + 1);
    for (guint i = 0; i < n; i++)
      if (!find_source (self, axon_compiled_model_get_input_name (part->compiled, i), p,
                        &part->inputs[i], error))
        return FALSE;
  }
  for (guint i = 0; i < self->ports->outputs->len; i++) {
    Source source;
    if (!find_source (self, ((AxonValue *)g_ptr_array_index (self->ports->outputs, i))->name,
                      self->parts->len, &source, error))
      return FALSE;
    g_array_append_val (self->outputs, source);
  }
  return TRUE;
}

static AxonValue *
add_port (AxonModel *ports, const AxonValue *value)
{
  AxonValue *mine = axon_model_find_value (ports, value->name);
  if (mine != NULL)
    return mine;
  if (value->type.value != NULL)
    return axon_model_add_constant (ports, value->name, value->type.value);
  mine = axon_model_add_input (ports, value->name, value->type.dtype, &value->type.shape);
  mine->layout = g_strdup (value->layout);
  return mine;
}

/* A graph without nodes: the inputs, then the results of parts as if they were inputs. */
static AxonModel *
make_ports (AxonModel *model)
{
  AxonModel *ports = axon_model_new (model->name);
  for (guint i = 0; i < model->inputs->len; i++)
    add_port (ports, g_ptr_array_index (model->inputs, i));
  for (guint i = 0; i < model->outputs->len; i++)
    axon_model_add_output (ports, add_port (ports, g_ptr_array_index (model->outputs, i)));
  return ports;
}

/* Parts of one device share its queue, unless the user said how many streams there shall be. */
static GVariant *
part_config (AxonCore *core, const AxonConfig *config, const gchar *device, guint n_parts)
{
  g_autoptr (GVariant) own = axon_config_for_device (config, device);
  g_autoptr (GVariant) uncached = axon_variant_with (own, "CACHE_DIR", g_variant_new_string (""));
  g_autoptr (GVariant) counted = NULL;
  g_autoptr (GVariant) known =
      axon_core_get_property (core, device, "EXCLUSIVE_ASYNC_REQUESTS", NULL);
  g_autoptr (GVariant) streams = g_variant_lookup_value (own, "NUM_STREAMS", NULL);
  g_autoptr (GVariant) hint = g_variant_lookup_value (own, "PERFORMANCE_HINT", NULL);
  counted = axon_config_get_bool (config, "PERF_COUNT")
                ? axon_variant_with (uncached, "PERF_COUNT", g_variant_new_boolean (TRUE))
                : g_variant_ref (uncached);
  if (n_parts < 2 || known == NULL || streams != NULL || hint != NULL)
    return g_steal_pointer (&counted);
  return axon_variant_with (counted, "EXCLUSIVE_ASYNC_REQUESTS", g_variant_new_boolean (TRUE));
}

typedef struct {
  AxonProgressFunc progress;
  gpointer user_data;
  guint at, n;
} PartProgress;

static void
on_progress (gdouble fraction, const gchar *stage, gpointer user_data)
{
  PartProgress *p = user_data;
  if (p->progress != NULL)
    p->progress ((p->at + fraction) / p->n, stage, p->user_data);
}

static gboolean
compile_part (HeteroModel *self, AxonCore *core, const AxonPart *cut, const AxonConfig *config,
              GCancellable *cancellable, PartProgress *progress, GError **error)
{
  g_autoptr (GVariant) own = part_config (core, config, cut->device, progress->n);
  AxonCompiledModel *compiled = axon_core_compile_model (core, cut->model, cut->device, own,
                                                         cancellable, on_progress, progress, error);
  g_autoptr (GVariant) capabilities =
      axon_core_get_property (core, cut->device, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = capabilities ? g_variant_get_strv (capabilities, NULL) : NULL;
  Part *part;
  if (compiled == NULL) {
    g_prefix_error (error, "HETERO, part %u: ", progress->at);
    return FALSE;
  }
  part = g_new0 (Part, 1);
  part->device = g_strdup (cut->device);
  part->compiled = compiled;
  if (list == NULL || !g_strv_contains (list, "EXPORT_IMPORT"))
    part->model = g_object_ref (cut->model);
  g_ptr_array_add (self->parts, part);
  return TRUE;
}

AxonCompiledModel *
hetero_model_new (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                  GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                  GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (hetero_model_get_type (), NULL);
  HeteroModel *self = (HeteroModel *)compiled;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (AxonModel) assigned = axon_model_clone (model);
  g_autoptr (GPtrArray) parts = NULL;
  PartProgress told = { progress, user_data, 0, 1 };
  if (core == NULL || !hetero_assign (core, assigned, config, cancellable, error))
    return NULL;
  parts = axon_partition (assigned, error);
  if (parts == NULL)
    return NULL;
  hetero_dump (assigned, parts);
  told.n = parts->len;
  for (; told.at < parts->len; told.at++)
    if (!compile_part (self, core, g_ptr_array_index (parts, told.at), config, cancellable, &told,
                       error))
      return NULL;
  self->ports = make_ports (model);
  self->n_inputs = model->inputs->len;
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  return link_parts (self, error) ? g_steal_pointer (&compiled) : NULL;
}

static gboolean
import_part (HeteroModel *self, AxonCore *core, AxonBlob *blob, GVariant *packed, guint n_parts,
             const AxonConfig *config, GCancellable *cancellable, GError **error)
{
  guint64 offset, size;
  const gchar *device;
  g_autoptr (GVariant) graph = NULL;
  g_autoptr (GVariant) own = NULL;
  Part *part = g_new0 (Part, 1);
  g_variant_get (packed, "(&sttv)", &device, &offset, &size, &graph);
  part->device = g_strdup (device);
  g_ptr_array_add (self->parts, part);
  own = part_config (core, config, device, n_parts);
  if (size > 0) {
    g_autoptr (GBytes) bytes = axon_blob_get_bytes (blob, offset, size, error);
    part->compiled = bytes ? axon_core_import_model (core, bytes, device, NULL, own, cancellable,
                                                     NULL, NULL, error)
                           : NULL;
  } else {
    part->model = axon_blob_read_model (blob, graph, error);
    part->compiled = part->model ? axon_core_compile_model (core, part->model, device, own,
                                                            cancellable, NULL, NULL, error)
                                 : NULL;
  }
  return part->compiled != NULL;
}

/* The port graph's outputs name what to show; its surplus inputs are results of parts. */
AxonCompiledModel *
hetero_model_import (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                     const AxonConfig *config, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (hetero_model_get_type (), NULL);
  HeteroModel *self = (HeteroModel *)compiled;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GVariant) parts = NULL;
  g_autoptr (GVariant) ports = NULL;
  g_autoptr (AxonModel) shown = NULL;
  if (core == NULL)
    return NULL;
  if (!g_variant_is_of_type (payload, G_VARIANT_TYPE ("(ua(sttv)v)"))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "HETERO: the file has another form");
    return NULL;
  }
  g_variant_get (payload, "(u@a(sttv)v)", &self->n_inputs, &parts, &ports);
  self->ports = axon_blob_read_model (blob, ports, error);
  if (self->ports == NULL)
    return NULL;
  if (self->n_inputs > self->ports->inputs->len) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "HETERO: the file's inputs are wrong");
    return NULL;
  }
  for (gsize i = 0; i < g_variant_n_children (parts); i++) {
    g_autoptr (GVariant) packed = g_variant_get_child_value (parts, i);
    if (!import_part (self, core, blob, packed, (guint)g_variant_n_children (parts), config,
                      cancellable, error))
      return NULL;
  }
  shown = axon_model_clone (self->ports);
  g_ptr_array_set_size (shown->inputs, (gint)self->n_inputs);
  axon_compiled_model_setup (compiled, plugin, shown, config, NULL);
  return link_parts (self, error) ? g_steal_pointer (&compiled) : NULL;
}
