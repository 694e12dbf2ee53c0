/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnpublishsettings.h"

#include "elements/gstnnelement.h"
#include "elements/gstnnfields.h"

#define DEFAULT_QUEUE_SIZE 1000
#define DEFAULT_EOS_TIMEOUT 5000
#define DEFAULT_RECONNECT_INTERVAL 30
#define DEFAULT_SPOOL_SIZE (64 * 1024 * 1024)

enum {
  PROP_LOCATION = 1,
  PROP_SOURCE,
  PROP_LABELS,
  PROP_ZONES,
  PROP_SPOOL_LOCATION,
  PROP_OPTIONS,
  PROP_APPEND,
  PROP_EMPTY,
  PROP_TENSOR_DATA,
  PROP_ON_CHANGE,
  PROP_FORMAT,
  PROP_QUEUE_SIZE,
  PROP_EOS_TIMEOUT,
  PROP_MAX_RECONNECT_INTERVAL,
  PROP_MIN_INTERVAL,
  PROP_SPOOL_SIZE,
  PROP_THUMBNAIL_SIZE,
  N_PROPS
};

static const GstNnField fields[] = {
  { PROP_LOCATION, G_STRUCT_OFFSET (GstNnPublishSettings, location) },
  { PROP_SOURCE, G_STRUCT_OFFSET (GstNnPublishSettings, source) },
  { PROP_LABELS, G_STRUCT_OFFSET (GstNnPublishSettings, labels) },
  { PROP_ZONES, G_STRUCT_OFFSET (GstNnPublishSettings, zones) },
  { PROP_SPOOL_LOCATION, G_STRUCT_OFFSET (GstNnPublishSettings, spool_location) },
  { PROP_OPTIONS, G_STRUCT_OFFSET (GstNnPublishSettings, options) },
  { PROP_APPEND, G_STRUCT_OFFSET (GstNnPublishSettings, append) },
  { PROP_EMPTY, G_STRUCT_OFFSET (GstNnPublishSettings, empty) },
  { PROP_TENSOR_DATA, G_STRUCT_OFFSET (GstNnPublishSettings, tensor_data) },
  { PROP_ON_CHANGE, G_STRUCT_OFFSET (GstNnPublishSettings, on_change) },
  { PROP_FORMAT, G_STRUCT_OFFSET (GstNnPublishSettings, format) },
  { PROP_QUEUE_SIZE, G_STRUCT_OFFSET (GstNnPublishSettings, queue_size) },
  { PROP_EOS_TIMEOUT, G_STRUCT_OFFSET (GstNnPublishSettings, eos_timeout) },
  { PROP_MAX_RECONNECT_INTERVAL, G_STRUCT_OFFSET (GstNnPublishSettings, max_reconnect_interval) },
  { PROP_MIN_INTERVAL, G_STRUCT_OFFSET (GstNnPublishSettings, min_interval) },
  { PROP_SPOOL_SIZE, G_STRUCT_OFFSET (GstNnPublishSettings, spool_size) },
  { PROP_THUMBNAIL_SIZE, G_STRUCT_OFFSET (GstNnPublishSettings, thumbnail_size) },
};

