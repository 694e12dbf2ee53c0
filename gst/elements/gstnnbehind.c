/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnbehind.h"

#include "gstnnelement.h"

#define FARTHEST 32 /* elements that are looked at, one behind the other */
#define LEAVES N_ ("it leaves results where they were")
#define DROPS N_ ("it drops results")

/* Of an element, a property and the value with which it does no harm. */
static const struct {
  const gchar *element, *property;
  gint harmless;
  const gchar *what;
} movers[] = {
  { "videoflip", "video-direction", 0, LEAVES },
  { "videocrop", "left", 0, DROPS },
  { "videocrop", "right", 0, DROPS },
  { "videocrop", "top", 0, DROPS },
  { "videocrop", "bottom", 0, DROPS },
  { "videobox", "left", 0, DROPS },
  { "videobox", "right", 0, DROPS },
  { "videobox", "top", 0, DROPS },
  { "videobox", "bottom", 0, DROPS },
  { "videoscale", "add-borders", TRUE, N_ ("results lie as if it added borders") },
  { "videoconvertscale", "add-borders", TRUE, N_ ("results lie as if it added borders") },
};

static gint
get_number (GstElement *element, const gchar *property)
{
  GValue number = G_VALUE_INIT;
  g_value_init (&number, G_TYPE_INT);
  g_object_get_property (G_OBJECT (element), property, &number);
  return g_value_get_int (&number);
}

/* What it does to results; NULL: nothing. */
static const gchar *
find_harm (GstElement *element)
{
  GstElementFactory *factory = gst_element_get_factory (element);
  const gchar *name = factory ? GST_OBJECT_NAME (factory) : "";
  for (guint i = 0; i < G_N_ELEMENTS (movers); i++)
    if (g_str_equal (movers[i].element, name) &&
        get_number (element, movers[i].property) != movers[i].harmless)
      return _ (movers[i].what);
  return NULL;
}

typedef struct {
  GstElement *element;
  guint distance;
  gboolean found;
} Walk;

static void walk (Walk *w, GstPad *pad);

static void
walk_on (const GValue *pad, gpointer user_data)
{
  Walk *w = user_data;
  w->distance++;
  if (!w->found && w->distance < FARTHEST)
    walk (w, g_value_get_object (pad));
  w->distance--;
}

/* Bins, too: a ghost pad's link goes on inside. */
static void
walk (Walk *w, GstPad *pad)
{
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad);
  g_autoptr (GstElement) behind = peer ? gst_pad_get_parent_element (peer) : NULL;
  const gchar *harm = behind ? find_harm (behind) : NULL;
  GstIterator *links = peer ? gst_pad_iterate_internal_links (peer) : NULL;
  w->found = harm != NULL;
  if (harm != NULL)
    GST_ELEMENT_WARNING (
        w->element, STREAM, FORMAT,
        (_ ("%s moves pixels, and %s: put it before nninfer"), GST_ELEMENT_NAME (behind), harm),
        (NULL));
  if (links == NULL)
    return;
  gst_iterator_foreach (links, walk_on, w);
  gst_iterator_free (links);
}

void
gst_nn_warn_if_moved_behind (GstElement *element, GstPad *pad)
{
  static GQuark told;
  Walk w = { .element = element };
  if (told == 0)
    told = g_quark_from_static_string ("axon-moved-behind");
  if (g_object_get_qdata (G_OBJECT (element), told) != NULL)
    return;
  walk (&w, pad);
  if (w.found)
    g_object_set_qdata (G_OBJECT (element), told, element);
}
