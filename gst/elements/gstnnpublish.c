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
 * Pictures of the objects are in every record with #GstNnPublish:thumbnail-size, and in one that is
 * asked for with #GstNnPublish::request-thumbnails.
 *
 * |[
 * ... ! nndecode ! nnpublish location=mqtts://broker/cameras/door \
 *   options=options,user=door,password-file=/etc/door.secret,qos=1 on-change=true ! ...
 * ]|
 *
 * Threads: the streaming thread makes the records, a thread of its own sends them.
 */
#include "gstnnelement.h"
#include "publish/gstnnpublishsettings.h"
#include "publish/gstnnselect.h"
#include "publish/gstnnwriter.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_publish_debug);
#define GST_CAT_DEFAULT gst_nn_publish_debug

#define REQUESTED_SIZE 128 /* pixels of the thumbnails of who asks for any */

static const struct {
  GstNnRecordFunc write;
  const gchar *media_type;
} formats[] = {
  [GST_NN_PUBLISH_JSON] = { gst_nn_record_new, "application/json" },
  [GST_NN_PUBLISH_COCO] = { gst_nn_record_coco, "application/json" },
  [GST_NN_PUBLISH_ONVIF] = { gst_nn_record_onvif, "application/x-onvif-metadata" },
};

/* What the settings say of objects and streams, read from their texts. */
typedef struct {
  gchar *source;
  GStrv labels, zones;
  guint n_texts; /* of the settings that it was read from */
} Wanted;

struct _GstNnPublish {
  GstBaseTransform parent_instance;
  GstNnPublishSettings settings; /* object lock */
  GstStructure *stats;           /* object lock; of the last run */
  GstNnWriter *writer;           /* object lock, where it changes or another thread reads it */
  gchar *written;                /* what was opened since READY: goes on where it ended */
  gint requested; /* atomic: size of the thumbnails that the next record is to have, or 0 */
  /* streaming thread */
  Wanted wanted;
  GstNnSelectState state;
  GstVideoInfo video; /* its format is unknown where the stream is no video */
  guint64 n_frames;
};

G_DECLARE_FINAL_TYPE (GstNnPublish, gst_nn_publish, GST, NN_PUBLISH, GstBaseTransform)
G_DEFINE_TYPE (GstNnPublish, gst_nn_publish, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnpublish, gst_nn_publish_get_type ())

enum { PROP_STATS = GST_NN_PUBLISH_PROP_OTHERS };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

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

static void
clear_wanted (Wanted *wanted)
{
  g_free (wanted->source);
  g_strfreev (wanted->labels);
  g_strfreev (wanted->zones);
}

/* Texts are read when they have changed, not for each frame. */
static void
read_texts (Wanted *wanted, const GstNnPublishSettings *settings)
{
  if (wanted->n_texts == settings->n_texts)
    return;
  clear_wanted (wanted);
  wanted->source = g_strdup (settings->source);
  wanted->labels = split (settings->labels);
  wanted->zones = split (settings->zones);
  wanted->n_texts = settings->n_texts;
}

/* How frames are told of, now. */
static void
read_settings (GstNnPublish *self, GstNnRecordInfo *info, GstNnSelectSettings *select,
               GstNnPublishFormat *format)
{
  const GstNnPublishSettings *s = &self->settings;
  GST_OBJECT_LOCK (self);
  read_texts (&self->wanted, s);
  info->tensor_data = s->tensor_data;
  info->thumbnail_size = s->thumbnail_size;
  *select = (GstNnSelectSettings){ s->empty, s->on_change, s->min_interval };
  *format = s->format;
  GST_OBJECT_UNLOCK (self);
  info->source = self->wanted.source;
  info->labels = (const gchar *const *)self->wanted.labels;
  info->zones = (const gchar *const *)self->wanted.zones;
}

/* With thumbnails, where they are asked for and the frame can be read. */
static gchar *
write_record (GstNnPublish *self, GstNnPublishFormat format, GstBuffer *buffer,
              GstNnResultMeta *meta, GstNnRecordInfo *info)
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

