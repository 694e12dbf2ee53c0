/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnregionprops.h"

#include "elements/gstnnelement.h"
#include "elements/gstnnfields.h"

#include <math.h>

#define MOST_TILES 32 /* a side */
#define LARGEST 8     /* region, in sizes of the frame */

enum {
  PROP_MODE = GST_NN_REGION_PROP_FIRST,
  PROP_ALIGN,
  PROP_CLASS,
  PROP_WHERE,
  PROP_MARGIN,
  PROP_SQUARE,
  PROP_INTERVAL,
  PROP_TILES,
  PROP_OVERLAP
};

static const GstNnField fields[] = {
  { PROP_MODE, G_STRUCT_OFFSET (GstNnRegionProps, mode) },
  { PROP_ALIGN, G_STRUCT_OFFSET (GstNnRegionProps, align) },
  { PROP_CLASS, G_STRUCT_OFFSET (GstNnRegionProps, object_class) },
  { PROP_WHERE, G_STRUCT_OFFSET (GstNnRegionProps, where) },
  { PROP_MARGIN, G_STRUCT_OFFSET (GstNnRegionProps, margin) },
  { PROP_SQUARE, G_STRUCT_OFFSET (GstNnRegionProps, is_square) },
  { PROP_INTERVAL, G_STRUCT_OFFSET (GstNnRegionProps, interval) },
  { PROP_TILES, G_STRUCT_OFFSET (GstNnRegionProps, tiles) },
  { PROP_OVERLAP, G_STRUCT_OFFSET (GstNnRegionProps, overlap) },
};

#define GST_TYPE_NN_REGION_MODE (gst_nn_region_mode_get_type ())
#define GST_TYPE_NN_REGION_ALIGN (gst_nn_region_align_get_type ())

static GType
gst_nn_region_mode_get_type (void)
{
  static GEnumValue values[] = { { GST_NN_REGION_FULL_FRAME, N_ ("The whole frame"), "full-frame" },
                                 { GST_NN_REGION_ROI_LIST, N_ ("Objects that earlier models found"),
                                   "roi-list" },
                                 { 0, NULL, NULL } };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnRegionMode", values));
  return type;
}

static GType
gst_nn_region_align_get_type (void)
{
  static GEnumValue values[] = {
    { GST_NN_REGION_UPRIGHT, N_ ("The upright box"), "upright" },
    { GST_NN_REGION_BOX, N_ ("The rotated box of objects that have one"), "box" },
    { GST_NN_REGION_EYES, N_ ("Turned until the first two keypoints lie side by side"), "eyes" },
    { 0, NULL, NULL }
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnRegionAlign", values));
  return type;
}

/* Columns and rows, 1 and 1 where nothing is set; 0: it is something else than two numbers. */
static void
read_tiles (const GValue *tiles, guint *columns, guint *rows)
{
  guint *sides[] = { columns, rows };
  guint n = gst_value_array_get_size (tiles);
  *columns = *rows = n == 0;
  for (guint i = 0; n == G_N_ELEMENTS (sides) && i < n; i++)
    *sides[i] = (guint)g_value_get_int (gst_value_array_get_value (tiles, i));
}

void
gst_nn_region_props_init (GstNnRegionProps *props)
{
  *props = (GstNnRegionProps){
    .align = GST_NN_REGION_BOX, .interval = 1, .overlap = 0.2, .n_columns = 1, .n_rows = 1
  };
  g_value_init (&props->tiles, GST_TYPE_ARRAY);
}

void
gst_nn_region_props_clear (GstNnRegionProps *props)
{
  g_clear_pointer (&props->object_class, g_free);
  g_value_unset (&props->tiles);
  g_clear_pointer (&props->where, g_free);
  g_clear_pointer (&props->classes, g_strfreev);
  g_clear_pointer (&props->conditions, gst_nn_where_free);
}

/* What strings mean, so that frames need not read them. */
static void
read_strings (GstNnRegionProps *props)
{
  g_clear_pointer (&props->conditions, gst_nn_where_free);
  if (props->where != NULL && *props->where != '\0')
    props->conditions = gst_nn_where_parse (props->where, NULL);
  g_clear_pointer (&props->classes, g_strfreev);
  if (props->object_class == NULL || *props->object_class == '\0')
    return;
  props->classes = g_strsplit (props->object_class, ",", -1);
  for (guint i = 0; props->classes[i] != NULL; i++)
    g_strstrip (props->classes[i]);
}

gboolean
gst_nn_region_props_set (GstNnRegionProps *props, guint id, const GValue *value)
{
  if (!gst_nn_fields_set (fields, G_N_ELEMENTS (fields), props, id, value))
    return FALSE;
  if (GST_VALUE_HOLDS_ARRAY (value))
    read_tiles (value, &props->n_columns, &props->n_rows);
  else if (G_VALUE_HOLDS_STRING (value))
    read_strings (props);
  return TRUE;
}

gboolean
gst_nn_region_props_get (const GstNnRegionProps *props, guint id, GValue *value)
{
  return gst_nn_fields_get (fields, G_N_ELEMENTS (fields), props, id, value);
}

static gboolean
has_wrong_where (const GstNnRegionProps *props)
{
  return props->where != NULL && *props->where != '\0' && props->conditions == NULL;
}

gboolean
gst_nn_region_props_check (const GstNnRegionProps *props, GError **error)
{
  if (props->n_columns == 0) {
    g_autofree gchar *tiles = gst_value_serialize (&props->tiles);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("tiles is \"%s\"; expected columns and rows from 1 to %d, such as \"<3,2>\""),
                 tiles, MOST_TILES);
    return FALSE;
  }
  if (has_wrong_where (props)) {
    gst_nn_where_free (gst_nn_where_parse (props->where, error));
    return FALSE;
  }
  if (gst_value_array_get_size (&props->tiles) > 0 && props->mode == GST_NN_REGION_ROI_LIST) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("tiles are of full frames: unset them, or set inference-region=full-frame"));
    return FALSE;
  }
  return TRUE;
}

