/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnbin.h"

GST_DEBUG_CATEGORY_STATIC (gst_nn_bin_debug);
#define GST_CAT_DEFAULT gst_nn_bin_debug

typedef struct {
  GstElement *infer, *decode, *track; /* the bin's; track may be NULL */
  GstPad *srcpad;
} GstNnBinPrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (GstNnBin, gst_nn_bin, GST_TYPE_BIN)

enum { PROP_TRACK = 1, PROP_OF_CHILDREN };

GType gst_nn_decode_get_type (void);
GType gst_nn_track_get_type (void);

static GstNnBinPrivate *
parts_of (gpointer bin)
{
  return gst_nn_bin_get_instance_private (bin);
}

/* Nobody brings the bin's properties to the values of controllers. */
static GParamFlags
flags_of (const GParamSpec *spec)
{
  return spec->flags & ~(guint)GST_PARAM_CONTROLLABLE;
}

#define NAMES(spec) spec->name, g_param_spec_get_nick (spec), g_param_spec_get_blurb (spec)

#define COPY_NUMBER(Type, type)                                                                    \
  static GParamSpec *copy_##type (GParamSpec *spec, G_GNUC_UNUSED const GValue *value)             \
  {                                                                                                \
    const GParamSpec##Type *s = (const GParamSpec##Type *)spec;                                    \
    return g_param_spec_##type (NAMES (spec), s->minimum, s->maximum, s->default_value,            \
                                flags_of (spec));                                                  \
  }
COPY_NUMBER (Int, int)
COPY_NUMBER (UInt, uint)
COPY_NUMBER (UInt64, uint64)
COPY_NUMBER (Double, double)

static GParamSpec *
copy_boolean (GParamSpec *spec, const GValue *value)
{
  return g_param_spec_boolean (NAMES (spec), g_value_get_boolean (value), flags_of (spec));
}

static GParamSpec *
copy_string (GParamSpec *spec, const GValue *value)
{
  return g_param_spec_string (NAMES (spec), g_value_get_string (value), flags_of (spec));
}

static GParamSpec *
copy_enum (GParamSpec *spec, const GValue *value)
{
  return g_param_spec_enum (NAMES (spec), spec->value_type, g_value_get_enum (value),
                            flags_of (spec));
}

static GParamSpec *
copy_boxed (GParamSpec *spec, G_GNUC_UNUSED const GValue *value)
{
  return g_param_spec_boxed (NAMES (spec), spec->value_type, flags_of (spec));
}

static GParamSpec *
copy_array (GParamSpec *spec, G_GNUC_UNUSED const GValue *value)
{
  GParamSpec *element = GST_PARAM_SPEC_ARRAY_LIST (spec)->element_spec;
  return gst_param_spec_array (NAMES (spec), element, flags_of (spec));
}

/* The same property for another class; @value is its default. */
static GParamSpec *
copy_spec (GParamSpec *spec, const GValue *value)
{
  const struct {
    GType type;
    GParamSpec *(*copy) (GParamSpec *spec, const GValue *value);
  } types[] = {
    { G_TYPE_PARAM_INT, copy_int },
    { G_TYPE_PARAM_UINT, copy_uint },
    { G_TYPE_PARAM_UINT64, copy_uint64 },
    { G_TYPE_PARAM_DOUBLE, copy_double },
    { G_TYPE_PARAM_STRING, copy_string },
    { G_TYPE_PARAM_BOOLEAN, copy_boolean },
    { G_TYPE_PARAM_ENUM, copy_enum },
    { G_TYPE_PARAM_BOXED, copy_boxed },
    { GST_TYPE_PARAM_ARRAY_LIST, copy_array },
  };
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    if (G_PARAM_SPEC_TYPE (spec) == types[i].type)
      return types[i].copy (spec, value);
  g_return_val_if_reached (NULL); /* a child has a property of a new type: add its row */
}

/* What the type itself has, and the class not yet. */
static guint
install_properties_of (GstNnBinClass *klass, GType child, guint id)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GObjectClass *child_class = g_type_class_ref (child);
  guint n;
  g_autofree GParamSpec **specs = g_object_class_list_properties (child_class, &n);
  for (guint i = 0; i < n; i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    if (specs[i]->owner_type != child ||
        g_object_class_find_property (object_class, specs[i]->name))
      continue;
    g_value_copy (g_param_spec_get_default_value (specs[i]),
                  g_value_init (&value, specs[i]->value_type));
    if (g_str_equal (specs[i]->name, "inference-region"))
      g_value_set_enum (&value, (gint)klass->region);
    g_object_class_install_property (object_class, id++, copy_spec (specs[i], &value));
  }
  g_type_class_unref (child_class);
  return id;
}

static void
add_template_of (GstElementClass *klass, GType child, const gchar *name)
{
  GstElementClass *child_class = g_type_class_ref (child);
  gst_element_class_add_pad_template (
      klass, gst_object_ref (gst_element_class_get_pad_template (child_class, name)));
  g_type_class_unref (child_class);
}

