/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnmodelprops.h"

#include "decoders/gstnndecoder.h"
#include "gstnnelement.h"

static GType
gst_nn_color_get_type (void)
{
  static GEnumValue values[] = { { 0, N_ ("As the model's description says, else RGB"), "auto" },
                                 { 1, N_ ("Red, green, blue"), "rgb" },
                                 { 2, N_ ("Blue, green, red"), "bgr" },
                                 { 3, N_ ("One channel of brightness"), "gray" },
                                 { 0, NULL, NULL } };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnColor", values));
  return type;
}

static GType
gst_nn_resize_get_type (void)
{
  static GEnumValue values[] = {
    { 0, N_ ("As the model's description says, else stretched"), "auto" },
    { 1, N_ ("The whole frame, whatever its proportions"), "stretch" },
    { 2, N_ ("The whole frame in the middle, with bars"), "letterbox" },
    { 3, N_ ("The whole frame in the corner, with bars"), "top-left" },
    { 4, N_ ("The middle of the frame, without bars"), "crop" },
    { 0, NULL, NULL }
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnResize", values));
  return type;
}

static GType
gst_nn_activation_get_type (void)
{
  static GEnumValue values[] = {
    { 0, N_ ("As the model's description says, else as the decoder's models have it"), "auto" },
    { 1, N_ ("Nothing: they are scores"), "none" },
    { 2, N_ ("The sigmoid of each"), "sigmoid" },
    { 3, N_ ("The softmax of all"), "softmax" },
    { 0, NULL, NULL }
  };
  static gsize type;
  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnActivation", values));
  return type;
}

/* How a key is shown; others are text and say what outputs mean. The least value of a number is
 * "not set", as is the first of an enumeration. */
typedef struct {
  const gchar *key;
  GstNnModelUse use;
  GType (*get_enum) (void);
  gboolean is_number, is_whole;
  gdouble none, max;
  const gchar *more; /* behind the key's blurb: what to write */
} Kind;

#define EXAMPLE N_ (", such as 123.7,116.3,103.5")
#define OR_AS_THE_FRAME N_ ("; 0: as the model's description says, else as the frame")

static const Kind kinds[] = {
  { .key = "color", .use = GST_NN_MODEL_PICTURES, .get_enum = gst_nn_color_get_type },
  { .key = "resize", .use = GST_NN_MODEL_PICTURES, .get_enum = gst_nn_resize_get_type },
  { .key = "activation", .use = GST_NN_MODEL_RESULTS, .get_enum = gst_nn_activation_get_type },
  { .key = "pad-value",
    .use = GST_NN_MODEL_PICTURES,
    .is_number = TRUE,
    .none = -1,
    .max = 255,
    .more = N_ ("; -1: as the model's description says") },
  { .key = "mean", .use = GST_NN_MODEL_PICTURES, .more = EXAMPLE },
  { .key = "scale", .use = GST_NN_MODEL_PICTURES, .more = EXAMPLE },
  { .key = "width",
    .use = GST_NN_MODEL_PICTURES,
    .is_number = TRUE,
    .is_whole = TRUE,
    .max = 16384,
    .more = OR_AS_THE_FRAME },
  { .key = "height",
    .use = GST_NN_MODEL_PICTURES,
    .is_number = TRUE,
    .is_whole = TRUE,
    .max = 16384,
    .more = OR_AS_THE_FRAME },
  /* nndecode has properties of its own, which may change while it plays. */
  { .key = "threshold" },
  { .key = "iou-threshold" },
};

static const Kind *
find_kind (const gchar *key)
{
  static const Kind others = { .use = GST_NN_MODEL_RESULTS };
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i].key, key))
      return &kinds[i];
  return &others;
}

/* "pad-value" is "Pad value" to people. */
static const gchar *
nick_of (const gchar *key)
{
  g_autofree gchar *nick = g_strdelimit (g_strdup (key), "-", ' ');
  nick[0] = g_ascii_toupper (nick[0]);
  return g_intern_string (nick);
}

static const gchar *
blurb_of (const gchar *key, const gchar *blurb, const Kind *kind)
{
  g_autofree gchar *known = gst_nn_decoder_list ();
  g_autofree gchar *text =
      g_str_equal (key, "decoder")
          ? g_strdup_printf (_ ("Decoder of the outputs: %s; not set: by their shapes"), known)
          : g_strconcat (blurb, kind->more ? _ (kind->more) : "", NULL);
  return g_intern_string (text);
}

