/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What TensorProtos are read as, of every type, in every field that may hold its elements, with as
 * many as there should be, one less and one more. What they are now differs from tensorsaid.txt
 * where somebody has looked at it, only. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <string.h>

static void
put_varint (GByteArray *to, guint64 v)
{
  do {
    guint8 byte = (guint8)((v & 127) | (v > 127 ? 128 : 0));
    g_byte_array_append (to, &byte, 1);
    v >>= 7;
  } while (v > 0);
}

static void
put_bytes (GByteArray *to, guint field, gconstpointer data, gsize n)
{
  put_varint (to, field << 3 | 2);
  put_varint (to, n);
  g_byte_array_append (to, data, (guint)n);
}

typedef enum {
  RAW = 9,
  FLOATS = 4,
  DOUBLES = 10,
  INT32S = 5,
  INT64S = 7,
  UINT64S = 11,
  STRINGS = 6
} Field;

static const struct {
  const gchar *name;
  Field field;
} fields[] = { { "raw", RAW },        { "floats", FLOATS }, { "doubles", DOUBLES },
               { "int32", INT32S },   { "int64", INT64S },  { "uint64", UINT64S },
               { "strings", STRINGS } };

/* Element @i is a number that needs its sign and more than a byte, as far as the field has room. */
static void
put_elements (GByteArray *to, Field field, guint n)
{
  static const gint64 numbers[] = { 5, -3, 300, 70000, -129, 1, 255 };
  g_autoptr (GByteArray) packed = g_byte_array_new ();
  for (guint i = 0; i < n; i++) {
    gint64 v = numbers[i % G_N_ELEMENTS (numbers)];
    gfloat f = (gfloat)v / 2;
    gdouble d = (gdouble)v / 4;
    guint8 byte = (guint8)(0xb1 + 0x3d * i);
    if (field == RAW)
      g_byte_array_append (packed, &byte, 1);
    else if (field == FLOATS)
      g_byte_array_append (packed, (guint8 *)&f, sizeof f);
    else if (field == DOUBLES)
      g_byte_array_append (packed, (guint8 *)&d, sizeof d);
    else if (field == STRINGS)
      put_bytes (to, field, "text", i % 5);
    else
      put_varint (packed, (guint64)v);
  }
  if (field != STRINGS)
    put_bytes (to, field, packed->data, packed->len);
}

static void
append_tensor (GString *text, const AxonTensor *t)
{
  AxonDType dtype = axon_tensor_get_dtype (t);
  g_autofree gchar *shape = axon_shape_to_string (axon_tensor_get_shape (t));
  g_string_append_printf (text, " %s%s", axon_dtype_get_name (dtype), shape);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    if (dtype == AXON_DTYPE_STRING)
      g_string_append_printf (text, " \"%s\"", axon_tensor_get_string (t, i));
    else
      g_string_append_printf (text, " %.5g", axon_tensor_get_value (t, i));
}

/* @said: of those before, which is written when it is another. */
static void
describe (GString *text, GString *said, const gchar *path, guint dtype, const AxonShape *shape,
          guint field, guint n)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) tensor = NULL;
  g_autoptr (GString) now = g_string_new (NULL);
  FILE *file;
  for (gint d = 0; d < shape->rank; d++) {
    put_varint (bytes, 1 << 3);
    put_varint (bytes, (guint64)shape->dims[d]);
  }
  put_varint (bytes, 2 << 3);
  put_varint (bytes, dtype);
  put_elements (bytes, fields[field].field, n);
  g_unlink (path); /* what is cut is flushed to the disk */
  file = g_fopen (path, "we");
  g_assert_cmpuint (fwrite (bytes->data, 1, bytes->len, file), ==, bytes->len);
  fclose (file);
  tensor = axon_core_read_tensor (axon_core_get_default (), path, AXON_DTYPE_F32, &error);
  if (tensor != NULL)
    append_tensor (now, tensor);
  else
    g_string_append_printf (now, " ! %.60s", error->message + strlen (path));
  if (!g_string_equal (now, said))
    g_string_append_printf (text, "%s\n ", said->str);
  g_string_append_printf (text, " %s/%u", fields[field].name, n);
  g_string_assign (said, now->str);
}

static void
describe_type (GString *text, const gchar *path, guint dtype)
{
  static const AxonShape shapes[] = { { 0 }, { 1, { 3 } }, { 2, { 0, 2 } }, { 2, { 5, -1 } } };
  guint size = MAX ((guint)axon_dtype_get_size ((AxonDType)dtype), 1);
  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++) {
    guint n = (guint)MAX (axon_shape_get_numel (&shapes[s]), 1);
    g_autofree gchar *shape = axon_shape_to_string (&shapes[s]);
    g_autoptr (GString) said = g_string_new (NULL);
    g_string_append_printf (text, "type %u %s", dtype, shape);
    for (guint f = 0; f < G_N_ELEMENTS (fields); f++)
      for (guint k = n - 1; k <= n + 1; k++)
        describe (text, said, path, dtype, &shapes[s], f,
                  fields[f].field == RAW ? k + (size - 1) * n : k);
    describe (text, said, path, dtype, &shapes[s], 0, (n + 1) / 2); /* packed */
    describe (text, said, path, dtype, &shapes[s], 3, (n + 1) / 2);
    g_string_append_printf (text, "%s\n", said->str);
  }
}

