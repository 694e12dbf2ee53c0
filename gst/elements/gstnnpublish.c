/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnpublish
 * @title: nnpublish
 *
 * Writes the results on each buffer as a line of JSON, to standard output or a file, and passes the
 * buffer on. The fields are those of DL Streamer's gvametaconvert.
 *
 * Threads: streaming thread.
 */
#include "gstnnelement.h"
#include "record/gstnnrecord.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/base/gstbasetransform.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_publish_debug);
#define GST_CAT_DEFAULT gst_nn_publish_debug

struct _GstNnPublish {
  GstBaseTransform parent_instance;
  gchar *location, *source; /* object lock */
  gboolean empty;           /* object lock */
  gboolean tensor_data;     /* object lock */
  gboolean append;          /* object lock */
  gchar *written;           /* what was opened since READY: goes on where it ended */
  FILE *file;
};

G_DECLARE_FINAL_TYPE (GstNnPublish, gst_nn_publish, GST, NN_PUBLISH, GstBaseTransform)
G_DEFINE_TYPE (GstNnPublish, gst_nn_publish, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnpublish, gst_nn_publish_get_type ())

enum { PROP_LOCATION = 1, PROP_SOURCE, PROP_EMPTY, PROP_TENSOR_DATA, PROP_APPEND };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static gchar *
make_line (GstNnPublish *self, GstBuffer *buffer, GstNnResultMeta *meta)
{
  const GstSegment *segment = &GST_BASE_TRANSFORM (self)->segment;
  GstClockTime pts = GST_BUFFER_PTS (buffer);
  g_autofree gchar *source = NULL;
  GstNnRecordInfo info = {
    .stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts),
    .running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts),
    .unix_time = gst_nn_buffer_get_unix_time (buffer),
    .pts = pts,
  };
  if (!GST_CLOCK_TIME_IS_VALID (info.stream_time))
    info.stream_time = pts;
  GST_OBJECT_LOCK (self);
  source = g_strdup (self->source);
  info.tensor_data = self->tensor_data;
  GST_OBJECT_UNLOCK (self);
  info.source = source;
  return gst_nn_record_new (meta, &info);
}

/* A reader that went away, as `head` does when it has enough, would end the process by a signal. */
static gboolean
print_without_signal (FILE *file, const gchar *line)
{
  const struct timespec now = { 0, 0 };
  sigset_t pipe, before, pending;
  gboolean was_pending, ok;
  gint code;
  sigemptyset (&pipe);
  sigaddset (&pipe, SIGPIPE);
  sigpending (&pending);
  was_pending = sigismember (&pending, SIGPIPE);
  pthread_sigmask (SIG_BLOCK, &pipe, &before);
  /* Whole lines: a reader at the other end never sees half a record. */
  ok = fprintf (file, "%s\n", line) >= 0 && fflush (file) == 0;
  code = errno;
  while (!ok && !was_pending && sigtimedwait (&pipe, NULL, &now) == -1 && errno == EINTR) {
  }
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  errno = code;
  return ok;
}

static GstFlowReturn
write_line (GstNnPublish *self, const gchar *line)
{
  if (print_without_signal (self->file, line))
    return GST_FLOW_OK;
  if (errno == EPIPE) {
    GST_INFO_OBJECT (self, "nobody reads any more: ends the stream");
    return GST_FLOW_EOS;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
                     (_ ("results cannot be written: %s"), g_strerror (errno)), (NULL));
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_nn_publish_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnPublish *self = (GstNnPublish *)base;
  GstNnResultMeta *meta = gst_buffer_get_nn_result_meta (buffer);
  g_autofree gchar *line = NULL;
  gboolean empty;
  GST_OBJECT_LOCK (self);
  empty = self->empty;
  GST_OBJECT_UNLOCK (self);
  if (meta == NULL)
    gst_nn_warn_if_undecoded (GST_ELEMENT (self), buffer);
  if (meta == NULL || (!empty && gst_nn_result_meta_is_empty (meta)))
    return GST_FLOW_OK;
  GST_LOG_OBJECT (self, "writes %u objects", gst_nn_result_meta_get_n_objects (meta));
  line = make_line (self, buffer, meta);
  return write_line (self, line);
}

/* A FIFO that nobody reads is an error, not a wait without end; its writes block as any file's. */
static FILE *
open_location (const gchar *location, gboolean append)
{
  int how = append ? O_APPEND : O_TRUNC;
  int fd = g_open (location, O_WRONLY | O_CREAT | how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  FILE *file;
  if (fd < 0 || fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) & ~O_NONBLOCK) != 0) {
    int code = errno;
    if (fd >= 0)
      close (fd);
    errno = code;
    return NULL;
  }
  file = fdopen (fd, "w");
  if (file == NULL)
    close (fd);
  return file;
}