gboolean
gst_nn_region_props_cut (const GstNnRegionProps *props)
{
  return props->mode == GST_NN_REGION_ROI_LIST || props->n_columns * props->n_rows > 1;
}

static gboolean
is_wanted (const GstNnRegionProps *props, const GstNnObject *o, gdouble sx, gdouble sy)
{
  const gchar *label = gst_nn_object_get_label (o);
  gdouble width, height;
  gst_nn_object_get_box (o, NULL, NULL, &width, &height);
  if (!(width > 0 && height > 0) || has_wrong_where (props))
    return FALSE;
  if (props->classes != NULL &&
      (label == NULL || !g_strv_contains ((const gchar *const *)props->classes, label)))
    return FALSE;
  return props->conditions == NULL || gst_nn_where_holds (props->conditions, o, sx, sy);
}

/* Where the eyes are side by side: the box is turned about its middle. */
static gdouble
find_angle (const GstNnObject *o)
{
  gdouble x0, y0, x1, y1, score;
  if (!gst_nn_object_get_keypoint (o, 0, &x0, &y0, &score) ||
      !gst_nn_object_get_keypoint (o, 1, &x1, &y1, &score))
    return 0;
  return atan2 (y1 - y0, x1 - x0);
}

/* Cut off at the border where that turns nothing and stretches nothing. */
static gboolean
clip (GstNnRegion *r, gint width, gint height)
{
  gdouble x1 = MIN (r->x + r->width, width), y1 = MIN (r->y + r->height, height);
  r->x = MAX (r->x, 0);
  r->y = MAX (r->y, 0);
  r->width = x1 - r->x;
  r->height = y1 - r->y;
  return r->width >= 1 && r->height >= 1;
}

/* What is turned or square keeps its form, so it may reach out. */
static gboolean
is_seen (const GstNnRegion *r, gint width, gint height)
{
  return r->width >= 1 && r->height >= 1 && r->width <= LARGEST * width &&
         r->height <= LARGEST * height && r->x < width && r->y < height && r->x + r->width > 0 &&
         r->y + r->height > 0;
}

static gboolean
cut_object (const GstNnRegionProps *props, const GstNnObject *o, gdouble sx, gdouble sy,
            GstNnRegion *r)
{
  gdouble cx, cy;
  gboolean is_rotated =
      gst_nn_object_get_rotated_box (o, &cx, &cy, &r->width, &r->height, &r->angle);
  if (!is_rotated || props->align != GST_NN_REGION_BOX) {
    gst_nn_object_get_box (o, &r->x, &r->y, &r->width, &r->height);
    cx = r->x + r->width / 2;
    cy = r->y + r->height / 2;
    r->angle = props->align == GST_NN_REGION_EYES ? find_angle (o) : 0;
  }
  r->width *= sx * (1 + 2 * props->margin);
  r->height *= sy * (1 + 2 * props->margin);
  if (props->is_square)
    r->width = r->height = MAX (r->width, r->height);
  r->x = cx * sx - r->width / 2;
  r->y = cy * sy - r->height / 2;
  r->object_id = gst_nn_object_get_id (o);
  r->track_id = gst_nn_object_get_track_id (o);
  return isfinite (r->x + r->y + r->width + r->height + r->angle);
}

