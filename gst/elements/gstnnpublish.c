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

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/base/gstbasetransform.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <unistd.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_publish_debug);
#define GST_CAT_DEFAULT gst_nn_publish_debug

struct _GstNnPublish {
  GstBaseTransform parent_instance;
  gchar *location, *source; /* object lock */
  gboolean empty;           /* object lock */
  FILE *file;
};

G_DECLARE_FINAL_TYPE (GstNnPublish, gst_nn_publish, GST, NN_PUBLISH, GstBaseTransform)
G_DEFINE_TYPE (GstNnPublish, gst_nn_publish, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnpublish, gst_nn_publish_get_type ())

enum { PROP_LOCATION = 1, PROP_SOURCE, PROP_EMPTY };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void
add_number (JsonBuilder *b, const gchar *name, gdouble value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_double_value (b, value);
}

static void
add_int (JsonBuilder *b, const gchar *name, gint64 value)
{
  json_builder_set_member_name (b, name);
  json_builder_add_int_value (b, value);
}

static void
add_text (JsonBuilder *b, const gchar *name, const gchar *value)
{
  g_autofree gchar *valid = g_utf8_make_valid (value, -1);
  json_builder_set_member_name (b, name);
  json_builder_add_string_value (b, valid);
}

static void
add_object (JsonBuilder *b, const GstNnObject *o, const GstNnResultMeta *meta)
{
  gdouble w = MAX (meta->width, 1), h = MAX (meta->height, 1);
  json_builder_begin_object (b);
  json_builder_set_member_name (b, "detection");
  json_builder_begin_object (b);
  json_builder_set_member_name (b, "bounding_box");
  json_builder_begin_object (b);
  add_number (b, "x_max", (o->x + o->width) / w);
  add_number (b, "x_min", o->x / w);
  add_number (b, "y_max", (o->y + o->height) / h);
  add_number (b, "y_min", o->y / h);
  json_builder_end_object (b);
  add_number (b, "confidence", o->score);
  if (o->label)
    add_text (b, "label", g_quark_to_string (o->label));
  add_int (b, "label_id", o->class_id);
  json_builder_end_object (b);
  add_int (b, "h", (gint64)(o->height + 0.5));
  add_int (b, "region_id", o->id);
  add_text (b, "roi_type", o->label ? g_quark_to_string (o->label) : "");
  add_int (b, "w", (gint64)(o->width + 0.5));
  add_int (b, "x", (gint64)(o->x + 0.5));
  add_int (b, "y", (gint64)(o->y + 0.5));
  json_builder_end_object (b);
}

/* A frame-level class is an object of the whole frame, under the name of its model. */
static void
add_class (JsonBuilder *b, const GstNnClass *c, const GstNnResultMeta *meta)
{
  g_autofree gchar *name =
      g_strdup_printf ("classification/%s", meta->model_name ? meta->model_name : "model");
  json_builder_begin_object (b);
  json_builder_set_member_name (b, name);
  json_builder_begin_object (b);
  add_number (b, "confidence", c->score);
  if (c->label)
    add_text (b, "label", g_quark_to_string (c->label));
  add_int (b, "label_id", c->class_id);
  json_builder_set_member_name (b, "model");
  json_builder_begin_object (b);
  add_text (b, "name", meta->model_name ? meta->model_name : "");
  json_builder_end_object (b);
  json_builder_end_object (b);
  add_int (b, "h", meta->height);
  add_int (b, "w", meta->width);
  add_int (b, "x", 0);
  add_int (b, "y", 0);
  json_builder_end_object (b);
}

static gchar *
make_line (GstNnPublish *self, GstNnResultMeta *meta, GstClockTime time)
{
  g_autoptr (JsonBuilder) b = json_builder_new ();
  g_autoptr (JsonNode) root = NULL;
  json_builder_begin_object (b);
  json_builder_set_member_name (b, "objects");
  json_builder_begin_array (b);
  for (guint i = 0; i < meta->objects->len; i++)
    add_object (b, gst_nn_result_meta_get_object (meta, i), meta);
  for (guint i = 0; i < meta->classes->len; i++)
    add_class (b, gst_nn_result_meta_get_class (meta, i), meta);
  json_builder_end_array (b);
  json_builder_set_member_name (b, "resolution");
  json_builder_begin_object (b);
  add_int (b, "height", meta->height);
  add_int (b, "width", meta->width);
  json_builder_end_object (b);
  GST_OBJECT_LOCK (self);
  if (self->source != NULL)
    add_text (b, "source", self->source);
  GST_OBJECT_UNLOCK (self);
  if (GST_CLOCK_TIME_IS_VALID (time))
    add_int (b, "timestamp", (gint64)time);
  json_builder_end_object (b);
  root = json_builder_get_root (b);
  return json_to_string (root, FALSE);
}

static GstClockTime
stream_time (GstBaseTransform *base, GstBuffer *buffer)
{
  GstClockTime time =
      gst_segment_to_stream_time (&base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  return GST_CLOCK_TIME_IS_VALID (time) ? time : GST_BUFFER_PTS (buffer);
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
  if (meta == NULL || (!empty && meta->objects->len == 0 && meta->classes->len == 0))
    return GST_FLOW_OK;
  GST_LOG_OBJECT (self, "writes %u objects, %u classes", meta->objects->len, meta->classes->len);
  line = make_line (self, meta, stream_time (base, buffer));
  /* Whole lines: a reader at the other end never sees half a record. */
  if (fprintf (self->file, "%s\n", line) < 0 || fflush (self->file) != 0) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
                       (_ ("results cannot be written: %s"), g_strerror (errno)), (NULL));
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

/* A FIFO that nobody reads is an error, not a wait without end; its writes block as any file's. */
static FILE *
open_location (const gchar *location)
{
  int fd =
      g_open (location, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
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
  self->file = to_stdout ? stdout : open_location (self->location);
  if (self->file != NULL) {
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
  G_OBJECT_CLASS (gst_nn_publish_parent_class)->finalize (object);
}

static void
gst_nn_publish_class_init (GstNnPublishClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;
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
                            _ ("Write a record for frames without results, too"), FALSE,
                            G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                GST_PARAM_MUTABLE_PLAYING));
  base->transform_ip = gst_nn_publish_transform_ip;
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
