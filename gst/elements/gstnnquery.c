/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnquery
 * @title: nnquery
 *
 * Passes everything on. On its way to READY it asks the devices about a model and posts an element
 * message `nn-query`: inputs and outputs, parameters, operations and memory, and for each device
 * the nodes that it takes and why it refuses the others. The affinities that follow, first device
 * first, go to nninfer elements with device=HETERO and the same model, as a context. While running
 * it can report statistics of the tensors on each buffer, and save them.
 *
 * |[
 * gst-launch-1.0 -m filesrc location=video.mp4 ! decodebin ! nnquery model=face.onnx
 *     devices=GPU,CPU ! nninfer model=face.onnx device=HETERO ! nnquery statistics=true ! fakesink
 * ]|
 *
 * Threads: the query runs in the thread of the state change, the rest in the streaming thread.
 */
#include "gstnnelement.h"
#include "caps/gstnncaps.h"
#include "frame/gstnntensors.h"
#include "infer/gstnnadvice.h"
#include "infer/gstnnload.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_query_debug);
#define GST_CAT_DEFAULT gst_nn_query_debug

struct _GstNnQuery {
  GstBaseTransform parent_instance;
  gchar *model_path, *devices, *extensions, *location; /* object lock */
  gboolean statistics;                                 /* object lock */
  guint64 frame;
  GArray *types, *shapes; /* of tensor caps; empty: video */
};

G_DECLARE_FINAL_TYPE (GstNnQuery, gst_nn_query, GST, NN_QUERY, GstBaseTransform)
G_DEFINE_TYPE (GstNnQuery, gst_nn_query, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnquery, gst_nn_query_get_type ())

enum { PROP_MODEL = 1, PROP_DEVICES, PROP_EXTENSIONS, PROP_STATISTICS, PROP_LOCATION };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void append_string (GValue *array, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
append_string (GValue *array, const gchar *format, ...)
{
  GValue v = G_VALUE_INIT;
  va_list args;
  va_start (args, format);
  g_value_init (&v, G_TYPE_STRING);
  g_value_take_string (&v, g_strdup_vprintf (format, args));
  va_end (args);
  gst_value_array_append_and_take_value (array, &v);
}

static void
take_array (GstStructure *s, const gchar *field, GValue *array)
{
  gst_structure_take_value (s, field, array);
}

static void
add_ports (GstStructure *s, AxonModel *model)
{
  GValue in = G_VALUE_INIT, out = G_VALUE_INIT;
  gst_value_array_init (&in, 4);
  gst_value_array_init (&out, 4);
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
    g_autofree gchar *shape = axon_shape_to_string (axon_model_get_input_shape (model, i));
    append_string (&in, "%s %s%s", axon_model_get_input_name (model, i),
                   axon_dtype_get_name (axon_model_get_input_dtype (model, i)), shape);
  }
  for (guint i = 0; i < axon_model_get_n_outputs (model); i++) {
    g_autofree gchar *shape = axon_shape_to_string (axon_model_get_output_shape (model, i));
    append_string (&out, "%s %s%s", axon_model_get_output_name (model, i),
                   axon_dtype_get_name (axon_model_get_output_dtype (model, i)), shape);
  }
  take_array (s, "inputs", &in);
  take_array (s, "outputs", &out);
}

/* One device's answer; nodes that have no device yet get this one. */
static GstStructure *
ask_device (AxonModel *model, const gchar *device, gchar **names, GstStructure *affinities,
            GError **error)
{
  g_autoptr (GHashTable) reasons = NULL;
  g_autoptr (GHashTable) taken =
      axon_core_query_model (axon_core_get_default (), model, device, NULL, &reasons, NULL, error);
  GValue refused = G_VALUE_INIT;
  GstStructure *answer;
  guint n = 0;
  if (taken == NULL)
    return NULL;
  gst_value_array_init (&refused, 4);
  for (guint i = 0; names[i] != NULL; i++) {
    const gchar *why = g_hash_table_lookup (reasons, names[i]);
    if (!g_hash_table_contains (taken, names[i])) {
      append_string (&refused, "%s: %s", names[i], why ? why : "not taken");
      continue;
    }
    n++;
    if (!gst_structure_has_field (affinities, names[i]))
      gst_structure_set (affinities, names[i], G_TYPE_STRING, device, NULL);
  }
  GST_DEBUG ("%s takes %u of %u nodes", device, n, g_strv_length (names));
  answer = gst_structure_new ("device", "device", G_TYPE_STRING, device, "taken", G_TYPE_UINT, n,
                              "nodes", G_TYPE_UINT, g_strv_length (names), NULL);
  take_array (answer, "refused", &refused);
  return answer;
}

