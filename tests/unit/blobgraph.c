/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Graphs as bytes in a blob: what is written comes back, and nothing else is believed. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#include "../../lib/plan/axonblobmodel-private.h"

#include <string.h>

typedef struct {
  AxonOpSet *op_set;
  AxonBlob *blob;
  GVariant *graph;
  GBytes *item;
  const guint8 *bytes; /* of the item */
  gsize n;
} Stored;

static Stored
store (AxonModel *model)
{
  g_autoptr (AxonBlobWriter) writer = axon_blob_writer_new (NULL);
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;
  GVariantDict header;
  GVariant *graph;
  guint64 offset, n;
  Stored s = { .op_set = axon_op_set_new () };
  g_variant_dict_init (&header, NULL);
  graph = axon_blob_writer_add_model (writer, model);
  g_assert_true (
      axon_blob_writer_write (writer, g_variant_dict_end (&header), graph, stream, NULL, NULL));
  g_output_stream_close (stream, NULL, NULL);
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  s.blob = axon_blob_new (bytes, s.op_set, &error);
  g_assert_no_error (error);
  s.graph = axon_blob_get_payload (s.blob);
  g_variant_get (s.graph, MODEL_TYPE, NULL, &offset, &n);
  s.item = axon_blob_get_bytes (s.blob, offset, n, &error);
  g_assert_no_error (error);
  s.bytes = g_bytes_get_data (s.item, &s.n);
  return s;
}

static void
stored_clear (Stored *s)
{
  g_variant_unref (s->graph);
  g_bytes_unref (s->item);
  axon_blob_free (s->blob);
  axon_op_set_free (s->op_set);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stored, stored_clear)

static AxonModel *
read_bytes (Stored *s, gconstpointer bytes, gsize n, GError **error)
{
  g_autoptr (GBytes) item = g_bytes_new (bytes, n);
  return axon_blob_read_graph (s->blob, item, error);
}

static void
assert_refused (AxonModel *model, const GError *error, const gchar *why)
{
  g_assert_null (model);
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, why));
}

/* One input, one node; @body (nullable) is the node's. */
static AxonModel *
small_model (AxonModel *body)
{
  AxonModel *model = axon_model_new ("small");
  AxonShape shape = AXON_SHAPE (2);
  AxonValue *x = axon_model_add_input (model, "x", AXON_DTYPE_F32, &shape);
  AxonValue *y = axon_model_add_value (model, "y");
  AxonNode *node =
      axon_model_add_node (model, axon_builtin_op (NULL, "Relu", 13), 13, "relu", &x, 1, &y, 1);
  axon_model_add_output (model, y);
  if (body != NULL) {
    AxonAttr *a = axon_node_add_attr (node, "body", AXON_ATTR_GRAPH);
    a->graph = g_object_ref (body);
    a->ints = g_new0 (gint64, 1); /* the body's input is the node's first */
    a->n = 1;
  }
  return model;
}

static AxonTensor *
number (gfloat value)
{
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_F32, &(AxonShape){ .rank = 0 }, NULL);
  *(gfloat *)axon_tensor_get_data (tensor) = value;
  return tensor;
}

static AxonTensor *
words (void)
{
  static const gchar *const texts[] = { "a", "", "Füße" };
  AxonShape shape = AXON_SHAPE (3);
  return axon_tensor_new_strings (&shape, texts, G_N_ELEMENTS (texts), NULL);
}

static void
add_every_attribute (AxonNode *node)
{
  static const gint64 ints[] = { G_MININT64, 0, G_MAXINT64 };
  static const gfloat floats[] = { -0.5f, 1e30f };
  static const gchar *const texts[] = { "one", "", "\xff no UTF-8" };
  g_autoptr (AxonModel) body = small_model (NULL);
  AxonAttr *a;
  axon_node_set_int (node, "int", -5);
  axon_node_set_float (node, "float", 0.1);
  axon_node_set_string (node, "string", "s\xff");
  axon_node_set_ints (node, "ints", ints, G_N_ELEMENTS (ints));
  axon_node_set_ints (node, "no-ints", NULL, 0);
  axon_node_set_floats (node, "floats", floats, G_N_ELEMENTS (floats));
  a = axon_node_add_attr (node, "strings", AXON_ATTR_STRINGS);
  a->n = G_N_ELEMENTS (texts);
  a->strings = g_new0 (gchar *, a->n + 1);
  for (guint i = 0; i < a->n; i++)
    a->strings[i] = g_strdup (texts[i]);
  axon_node_add_attr (node, "tensor", AXON_ATTR_TENSOR)->tensor = number (2);
  axon_node_add_attr (node, "words", AXON_ATTR_TENSOR)->tensor = words ();
  a = axon_node_add_attr (node, "body", AXON_ATTR_GRAPH);
  a->graph = small_model (body);
  a->ints = g_new0 (gint64, 1);
  a->n = 1;
}

