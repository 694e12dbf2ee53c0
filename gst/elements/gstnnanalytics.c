/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * SECTION:element-nnanalytics
 * @title: nnanalytics
 *
 * Counts what tracks do: who is in a zone, for how long, how many; who goes over a line and which
 * way; where objects are most. What happens is posted as element message `nn-event` and is, with
 * zones and lines, on the frame (#GstNnSceneMeta) for nnpublish, nnoverlay and applications; an
 * object has an attribute `zone` for each that it is in.
 *
 * |[
 * ... ! nndecode ! nntrack ! nnanalytics settings='{"lines": [{"name": "door",
 *   "from": [0.2, 0.5], "to": [0.8, 0.5]}]}' ! nnpublish ! nnoverlay ! ...
 * ]|
 *
 * Settings may change while PLAYING; bad ones are a warning then, and the former stay.
 *
 * Threads: streaming thread.
 */
#include "analytics/gstnnwatch.h"
#include "gstnnelement.h"

#include <gst/base/gstbasetransform.h>

GST_DEBUG_CATEGORY_STATIC (gst_nn_analytics_debug);
#define GST_CAT_DEFAULT gst_nn_analytics_debug

struct _GstNnAnalytics {
  GstBaseTransform parent_instance;
  gchar *settings, *location; /* object lock */
  GstNnRules *next;           /* object lock; for the next frame, or NULL */
  GstNnMask *heat_map;        /* object lock */
  gboolean runs;              /* object lock; settings that are set take effect at once */
  GstNnWatch *watch;          /* streaming thread */
};

G_DECLARE_FINAL_TYPE (GstNnAnalytics, gst_nn_analytics, GST, NN_ANALYTICS, GstBaseTransform)
G_DEFINE_TYPE (GstNnAnalytics, gst_nn_analytics, GST_TYPE_BASE_TRANSFORM)
GST_NN_ELEMENT_REGISTER_DEFINE (nnanalytics, gst_nn_analytics_get_type ())

enum { PROP_SETTINGS = 1, PROP_SETTINGS_LOCATION, PROP_HEAT_MAP };

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/* The property's, else the file's; no settings at all are none. */
static GstNnRules *
load (GstNnAnalytics *self, GError **error)
{
  g_autofree gchar *settings = NULL;
  g_autofree gchar *location = NULL;
  GstNnRules *rules;
  GST_OBJECT_LOCK (self);
  settings = g_strdup (self->settings);
  location = g_strdup (self->location);
  GST_OBJECT_UNLOCK (self);
  if (settings == NULL && location != NULL &&
      !g_file_get_contents (location, &settings, NULL, error))
    return NULL;
  rules = gst_nn_rules_parse (settings ? settings : "{}", error);
  if (rules == NULL)
    g_prefix_error (error, "%s: ", location ? location : _ ("settings"));
  return rules;
}

static void
take_rules (GstNnAnalytics *self, GstNnRules *rules)
{
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->next, gst_nn_rules_unref);
  self->next = rules;
  GST_OBJECT_UNLOCK (self);
}

static void
reload (GstNnAnalytics *self)
{
  g_autoptr (GError) error = NULL;
  GstNnRules *rules = load (self, &error);
  if (rules != NULL)
    take_rules (self, rules);
  else
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
                         (_ ("%s; the former settings stay"), error->message), (NULL));
}

