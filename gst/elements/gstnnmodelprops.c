/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnmodelprops.h"

#include "decoders/gstnndecoder.h"
#include "gstnnelement.h"

#include <string.h>

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

typedef struct _Kind Kind;

/* How values of a type are shown, and kept: as a description has them, NULL where they are not set.
 */
typedef struct {
  GParamSpec *(*make_spec) (const Kind *kind, const gchar *key, const gchar *nick,
                            const gchar *blurb, GParamFlags flags);
  gchar *(*to_text) (const Kind *kind, const GValue *value);
  void (*from_text) (const Kind *kind, const gchar *text, GValue *value);
} Type;

/* How a key is shown. The least value of a number is "not set", as is the first of an enumeration
 * and an array without numbers; GObject refuses arrays that hold another type or leave the range.
 */
struct _Kind {
  const gchar *key;
  GstNnModelUse use;
  const Type *type;
  GType (*get_enum) (void);
  gdouble none, max; /* of arrays, the least of a number */
  const gchar *more; /* behind the key's blurb: what to write */
};

static GParamSpec *
make_enum (const Kind *kind, const gchar *key, const gchar *nick, const gchar *blurb,
           GParamFlags flags)
{
  gst_type_mark_as_plugin_api (kind->get_enum (), 0);
  return g_param_spec_enum (key, nick, blurb, kind->get_enum (), 0, flags);
}

static gchar *
enum_to_text (const Kind *kind, const GValue *value)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (kind->get_enum ());
  gint v = g_value_get_enum (value);
  return v == 0 ? NULL : g_strdup (g_enum_get_value (klass, v)->value_nick);
}

static void
enum_from_text (const Kind *kind, const gchar *text, GValue *value)
{
  g_autoptr (GEnumClass) klass = g_type_class_ref (kind->get_enum ());
  g_value_set_enum (value, text ? g_enum_get_value_by_nick (klass, text)->value : 0);
}

/* As exact as the f32 that a description keeps. */
static gchar *
print_number (gdouble number)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup (g_ascii_formatd (buffer, sizeof buffer, "%.9g", number));
}

static GParamSpec *
make_int (const Kind *kind, const gchar *key, const gchar *nick, const gchar *blurb,
          GParamFlags flags)
{
  gint none = (gint)kind->none;
  return g_param_spec_int (key, nick, blurb, none, (gint)kind->max, none, flags);
}

static gchar *
int_to_text (const Kind *kind, const GValue *value)
{
  gint v = g_value_get_int (value);
  return v <= kind->none ? NULL : g_strdup_printf ("%d", v);
}

static void
int_from_text (const Kind *kind, const gchar *text, GValue *value)
{
  g_value_set_int (value, (gint)(text ? g_ascii_strtoll (text, NULL, 10) : (gint64)kind->none));
}

static GParamSpec *
make_double (const Kind *kind, const gchar *key, const gchar *nick, const gchar *blurb,
             GParamFlags flags)
{
  return g_param_spec_double (key, nick, blurb, kind->none, kind->max, kind->none, flags);
}

static gchar *
double_to_text (const Kind *kind, const GValue *value)
{
  gdouble v = g_value_get_double (value);
  return v <= kind->none ? NULL : print_number (v);
}

static void
double_from_text (const Kind *kind, const gchar *text, GValue *value)
{
  g_value_set_double (value, text ? g_ascii_strtod (text, NULL) : kind->none);
}

static GParamSpec *
make_doubles (const Kind *kind, const gchar *key, const gchar *nick, const gchar *blurb,
              GParamFlags flags)
{
  GParamSpec *element = make_double (kind, "number", "Number", blurb, flags);
  return gst_param_spec_array (key, nick, blurb, element, flags);
}

static GParamSpec *
make_ints (const Kind *kind, const gchar *key, const gchar *nick, const gchar *blurb,
           GParamFlags flags)
{
  GParamSpec *element = make_int (kind, "number", "Number", blurb, flags);
  return gst_param_spec_array (key, nick, blurb, element, flags);
}

static gchar *
array_to_text (G_GNUC_UNUSED const Kind *kind, const GValue *value)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < gst_value_array_get_size (value); i++) {
    const GValue *element = gst_value_array_get_value (value, i);
    g_autofree gchar *number =
        print_number (G_VALUE_HOLDS_INT (element) ? (gdouble)g_value_get_int (element)
                                                  : g_value_get_double (element));
    g_string_append_printf (text, "%s%s", i > 0 ? "," : "", number);
  }
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

static void
array_from_text (const gchar *text, GType type, GValue *value)
{
  g_auto (GStrv) parts = g_strsplit (text ? text : "", ",", -1);
  g_value_reset (value);
  for (guint i = 0; parts[i] != NULL; i++) {
    GValue element = G_VALUE_INIT;
    g_value_init (&element, type);
    if (type == G_TYPE_INT)
      g_value_set_int (&element, (gint)g_ascii_strtoll (parts[i], NULL, 10));
    else
      g_value_set_double (&element, g_ascii_strtod (parts[i], NULL));
    gst_value_array_append_and_take_value (value, &element);
  }
}

static void
doubles_from_text (G_GNUC_UNUSED const Kind *kind, const gchar *text, GValue *value)
{
  array_from_text (text, G_TYPE_DOUBLE, value);
}

static void
ints_from_text (G_GNUC_UNUSED const Kind *kind, const gchar *text, GValue *value)
{
  array_from_text (text, G_TYPE_INT, value);
}