/* Everything that can be said of a graph; @turned: notes are made in another order. */
static AxonModel *
rich_model (gboolean turned)
{
  static const gchar *const notes[] = { "a.first", "b.second", "c.third" };
  static const gchar *const symbols[] = { "batch", "", NULL };
  AxonModel *model = axon_model_new ("rich");
  AxonShape shape = AXON_SHAPE (-1, 4);
  g_autoptr (AxonTensor) six = number (6);
  g_autoptr (AxonTensor) text = words ();
  AxonValue *x = axon_model_add_input (model, "x", AXON_DTYPE_F32, &shape);
  AxonValue *y = axon_model_add_value (model, "y");
  AxonValue *in[] = { x, NULL, axon_model_add_constant (model, "six", six) };
  AxonNode *node;
  axon_model_add_constant (model, "words", text);
  x->symbols = g_strdupv ((gchar **)symbols);
  x->layout = g_strdup ("NC");
  node = axon_model_add_node (model, axon_builtin_op (NULL, "Clip", 13), 13, "clip", in, 3, &y, 1);
  axon_model_add_output (model, y);
  model->quantized = TRUE;
  g_ptr_array_add (node->origins, g_strdup ("clip/a"));
  g_ptr_array_add (node->origins, g_strdup ("clip/b"));
  axon_node_set_affinity (node, "CPU");
  for (guint i = 0; i < G_N_ELEMENTS (notes); i++) {
    const gchar *key = notes[turned ? G_N_ELEMENTS (notes) - 1 - i : i];
    axon_node_set_info (node, key, "note");
    g_hash_table_insert (model->metadata, g_strdup (key), g_strdup ("of the model"));
  }
  add_every_attribute (node);
  g_assert_true (axon_model_infer_shapes (model, NULL)); /* as the reader does */
  return model;
}

static void
check_attributes (const AxonNode *node)
{
  guint n;
  const AxonAttr *a;
  g_assert_cmpint (axon_node_get_int (node, "int"), ==, -5);
  g_assert_cmpfloat (axon_node_get_float (node, "float"), ==, 0.1);
  g_assert_cmpstr (axon_node_get_string (node, "string"), ==, "s\xff");
  g_assert_cmpint (axon_node_get_ints (node, "ints", &n)[2], ==, G_MAXINT64);
  g_assert_cmpuint (n, ==, 3);
  g_assert_nonnull (axon_node_find_attr (node, "no-ints"));
  g_assert_cmpfloat (axon_node_get_floats (node, "floats", &n)[1], ==, 1e30f);
  g_assert_cmpuint (n, ==, 2);
  a = axon_node_find_attr (node, "strings");
  g_assert_cmpuint (g_strv_length (a->strings), ==, 3);
  g_assert_cmpstr (a->strings[2], ==, "\xff no UTF-8");
  a = axon_node_find_attr (node, "tensor");
  g_assert_cmpfloat (axon_tensor_get_value (a->tensor, 0), ==, 2);
  a = axon_node_find_attr (node, "words");
  g_assert_cmpstr (axon_tensor_get_string (a->tensor, 2), ==, "Füße");
  a = axon_node_find_attr (node, "body");
  g_assert_cmpuint (a->n, ==, 1);
  g_assert_cmpuint (a->graph->nodes->len, ==, 1);
}

static void
all_that_is_said_of_a_graph_comes_back (void)
{
  g_autoptr (AxonModel) model = rich_model (FALSE);
  g_auto (Stored) s = store (model);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) again = axon_blob_read_model (s.blob, s.graph, &error);
  g_auto (Stored) stored_again = { 0 };
  AxonValue *x;
  AxonNode *node;
  g_assert_no_error (error);
  x = axon_model_find_value (again, "x");
  node = g_ptr_array_index (again->nodes, 0);
  g_assert_cmpint (x->type.shape.dims[0], ==, -1);
  g_assert_cmpstr (x->symbols[0], ==, "batch");
  g_assert_cmpstr (x->layout, ==, "NC");
  g_assert_true (x->is_input && again->quantized);
  g_assert_null (node->inputs[1]);
  g_assert_cmpfloat (axon_tensor_get_value (node->inputs[2]->type.value, 0), ==, 6);
  g_assert_cmpstr (node->affinity, ==, "CPU");
  g_assert_cmpstr (g_hash_table_lookup (node->info, "b.second"), ==, "note");
  g_assert_cmpstr (g_hash_table_lookup (again->metadata, "c.third"), ==, "of the model");
  g_assert_cmpstr (node->origins->pdata[1], ==, "clip/b");
  x = axon_model_find_value (again, "words");
  g_assert_cmpstr (axon_tensor_get_string (x->type.value, 2), ==, "Füße");
  check_attributes (node);
  stored_again = store (again);
  g_assert_cmpmem (stored_again.bytes, stored_again.n, s.bytes, s.n);
}