static void
tensors_are_read_as_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gchar *path = g_build_filename (g_get_tmp_dir (), "axon-tensor-XXXXXX", NULL);
  gint fd = g_mkstemp (path);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  for (guint dtype = 0; dtype < AXON_N_DTYPES; dtype++)
    describe_type (text, path, dtype);
  g_unlink (path);
  test_assert_approved ("unit/tensorsaid.txt", text->str);
}

/* A message as a field of another. */
static void
put_message (GByteArray *to, guint field, GByteArray *message)
{
  put_bytes (to, field, message->data, message->len);
  g_byte_array_unref (message);
}

static void
put_number (GByteArray *to, guint field, gint64 v)
{
  put_varint (to, field << 3);
  put_varint (to, (guint64)v);
}

static GByteArray *
new_tensor (const gchar *name, guint dtype, const gint64 *dims, guint rank, const gint64 *v,
            guint n)
{
  GByteArray *t = g_byte_array_new ();
  for (guint d = 0; d < rank; d++)
    put_number (t, 1, dims[d]);
  put_number (t, 2, dtype);
  for (guint i = 0; i < n; i++)
    put_number (t, dtype == AXON_DTYPE_I64 ? INT64S : INT32S, v[i]);
  put_bytes (t, 8, name, strlen (name));
  return t;
}

/* Values of i32, and where they lie: one place each, or a tuple of @width. */
typedef struct {
  gint64 dims[2];
  guint rank, n, width; /* width 0: indices of rank 1 */
  gint64 places[4];
  guint n_places;
} Sparse;

static const Sparse sparses[] = {
  { { 2, 3 }, 2, 2, 0, { 0, 5 }, 2 },
  { { 2, 3 }, 2, 2, 0, { 4, 1 }, 2 },
  { { 2, 3 }, 2, 2, 2, { 0, 1, 1, 2 }, 4 },
  { { 2, 3 }, 2, 2, 0, { 0, 6 }, 2 },
  { { 2, 3 }, 2, 2, 0, { -1, 1 }, 2 },
  { { 2, 3 }, 2, 2, 2, { 0, 3, 1, 2 }, 4 },
  { { 2, 3 }, 2, 2, 2, { 2, 0, 1, 2 }, 4 },
  { { 2, 3 }, 2, 2, 2, { 0, -1, 1, 2 }, 4 },
  { { 2, 3 }, 2, 2, 0, { 0 }, 1 },
  { { 2, 3 }, 2, 1, 0, { 0, 1 }, 2 },
  { { 6 }, 1, 2, 1, { 5, 0 }, 2 },
  { { 6 }, 1, 0, 0, { 0 }, 0 },
  { { -6 }, 1, 1, 0, { 0 }, 1 },
  { { 70000, 70000 }, 2, 1, 0, { 0 }, 1 },
};

static GByteArray *
new_sparse (const gchar *name, const Sparse *s, gint64 by)
{
  const gint64 values[] = { by, 10 * by }, n = s->n, shape[] = { s->n, s->width },
               n_places = s->n_places;
  GByteArray *t = g_byte_array_new ();
  put_message (t, 1, new_tensor (name, AXON_DTYPE_I32, &n, 1, values, s->n));
  put_message (t, 2,
               new_tensor ("", AXON_DTYPE_I64, s->width ? shape : &n_places, s->width ? 2 : 1,
                           s->places, s->n_places));
  for (guint d = 0; d < s->rank; d++)
    put_number (t, 3, s->dims[d]);
  return t;
}

/* y = a + b, both sparse. */
static AxonModel *
read_sparse (const Sparse *a, const Sparse *b, GError **error)
{
  GByteArray *node = g_byte_array_new (), *graph = g_byte_array_new (), *y = g_byte_array_new ();
  GByteArray *opset = g_byte_array_new ();
  g_autoptr (GByteArray) model = g_byte_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  put_bytes (node, 1, "a", 1);
  put_bytes (node, 1, "b", 1);
  put_bytes (node, 2, "y", 1);
  put_bytes (node, 4, "Add", 3);
  put_bytes (y, 1, "y", 1);
  put_message (graph, 1, node);
  put_bytes (graph, 2, "g", 1);
  put_message (graph, 15, new_sparse ("a", a, 1));
  put_message (graph, 15, new_sparse ("b", b, 100));
  put_message (graph, 12, y);
  put_number (opset, 2, 13);
  put_number (model, 1, 8);
  put_message (model, 7, graph);
  put_message (model, 8, opset);
  bytes = g_bytes_new (model->data, model->len);
  return axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, error);
}

static void
sparse_tensors_are_read_as_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (sparses); i++) {
    const Sparse *s = &sparses[i / 2];
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) model = read_sparse (i % 2 ? s : &sparses[s->rank == 1 ? 10 : 0],
                                               i % 2 ? &sparses[s->rank == 1 ? 10 : 1] : s, &error);
    g_autoptr (AxonTensor) y =
        model ? test_try_run_all (model, "TEMPLATE", NULL, NULL, 0, &error) : NULL;
    g_string_append_printf (text, "%u:", i);
    if (y != NULL)
      append_tensor (text, y);
    else
      g_string_append_printf (text, " ! %.110s", error->message);
    g_string_append_c (text, '\n');
  }
  test_assert_approved ("unit/sparsesaid.txt", text->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensorsaid/tensors_are_read_as_somebody_has_looked_at",
                   tensors_are_read_as_somebody_has_looked_at);
  g_test_add_func ("/tensorsaid/sparse_tensors_are_read_as_somebody_has_looked_at",
                   sparse_tensors_are_read_as_somebody_has_looked_at);
  return g_test_run ();
}