static void
cut_objects (const GstNnRegionProps *props, GstNnResultMeta *result, gint width, gint height,
             GArray *regions)
{
  gdouble sx = (gdouble)width / MAX (result->width, 1);
  gdouble sy = (gdouble)height / MAX (result->height, 1);
  GstNnObject *o;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++) {
    GstNnRegion r = { 0 };
    if (!is_wanted (props, o, sx, sy) || !cut_object (props, o, sx, sy, &r))
      continue;
    if (r.angle == 0 && !props->is_square ? clip (&r, width, height) : is_seen (&r, width, height))
      g_array_append_val (regions, r);
  }
}

/* The whole, for what is larger than a tile, and the tiles, each a part of the next one over. */
static void
cut_tiles (const GstNnRegionProps *props, gint width, gint height, GArray *regions)
{
  GstNnRegion r = { .width = width, .height = height };
  gdouble w = width / (props->n_columns - (props->n_columns - 1) * props->overlap);
  gdouble h = height / (props->n_rows - (props->n_rows - 1) * props->overlap);
  g_array_append_val (regions, r);
  for (guint i = 0; i < props->n_columns * props->n_rows; i++) {
    r.x = (i % props->n_columns) * w * (1 - props->overlap);
    r.y = (i / props->n_columns) * h * (1 - props->overlap);
    r.width = w;
    r.height = h;
    if (clip (&r, width, height))
      g_array_append_val (regions, r);
  }
}

void
gst_nn_region_props_choose (const GstNnRegionProps *props, GstNnResultMeta *result, gint width,
                            gint height, GArray *regions)
{
  if (props->mode == GST_NN_REGION_FULL_FRAME)
    cut_tiles (props, width, height, regions);
  else if (result != NULL)
    cut_objects (props, result, width, height, regions);
}

#define PLAYING (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)
#define CONTROLLED (PLAYING | GST_PARAM_CONTROLLABLE)

static void
install (GObjectClass *klass, guint id, GParamSpec *spec)
{
  g_object_class_install_property (klass, id, spec);
}

static void
install_tiles (GObjectClass *klass)
{
  install (klass, PROP_TILES,
           gst_param_spec_array ("tiles", "Tiles",
                                 _ ("Columns and rows that frames are inferred in beside the "
                                    "whole, for small objects, such as \"<3,2>\""),
                                 g_param_spec_int ("number", "Number", "Of columns or rows", 1,
                                                   MOST_TILES, 1, PLAYING),
                                 PLAYING));
  install (klass, PROP_OVERLAP,
           g_param_spec_double ("overlap", "Overlap",
                                _ ("Part of a tile that the next one has, too"), 0, 0.9, 0.2,
                                CONTROLLED));
}

void
gst_nn_region_props_install (GObjectClass *klass)
{
  install (klass, PROP_MODE,
           g_param_spec_enum ("inference-region", "Inference region", _ ("What is inferred"),
                              GST_TYPE_NN_REGION_MODE, GST_NN_REGION_FULL_FRAME, CONTROLLED));
  install (klass, PROP_ALIGN,
           g_param_spec_enum ("region-align", "Region alignment", _ ("How regions are turned"),
                              GST_TYPE_NN_REGION_ALIGN, GST_NN_REGION_BOX, CONTROLLED));
  install (klass, PROP_CLASS,
           g_param_spec_string ("object-class", "Object class",
                                _ ("Labels of the objects to infer, by commas; none: all"), NULL,
                                PLAYING));
  install (klass, PROP_WHERE,
           g_param_spec_string ("where", "Where",
                                _ ("Conditions on objects to infer, by commas, such as "
                                   "score>0.5,width>=64; in pixels of the frame"),
                                NULL, PLAYING));
  install (klass, PROP_MARGIN,
           g_param_spec_double ("region-margin", "Region margin",
                                _ ("What is added on each side of an object, in parts of its size"),
                                0, 10, 0, CONTROLLED));
  install (klass, PROP_SQUARE,
           g_param_spec_boolean ("region-square", "Square regions",
                                 _ ("Regions are as wide as they are high"), FALSE, CONTROLLED));
  install (klass, PROP_INTERVAL,
           g_param_spec_uint ("reclassify-interval", "Reclassify interval",
                              _ ("Frames after which an object with a track is inferred again; 0: "
                                 "never"),
                              0, G_MAXUINT, 1, CONTROLLED));
  install_tiles (klass);
  gst_type_mark_as_plugin_api (GST_TYPE_NN_REGION_MODE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_NN_REGION_ALIGN, 0);
}