static void
equal_graphs_are_equal_bytes (void)
{
  g_autoptr (AxonModel) a = rich_model (FALSE);
  g_autoptr (AxonModel) b = rich_model (TRUE);
  g_auto (Stored) stored_a = store (a);
  g_auto (Stored) stored_b = store (b);
  g_assert_cmpmem (stored_a.bytes, stored_a.n, stored_b.bytes, stored_b.n);
}

static void
a_graph_that_ends_early_or_late_is_refused (void)
{
  g_autoptr (AxonModel) model = rich_model (FALSE);
  g_auto (Stored) s = store (model);
  g_autofree guint8 *longer = g_malloc0 (s.n + 1);
  memcpy (longer, s.bytes, s.n);
  for (gsize n = 0; n <= s.n + 1; n++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) again = read_bytes (&s, longer, n, &error);
    if (n == s.n)
      g_assert_nonnull (again);
    else
      assert_refused (again, error, "its description is not well formed");
  }
}

/* Counts, numbers of values, types and places among them. */
static void
any_number_in_a_graph_may_be_another (void)
{
  static const gint32 others[] = { -1, G_MAXINT32, 0x00010000, 0 };
  g_autoptr (AxonModel) model = rich_model (FALSE);
  g_auto (Stored) s = store (model);
  g_autofree guint8 *bytes = g_memdup2 (s.bytes, s.n);
  for (gsize at = 0; at + sizeof *others <= s.n; at++)
    for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
      g_autoptr (GError) error = NULL;
      g_autoptr (AxonModel) again = NULL;
      memcpy (bytes + at, &others[i], sizeof *others);
      again = read_bytes (&s, bytes, s.n, &error);
      g_assert_true ((again != NULL) == (error == NULL));
      memcpy (bytes + at, s.bytes + at, sizeof *others);
    }
}

static void
a_count_of_more_than_can_follow_is_no_count (void)
{
  static const guint8 bytes[4 + 16] = { 2 }, many[4 + 16] = { 3 };
  static const guint8 most[] = { 0xff, 0xff, 0xff, 0xff };
  AxonBlobReader fits = { bytes, sizeof bytes, FALSE };
  AxonBlobReader too_many = { many, sizeof many, FALSE };
  AxonBlobReader huge = { most, sizeof most, FALSE };
  g_assert_cmpuint (axon_blob_reader_count (&fits, 8), ==, 2);
  g_assert_false (fits.broken);
  g_assert_cmpuint (axon_blob_reader_count (&too_many, 8), ==, 0);
  g_assert_true (too_many.broken);
  g_assert_cmpuint (axon_blob_reader_count (&huge, 1), ==, 0);
  g_assert_true (huge.broken);
}

static void
what_lies_behind_the_end_reads_as_nothing (void)
{
  static const guint8 bytes[] = { 'n', 'o', ' ', 'e', 'n', 'd' };
  AxonBlobReader text = { bytes, sizeof bytes, FALSE };
  AxonBlobReader number = { bytes, sizeof bytes, FALSE };
  AxonBlobReader flag = { bytes, sizeof bytes, FALSE };
  gint64 values[2] = { 1, 1 };
  g_assert_cmpstr (axon_blob_reader_text (&text), ==, "");
  g_assert_true (text.broken);
  g_assert_cmpint (axon_blob_reader_int (&text), ==, 0);
  axon_blob_reader_numbers (&number, values, 2, sizeof *values);
  g_assert_true (number.broken && values[0] == 0 && values[1] == 0);
  g_assert_cmpuint (axon_blob_reader_byte (&number), ==, 0);
  g_assert_false (axon_blob_reader_flag (&flag));
  g_assert_true (flag.broken);
}

