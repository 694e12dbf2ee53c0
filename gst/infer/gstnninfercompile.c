/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nninfer's beginning: reading, describing and compiling the model. Compiling runs on a worker; the
 * first buffer waits for it, so a pipeline prerolls when the model is ready. */
#include "infer/gstnninfer.h"
#include "caps/gstnncaps.h"
#include "infer/gstnnload.h"

#define GST_CAT_DEFAULT gst_nn_infer_debug

/* Takes @model over. */
static void
set_model (GstNnInfer *self, AxonModel *model)
{
  g_autoptr (AxonModel) old = NULL;
  GST_OBJECT_LOCK (self);
  old = g_steal_pointer (&self->model);
  self->model = model;
  GST_OBJECT_UNLOCK (self);
}

/* For queries, which come from any thread in any state; NULL: none is open. */
AxonModel *
gst_nn_infer_ref_model (GstNnInfer *self)
{
  AxonModel *model;
  GST_OBJECT_LOCK (self);
  model = self->model ? g_object_ref (self->model) : NULL;
  GST_OBJECT_UNLOCK (self);
  return model;
}

static gboolean
open_model (GstNnInfer *self, GError **error)
{
  AxonCore *core = axon_core_get_default ();
  if (self->model_path == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("no model is set: give the path of an ONNX file, model=FILE.onnx"));
    return FALSE;
  }
  if (!gst_nn_load_extensions (self->extensions, error) ||
      !axon_core_has_device (core, self->device, error))
    return FALSE;
  set_model (self, gst_nn_load_model (self->model_path, error));
  if (self->model == NULL)
    return FALSE;
  self->description =
      gst_nn_model_props_describe (&self->props, self->model_path, self->model, error);
  if (self->description == NULL)
    return FALSE;
  GST_DEBUG_OBJECT (self, "%s is described by%s", self->model_path, self->description->origin->str);
  return TRUE;
}