static gboolean
gst_nn_publish_start (GstBaseTransform *base)
{
  GstNnPublish *self = (GstNnPublish *)base;
  gboolean to_stdout = self->location == NULL || g_str_equal (self->location, "stdout");
  gboolean append = self->append || g_strcmp0 (self->location, self->written) == 0;
  self->file = to_stdout ? stdout : open_location (self->location, append);
  if (self->file != NULL) {
    g_free (self->written);
    self->written = g_strdup (self->location);
    GST_DEBUG_OBJECT (self, "writes %s", to_stdout ? "standard output" : self->location);
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, OPEN_WRITE,
                     (_ ("%s cannot be written: %s"), self->location,
                      errno == ENXIO ? _ ("nobody reads it") : g_strerror (errno)),
                     (NULL));
  return FALSE;
}

static gboolean
gst_nn_publish_stop (GstBaseTransform *base)
{
  GstNnPublish *self = (GstNnPublish *)base;
  if (self->file != NULL && self->file != stdout)
    fclose (self->file);
  self->file = NULL;
  return TRUE;
}

static GstStateChangeReturn
gst_nn_publish_change_state (GstElement *element, GstStateChange transition)
{
  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    g_clear_pointer (&((GstNnPublish *)element)->written, g_free);
  return GST_ELEMENT_CLASS (gst_nn_publish_parent_class)->change_state (element, transition);
}

static void
gst_nn_publish_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnPublish *self = (GstNnPublish *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_LOCATION:
    g_free (self->location);
    self->location = g_value_dup_string (value);
    break;
  case PROP_SOURCE:
    g_free (self->source);
    self->source = g_value_dup_string (value);
    break;
  case PROP_EMPTY:
    self->empty = g_value_get_boolean (value);
    break;
  case PROP_APPEND:
    self->append = g_value_get_boolean (value);
    break;
  case PROP_TENSOR_DATA:
    self->tensor_data = g_value_get_boolean (value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_publish_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnPublish *self = (GstNnPublish *)object;
  GST_OBJECT_LOCK (self);
  switch (id) {
  case PROP_LOCATION:
    g_value_set_string (value, self->location);
    break;
  case PROP_SOURCE:
    g_value_set_string (value, self->source);
    break;
  case PROP_EMPTY:
    g_value_set_boolean (value, self->empty);
    break;
  case PROP_APPEND:
    g_value_set_boolean (value, self->append);
    break;
  case PROP_TENSOR_DATA:
    g_value_set_boolean (value, self->tensor_data);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_publish_finalize (GObject *object)
{
  GstNnPublish *self = (GstNnPublish *)object;
  g_free (self->location);
  g_free (self->source);
  g_free (self->written);
  G_OBJECT_CLASS (gst_nn_publish_parent_class)->finalize (object);
}

static void
gst_nn_publish_class_init (GstNnPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING |
                        GST_PARAM_CONTROLLABLE;
  GST_DEBUG_CATEGORY_INIT (gst_nn_publish_debug, "nnpublish", 0, "writes results");
  object_class->set_property = gst_nn_publish_set_property;
  object_class->get_property = gst_nn_publish_get_property;
  object_class->finalize = gst_nn_publish_finalize;
  g_object_class_install_property (object_class, PROP_LOCATION,
                                   g_param_spec_string ("location", "Location",
                                                        _ ("File to write, or stdout"), "stdout",
                                                        ready));
  g_object_class_install_property (object_class, PROP_SOURCE,
                                   g_param_spec_string ("source", "Source",
                                                        _ ("Name of the source in each record"),
                                                        NULL, ready));
  g_object_class_install_property (
      object_class, PROP_EMPTY,
      g_param_spec_boolean ("add-empty-results", "Empty results",
                            _ ("Write a record for frames without results, too"), FALSE, playing));
  g_object_class_install_property (object_class, PROP_APPEND,
                                   g_param_spec_boolean ("append", "Append",
                                                         _ ("Write behind what the file has"),
                                                         FALSE, ready));
  g_object_class_install_property (object_class, PROP_TENSOR_DATA,
                                   g_param_spec_boolean ("add-tensor-data", "Tensor data",
                                                         _ ("Write masks and embeddings, too"),
                                                         FALSE, playing));
  element_class->change_state = gst_nn_publish_change_state;
  base->transform_ip = gst_nn_publish_transform_ip;
  base->before_transform = gst_nn_before_transform;
  base->start = gst_nn_publish_start;
  base->stop = gst_nn_publish_stop;
  base->passthrough_on_same_caps = TRUE;
  base->transform_ip_on_passthrough = TRUE;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "Publishes results", "Generic",
                                         "Writes results as lines of JSON", "The Axon developers");
}

static void
gst_nn_publish_init (GstNnPublish *self)
{
  self->location = g_strdup ("stdout");
  gst_base_transform_set_passthrough (GST_BASE_TRANSFORM (self), TRUE);
}