static void
numbers_are_little_endian_everywhere (void)
{
  static const guint8 expected[] = { 4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1, 'a', 0, 0 };
  const guint64 large = G_GUINT64_CONSTANT (0x0102030405060708);
  GString *out = g_string_new (NULL);
  AxonBlobReader reader;
  guint64 value;
  axon_blob_put_int (out, 0x01020304);
  axon_blob_put_numbers (out, &large, 1, sizeof large);
  axon_blob_put_text (out, "a");
  axon_blob_put_text (out, NULL);
  g_assert_cmpmem (out->str, out->len, expected, sizeof expected);
  reader = (AxonBlobReader){ (const guint8 *)out->str, out->len, FALSE };
  g_assert_cmpint (axon_blob_reader_int (&reader), ==, 0x01020304);
  axon_blob_reader_numbers (&reader, &value, 1, sizeof value);
  g_assert_true (value == large);
  g_assert_cmpstr (axon_blob_reader_text (&reader), ==, "a");
  g_string_free (out, TRUE);
}

static void
bodies_are_nested_as_deep_as_in_model_files_and_no_deeper (void)
{
  g_autoptr (AxonModel) model = small_model (NULL);
  for (guint depth = 0; depth <= MAX_BODIES + 1; depth++) {
    g_auto (Stored) s = store (model);
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) again = axon_blob_read_model (s.blob, s.graph, &error);
    AxonModel *outer = small_model (model);
    if (depth > MAX_BODIES)
      assert_refused (again, error, "bodies are nested deeper than 64");
    else
      g_assert_no_error (error);
    g_object_unref (model);
    model = outer;
  }
}

static void
a_note_that_is_not_utf8_is_refused (void)
{
  static const gchar *const texts[] = { "a.first", "note", "of the model", "clip/b", "batch" };
  g_autoptr (AxonModel) model = rich_model (FALSE);
  g_auto (Stored) s = store (model);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autofree guint8 *bytes = g_memdup2 (s.bytes, s.n);
    guint8 *at = memmem (bytes, s.n, texts[i], strlen (texts[i]) + 1);
    g_autoptr (GError) error = NULL;
    AxonModel *again;
    g_assert_nonnull (at);
    *at = 0xff;
    again = read_bytes (&s, bytes, s.n, &error);
    assert_refused (again, error, "a name is not UTF-8");
  }
}

static void
more_strings_than_bytes_are_refused_before_memory_is_asked_for (void)
{
  static const gchar name_and_layout[] = "words\0";
  g_autoptr (AxonModel) model = rich_model (FALSE);
  g_auto (Stored) s = store (model);
  g_autofree guint8 *bytes = g_memdup2 (s.bytes, s.n);
  guint8 *at = memmem (bytes, s.n, name_and_layout, sizeof name_and_layout);
  g_autoptr (GError) error = NULL;
  AxonModel *again;
  g_assert_nonnull (at);
  at[sizeof name_and_layout + 4 + 4 + 5] = 1; /* type, rank, then the dimension: 2^40 more */
  again = read_bytes (&s, bytes, s.n, &error);
  assert_refused (again, error, "its text is too short");
}

static void
what_another_device_stores_is_no_graph (void)
{
  g_autoptr (AxonModel) model = small_model (NULL);
  g_auto (Stored) s = store (model);
  GVariant *const others[] = { g_variant_new ("(tt)", (guint64)0, (guint64)0),
                               g_variant_new (MODEL_TYPE, 7, (guint64)0, (guint64)0) };
  g_assert_true (axon_blob_is_model (s.graph));
  for (guint i = 0; i < G_N_ELEMENTS (others); i++) {
    g_autoptr (GVariant) other = g_variant_ref_sink (others[i]);
    g_autoptr (GError) error = NULL;
    AxonModel *read;
    g_assert_false (axon_blob_is_model (other));
    read = axon_blob_read_model (s.blob, other, &error);
    assert_refused (read, error, "its graph has another form");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/blobgraph/" #name, name)
  ADD (all_that_is_said_of_a_graph_comes_back);
  ADD (equal_graphs_are_equal_bytes);
  ADD (a_graph_that_ends_early_or_late_is_refused);
  ADD (any_number_in_a_graph_may_be_another);
  ADD (a_count_of_more_than_can_follow_is_no_count);
  ADD (what_lies_behind_the_end_reads_as_nothing);
  ADD (numbers_are_little_endian_everywhere);
  ADD (bodies_are_nested_as_deep_as_in_model_files_and_no_deeper);
  ADD (a_note_that_is_not_utf8_is_refused);
  ADD (more_strings_than_bytes_are_refused_before_memory_is_asked_for);
  ADD (what_another_device_stores_is_no_graph);
  return g_test_run ();
}