static void
append_structure (GValue *array, GstStructure *s)
{
  GValue v = G_VALUE_INIT;
  g_value_init (&v, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&v, s);
  gst_value_array_append_and_take_value (array, &v);
}

/* A device that is not there is told and left out, so that one pipeline serves machines with and
 * without it. FALSE: none is there. */
static gboolean
ask_devices (GstNnQuery *self, AxonModel *model, GstStructure *s, GstStructure *affinities,
             GError **error)
{
  g_auto (GStrv) list = self->devices ? g_strsplit (self->devices, ",", -1)
                                      : axon_core_get_available_devices (axon_core_get_default ());
  g_auto (GStrv) names = axon_model_get_node_names (model);
  g_autoptr (GError) last = NULL;
  GValue answers = G_VALUE_INIT;
  gboolean any;
  gst_value_array_init (&answers, 4);
  for (guint i = 0; list[i] != NULL; i++) {
    g_autoptr (GError) problem = NULL;
    GstStructure *answer = ask_device (model, g_strstrip (list[i]), names, affinities, &problem);
    if (answer != NULL) {
      append_structure (&answers, answer);
      continue;
    }
    GST_WARNING_OBJECT (self, "goes on without %s: %s", list[i], problem->message);
    g_clear_error (&last);
    last = g_steal_pointer (&problem);
  }
  any = gst_value_array_get_size (&answers) > 0;
  take_array (s, "devices", &answers);
  if (last != NULL && any)
    GST_ELEMENT_WARNING (self, RESOURCE, NOT_FOUND, ("%s", last->message),
                         ("the other devices are asked"));
  else if (last != NULL)
    g_propagate_error (error, g_steal_pointer (&last));
  return any;
}

/* Those that answered, as in HETERO:A,B. */
static gchar *
join_devices (const GValue *answers)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  g_auto (GStrv) list = NULL;
  for (guint i = 0; i < gst_value_array_get_size (answers); i++) {
    const GstStructure *answer = gst_value_get_structure (gst_value_array_get_value (answers, i));
    g_strv_builder_add (names, gst_structure_get_string (answer, "device"));
  }
  list = g_strv_builder_end (names);
  return g_strjoinv (",", list);
}

/* The bin keeps the context and gives it to nninfer, which asks for it. There is one for all models
 * of a pipeline: others may have said something before. */
static void
offer_affinities (GstNnQuery *self, const GstStructure *answer)
{
  GstElement *element = GST_ELEMENT (self);
  g_autoptr (GstContext) known = NULL;
  g_autoptr (GstContext) context = NULL;
  g_autoptr (GstStructure) affinities = NULL;
  g_autofree gchar *devices = NULL;
  gst_structure_get (answer, "affinities", GST_TYPE_STRUCTURE, &affinities, NULL);
  devices = join_devices (gst_structure_get_value (answer, "devices"));
  gst_element_post_message (element,
                            gst_message_new_need_context (GST_OBJECT (self), GST_NN_QUERY_CONTEXT));
  known = gst_element_get_context (element, GST_NN_QUERY_CONTEXT);
  context = known ? gst_context_copy (known) : gst_context_new (GST_NN_QUERY_CONTEXT, FALSE);
  gst_nn_add_advice (gst_context_writable_structure (context), self->model_path, devices,
                     affinities);
  gst_element_set_context (element, context);
  gst_element_post_message (
      element, gst_message_new_have_context (GST_OBJECT (self), gst_context_ref (context)));
}