static GParamSpec *
make_string (G_GNUC_UNUSED const Kind *kind, const gchar *key, const gchar *nick,
             const gchar *blurb, GParamFlags flags)
{
  return g_param_spec_string (key, nick, blurb, NULL, flags);
}

static gchar *
string_to_text (G_GNUC_UNUSED const Kind *kind, const GValue *value)
{
  return g_value_dup_string (value);
}

static void
string_from_text (G_GNUC_UNUSED const Kind *kind, const gchar *text, GValue *value)
{
  g_value_set_string (value, text);
}

static const Type an_enum = { make_enum, enum_to_text, enum_from_text };
static const Type an_int = { make_int, int_to_text, int_from_text };
static const Type a_double = { make_double, double_to_text, double_from_text };
static const Type doubles = { make_doubles, array_to_text, doubles_from_text };
static const Type ints = { make_ints, array_to_text, ints_from_text };
static const Type a_string = { make_string, string_to_text, string_from_text };

#define EXAMPLE N_ (", such as \"<127.5>\" or \"<123.7,116.3,103.5>\"")
#define OR_AS_THE_FRAME N_ ("; 0: as the model's description says, else as the frame")

static const Kind kinds[] = {
  { "color", GST_NN_MODEL_PICTURES, &an_enum, .get_enum = gst_nn_color_get_type },
  { "resize", GST_NN_MODEL_PICTURES, &an_enum, .get_enum = gst_nn_resize_get_type },
  { "activation", GST_NN_MODEL_RESULTS, &an_enum, .get_enum = gst_nn_activation_get_type },
  { "decoder", GST_NN_MODEL_RESULTS, &an_enum, .get_enum = gst_nn_decoder_name_get_type },
  { "skeleton", GST_NN_MODEL_RESULTS, &an_enum, .get_enum = gst_nn_skeleton_name_get_type },
  { "pad-value", GST_NN_MODEL_PICTURES, &a_double, .none = -1, .max = 255,
    .more = N_ ("; -1: as the model's description says") },
  { "crop-fraction", GST_NN_MODEL_PICTURES, &a_double, .none = 0, .max = 1,
    .more = N_ ("; 0: as the model's description says, else 1") },
  { "mean", GST_NN_MODEL_PICTURES, &doubles, .none = -G_MAXDOUBLE, .max = G_MAXDOUBLE,
    .more = EXAMPLE },
  { "scale", GST_NN_MODEL_PICTURES, &doubles, .none = -G_MAXDOUBLE, .max = G_MAXDOUBLE,
    .more = EXAMPLE },
  { "anchors", GST_NN_MODEL_RESULTS, &doubles, .max = G_MAXDOUBLE,
    .more = N_ (", such as \"<10,13,16,30,33,23>\"") },
  { "strides", GST_NN_MODEL_RESULTS, &ints, .none = 1, .max = 1024,
    .more = N_ (", such as \"<8,16,32>\"") },
  { "width", GST_NN_MODEL_PICTURES, &an_int, .max = 16384, .more = OR_AS_THE_FRAME },
  { "height", GST_NN_MODEL_PICTURES, &an_int, .max = 16384, .more = OR_AS_THE_FRAME },
  { "max-width", GST_NN_MODEL_PICTURES, &an_int, .max = 16384,
    .more = N_ ("; 0: as the model's description says, else all have one width") },
  /* nndecode has properties of its own, which may change while it plays. */
  { .key = "threshold" },
  { .key = "iou-threshold" },
};

static const Kind *
find_kind (const gchar *key)
{
  static const Kind others = { .use = GST_NN_MODEL_RESULTS, .type = &a_string };
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

static GParamSpec *
make_spec (const gchar *key, const gchar *key_blurb, const Kind *kind, GParamFlags flags)
{
  g_autofree gchar *blurb = g_strconcat (key_blurb, kind->more ? _ (kind->more) : "", NULL);
  return kind->type->make_spec (kind, key, nick_of (key), g_intern_string (blurb), flags);
}

void
gst_nn_model_props_install (GObjectClass *klass, GstNnModelUse uses, GParamFlags flags)
{
  const gchar *key, *blurb;
  flags |= G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  for (guint i = 0; (key = gst_nn_description_get_key (i, &blurb)) != NULL; i++) {
    const Kind *kind = find_kind (key);
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

gboolean
gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value)
{
  const gchar *key = key_of (id);
  const Kind *kind = key ? find_kind (key) : NULL;
  gchar *text = kind ? kind->type->to_text (kind, value) : NULL;
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
  const Kind *kind = key ? find_kind (key) : NULL;
  if (kind != NULL)
    kind->type->from_text (kind, g_hash_table_lookup (props->values, key), value);
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

static gboolean
is_array (const gchar *pair)
{
  const gchar *end = strchr (pair, '=');
  g_autofree gchar *key = end ? g_strndup (pair, (gsize)(end - pair)) : NULL;
  const Type *type = key ? find_kind (key)->type : NULL;
  return type == &doubles || type == &ints;
}

gchar *
gst_nn_model_props_to_launch (const gchar *pairs)
{
  g_auto (GStrv) words = g_strsplit (pairs, " ", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    g_autofree gchar *pair = words[i];
    g_auto (GStrv) sides = g_strsplit (pair, "=", 2);
    words[i] = is_array (pair) ? g_strdup_printf ("%s=\"<%s>\"", sides[0], sides[1])
                               : g_steal_pointer (&pair);
  }
  return g_strjoinv (" ", words);
}
