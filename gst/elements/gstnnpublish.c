/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnpublish
 * @title: nnpublish
 *
 * Tells the results on each buffer, and passes the buffer on: as lines of JSON (with the fields of
 * DL Streamer's gvametaconvert), as COCO's results or as ONVIF's metadata; to a file or standard
 * output, MQTT, Kafka, HTTP, listeners of server-sent events, a socket. The location's scheme
 * chooses; what only one of them knows is in #GstNnPublish:options.
 *
 * It never blocks the stream and never ends it: records wait in a bounded queue, what cannot be
 * sent is tried again, kept on disk where #GstNnPublish:spool-location says so, and else counted
 * in #GstNnPublish:stats and said once as a warning.
 *
 * |[
 * ... ! nndecode ! nnpublish location=mqtts://broker/cameras/door \
 *   options=options,user=door,password-file=/etc/door.secret,qos=1 on-change=true ! ...
 * ]|
 *
 * Threads: the streaming thread makes the records, a thread of its own sends them.
 */
#include "gstnnelement.h"
#include "publish/gstnnselect.h"
#include "publish/gstnnwriter.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_publish_debug);
#define GST_CAT_DEFAULT gst_nn_publish_debug

#define DEFAULT_LOCATION "stdout"
#define DEFAULT_QUEUE_SIZE 1000
#define DEFAULT_EOS_TIMEOUT 5000
#define DEFAULT_RECONNECT_INTERVAL 30
#define DEFAULT_SPOOL_SIZE (64 * 1024 * 1024)

static const struct {
  GstNnRecordFunc write;
  const gchar *media_type;
} formats[] = {
  { gst_nn_record_new, "application/json" },
  { gst_nn_record_coco, "application/json" },
  { gst_nn_record_onvif, "application/x-onvif-metadata" },
};

static GEnumValue format_values[] = {
  { 0, N_ ("Lines of JSON, with the fields of DL Streamer's gvametaconvert"), "json" },
  { 1, N_ ("COCO's results"), "coco" },
  { 2, N_ ("ONVIF's metadata stream"), "onvif" },
  { 0, NULL, NULL },
};

/* What a property sets; all under the object lock. */
typedef struct {
  gchar *location, *source, *labels, *zones, *spool_location;
  GstStructure *options;
  gboolean append, empty, tensor_data, on_change;
  guint format, queue_size, eos_timeout, max_reconnect_interval, thumbnail_size;
  guint64 min_interval, spool_size;
} Settings;

struct _GstNnPublish {
  GstBaseTransform parent_instance;
  Settings settings;
  GstStructure *stats; /* object lock; of the last run */
  GstNnWriter *writer; /* object lock, where it changes or another thread reads it */
  gchar *written;      /* what was opened since READY: goes on where it ended */
  /* streaming thread */
  GstNnSelectState state;
  GstVideoInfo video; /* its format is unknown where the stream is no video */
  guint64 n_frames;
};

G_DECLARE_FINAL_TYPE (GstNnPublish, gst_nn_publish, GST, NN_PUBLISH, GstBaseTransform)
G_DEFINE_TYPE (GstNnPublish, gst_nn_publish, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnpublish, gst_nn_publish_get_type ())

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
  PROP_STATS
};