static gboolean
run_query (GstNnQuery *self, GError **error)
{
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GstStructure) affinities = gst_structure_new_empty ("affinities");
  g_autoptr (GstStructure) s = gst_structure_new_empty ("nn-query");
  if (!gst_nn_load_extensions (self->extensions, error))
    return FALSE;
  model = gst_nn_load_model (self->model_path, error);
  if (model == NULL)
    return FALSE;
  gst_structure_set (
      s, "model", G_TYPE_STRING, self->model_path, "name", G_TYPE_STRING,
      axon_model_get_name (model), "nodes", G_TYPE_UINT, axon_model_get_n_nodes (model),
      "parameters", G_TYPE_UINT64, axon_model_get_n_parameters (model), "flops", G_TYPE_DOUBLE,
      axon_model_get_flops (model), "memory", G_TYPE_UINT64, axon_model_get_memory (model), NULL);
  add_ports (s, model);
  if (!ask_devices (self, model, s, affinities, error))
    return FALSE;
  gst_structure_set (s, "affinities", GST_TYPE_STRUCTURE, affinities, NULL);
  offer_affinities (self, s);
  gst_element_post_message (GST_ELEMENT (self),
                            gst_message_new_element (GST_OBJECT (self), g_steal_pointer (&s)));
  return TRUE;
}

static GstStateChangeReturn
gst_nn_query_change_state (GstElement *element, GstStateChange transition)
{
  GstNnQuery *self = (GstNnQuery *)element;
  g_autoptr (GError) error = NULL;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && self->model_path != NULL &&
      !run_query (self, &error)) {
    gst_nn_post_error (element, error);
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    self->frame = 0;
  return GST_ELEMENT_CLASS (gst_nn_query_parent_class)->change_state (element, transition);
}

static gboolean
gst_nn_query_set_caps (GstBaseTransform *base, GstCaps *in, G_GNUC_UNUSED GstCaps *out)
{
  GstNnQuery *self = (GstNnQuery *)base;
  g_array_set_size (self->types, 0);
  g_array_set_size (self->shapes, 0);
  if (gst_structure_has_name (gst_caps_get_structure (in, 0), "other/tensors"))
    gst_nn_tensor_caps_parse (in, self->types, self->shapes,
                              NULL); /* flexible: nothing to report */
  return TRUE;
}

static void
post_statistics (GstNnQuery *self, GstBuffer *buffer, const gchar *name, AxonTensor *tensor)
{
  GstNnTensorStatistics st = gst_nn_tensor_statistics (tensor);
  g_autofree gchar *shape = axon_shape_to_string (axon_tensor_get_shape (tensor));
  g_autofree gchar *type =
      g_strconcat (axon_dtype_get_name (axon_tensor_get_dtype (tensor)), shape, NULL);
  GstStructure *s = gst_structure_new (
      "nn-tensor-statistics", "frame", G_TYPE_UINT64, self->frame, "timestamp", G_TYPE_UINT64,
      GST_BUFFER_PTS (buffer), "tensor", G_TYPE_STRING, name, "type", G_TYPE_STRING, type, "min",
      G_TYPE_DOUBLE, st.min, "max", G_TYPE_DOUBLE, st.max, "mean", G_TYPE_DOUBLE, st.mean, "nan",
      G_TYPE_UINT64, st.n_nan, NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), s));
}

static gboolean
save_tensor (GstNnQuery *self, const gchar *name, AxonTensor *tensor, GError **error)
{
  g_autofree gchar *safe = g_strdelimit (g_strdup (name), "/\\", '_');
  g_autofree gchar *base = g_strdup_printf ("%08" G_GUINT64_FORMAT "-%s.npy", self->frame, safe);
  g_autofree gchar *path = g_build_filename (self->location, base, NULL);
  return axon_tensor_save_npy (tensor, path, error);
}