/* A request waits for a frame with an object that is told of. */
static gboolean
take_request (GstNnPublish *self, GstNnResultMeta *meta, GstNnRecordInfo *info)
{
  const GstNnObject *o;
  gint size = 0;
  if (g_atomic_int_get (&self->requested) == 0)
    return FALSE;
  for (guint i = 0; meta && (o = gst_nn_result_meta_get_object (meta, i)) != NULL && size == 0; i++)
    if (gst_nn_record_wants (info, o))
      size = g_atomic_int_exchange (&self->requested, 0);
  if (size != 0)
    info->thumbnail_size = (guint)size;
  return size != 0;
}

static GstFlowReturn
gst_nn_publish_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnPublish *self = (GstNnPublish *)base;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (buffer);
  GstNnRecordInfo info = { NULL };
  GstNnSelectSettings select;
  GstNnPublishFormat format;
  self->n_frames++;
  if (meta == NULL)
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), buffer);
  if (meta == NULL && gst_buffer_get_nn_scene_meta (buffer) == NULL)
    return GST_FLOW_OK;
  gst_nn_record_info_fill (&info, &base->segment, buffer, self->n_frames);
  read_settings (self, &info, &select, &format);
  if (take_request (self, meta, &info))
    select = (GstNnSelectSettings){ .empty = TRUE };
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
  const GstNnPublishSettings *s = &self->settings; /* what is read here changes in READY only */
  const gchar *location = s->location ? s->location : GST_NN_PUBLISH_LOCATION;
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
  gboolean is_known;
  GST_OBJECT_LOCK (self);
  is_known = gst_nn_publish_settings_set (&self->settings, id, value);
  GST_OBJECT_UNLOCK (self);
  if (!is_known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
gst_nn_publish_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnPublish *self = (GstNnPublish *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_STATS && self->writer != NULL)
    g_value_take_boxed (value, gst_nn_writer_get_stats (self->writer));
  else if (id == PROP_STATS)
    g_value_set_boxed (value, self->stats);
  else if (!gst_nn_publish_settings_get (&self->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_publish_finalize (GObject *object)
{
  GstNnPublish *self = (GstNnPublish *)object;
  gst_nn_publish_settings_clear (&self->settings);
  clear_wanted (&self->wanted);
  g_free (self->written);
  g_clear_pointer (&self->stats, gst_structure_free);
  G_OBJECT_CLASS (gst_nn_publish_parent_class)->finalize (object);
}

static void
on_request_thumbnails (GstNnPublish *self, guint size)
{
  GST_DEBUG_OBJECT (self, "thumbnails of %u pixels are asked for", size);
  g_atomic_int_set (&self->requested,
                    size ? (gint)MIN (size, GST_NN_PUBLISH_MAX_THUMBNAIL) : REQUESTED_SIZE);
}

static void
install_signals (GObjectClass *klass)
{
  /**
   * GstNnPublish::request-thumbnails:
   * @publish: the element
   * @size: pixels of the thumbnails' longer edge, at most 1024; 0: 128
   *
   * Asks for one record with a JPEG of each object: that of the next frame on which there is an
   * object to tell of. It is told even where #GstNnPublish:on-change or
   * #GstNnPublish:min-interval would keep it back. Asking again before that changes the size only.
   * Other formats than lines of JSON have no thumbnails. Any thread may emit it, in any state.
   *
   * Since: 1.0
   */
  g_signal_new_class_handler (
      "request-thumbnails", G_OBJECT_CLASS_TYPE (klass), G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION,
      G_CALLBACK (on_request_thumbnails), NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
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
  gst_nn_publish_settings_install (object_class);
  g_object_class_install_property (
      object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "Statistics",
                          _ ("Records: sent, lost, queued, spooled; failing"), GST_TYPE_STRUCTURE,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  install_signals (object_class);
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
}

static void
gst_nn_publish_init (GstNnPublish *self)
{
  gst_nn_publish_settings_init (&self->settings);
  self->state.next = GST_CLOCK_TIME_NONE;
  gst_video_info_init (&self->video);
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