/* Where a property's value is. */
static const gsize places[] = {
  [PROP_LOCATION] = G_STRUCT_OFFSET (Settings, location),
  [PROP_SOURCE] = G_STRUCT_OFFSET (Settings, source),
  [PROP_LABELS] = G_STRUCT_OFFSET (Settings, labels),
  [PROP_ZONES] = G_STRUCT_OFFSET (Settings, zones),
  [PROP_SPOOL_LOCATION] = G_STRUCT_OFFSET (Settings, spool_location),
  [PROP_OPTIONS] = G_STRUCT_OFFSET (Settings, options),
  [PROP_APPEND] = G_STRUCT_OFFSET (Settings, append),
  [PROP_EMPTY] = G_STRUCT_OFFSET (Settings, empty),
  [PROP_TENSOR_DATA] = G_STRUCT_OFFSET (Settings, tensor_data),
  [PROP_ON_CHANGE] = G_STRUCT_OFFSET (Settings, on_change),
  [PROP_FORMAT] = G_STRUCT_OFFSET (Settings, format),
  [PROP_QUEUE_SIZE] = G_STRUCT_OFFSET (Settings, queue_size),
  [PROP_EOS_TIMEOUT] = G_STRUCT_OFFSET (Settings, eos_timeout),
  [PROP_MAX_RECONNECT_INTERVAL] = G_STRUCT_OFFSET (Settings, max_reconnect_interval),
  [PROP_MIN_INTERVAL] = G_STRUCT_OFFSET (Settings, min_interval),
  [PROP_SPOOL_SIZE] = G_STRUCT_OFFSET (Settings, spool_size),
  [PROP_THUMBNAIL_SIZE] = G_STRUCT_OFFSET (Settings, thumbnail_size),
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GType
format_get_type (void)
{
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnRecordFormat", format_values));
  return type;
}

static GstClockTime
clock_time (GstNnPublish *self)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (GST_ELEMENT (self));
  return clock ? gst_clock_get_time (clock) : gst_util_get_timestamp ();
}

static GStrv
split (const gchar *list)
{
  return list && *list ? g_strsplit (list, ",", -1) : NULL;
}

/* With thumbnails, where they are asked for and the frame can be read. */
static gchar *
write_record (GstNnPublish *self, guint format, GstBuffer *buffer, GstNnResultMeta *meta,
              GstNnRecordInfo *info)
{
  GstVideoFrame frame;
  gchar *record;
  if (info->thumbnail_size == 0 ||
      GST_VIDEO_INFO_FORMAT (&self->video) <= GST_VIDEO_FORMAT_ENCODED ||
      !gst_video_frame_map (&frame, &self->video, buffer,
                            GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return formats[format].write (meta, info);
  info->picture = &frame;
  record = formats[format].write (meta, info);
  info->picture = NULL;
  gst_video_frame_unmap (&frame);
  return record;
}

static GstFlowReturn
gst_nn_publish_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnPublish *self = (GstNnPublish *)base;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (buffer);
  GstNnRecordInfo info = { NULL };
  GstNnSelectSettings select;
  g_autofree gchar *source = NULL;
  g_auto (GStrv) labels = NULL;
  g_auto (GStrv) zones = NULL;
  guint format;
  self->n_frames++;
  if (meta == NULL)
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), buffer);
  gst_nn_record_info_fill (&info, &base->segment, buffer, self->n_frames);
  if (meta == NULL && info.scene == NULL)
    return GST_FLOW_OK;
  GST_OBJECT_LOCK (self);
  source = g_strdup (self->settings.source);
  labels = split (self->settings.labels);
  zones = split (self->settings.zones);
  info.tensor_data = self->settings.tensor_data;
  info.thumbnail_size = self->settings.thumbnail_size;
  select = (GstNnSelectSettings){ self->settings.empty, self->settings.on_change,
                                  self->settings.min_interval };
  format = self->settings.format;
  GST_OBJECT_UNLOCK (self);
  info.source = source;
  info.labels = (const gchar *const *)labels;
  info.zones = (const gchar *const *)zones;
  if (gst_nn_select (&self->state, &select, meta, &info)) {
    gchar *line = write_record (self, format, buffer, meta, &info);
    GST_LOG_OBJECT (self, "tells of frame %" G_GUINT64_FORMAT, info.frame);
    gst_nn_writer_push (self->writer, g_bytes_new_take (line, strlen (line)), clock_time (self));
  }
  return GST_FLOW_OK;
}