static void
add_child (GstNnBin *self, GstElement **child, GType type, const gchar *name)
{
  *child = g_object_new (type, "name", name, NULL);
  gst_bin_add (GST_BIN (self), *child);
}

static GstPad *
add_pad (GstNnBin *self, GstElement *child, const gchar *name)
{
  g_autoptr (GstPad) target = gst_element_get_static_pad (child, name);
  GstPadTemplate *template =
      gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (self), name);
  GstPad *pad = gst_ghost_pad_new_from_template (name, target, template);
  gst_element_add_pad (GST_ELEMENT (self), pad);
  return pad;
}

static void
gst_nn_bin_constructed (GObject *object)
{
  GstNnBin *self = GST_NN_BIN (object);
  GstNnBinPrivate *parts = parts_of (self);
  G_OBJECT_CLASS (gst_nn_bin_parent_class)->constructed (object);
  add_child (self, &parts->infer, GST_TYPE_NN_INFER, "infer");
  add_child (self, &parts->decode, gst_nn_decode_get_type (), "decode");
  gst_element_link (parts->infer, parts->decode);
  g_object_set (parts->infer, "inference-region", GST_NN_BIN_GET_CLASS (self)->region, NULL);
  add_pad (self, parts->infer, "sink");
  parts->srcpad = add_pad (self, parts->decode, "src");
}

/* In READY at most: nothing flows. */
static void
set_track (GstNnBin *self, gboolean tracks)
{
  GstNnBinPrivate *parts = parts_of (self);
  g_autoptr (GstPad) target = NULL;
  if (tracks == (parts->track != NULL))
    return;
  if (GST_STATE (self) > GST_STATE_READY) {
    GST_WARNING_OBJECT (self, "track is set in state READY or NULL only");
    return;
  }
  gst_ghost_pad_set_target (GST_GHOST_PAD (parts->srcpad), NULL);
  if (tracks) {
    add_child (self, &parts->track, gst_nn_track_get_type (), "track");
    gst_element_link (parts->decode, parts->track);
    gst_element_sync_state_with_parent (parts->track);
  } else {
    gst_element_set_state (parts->track, GST_STATE_NULL);
    gst_bin_remove (GST_BIN (self), parts->track);
    parts->track = NULL;
  }
  target = gst_element_get_static_pad (tracks ? parts->track : parts->decode, "src");
  gst_ghost_pad_set_target (GST_GHOST_PAD (parts->srcpad), target);
}

static GObject *
owner_of (GstNnBin *self, const gchar *property)
{
  GstNnBinPrivate *parts = parts_of (self);
  gboolean is_of_infer =
      g_object_class_find_property (G_OBJECT_GET_CLASS (parts->infer), property) != NULL;
  return G_OBJECT (is_of_infer ? parts->infer : parts->decode);
}

static void
gst_nn_bin_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  GstNnBin *self = GST_NN_BIN (object);
  if (id == PROP_TRACK)
    set_track (self, g_value_get_boolean (value));
  else
    g_object_set_property (owner_of (self, pspec->name), pspec->name, value);
}

static void
gst_nn_bin_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstNnBin *self = GST_NN_BIN (object);
  if (id == PROP_TRACK)
    g_value_set_boolean (value, parts_of (self)->track != NULL);
  else
    g_object_get_property (owner_of (self, pspec->name), pspec->name, value);
}

void
gst_nn_bin_class_install (GstNnBinClass *klass, GstNnRegionMode region, gboolean can_track)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  guint id;
  klass->region = region;
  object_class->set_property = gst_nn_bin_set_property; /* GObject: of each class */
  object_class->get_property = gst_nn_bin_get_property;
  id = install_properties_of (klass, GST_TYPE_NN_INFER, PROP_OF_CHILDREN);
  install_properties_of (klass, gst_nn_decode_get_type (), id);
  add_template_of (GST_ELEMENT_CLASS (klass), GST_TYPE_NN_INFER, "sink");
  add_template_of (GST_ELEMENT_CLASS (klass), gst_nn_decode_get_type (), "src");
  if (can_track)
    g_object_class_install_property (
        object_class, PROP_TRACK,
        g_param_spec_boolean (
            "track", "Track",
            _ ("Objects keep their number from frame to frame; the properties of "
               "nntrack are set as track::lost-time"),
            FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
}

static void
gst_nn_bin_class_init (GstNnBinClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GST_DEBUG_CATEGORY_INIT (gst_nn_bin_debug, "nnbin", 0, "nninfer, nndecode and nntrack as one");
  object_class->constructed = gst_nn_bin_constructed;
  gst_type_mark_as_plugin_api (GST_TYPE_NN_BIN, 0);
}

static void
gst_nn_bin_init (G_GNUC_UNUSED GstNnBin *self)
{
}
