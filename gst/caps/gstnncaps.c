/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncaps.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static void
append_dims (GString *s, const AxonShape *shape)
{
  for (gint i = shape->rank - 1; i >= 0; i--)
    g_string_append_printf (s, "%" G_GINT64_FORMAT "%s", shape->dims[i], i > 0 ? ":" : "");
  if (shape->rank == 0)
    g_string_append (s, "1");
}

/* Free dimensions or types that caps have no name for give caps without dimensions. */
GstCaps *
gst_nn_tensor_caps_new (guint n, const AxonDType *types, const AxonShape *shapes)
{
  g_autoptr (GString) dims = g_string_new (NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  GstCaps *caps = gst_caps_from_string (GST_NN_TENSOR_CAPS);
  gst_caps_set_simple (caps, "num_tensors", G_TYPE_INT, (gint)n, NULL);
  for (guint i = 0; i < n; i++) {
    const gchar *name = axon_dtype_get_caps_name (types[i]);
    if (!axon_shape_is_static (&shapes[i]) || name == NULL)
      return caps;
    g_string_append_printf (names, "%s%s", i ? "," : "", name);
    if (i > 0)
      g_string_append_c (dims, ',');
    append_dims (dims, &shapes[i]);
  }
  gst_caps_set_simple (caps, "types", G_TYPE_STRING, names->str, "dimensions", G_TYPE_STRING,
                       dims->str, NULL);
  return caps;
}

static gboolean
parse_dims (const gchar *text, AxonShape *shape)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  guint n = g_strv_length (parts);
  while (n > AXON_MAX_RANK && g_str_equal (parts[n - 1], "1"))
    n--;
  *shape = (AxonShape){ .rank = (gint)n };
  for (guint i = 0; i < n && n <= AXON_MAX_RANK; i++)
    if (!g_ascii_string_to_signed (g_strstrip (parts[i]), 10, 1, G_MAXINT32,
                                   &shape->dims[n - 1 - i], NULL))
      return FALSE;
  return n >= 1 && n <= AXON_MAX_RANK;
}

gboolean
gst_nn_tensor_caps_parse (const GstCaps *caps, GArray *types, GArray *shapes, GError **error)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *dims = gst_structure_get_string (s, "dimensions");
  const gchar *names = gst_structure_get_string (s, "types");
  g_auto (GStrv) d = g_strsplit_set (dims ? dims : "", ",.", -1);
  g_auto (GStrv) t = g_strsplit_set (names ? names : "", ",.", -1);
  guint n = g_strv_length (d);
  for (guint i = 0; n > 0 && n == g_strv_length (t) && i < n; i++) {
    AxonDType type = axon_dtype_from_name (g_strstrip (t[i]));
    AxonShape shape;
    if (type == AXON_DTYPE_UNDEFINED || !parse_dims (d[i], &shape))
      break;
    g_array_append_val (types, type);
    g_array_append_val (shapes, shape);
  }
  if (types->len == n && n > 0)
    return TRUE;
  g_autofree gchar *text = gst_caps_to_string (caps);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("caps %s: expected types and dimensions, such as types=float32, "
                  "dimensions=224:224:3:1"),
               text);
  return FALSE;
}

/* Leading 1s of our shapes are trailing 1s of theirs. */
static gboolean
same_numbers (const AxonShape *want, const AxonShape *got)
{
  gint rank = MAX (want->rank, got->rank);
  for (gint i = 0; i < rank; i++) {
    gint w = i - (rank - want->rank), g = i - (rank - got->rank);
    gint64 a = w < 0 ? 1 : want->dims[w], b = g < 0 ? 1 : got->dims[g];
    if (a >= 0 && a != b)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_nn_tensor_caps_match (const GstCaps *caps, guint n, const AxonDType *types,
                          const AxonShape *shapes, GError **error)
{
  g_autoptr (GArray) got_types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  g_autoptr (GArray) got_shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  g_autoptr (GstCaps) wanted = gst_nn_tensor_caps_new (n, types, shapes);
  gboolean ok;
  if (!gst_nn_tensor_caps_parse (caps, got_types, got_shapes, error))
    return FALSE;
  ok = got_types->len == n;
  for (guint i = 0; ok && i < n; i++)
    ok = g_array_index (got_types, AxonDType, i) == types[i] &&
         same_numbers (&shapes[i], &g_array_index (got_shapes, AxonShape, i));
  if (!ok) {
    g_autofree gchar *got = gst_caps_to_string (caps);
    g_autofree gchar *want = gst_caps_to_string (wanted);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the tensors do not fit the model: expected %s, got %s"), want, got);
  }
  return ok;
}