static void
on_news (GstNnWriterNews news, const gchar *text, gpointer data)
{
  GstNnPublish *self = data;
  if (news == GST_NN_WRITER_FAILS)
    GST_ELEMENT_WARNING (self, RESOURCE, WRITE, ("%s", text), (NULL));
  else
    GST_ELEMENT_INFO (self, RESOURCE, WRITE, ("%s", text), (NULL));
}

static gboolean
gst_nn_publish_start (GstBaseTransform *base)
{
  GstNnPublish *self = (GstNnPublish *)base;
  const Settings *s = &self->settings; /* what is read here changes in READY only */
  const gchar *location = s->location ? s->location : DEFAULT_LOCATION;
  g_autoptr (GError) error = NULL;
  GstNnWriterSettings settings = {
    .location = location,
    .media_type = formats[s->format].media_type,
    .append = s->append || g_strcmp0 (location, self->written) == 0,
    .options = s->options,
    .queue_size = s->queue_size,
    .spool = s->spool_location,
    .spool_size = s->spool_size,
    .max_interval = s->max_reconnect_interval,
    .tell = on_news,
    .data = self,
  };
  GstNnWriter *writer = gst_nn_writer_new (&settings, &error);
  if (writer == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE, ("%s", error->message), (NULL));
    return FALSE;
  }
  GST_DEBUG_OBJECT (self, "tells %s", location);
  g_free (self->written);
  self->written = g_strdup (location);
  self->state = (GstNnSelectState){ .next = GST_CLOCK_TIME_NONE };
  self->n_frames = 0;
  GST_OBJECT_LOCK (self);
  self->writer = writer;
  g_clear_pointer (&self->stats, gst_structure_free);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* READY gives up what fails; what goes out has its time to go. */
static gboolean
gst_nn_publish_stop (GstBaseTransform *base)
{
  GstNnPublish *self = (GstNnPublish *)base;
  GstNnWriter *writer;
  GstStructure *stats;
  gst_nn_writer_drain (self->writer, self->settings.eos_timeout * G_TIME_SPAN_MILLISECOND);
  GST_OBJECT_LOCK (self);
  writer = g_steal_pointer (&self->writer);
  GST_OBJECT_UNLOCK (self);
  stats = gst_nn_writer_close (writer);
  GST_OBJECT_LOCK (self);
  self->stats = stats;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_nn_publish_set_caps (GstBaseTransform *base, GstCaps *in, G_GNUC_UNUSED GstCaps *out)
{
  GstNnPublish *self = (GstNnPublish *)base;
  if (!gst_video_info_from_caps (&self->video, in))
    gst_video_info_init (&self->video);
  return TRUE;
}

static gboolean
gst_nn_publish_sink_event (GstBaseTransform *base, GstEvent *event)
{
  GstNnPublish *self = (GstNnPublish *)base;
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS &&
      !gst_nn_writer_drain (self->writer, self->settings.eos_timeout * G_TIME_SPAN_MILLISECOND))
    GST_INFO_OBJECT (self, "the stream ends before all is sent");
  return GST_BASE_TRANSFORM_CLASS (gst_nn_publish_parent_class)->sink_event (base, event);
}

static GstStateChangeReturn
gst_nn_publish_change_state (GstElement *element, GstStateChange transition)
{
  GstNnPublish *self = (GstNnPublish *)element;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    g_clear_pointer (&self->written, g_free);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY && self->writer != NULL)
    gst_nn_writer_hurry (self->writer);
  return GST_ELEMENT_CLASS (gst_nn_publish_parent_class)->change_state (element, transition);
}