static GType
gst_nn_publish_format_get_type (void)
{
  static GEnumValue values[] = {
    { GST_NN_PUBLISH_JSON, N_ ("Lines of JSON, with the fields of DL Streamer's gvametaconvert"),
      "json" },
    { GST_NN_PUBLISH_COCO, N_ ("COCO's results"), "coco" },
    { GST_NN_PUBLISH_ONVIF, N_ ("ONVIF's metadata stream"), "onvif" },
    { 0, NULL, NULL },
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnRecordFormat", values));
  return type;
}

#define READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLED (PLAYING | GST_PARAM_CONTROLLABLE)

/* Where records go. */
static void
install_location (GParamSpec **specs)
{
  specs[PROP_LOCATION] = g_param_spec_string (
      "location", "Location",
      _ ("File, stdout, or mqtt, mqtts, kafka, http, https, sse, unix, tcp, udp://..."),
      GST_NN_PUBLISH_LOCATION, READY);
  specs[PROP_OPTIONS] = g_param_spec_boxed (
      "options", "Options", _ ("What only this kind of location knows: options,NAME=VALUE,..."),
      GST_TYPE_STRUCTURE, READY);
  specs[PROP_APPEND] =
      g_param_spec_boolean ("append", "Append", _ ("Write behind what the file has"), FALSE, READY);
  specs[PROP_FORMAT] =
      g_param_spec_enum ("format", "Format", _ ("What a record looks like"),
                         gst_nn_publish_format_get_type (), GST_NN_PUBLISH_JSON, READY);
}

/* What becomes of records that cannot be sent at once. */
static void
install_delivery (GParamSpec **specs)
{
  specs[PROP_QUEUE_SIZE] = g_param_spec_uint ("queue-size", "Queue size",
                                              _ ("Records that may wait; the oldest are lost then"),
                                              1, 1000000, DEFAULT_QUEUE_SIZE, READY);
  specs[PROP_SPOOL_LOCATION] =
      g_param_spec_string ("spool-location", "Spool location",
                           _ ("File that keeps what cannot be sent and the "
                              "queue does not hold, for the next run, too"),
                           NULL, READY);
  specs[PROP_SPOOL_SIZE] =
      g_param_spec_uint64 ("spool-size", "Spool size", _ ("Most bytes that wait on disk"), 0,
                           G_MAXINT64, DEFAULT_SPOOL_SIZE, READY);
  specs[PROP_MAX_RECONNECT_INTERVAL] =
      g_param_spec_uint ("max-reconnect-interval", "Reconnect interval",
                         _ ("Most seconds between two tries of what failed"), 1, 3600,
                         DEFAULT_RECONNECT_INTERVAL, READY);
  specs[PROP_EOS_TIMEOUT] = g_param_spec_uint ("eos-timeout", "Timeout at the end",
                                               _ ("Milliseconds that the end of the stream waits "
                                                  "until all is sent"),
                                               0, 600000, DEFAULT_EOS_TIMEOUT, CONTROLLED);
}

/* Of which frames and objects. */
static void
install_choice (GParamSpec **specs)
{
  specs[PROP_LABELS] = g_param_spec_string (
      "labels", "Labels", _ ("Only objects with one of these labels: A,B,..."), NULL, PLAYING);
  specs[PROP_ZONES] = g_param_spec_string (
      "zones", "Zones", _ ("Only objects in one of these zones of nnanalytics: A,B,..."), NULL,
      PLAYING);
  specs[PROP_EMPTY] =
      g_param_spec_boolean ("add-empty-results", "Empty results",
                            _ ("Tell of frames without results, too"), FALSE, CONTROLLED);
  specs[PROP_ON_CHANGE] = g_param_spec_boolean (
      "on-change", "On change",
      _ ("Only when other objects are there, or something else is said of them"), FALSE,
      CONTROLLED);
  specs[PROP_MIN_INTERVAL] = g_param_spec_uint64 (
      "min-interval", "Least interval",
      _ ("Nanoseconds of the stream between two records; events are always told"), 0, G_MAXINT64, 0,
      CONTROLLED);
}

/* What is in a record. */
static void
install_contents (GParamSpec **specs)
{
  specs[PROP_SOURCE] = g_param_spec_string ("source", "Source",
                                            _ ("Name of the source in each record"), NULL, PLAYING);
  specs[PROP_TENSOR_DATA] = g_param_spec_boolean (
      "add-tensor-data", "Tensor data", _ ("Masks and embeddings, too"), FALSE, CONTROLLED);
  specs[PROP_THUMBNAIL_SIZE] =
      g_param_spec_uint ("thumbnail-size", "Thumbnail size",
                         _ ("Each object's picture as JPEG, its longer edge in pixels; 0: none"), 0,
                         GST_NN_PUBLISH_MAX_THUMBNAIL, 0, CONTROLLED);
}

void
gst_nn_publish_settings_install (GObjectClass *klass)
{
  GParamSpec *specs[N_PROPS] = { NULL };
  install_location (specs);
  install_delivery (specs);
  install_choice (specs);
  install_contents (specs);
  g_object_class_install_properties (klass, N_PROPS, specs);
  gst_type_mark_as_plugin_api (gst_nn_publish_format_get_type (), 0);
}

void
gst_nn_publish_settings_init (GstNnPublishSettings *settings)
{
  *settings = (GstNnPublishSettings){ .location = g_strdup (GST_NN_PUBLISH_LOCATION),
                                      .queue_size = DEFAULT_QUEUE_SIZE,
                                      .eos_timeout = DEFAULT_EOS_TIMEOUT,
                                      .max_reconnect_interval = DEFAULT_RECONNECT_INTERVAL,
                                      .spool_size = DEFAULT_SPOOL_SIZE };
}

void
gst_nn_publish_settings_clear (GstNnPublishSettings *settings)
{
  g_free (settings->location);
  g_free (settings->source);
  g_free (settings->labels);
  g_free (settings->zones);
  g_free (settings->spool_location);
  g_clear_pointer (&settings->options, gst_structure_free);
}

gboolean
gst_nn_publish_settings_set (GstNnPublishSettings *settings, guint id, const GValue *value)
{
  settings->n_texts += G_VALUE_HOLDS_STRING (value);
  return gst_nn_fields_set (fields, G_N_ELEMENTS (fields), settings, id, value);
}

gboolean
gst_nn_publish_settings_get (const GstNnPublishSettings *settings, guint id, GValue *value)
{
  return gst_nn_fields_get (fields, G_N_ELEMENTS (fields), settings, id, value);
}