static void
post_model_info (GstNnInfer *self)
{
  g_autofree gchar *input = axon_shape_to_string (axon_model_get_input_shape (self->model, 0));
  GstStructure *s =
      gst_structure_new ("nn-model-info", "model", G_TYPE_STRING, self->description->model_name,
                         "device", G_TYPE_STRING, self->device, "input", G_TYPE_STRING, input,
                         "color", G_TYPE_STRING, self->description->color, "decoder", G_TYPE_STRING,
                         self->description->decoder ? self->description->decoder : "by shape",
                         "parameters", G_TYPE_UINT64, axon_model_get_n_parameters (self->model),
                         "origin", G_TYPE_STRING, self->description->origin->str, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

/* NULL -> READY: quick checks with clear errors. */
gboolean
gst_nn_infer_open (GstNnInfer *self)
{
  g_autoptr (GError) error = NULL;
  GST_OBJECT_LOCK (self);
  self->is_stale = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (open_model (self, &error)) {
    post_model_info (self);
    return TRUE;
  }
  gst_nn_post_error (GST_ELEMENT (self), error);
  gst_nn_infer_close (self);
  return FALSE;
}

void
gst_nn_infer_close (GstNnInfer *self)
{
  gst_nn_infer_forget_compiled (self);
  set_model (self, NULL);
  g_clear_pointer (&self->description, gst_nn_description_unref);
  self->is_doubted = FALSE;
}

gboolean
gst_nn_infer_has_free_size (GstNnInfer *self)
{
  const AxonShape *s = axon_model_get_input_shape (self->model, 0);
  for (gint i = 1; i < s->rank; i++)
    if (s->dims[i] < 0)
      return TRUE;
  return FALSE;
}

/* other/tensors caps of a model's inputs or outputs. */
GstCaps *
gst_nn_infer_model_caps (AxonModel *model, gboolean outputs)
{
  guint n = outputs ? axon_model_get_n_outputs (model) : axon_model_get_n_inputs (model);
  g_autofree AxonDType *types = g_new (AxonDType, n + 1);
  g_autofree AxonShape *shapes = g_new (AxonShape, n + 1);
  for (guint i = 0; i < n; i++) {
    types[i] =
        outputs ? axon_model_get_output_dtype (model, i) : axon_model_get_input_dtype (model, i);
    shapes[i] =
        outputs ? *axon_model_get_output_shape (model, i) : *axon_model_get_input_shape (model, i);
  }
  return gst_nn_tensor_caps_new (n, types, shapes);
}

/* GstStructure -> a{sv} of the device's properties, every value as text. */
static GVariant *
config_variant (GstNnInfer *self)
{
  GVariantBuilder builder;
  g_variant_builder_init (&builder, G_VARIANT_TYPE ("a{sv}"));
  GST_OBJECT_LOCK (self);
  for (gint i = 0; self->config != NULL && i < gst_structure_n_fields (self->config); i++) {
    const gchar *key = gst_structure_nth_field_name (self->config, (guint)i);
    const GValue *value = gst_structure_get_value (self->config, key);
    g_autofree gchar *text =
        G_VALUE_HOLDS_STRING (value) ? g_value_dup_string (value) : gst_value_serialize (value);
    g_variant_builder_add (&builder, "{sv}", key, g_variant_new_string (text ? text : ""));
  }
  GST_OBJECT_UNLOCK (self);
  gst_nn_infer_add_goal (self, &builder);
  return g_variant_builder_end (&builder);
}

typedef struct {
  GstNnInfer *self;
  AxonModel *model; /* with preprocessing in front, for video; NULL: a compiled file as it is */
  /* as the properties are when it begins */
  gchar *path, *device;
  gboolean device_is_set;
} Job;

static gboolean
set_affinity (GQuark field, const GValue *value, gpointer model)
{
  axon_model_set_affinity (model, g_quark_to_string (field), g_value_get_string (value));
  return TRUE;
}

/* HETERO follows what nnquery found for this very file. Returns the devices that it asked, for
 * nodes that are not in the file (frames to tensors); NULL: there is no such advice. */
static gchar *
apply_affinities (Job *job)
{
  GstNnInfer *self = job->self;
  gchar *devices = NULL;
  const GstStructure *nodes = NULL;
  const GValue *value;
  GST_OBJECT_LOCK (self);
  if (self->affinities != NULL && g_str_equal (job->device, "HETERO") &&
      g_strcmp0 (gst_structure_get_string (self->affinities, "model"), job->path) == 0 &&
      (value = gst_structure_get_value (self->affinities, "affinities")) != NULL)
    nodes = gst_value_get_structure (value);
  if (nodes != NULL) {
    gst_structure_foreach (nodes, set_affinity, job->model);
    devices = g_strdup (gst_structure_get_string (self->affinities, "devices"));
  }
  GST_OBJECT_UNLOCK (self);
  return devices;
}

static AxonCompiledModel *
compile (Job *job, AxonProgressFunc progress, GError **error)
{
  GstNnInfer *self = job->self;
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GVariant) config = g_variant_ref_sink (config_variant (self));
  g_autofree gchar *device = g_strdup (job->device);
  g_autofree gchar *devices = NULL;
  if (job->model == NULL)
    return axon_core_import_model_from_file (core, job->path,
                                             job->device_is_set ? job->device : NULL, config,
                                             self->cancellable, progress, self, error);
  devices = apply_affinities (job);
  if (devices != NULL) {
    g_free (device);
    device = g_strconcat ("HETERO:", devices, NULL);
  }
  return axon_core_compile_model (core, job->model, device, config, self->cancellable, progress,
                                  self, error);
}

static void
on_progress (gdouble fraction, G_GNUC_UNUSED const gchar *stage, gpointer user_data)
{
  GstNnInfer *self = user_data;
  static const gdouble step = 0.25; /* not a message per node */
  gdouble *last = g_object_get_data (G_OBJECT (self), "axon-progress");
  if (last != NULL && fraction < *last + step && fraction < 1)
    return;
  if (last != NULL)
    *last = fraction;
  g_autofree gchar *text =
      g_strdup_printf (_ ("Compiling the model: %d %%"), (gint)(fraction * 100));
  gst_element_post_message (
      GST_ELEMENT (self),
      gst_message_new_progress (GST_OBJECT (self), GST_PROGRESS_TYPE_CONTINUE, "compile", text));
}

static void
adopt (GstNnInfer *self, AxonCompiledModel *compiled)
{
  g_autoptr (GVariant) optimal =
      axon_compiled_model_get_property (compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
  guint n;
  GST_OBJECT_LOCK (self);
  /* One more than run at a time: the next frame is bound while others are inferred. */
  n = self->nireq > 0 ? self->nireq : optimal ? (guint)g_variant_get_int32 (optimal) + 1 : 2;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "%u requests at a time", n);
  gst_nn_infer_queue_open (self->queue, compiled, n);
}

static void
post_progress (GstNnInfer *self, GstProgressType type, const gchar *text)
{
  gst_element_post_message (GST_ELEMENT (self),
                            gst_message_new_progress (GST_OBJECT (self), type, "compile", text));
}

static gpointer
compile_main (gpointer data)
{
  Job *job = data;
  GstNnInfer *self = job->self;
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  post_progress (self, GST_PROGRESS_TYPE_START, _ ("Compiling the model"));
  compiled = compile (job, on_progress, &error);
  if (compiled != NULL) {
    adopt (self, compiled);
    post_progress (self, GST_PROGRESS_TYPE_COMPLETE, _ ("Model compiled"));
  } else {
    gboolean cancelled = g_cancellable_is_cancelled (self->cancellable);
    post_progress (self, cancelled ? GST_PROGRESS_TYPE_CANCELED : GST_PROGRESS_TYPE_ERROR,
                   error->message);
    if (!cancelled) /* before those who wait are told: their error says less */
      gst_nn_post_error (GST_ELEMENT (self), error);
    gst_nn_infer_queue_fail (self->queue);
  }
  g_clear_object (&job->model);
  g_free (job->path);
  g_free (job->device);
  g_free (job);
  return NULL;
}

/* What stays a guess is said once for each model, with the properties that settle it. */
static void
warn_of_doubts (GstNnInfer *self)
{
  g_autofree gchar *doubts = gst_nn_description_get_doubts (self->description);
  const gchar *preset = self->description->preset;
  g_autofree gchar *guessed =
      preset ? g_strdup_printf (
                   _ ("; it looks like preset=%s, which settles it where that is right"), preset)
             : g_strdup ("");
  if (doubts == NULL || self->is_doubted)
    return;
  self->is_doubted = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, DECODE,
                       (_ ("%s does not say all that its pictures need. Assumed, and settled by "
                           "properties of these names: %s%s"),
                        self->description->model_name, doubts, guessed),
                       (NULL));
}