static void
gst_nn_publish_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnPublish *self = (GstNnPublish *)object;
  gpointer place = (guint8 *)&self->settings + places[id];
  GST_OBJECT_LOCK (self);
  if (G_VALUE_HOLDS_STRING (value)) {
    g_free (*(gchar **)place);
    *(gchar **)place = g_value_dup_string (value);
  } else if (G_VALUE_HOLDS_BOXED (value)) {
    g_clear_pointer ((GstStructure **)place, gst_structure_free);
    *(GstStructure **)place = g_value_dup_boxed (value);
  } else if (G_VALUE_HOLDS_BOOLEAN (value)) {
    *(gboolean *)place = g_value_get_boolean (value);
  } else if (G_VALUE_HOLDS_ENUM (value)) {
    *(guint *)place = (guint)g_value_get_enum (value);
  } else if (G_VALUE_HOLDS_UINT (value)) {
    *(guint *)place = g_value_get_uint (value);
  } else {
    *(guint64 *)place = g_value_get_uint64 (value);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_publish_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnPublish *self = (GstNnPublish *)object;
  gconstpointer place = &self->settings;
  GST_OBJECT_LOCK (self);
  if (id < G_N_ELEMENTS (places))
    place = (const guint8 *)place + places[id];
  if (id == PROP_STATS && self->writer != NULL)
    g_value_take_boxed (value, gst_nn_writer_get_stats (self->writer));
  else if (id == PROP_STATS)
    g_value_set_boxed (value, self->stats);
  else if (G_VALUE_HOLDS_STRING (value))
    g_value_set_string (value, *(gchar *const *)place);
  else if (G_VALUE_HOLDS_BOXED (value))
    g_value_set_boxed (value, *(GstStructure *const *)place);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(const gboolean *)place);
  else if (G_VALUE_HOLDS_ENUM (value))
    g_value_set_enum (value, (gint) * (const guint *)place);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, *(const guint *)place);
  else
    g_value_set_uint64 (value, *(const guint64 *)place);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_publish_finalize (GObject *object)
{
  GstNnPublish *self = (GstNnPublish *)object;
  g_free (self->settings.location);
  g_free (self->settings.source);
  g_free (self->settings.labels);
  g_free (self->settings.zones);
  g_free (self->settings.spool_location);
  g_free (self->written);
  g_clear_pointer (&self->settings.options, gst_structure_free);
  g_clear_pointer (&self->stats, gst_structure_free);
  G_OBJECT_CLASS (gst_nn_publish_parent_class)->finalize (object);
}

#define READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define PLAYING                                                                                    \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)

static void
install_ready_properties (GObjectClass *klass)
{
  GParamSpec *specs[] = {
    [PROP_LOCATION] = g_param_spec_string (
        "location", "Location",
        _ ("File, stdout, or mqtt, mqtts, kafka, http, https, sse, unix, tcp, udp://..."),
        DEFAULT_LOCATION, READY),
    [PROP_SPOOL_LOCATION] = g_param_spec_string ("spool-location", "Spool location",
                                                 _ ("File that keeps what cannot be sent and the "
                                                    "queue does not hold, for the next run, too"),
                                                 NULL, READY),
    [PROP_OPTIONS] = g_param_spec_boxed (
        "options", "Options", _ ("What only this kind of location knows: options,NAME=VALUE,..."),
        GST_TYPE_STRUCTURE, READY),
    [PROP_APPEND] = g_param_spec_boolean ("append", "Append", _ ("Write behind what the file has"),
                                          FALSE, READY),
    [PROP_FORMAT] = g_param_spec_enum ("format", "Format", _ ("What a record looks like"),
                                       format_get_type (), 0, READY),
    [PROP_QUEUE_SIZE] = g_param_spec_uint ("queue-size", "Queue size",
                                           _ ("Records that may wait; the oldest are lost then"), 1,
                                           1000000, DEFAULT_QUEUE_SIZE, READY),
    [PROP_MAX_RECONNECT_INTERVAL] =
        g_param_spec_uint ("max-reconnect-interval", "Reconnect interval",
                           _ ("Most seconds between two tries of what failed"), 1, 3600,
                           DEFAULT_RECONNECT_INTERVAL, READY),
    [PROP_SPOOL_SIZE] =
        g_param_spec_uint64 ("spool-size", "Spool size", _ ("Most bytes that wait on disk"), 0,
                             G_MAXINT64, DEFAULT_SPOOL_SIZE, READY),
  };
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    if (specs[i] != NULL)
      g_object_class_install_property (klass, i, specs[i]);
}

