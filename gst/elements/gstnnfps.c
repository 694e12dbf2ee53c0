/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnfps
 * @title: nnfps
 *
 * Prints frames per second, of all streams of the process that have this element and of each, in
 * the lines of DL Streamer's gvafpscounter:
 *
 * |[
 * FpsCounter(last 1.00sec): total=58.20 fps, number-streams=2, per-stream=29.10 fps (29.30, 28.90)
 * FpsCounter(average 12.01sec): ...
 * FpsCounter(overall 20.54sec): ...      when the last stream has ended
 * ]|
 *
 * Latency of each element: GStreamer's own tracer (docs/debugging.md).
 *
 * Threads: a streaming thread for each; what they share has a lock.
 */
#include "gstnnelement.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_fps_debug);
#define GST_CAT_DEFAULT gst_nn_fps_debug

struct _GstNnFps {
  GstBaseTransform parent_instance;
  gdouble interval;      /* object lock */
  guint starting_frame;  /* object lock */
  guint64 seen;          /* streaming thread */
  guint64 total, recent; /* lock of the streams; frames since all began, since the last line */
  gdouble fps;           /* the same */
  gboolean ended;        /* the same */
};

G_DECLARE_FINAL_TYPE (GstNnFps, gst_nn_fps, GST, NN_FPS, GstBaseTransform)
G_DEFINE_TYPE (GstNnFps, gst_nn_fps, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnfps, gst_nn_fps_get_type ())

enum { PROP_INTERVAL = 1, PROP_STARTING_FRAME, PROP_FPS };

/* Of this process. */
static struct {
  GMutex lock;
  GList *elements; /* GstNnFps that run, in the order of their start */
  gint64 began, said;
} streams;

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* Called with the lock. */
static void
say (const gchar *what, gdouble seconds, gboolean recent)
{
  g_autoptr (GString) each = g_string_new (NULL);
  guint n = g_list_length (streams.elements);
  guint64 frames = 0;
  for (GList *i = streams.elements; i != NULL; i = i->next) {
    GstNnFps *self = i->data;
    guint64 its = recent ? self->recent : self->total;
    gdouble fps = (gdouble)its / seconds;
    frames += its;
    if (recent)
      self->fps = fps;
    g_string_append_printf (each, "%s%.2f", i->prev ? ", " : "", fps);
  }
  g_print ("FpsCounter(%s %.2fsec): total=%.2f fps, number-streams=%u, per-stream=%.2f fps%s%s%s\n",
           what, seconds, (gdouble)frames / seconds, n, (gdouble)frames / seconds / n,
           n > 1 ? " (" : "", n > 1 ? each->str : "", n > 1 ? ")" : "");
}

static gdouble
seconds_since (gint64 time)
{
  return MAX (1, (gdouble)(g_get_monotonic_time () - time)) / G_TIME_SPAN_SECOND;
}

/* The first frame of all only begins to count: it took no time that is known. */
static void
count_frame (GstNnFps *self, gdouble interval)
{
  g_mutex_lock (&streams.lock);
  if (streams.began == 0) {
    streams.began = streams.said = g_get_monotonic_time ();
  } else {
    self->total++;
    self->recent++;
  }
  if (seconds_since (streams.said) >= interval) {
    say ("last", seconds_since (streams.said), TRUE);
    say ("average", seconds_since (streams.began), FALSE);
    streams.said = g_get_monotonic_time ();
    for (GList *i = streams.elements; i != NULL; i = i->next)
      ((GstNnFps *)i->data)->recent = 0;
  }
  g_mutex_unlock (&streams.lock);
}

/* Called with the lock. */
static void
end_stream (GstNnFps *self)
{
  self->ended = TRUE;
  for (GList *i = streams.elements; i != NULL; i = i->next)
    if (!((GstNnFps *)i->data)->ended)
      return;
  if (streams.began != 0)
    say ("overall", seconds_since (streams.began), FALSE);
  streams.began = 0;
  for (GList *i = streams.elements; i != NULL; i = i->next)
    ((GstNnFps *)i->data)->total = ((GstNnFps *)i->data)->recent = 0;
}

