/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnelement.h"

#include <string.h>

/* Whom an error of the library concerns, in GStreamer's words. */
static const struct {
  AxonError code;
  GQuark (*domain) (void);
  gint reason;
} reasons[] = {
  { AXON_ERROR_ARGUMENT, gst_resource_error_quark, GST_RESOURCE_ERROR_SETTINGS },
  { AXON_ERROR_MODEL, gst_stream_error_quark, GST_STREAM_ERROR_FORMAT },
  { AXON_ERROR_UNSUPPORTED, gst_stream_error_quark, GST_STREAM_ERROR_FORMAT },
  { AXON_ERROR_DEVICE, gst_resource_error_quark, GST_RESOURCE_ERROR_NOT_FOUND },
  { AXON_ERROR_MEMORY, gst_resource_error_quark, GST_RESOURCE_ERROR_NO_SPACE_LEFT },
};

static void
post (GstElement *element, GstMessageType type, const GError *error)
{
  gboolean ours = error->domain == AXON_ERROR;
  GQuark domain = ours ? GST_LIBRARY_ERROR : GST_RESOURCE_ERROR;
  gint reason = ours ? (gint)GST_LIBRARY_ERROR_FAILED : (gint)GST_RESOURCE_ERROR_FAILED;
  for (guint i = 0; ours && i < G_N_ELEMENTS (reasons); i++)
    if (reasons[i].code == (AxonError)error->code) {
      domain = reasons[i].domain ();
      reason = reasons[i].reason;
    }
  gst_element_message_full (element, type, domain, reason, g_strdup (error->message), NULL,
                            __FILE__, G_STRFUNC, __LINE__);
}

void
gst_nn_post_error (GstElement *element, const GError *error)
{
  post (element, GST_MESSAGE_ERROR, error);
}

void
gst_nn_post_warning (GstElement *element, const GError *error)
{
  post (element, GST_MESSAGE_WARNING, error);
}

/* What tells caps apart, for people: sizes and rates of templates only hide it. */
static gchar *
brief_caps (const GstCaps *caps)
{
  static const gchar *const fields[] = {
    "width",          "height",         "framerate",          "colorimetry",
    "num_tensors",    "interlace-mode", "pixel-aspect-ratio", "chroma-site",
    "multiview-mode", "views"
  };
  g_autoptr (GstCaps) brief = gst_caps_copy (caps);
  for (guint i = 0; i < gst_caps_get_size (brief); i++)
    for (guint k = 0; k < G_N_ELEMENTS (fields); k++)
      gst_structure_remove_field (gst_caps_get_structure (brief, i), fields[k]);
  return gst_caps_to_string (brief);
}

/* What to do about caps that are not taken; the first row that begins as they do. */
static const struct {
  const gchar *media;
  gboolean is_raw; /* else in other than system memory */
  const gchar *help;
} remedies[] = {
  { "video/x-raw", TRUE, N_ ("insert videoconvert before it") },
  { "video/x-raw", FALSE,
    N_ ("insert what brings frames to system memory before it, such as gldownload or vapostproc") },
  { "video/", TRUE, N_ ("insert decodebin before it") },
  { "image/", TRUE, N_ ("insert decodebin before it") },
  { "other/tensors", TRUE, N_ ("insert nnpreproc, with the same model, before it") },
};

static const gchar *
find_remedy (const GstCaps *caps)
{
  const gchar *media = gst_structure_get_name (gst_caps_get_structure (caps, 0));
  GstCapsFeatures *features = gst_caps_get_features (caps, 0);
  gboolean is_raw = gst_caps_features_is_equal (features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
  for (guint i = 0; i < G_N_ELEMENTS (remedies); i++)
    if (g_str_has_prefix (media, remedies[i].media) && remedies[i].is_raw == is_raw)
      return _ (remedies[i].help);
  return _ ("it is for pictures");
}

gboolean
gst_nn_takes_caps (GstElement *element, GstPad *pad, const GstCaps *caps)
{
  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  g_autofree gchar *takes = NULL, *got = NULL;
  if (caps != NULL && gst_caps_can_intersect (template, caps))
    return TRUE;
  takes = brief_caps (template);
  if (caps == NULL) {
    GST_ELEMENT_ERROR (
        element, CORE, NEGOTIATION,
        (_ ("expected %s, got bytes that nothing describes: insert decodebin before it"), takes),
        (NULL));
    return FALSE;
  }
  got = brief_caps (caps);
  GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
                     (_ ("expected %s, got %s: %s"), takes, got, find_remedy (caps)), (NULL));
  return FALSE;
}

void
gst_nn_post_refused_caps (GstElement *element, GstPad *pad)
{
  g_autoptr (GstCaps) is = gst_pad_get_current_caps (pad),
                      takes = gst_pad_peer_query_caps (pad, NULL);
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);
  g_autoptr (GstElement) behind = peer ? gst_pad_get_parent_element (peer) : NULL;
  g_autofree gchar *gives = is ? brief_caps (is) : g_strdup ("nothing");
  g_autofree gchar *wants = takes ? brief_caps (takes) : g_strdup ("nothing");
  g_autofree gchar *name = behind ? gst_element_get_name (behind) : NULL;
  GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
                     (_ ("%s takes %s, got %s: insert videoconvert before it, or nndecode where it "
                         "gets tensors"),
                      name ? name : "?", wants, gives),
                     (NULL));
}

void
gst_nn_warn_if_undecoded (GstElement *element, GstBuffer *buffer)
{
  static GQuark told;
  GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (buffer);
  if (meta == NULL || meta->tensors->len == 0 || gst_buffer_get_nn_result_meta (buffer) != NULL)
    return;
  if (told == 0)
    told = g_quark_from_static_string ("axon-undecoded");
  if (g_object_get_qdata (G_OBJECT (element), told) != NULL)
    return;
  g_object_set_qdata (G_OBJECT (element), told, element);
  GST_ELEMENT_WARNING (element, STREAM, FORMAT,
                       (_ ("frames have raw outputs of a model, and no results: insert nndecode "
                           "behind nninfer")),
                       (NULL));
}

gboolean
gst_nn_propose_allocation (GstBaseTransform *base, G_GNUC_UNUSED GstQuery *decide_query,
                           GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (base), query);
}

void
gst_nn_sync_values (GstElement *element, const GstSegment *segment, GstBuffer *buffer)
{
  GstClockTime time =
      segment->format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_TIMESTAMP (buffer))
          : GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (GST_OBJECT (element), time);
}

void
gst_nn_before_transform (GstBaseTransform *base, GstBuffer *buffer)
{
  gst_nn_sync_values (GST_ELEMENT (base), &base->segment, buffer);
}

void
gst_nn_element_init (void)
{
  static gsize once;
  if (!g_once_init_enter (&once))
    return;
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  gst_type_mark_as_plugin_api (GST_TYPE_NN_DESCRIPTION, 0);
  g_once_init_leave (&once, 1);
}

GType
gst_nn_enum_register (const gchar *name, GEnumValue *values)
{
  for (GEnumValue *value = values; value->value_name != NULL; value++)
    value->value_name = _ (value->value_name);
  return g_enum_register_static (name, values);
}