/* @width, @height: for models that leave their size free; 0 where they do not. */
gboolean
gst_nn_infer_start_compile (GstNnInfer *self, gboolean video, gint width, gint height)
{
  g_autoptr (GError) error = NULL;
  AxonModel *model = NULL;
  Job *job;
  gboolean as_it_is = !video && gst_nn_is_compiled_file (self->model_path);
  if (g_str_equal (self->device, "HETERO")) /* a bin answers with what nnquery left there */
    gst_element_post_message (
        GST_ELEMENT (self), gst_message_new_need_context (GST_OBJECT (self), GST_NN_QUERY_CONTEXT));
  if (as_it_is) {
    model = NULL;
  } else if (video) {
    g_autoptr (AxonPreprocess) pp = gst_nn_preprocess_new (self->description);
    warn_of_doubts (self);
    if (width > 0)
      axon_preprocess_set_size (pp, width, height);
    model = axon_preprocess_build (pp, self->model, 0, &error);
  } else {
    model = axon_model_clone (self->model);
  }
  if (model == NULL && !as_it_is) {
    gst_nn_post_error (GST_ELEMENT (self), error);
    return FALSE;
  }
  g_object_set_data_full (G_OBJECT (self), "axon-progress", g_new0 (gdouble, 1), g_free);
  job = g_new0 (Job, 1);
  job->self = self;
  job->model = model;
  GST_OBJECT_LOCK (self);
  job->path = g_strdup (self->model_path);
  job->device = g_strdup (self->device);
  job->device_is_set = self->device_is_set;
  GST_OBJECT_UNLOCK (self);
  self->cancellable = g_cancellable_new ();
  self->worker = g_thread_new ("nninfer-compile", compile_main, job);
  return TRUE;
}

void
gst_nn_infer_stop_compile (GstNnInfer *self)
{
  if (self->worker == NULL)
    return;
  g_cancellable_cancel (self->cancellable);
  g_thread_join (g_steal_pointer (&self->worker));
  g_clear_object (&self->cancellable);
}

/* Nothing runs and nothing is queued. */
void
gst_nn_infer_forget_compiled (GstNnInfer *self)
{
  gst_nn_infer_queue_close (self->queue);
  gst_nn_infer_forget_latency (self);
}