static GParamSpec *
make_spec (const gchar *key, const gchar *key_blurb, const Kind *kind, GParamFlags flags)
{
  const gchar *nick = nick_of (key), *blurb = blurb_of (key, key_blurb, kind);
  if (kind->get_enum != NULL)
    return g_param_spec_enum (key, nick, blurb, kind->get_enum (), 0, flags);
  if (kind->is_whole)
    return g_param_spec_int (key, nick, blurb, (gint)kind->none, (gint)kind->max, (gint)kind->none,
                             flags);
  if (kind->is_number)
    return g_param_spec_double (key, nick, blurb, kind->none, kind->max, kind->none, flags);
  return g_param_spec_string (key, nick, blurb, NULL, flags);
}

void
gst_nn_model_props_install (GObjectClass *klass, GstNnModelUse uses, GParamFlags flags)
{
  const gchar *key, *blurb;
  flags |= G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  for (guint i = 0; (key = gst_nn_description_get_key (i, &blurb)) != NULL; i++) {
    const Kind *kind = find_kind (key);
    if (kind->get_enum != NULL)
      gst_type_mark_as_plugin_api (kind->get_enum (), 0);
    if (kind->use & uses)
      g_object_class_install_property (klass, GST_NN_MODEL_PROP_FIRST + i,
                                       make_spec (key, blurb, kind, flags));
  }
}

void
gst_nn_model_props_init (GstNnModelProps *props)
{
  props->values = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
}

void
gst_nn_model_props_clear (GstNnModelProps *props)
{
  g_clear_pointer (&props->values, g_hash_table_unref);
}

void
gst_nn_model_props_copy (GstNnModelProps *to, const GstNnModelProps *from)
{
  GHashTableIter iter;
  gpointer key, text;
  gst_nn_model_props_init (to);
  g_hash_table_iter_init (&iter, from->values);
  while (g_hash_table_iter_next (&iter, &key, &text))
    g_hash_table_insert (to->values, key, g_strdup (text));
}

static const gchar *
key_of (guint id)
{
  return id < GST_NN_MODEL_PROP_FIRST
             ? NULL
             : gst_nn_description_get_key (id - GST_NN_MODEL_PROP_FIRST, NULL);
}

/* As a description has it; NULL: not set. */
static gchar *
to_text (const Kind *kind, const GValue *value)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
  if (kind->get_enum != NULL) {
    g_autoptr (GEnumClass) klass = g_type_class_ref (kind->get_enum ());
    gint v = g_value_get_enum (value);
    return v == 0 ? NULL : g_strdup (g_enum_get_value (klass, v)->value_nick);
  }
  if (kind->is_number) {
    gdouble v = kind->is_whole ? g_value_get_int (value) : g_value_get_double (value);
    return v <= kind->none ? NULL : g_strdup (g_ascii_dtostr (buffer, sizeof buffer, v));
  }
  if (g_value_get_string (value) == NULL || kind->use == GST_NN_MODEL_RESULTS)
    return g_value_dup_string (value);
  return g_strstrip (g_strdelimit (g_value_dup_string (value), "<>", ' '));
}

static void
from_text (const Kind *kind, const gchar *text, GValue *value)
{
  gdouble number = text && kind->is_number ? g_ascii_strtod (text, NULL) : kind->none;
  if (kind->get_enum != NULL) {
    g_autoptr (GEnumClass) klass = g_type_class_ref (kind->get_enum ());
    g_value_set_enum (value, text ? g_enum_get_value_by_nick (klass, text)->value : 0);
  } else if (kind->is_whole) {
    g_value_set_int (value, (gint)number);
  } else if (kind->is_number) {
    g_value_set_double (value, number);
  } else {
    g_value_set_string (value, text);
  }
}

gboolean
gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value)
{
  const gchar *key = key_of (id);
  gchar *text = key ? to_text (find_kind (key), value) : NULL;
  if (text != NULL)
    g_hash_table_insert (props->values, (gpointer)key, text);
  else if (key != NULL)
    g_hash_table_remove (props->values, key);
  return key != NULL;
}

gboolean
gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value)
{
  const gchar *key = key_of (id);
  if (key != NULL)
    from_text (find_kind (key), g_hash_table_lookup (props->values, key), value);
  return key != NULL;
}

GstNnDescription *
gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path, AxonModel *model,
                             GError **error)
{
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  const gchar *key;
  for (guint i = 0; (key = gst_nn_description_get_key (i, NULL)) != NULL; i++) {
    const gchar *text = g_hash_table_lookup (props->values, key);
    if (text != NULL && !gst_nn_description_set (d, key, text, error))
      return NULL;
  }
  if (path != NULL && !gst_nn_description_load (d, path, model, error))
    return NULL;
  return g_steal_pointer (&d);
}