static GstFlowReturn
gst_nn_query_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnQuery *self = (GstNnQuery *)base;
  g_auto (GStrv) names = NULL;
  g_autoptr (GPtrArray) tensors = NULL;
  g_autoptr (GError) error = NULL;
  if (!self->statistics && self->location == NULL)
    return GST_FLOW_OK;
  GST_LOG_OBJECT (self, "looks at %" GST_PTR_FORMAT, buffer);
  tensors = gst_nn_buffer_get_tensors (buffer, self->types, self->shapes, &names);
  for (guint i = 0; i < tensors->len; i++) {
    if (self->statistics)
      post_statistics (self, buffer, names[i], g_ptr_array_index (tensors, i));
    if (self->location != NULL &&
        !save_tensor (self, names[i], g_ptr_array_index (tensors, i), &error)) {
      GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("%s", error->message), (NULL));
      return GST_FLOW_ERROR;
    }
  }
  self->frame++;
  return GST_FLOW_OK;
}

static gchar **
string_property (GstNnQuery *self, guint id)
{
  return id == PROP_MODEL        ? &self->model_path
         : id == PROP_DEVICES    ? &self->devices
         : id == PROP_EXTENSIONS ? &self->extensions
                                 : &self->location;
}

static void
gst_nn_query_set_property (GObject *object, guint id, const GValue *value,
                           G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnQuery *self = (GstNnQuery *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_STATISTICS) {
    self->statistics = g_value_get_boolean (value);
  } else {
    g_free (*string_property (self, id));
    *string_property (self, id) = g_value_dup_string (value);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_query_get_property (GObject *object, guint id, GValue *value,
                           G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnQuery *self = (GstNnQuery *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_STATISTICS)
    g_value_set_boolean (value, self->statistics);
  else
    g_value_set_string (value, *string_property (self, id));
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_query_finalize (GObject *object)
{
  GstNnQuery *self = (GstNnQuery *)object;
  for (guint id = PROP_MODEL; id <= PROP_LOCATION; id++)
    if (id != PROP_STATISTICS)
      g_free (*string_property (self, id));
  g_array_unref (self->types);
  g_array_unref (self->shapes);
  G_OBJECT_CLASS (gst_nn_query_parent_class)->finalize (object);
}

static void
install_properties (GObjectClass *klass)
{
  GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  g_object_class_install_property (
      klass, PROP_MODEL,
      g_param_spec_string ("model", "Model",
                           _ ("ONNX file to ask the devices about; none: tensors only"), NULL,
                           ready));
  g_object_class_install_property (
      klass, PROP_DEVICES,
      g_param_spec_string ("devices", "Devices",
                           _ ("Devices to ask, best first, separated by commas; none: all"), NULL,
                           ready));
  g_object_class_install_property (
      klass, PROP_EXTENSIONS,
      g_param_spec_string ("extensions", "Extensions",
                           _ ("Libraries of operators and kernels, separated by commas"), NULL,
                           ready));
  g_object_class_install_property (
      klass, PROP_STATISTICS,
      g_param_spec_boolean (
          "statistics", "Statistics", _ ("Post least, largest and mean value of every tensor"),
          FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (
      klass, PROP_LOCATION,
      g_param_spec_string ("dump-location", "Dump location",
                           _ ("Path of a folder that every tensor is saved in, as .npy"), NULL,
                           ready));
}

static void
gst_nn_query_class_init (GstNnQueryClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base_class = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_query_debug, "nnquery", 0, "asks devices about a model");
  object_class->set_property = gst_nn_query_set_property;
  object_class->get_property = gst_nn_query_get_property;
  object_class->finalize = gst_nn_query_finalize;
  element_class->change_state = gst_nn_query_change_state;
  base_class->set_caps = gst_nn_query_set_caps;
  base_class->transform_ip = gst_nn_query_transform_ip;
  base_class->transform_ip_on_passthrough = TRUE;
  install_properties (object_class);
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Neural-network query", "Analyzer",
                                         "Asks devices about a model, reports and saves tensors",
                                         "The Axon developers");
}

static void
gst_nn_query_init (GstNnQuery *self)
{
  self->types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  self->shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