static void
install_playing_properties (GObjectClass *klass)
{
  GParamSpec *specs[] = {
    [PROP_SOURCE] = g_param_spec_string ("source", "Source",
                                         _ ("Name of the source in each record"), NULL, PLAYING),
    [PROP_LABELS] = g_param_spec_string (
        "labels", "Labels", _ ("Only objects with one of these labels: A,B,..."), NULL, PLAYING),
    [PROP_ZONES] = g_param_spec_string (
        "zones", "Zones", _ ("Only objects in one of these zones of nnanalytics: A,B,..."), NULL,
        PLAYING),
    [PROP_EMPTY] = g_param_spec_boolean ("add-empty-results", "Empty results",
                                         _ ("Tell of frames without results, too"), FALSE, PLAYING),
    [PROP_TENSOR_DATA] = g_param_spec_boolean ("add-tensor-data", "Tensor data",
                                               _ ("Masks and embeddings, too"), FALSE, PLAYING),
    [PROP_ON_CHANGE] = g_param_spec_boolean (
        "on-change", "On change",
        _ ("Only when other objects are there, or something else is said of them"), FALSE, PLAYING),
    [PROP_THUMBNAIL_SIZE] =
        g_param_spec_uint ("thumbnail-size", "Thumbnail size",
                           _ ("Each object's picture as JPEG, its longer edge in pixels; 0: none"),
                           0, 1024, 0, PLAYING),
    [PROP_EOS_TIMEOUT] = g_param_spec_uint ("eos-timeout", "Timeout at the end",
                                            _ ("Milliseconds that the end of the stream waits "
                                               "until all is sent"),
                                            0, 600000, DEFAULT_EOS_TIMEOUT, PLAYING),
    [PROP_MIN_INTERVAL] = g_param_spec_uint64 (
        "min-interval", "Least interval",
        _ ("Nanoseconds of the stream between two records; events are always told"), 0, G_MAXINT64,
        0, PLAYING),
    [PROP_STATS] = g_param_spec_boxed (
        "stats", "Statistics", _ ("Records: sent, lost, queued, spooled; failing"),
        GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS),
  };
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    if (specs[i] != NULL)
      g_object_class_install_property (klass, i, specs[i]);
}

static void
gst_nn_publish_class_init (GstNnPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_publish_debug, "nnpublish", 0, "tells results");
  object_class->set_property = gst_nn_publish_set_property;
  object_class->get_property = gst_nn_publish_get_property;
  object_class->finalize = gst_nn_publish_finalize;
  install_ready_properties (object_class);
  install_playing_properties (object_class);
  element_class->change_state = gst_nn_publish_change_state;
  base->transform_ip = gst_nn_publish_transform_ip;
  base->before_transform = gst_nn_before_transform;
  base->sink_event = gst_nn_publish_sink_event;
  base->set_caps = gst_nn_publish_set_caps;
  base->start = gst_nn_publish_start;
  base->stop = gst_nn_publish_stop;
  base->passthrough_on_same_caps = TRUE;
  base->transform_ip_on_passthrough = TRUE;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Publishes results", "Generic",
                                         "Tells results to files, brokers and servers",
                                         "The Axon developers");
  gst_type_mark_as_plugin_api (format_get_type (), 0);
}

static void
gst_nn_publish_init (GstNnPublish *self)
{
  self->settings.location = g_strdup (DEFAULT_LOCATION);
  self->settings.queue_size = DEFAULT_QUEUE_SIZE;
  self->settings.eos_timeout = DEFAULT_EOS_TIMEOUT;
  self->settings.max_reconnect_interval = DEFAULT_RECONNECT_INTERVAL;
  self->settings.spool_size = DEFAULT_SPOOL_SIZE;
  self->state.next = GST_CLOCK_TIME_NONE;
  gst_video_info_init (&self->video);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