static void
set_runs (GstNnAnalytics *self, gboolean runs)
{
  GST_OBJECT_LOCK (self);
  self->runs = runs;
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_nn_analytics_start (GstBaseTransform *base)
{
  GstNnAnalytics *self = (GstNnAnalytics *)base;
  g_autoptr (GError) error = NULL;
  GstNnRules *rules = load (self, &error);
  if (rules == NULL) {
    GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  self->watch = gst_nn_watch_new ();
  take_rules (self, rules);
  set_runs (self, TRUE);
  return TRUE;
}

static gboolean
gst_nn_analytics_stop (GstBaseTransform *base)
{
  GstNnAnalytics *self = (GstNnAnalytics *)base;
  set_runs (self, FALSE);
  g_clear_pointer (&self->watch, gst_nn_watch_free);
  return TRUE;
}

static gboolean
gst_nn_analytics_sink_event (GstBaseTransform *base, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP ||
      GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_nn_watch_reset (((GstNnAnalytics *)base)->watch);
  return GST_BASE_TRANSFORM_CLASS (gst_nn_analytics_parent_class)->sink_event (base, event);
}

static void
post_events (GstNnAnalytics *self, const GstNnSceneMeta *scene, guint first, GstClockTime time)
{
  for (guint i = first; i < scene->events->len; i++) {
    GstStructure *event = g_ptr_array_index (scene->events, i);
    GST_DEBUG_OBJECT (self, "%" GST_PTR_FORMAT, event);
    if (GST_CLOCK_TIME_IS_VALID (time))
      gst_structure_set (event, "running-time", G_TYPE_UINT64, time, NULL);
    gst_element_post_message (
        GST_ELEMENT (self),
        gst_message_new_element (GST_OBJECT (self), gst_structure_copy (event)));
  }
}

static GstFlowReturn
gst_nn_analytics_transform_ip (GstBaseTransform *base, GstBuffer *buffer)
{
  GstNnAnalytics *self = (GstNnAnalytics *)base;
  GstNnSceneMeta *scene = gst_buffer_add_nn_scene_meta (buffer);
  GstNnRules *rules;
  GstClockTime time =
      gst_segment_to_running_time (&base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer));
  guint first = scene->events->len;
  GST_OBJECT_LOCK (self);
  rules = g_steal_pointer (&self->next);
  GST_OBJECT_UNLOCK (self);
  if (rules != NULL) {
    gst_nn_watch_set_rules (self->watch, rules);
    gst_nn_rules_unref (rules);
  }
  gst_nn_watch_see (self->watch, gst_buffer_get_nn_result_meta (buffer), time, scene);
  post_events (self, scene, first, time);
  GST_OBJECT_LOCK (self);
  if (scene->heat_map != NULL && scene->heat_map != self->heat_map) {
    g_clear_pointer (&self->heat_map, gst_nn_mask_unref);
    self->heat_map = gst_nn_mask_ref (scene->heat_map);
  }
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static void
gst_nn_analytics_set_property (GObject *object, guint id, const GValue *value,
                               G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnAnalytics *self = (GstNnAnalytics *)object;
  gchar **place = id == PROP_SETTINGS ? &self->settings : &self->location;
  gboolean runs;
  GST_OBJECT_LOCK (self);
  g_free (*place);
  *place = g_value_dup_string (value);
  runs = self->runs;
  GST_OBJECT_UNLOCK (self);
  if (runs)
    reload (self);
}

static void
gst_nn_analytics_get_property (GObject *object, guint id, GValue *value,
                               G_GNUC_UNUSED GParamSpec *pspec)
{
  GstNnAnalytics *self = (GstNnAnalytics *)object;
  GST_OBJECT_LOCK (self);
  if (id == PROP_HEAT_MAP)
    g_value_set_boxed (value, self->heat_map);
  else
    g_value_set_string (value, id == PROP_SETTINGS ? self->settings : self->location);
  GST_OBJECT_UNLOCK (self);
}

static void
gst_nn_analytics_finalize (GObject *object)
{
  GstNnAnalytics *self = (GstNnAnalytics *)object;
  g_clear_pointer (&self->next, gst_nn_rules_unref);
  g_clear_pointer (&self->heat_map, gst_nn_mask_unref);
  g_free (self->settings);
  g_free (self->location);
  G_OBJECT_CLASS (gst_nn_analytics_parent_class)->finalize (object);
}

static void
gst_nn_analytics_class_init (GstNnAnalyticsClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *base = GST_BASE_TRANSFORM_CLASS (klass);
  GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  GST_DEBUG_CATEGORY_INIT (gst_nn_analytics_debug, "nnanalytics", 0, "counts what tracks do");
  object_class->set_property = gst_nn_analytics_set_property;
  object_class->get_property = gst_nn_analytics_get_property;
  object_class->finalize = gst_nn_analytics_finalize;
  g_object_class_install_property (
      object_class, PROP_SETTINGS,
      g_param_spec_string (
          "settings", "Settings",
          _ ("Zones, lines and heat map, in JSON: "
             "{\"lines\":[{\"name\":\"door\",\"from\":[0.2,0.5],\"to\":[0.8,0.5]}]}"),
          NULL, playing));
  g_object_class_install_property (
      object_class, PROP_SETTINGS_LOCATION,
      g_param_spec_string ("settings-location", "Settings location",
                           _ ("File with settings, read each time that this is set"), NULL,
                           playing));
  g_object_class_install_property (
      object_class, PROP_HEAT_MAP,
      g_param_spec_boxed ("heat-map", "Heat map", _ ("Where objects were most"), GST_TYPE_NN_MASK,
                          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  base->start = gst_nn_analytics_start;
  base->stop = gst_nn_analytics_stop;
  base->sink_event = gst_nn_analytics_sink_event;
  base->transform_ip = gst_nn_analytics_transform_ip;
  base->propose_allocation = gst_nn_propose_allocation;
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (
      element_class, "Counts what tracks do", "Filter/Analyzer/Video",
      "Zones, lines, dwell, crowds, heat maps", "The Axon developers");
}

static void
gst_nn_analytics_init (GstNnAnalytics *self)
{
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