static GstFlowReturn
gst_nn_fps_transform_ip (GstBaseTransform *base, G_GNUC_UNUSED GstBuffer *buffer)
{
  GstNnFps *self = (GstNnFps *)base;
  gdouble interval;
  guint starting_frame;
  GST_OBJECT_LOCK (self);
  interval = self->interval;
  starting_frame = self->starting_frame;
  GST_OBJECT_UNLOCK (self);
  if (++self->seen > starting_frame)
    count_frame (self, interval);
  return GST_FLOW_OK;
}

static gboolean
gst_nn_fps_start (GstBaseTransform *base)
{
  GstNnFps *self = (GstNnFps *)base;
  self->seen = 0;
  g_mutex_lock (&streams.lock);
  self->total = self->recent = 0;
  self->fps = 0;
  self->ended = FALSE;
  streams.elements = g_list_append (streams.elements, self);
  g_mutex_unlock (&streams.lock);
  return TRUE;
}

static gboolean
gst_nn_fps_stop (GstBaseTransform *base)
{
  GstNnFps *self = (GstNnFps *)base;
  g_mutex_lock (&streams.lock);
  if (!self->ended)
    end_stream (self);
  streams.elements = g_list_remove (streams.elements, self);
  g_mutex_unlock (&streams.lock);
  return TRUE;
}

static gboolean
gst_nn_fps_sink_event (GstBaseTransform *base, GstEvent *event)
{
  GstNnFps *self = (GstNnFps *)base;
  gboolean ends = GST_EVENT_TYPE (event) == GST_EVENT_EOS;
  if (ends || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    g_mutex_lock (&streams.lock);
    if (ends && !self->ended)
      end_stream (self);
    self->ended = ends;
    g_mutex_unlock (&streams.lock);
  }
  return GST_BASE_TRANSFORM_CLASS (gst_nn_fps_parent_class)->sink_event (base, event);
}

static void
gst_nn_fps_set_property (GObject *object, guint id, const GValue *value,
                         G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnFps *self = (GstNnFps *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_INTERVAL)
    self->interval = g_value_get_double (value);
  else
    self->starting_frame = g_value_get_uint (value);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_fps_get_property (GObject *object, guint id, GValue *value, G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnFps *self = (GstNnFps *)object;
  if (id == PROP_FPS) {
    g_mutex_lock (&streams.lock);
    g_value_set_double (value, self->fps);
    g_mutex_unlock (&streams.lock);
    return;
  }
  GST_OBJECT_LOCK (self);
  if (id == PROP_INTERVAL)
    g_value_set_double (value, self->interval);
  else
    g_value_set_uint (value, self->starting_frame);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_fps_class_init (GstNnFpsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  GST_DEBUG_CATEGORY_INIT (gst_nn_fps_debug, "nnfps", 0, "frames per second");
  object_class->set_property = gst_nn_fps_set_property;
  object_class->get_property = gst_nn_fps_get_property;
  g_object_class_install_property (object_class, PROP_INTERVAL,
                                   g_param_spec_double ("interval", "Interval",
                                                        _ ("Seconds between two lines"), 0, 3600, 1,
                                                        playing));
  g_object_class_install_property (
      object_class, PROP_STARTING_FRAME,
      g_param_spec_uint ("starting-frame", "Starting frame",
                         _ ("So many frames do not count: what starts is slow"), 0, G_MAXUINT, 0,
                         playing));
  g_object_class_install_property (
      object_class, PROP_FPS,
      g_param_spec_double ("fps", "Frames per second",
                           _ ("Frames per second of this stream, in the last interval"), 0,
                           G_MAXDOUBLE, 0, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  base->start = gst_nn_fps_start;
  base->stop = gst_nn_fps_stop;
  base->sink_event = gst_nn_fps_sink_event;
  base->transform_ip = gst_nn_fps_transform_ip;
  base->passthrough_on_same_caps = TRUE;
  base->transform_ip_on_passthrough = TRUE;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Counts frames per second", "Generic",
                                         "Prints frames per second of all streams",
                                         "The Axon developers");
}

static void
gst_nn_fps_init (GstNnFps *self)
{
  self->interval = 1;
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
