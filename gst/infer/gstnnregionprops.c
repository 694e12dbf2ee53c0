/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnregionprops.h"

#include "elements/gstnnelement.h"

#include <math.h>
#include <stdio.h>

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

static const struct {
  guint id;
  gsize offset;
} fields[] = {
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

static gpointer
field_of (const GstNnRegionProps *props, guint id)
{
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    if (fields[i].id == id)
      return G_STRUCT_MEMBER_P (props, fields[i].offset);
  return NULL;
}

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

/* FALSE: it is not like 3x2. */
static gboolean
parse_tiles (const gchar *text, guint *columns, guint *rows)
{
  gint end = 0;
  *columns = *rows = 1;
  return text == NULL ||
         (sscanf (text, "%2ux%2u%n", columns, rows, &end) == 2 && text[end] == '\0' &&
          *columns >= 1 && *columns <= MOST_TILES && *rows >= 1 && *rows <= MOST_TILES);
}

void
gst_nn_region_props_init (GstNnRegionProps *props)
{
  *props = (GstNnRegionProps){
    .align = GST_NN_REGION_BOX, .interval = 1, .overlap = 0.2, .n_columns = 1, .n_rows = 1
  };
}

void
gst_nn_region_props_clear (GstNnRegionProps *props)
{
  g_clear_pointer (&props->object_class, g_free);
  g_clear_pointer (&props->tiles, g_free);
  g_clear_pointer (&props->where, g_free);
  g_clear_pointer (&props->classes, g_strfreev);
  g_clear_pointer (&props->conditions, gst_nn_where_free);
}

/* What strings mean, so that frames need not read them. */
static void
read_strings (GstNnRegionProps *props)
{
  if (!parse_tiles (props->tiles, &props->n_columns, &props->n_rows))
    props->n_columns = props->n_rows = 0;
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
  gpointer field = field_of (props, id);
  if (field == NULL)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value)) {
    g_free (*(gchar **)field);
    *(gchar **)field = g_value_dup_string (value);
    read_strings (props);
  } else if (G_VALUE_HOLDS_UINT (value)) {
    *(guint *)field = g_value_get_uint (value);
  } else if (G_VALUE_HOLDS_DOUBLE (value)) {
    *(gdouble *)field = g_value_get_double (value);
  } else if (G_VALUE_HOLDS_BOOLEAN (value)) {
    *(gboolean *)field = g_value_get_boolean (value);
  } else {
    *(gint *)field = g_value_get_enum (value);
  }
  return TRUE;
}

gboolean
gst_nn_region_props_get (const GstNnRegionProps *props, guint id, GValue *value)
{
  gconstpointer field = field_of (props, id);
  if (field == NULL)
    return FALSE;
  if (G_VALUE_HOLDS_STRING (value))
    g_value_set_string (value, *(gchar *const *)field);
  else if (G_VALUE_HOLDS_UINT (value))
    g_value_set_uint (value, *(const guint *)field);
  else if (G_VALUE_HOLDS_DOUBLE (value))
    g_value_set_double (value, *(const gdouble *)field);
  else if (G_VALUE_HOLDS_BOOLEAN (value))
    g_value_set_boolean (value, *(const gboolean *)field);
  else
    g_value_set_enum (value, *(const gint *)field);
  return TRUE;
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
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("tiles is \"%s\"; expected columns and rows from 1 to %d, such as 3x2"),
                 props->tiles, MOST_TILES);
    return FALSE;
  }
  if (has_wrong_where (props)) {
    gst_nn_where_free (gst_nn_where_parse (props->where, error));
    return FALSE;
  }
  if (props->tiles != NULL && props->mode == GST_NN_REGION_ROI_LIST) {
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

#define PLAYING                                                                                    \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE)

static void
install (GObjectClass *klass, guint id, GParamSpec *spec)
{
  g_object_class_install_property (klass, id, spec);
}

static void
install_tiles (GObjectClass *klass)
{
  install (klass, PROP_TILES,
           g_param_spec_string ("tiles", "Tiles",
                                _ ("Columns and rows that frames are inferred in beside the whole, "
                                   "for small objects, such as 3x2"),
                                NULL, PLAYING));
  install (klass, PROP_OVERLAP,
           g_param_spec_double ("overlap", "Overlap",
                                _ ("Part of a tile that the next one has, too"), 0, 0.9, 0.2,
                                PLAYING));
}

void
gst_nn_region_props_install (GObjectClass *klass)
{
  install (klass, PROP_MODE,
           g_param_spec_enum ("inference-region", "Inference region", _ ("What is inferred"),
                              GST_TYPE_NN_REGION_MODE, GST_NN_REGION_FULL_FRAME, PLAYING));
  install (klass, PROP_ALIGN,
           g_param_spec_enum ("region-align", "Region alignment", _ ("How regions are turned"),
                              GST_TYPE_NN_REGION_ALIGN, GST_NN_REGION_BOX, PLAYING));
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
                                0, 10, 0, PLAYING));
  install (klass, PROP_SQUARE,
           g_param_spec_boolean ("region-square", "Square regions",
                                 _ ("Regions are as wide as they are high"), FALSE, PLAYING));
  install (klass, PROP_INTERVAL,
           g_param_spec_uint ("reclassify-interval", "Reclassify interval",
                              _ ("Frames after which an object with a track is inferred again; 0: "
                                 "never"),
                              0, G_MAXUINT, 1, PLAYING));
  install_tiles (klass);
  gst_type_mark_as_plugin_api (GST_TYPE_NN_REGION_MODE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_NN_REGION_ALIGN, 0);
}
