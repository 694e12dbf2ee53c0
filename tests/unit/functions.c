/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model-local functions, in models written field by field. */
#include "axontest.h"

#include <string.h>

/* A protobuf message under construction. */
static void
put_varint (GByteArray *m, guint64 v)
{
  for (;; v >>= 7) {
    guint8 byte = (guint8)(v < 0x80 ? v : v | 0x80);
    g_byte_array_append (m, &byte, 1);
    if (v < 0x80)
      return;
  }
}

static void
put_bytes (GByteArray *m, guint field, gconstpointer data, gsize n)
{
  put_varint (m, field << 3 | 2);
  put_varint (m, n);
  g_byte_array_append (m, data, (guint)n);
}

static void
put_text (GByteArray *m, guint field, const gchar *text)
{
  put_bytes (m, field, text, strlen (text));
}

static void
put_int (GByteArray *m, guint field, guint64 v)
{
  put_varint (m, field << 3);
  put_varint (m, v);
}

/* Takes over @inner. */
static void
put_message (GByteArray *m, guint field, GByteArray *inner)
{
  put_bytes (m, field, inner->data, inner->len);
  g_byte_array_unref (inner);
}

static GByteArray *
opset (const gchar *domain, guint version)
{
  GByteArray *m = g_byte_array_new ();
  put_text (m, 1, domain);
  put_int (m, 2, version);
  return m;
}

/* Node @domain.@op of one or two inputs. */
static GByteArray *
node (const gchar *domain, const gchar *op, const gchar *a, const gchar *b, const gchar *out)
{
  GByteArray *m = g_byte_array_new ();
  put_text (m, 1, a);
  if (b != NULL)
    put_text (m, 1, b);
  put_text (m, 2, out);
  put_text (m, 3, op);
  put_text (m, 4, op);
  put_text (m, 7, domain);
  return m;
}

/* Attribute @name of the node refers to attribute @ref of the call. */
static GByteArray *
with_reference (GByteArray *m, const gchar *name, const gchar *ref)
{
  GByteArray *attr = g_byte_array_new ();
  put_text (attr, 1, name);
  put_int (attr, 20, 1); /* a float */
  put_text (attr, 21, ref);
  put_message (m, 5, attr);
  return m;
}

static GByteArray *
with_float (GByteArray *m, const gchar *name, gfloat value)
{
  static const guint8 key = 2 << 3 | 5;
  GByteArray *attr = g_byte_array_new ();
  put_text (attr, 1, name);
  g_byte_array_append (attr, &key, 1);
  g_byte_array_append (attr, (const guint8 *)&value, 4);
  put_int (attr, 20, 1);
  put_message (m, 5, attr);
  return m;
}

/* my.@name (a) = last node's "b" */
static GByteArray *
function (const gchar *name, GByteArray *first, GByteArray *second)
{
  GByteArray *m = g_byte_array_new ();
  put_text (m, 1, name);
  put_text (m, 4, "a");
  put_text (m, 5, "b");
  put_message (m, 7, first);
  if (second != NULL)
    put_message (m, 7, second);
  put_message (m, 9, opset ("", 13));
  put_message (m, 9, opset ("my", 1));
  put_text (m, 10, "my");
  return m;
}

static GByteArray *
port (const gchar *name)
{
  GByteArray *dim = g_byte_array_new (), *shape = g_byte_array_new ();
  GByteArray *tensor = g_byte_array_new (), *type = g_byte_array_new (), *m = g_byte_array_new ();
  put_int (dim, 1, 2);
  put_message (shape, 1, dim);
  put_int (tensor, 1, AXON_DTYPE_F32);
  put_message (tensor, 2, shape);
  put_message (type, 1, tensor);
  put_text (m, 1, name);
  put_message (m, 2, type);
  return m;
}

/* y = @call (x), x f32[2] */
static GByteArray *
begin_model (GByteArray *call)
{
  GByteArray *graph = g_byte_array_new (), *m = g_byte_array_new ();
  put_message (graph, 1, call);
  put_message (graph, 11, port ("x"));
  put_message (graph, 12, port ("y"));
  put_int (m, 1, 8);
  put_message (m, 7, graph);
  put_message (m, 8, opset ("", 13));
  put_message (m, 8, opset ("my", 1));
  return m;
}

/* Takes over @bytes. */
static AxonModel *
read_model (GByteArray *bytes, GError **error)
{
  g_autoptr (GBytes) data = g_byte_array_free_to_bytes (bytes);
  return axon_core_read_model_from_bytes (axon_core_get_default (), data, NULL, error);
}

static void
expect_first (AxonModel *model, gdouble wanted)
{
  static const gfloat values[] = { -3, 5 };
  AxonShape shape = AXON_SHAPE (2);
  g_autoptr (AxonTensor) x = test_tensor (&shape, values);
  g_autoptr (AxonTensor) y = test_run (model, "TEMPLATE", NULL, x);
  g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (y, 0), wanted, 1e-6);
}

static void
a_function_that_calls_another_is_expanded (void)
{
  GByteArray *m = begin_model (node ("my", "Outer", "x", NULL, "y"));
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  put_message (m, 25, function ("Double", node ("", "Add", "a", "a", "b"), NULL));
  put_message (
      m, 25,
      function ("Outer", node ("my", "Double", "a", NULL, "t"), node ("", "Mul", "t", "a", "b")));
  model = read_model (m, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (model->nodes->len, ==, 2);
  for (guint i = 0; i < 2; i++) { /* provenance: the call that the user wrote */
    const AxonNode *made = g_ptr_array_index (model->nodes, i);
    g_assert_cmpstr (g_ptr_array_index (made->origins, 0), ==, "Outer");
  }
  expect_first (model, 18); /* (x + x) * x */
}

/* y = my.Leak (x), whose body is a LeakyRelu with alpha from attribute "slope" of the call. Takes
 * over @call. */
static void
expect_leak (GByteArray *call, gdouble wanted)
{
  GByteArray *m = begin_model (call), *leaky = node ("", "LeakyRelu", "a", NULL, "b");
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  put_message (m, 25, function ("Leak", with_reference (leaky, "alpha", "slope"), NULL));
  model = read_model (m, &error);
  g_assert_no_error (error);
  expect_first (model, wanted);
}

static void
a_function_takes_attributes_of_its_call (void)
{
  expect_leak (with_float (node ("my", "Leak", "x", NULL, "y"), "slope", 0.5f), -1.5);
}

static void
an_attribute_that_the_call_leaves_out_has_its_default (void)
{
  expect_leak (node ("my", "Leak", "x", NULL, "y"), -0.03);
}

/* Constant holds its bytes in an attribute: reading them for the first call must leave them there.
 */
static void
a_function_with_a_constant_can_be_called_twice (void)
{
  static const gfloat two = 2;
  GByteArray *m = begin_model (node ("my", "Outer", "x", NULL, "y"));
  GByteArray *constant = g_byte_array_new (), *attr = g_byte_array_new ();
  GByteArray *tensor = g_byte_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  put_int (tensor, 2, AXON_DTYPE_F32);
  put_bytes (tensor, 9, &two, sizeof two);
  put_text (attr, 1, "value");
  put_message (attr, 5, tensor);
  put_int (attr, 20, 4);
  put_text (constant, 2, "c");
  put_text (constant, 4, "Constant");
  put_message (constant, 5, attr);
  put_message (m, 25, function ("Twice", constant, node ("", "Mul", "a", "c", "b")));
  put_message (m, 25,
               function ("Outer", node ("my", "Twice", "a", NULL, "t"),
                         node ("my", "Twice", "t", NULL, "b")));
  model = read_model (m, &error);
  g_assert_no_error (error);
  expect_first (model, -12);
}

static void
a_function_that_calls_itself_is_an_error (void)
{
  GByteArray *m = begin_model (node ("my", "Again", "x", NULL, "y"));
  g_autoptr (GError) error = NULL;
  put_message (m, 25, function ("Again", node ("my", "Again", "a", NULL, "b"), NULL));
  g_assert_null (read_model (m, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "does it call itself"));
}

/* 2^40 nodes in 2 KB: each function calls the next one twice. */
static void
functions_that_double_forty_times_are_an_error (void)
{
  GByteArray *m = begin_model (node ("my", "F0", "x", NULL, "y"));
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < 40; i++) {
    g_autofree gchar *name = g_strdup_printf ("F%u", i);
    g_autofree gchar *next = g_strdup_printf ("F%u", i + 1);
    put_message (
        m, 25,
        function (name, node ("my", next, "a", NULL, "t"), node ("my", next, "t", NULL, "b")));
  }
  put_message (m, 25, function ("F40", node ("", "Neg", "a", NULL, "b"), NULL));
  g_assert_null (read_model (m, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "500000 nodes"));
}

static void
an_unknown_operator_in_a_function_is_named (void)
{
  GByteArray *m = begin_model (node ("my", "Outer", "x", NULL, "y"));
  g_autoptr (GError) error = NULL;
  put_message (m, 25, function ("Outer", node ("", "Qx", "a", NULL, "b"), NULL));
  g_assert_null (read_model (m, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "Qx (opset 13)"));
}

#define ADD(name) g_test_add_func ("/functions/" #name, name)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (a_function_that_calls_another_is_expanded);
  ADD (a_function_takes_attributes_of_its_call);
  ADD (an_attribute_that_the_call_leaves_out_has_its_default);
  ADD (a_function_with_a_constant_can_be_called_twice);
  ADD (a_function_that_calls_itself_is_an_error);
  ADD (functions_that_double_forty_times_are_an_error);
  ADD (an_unknown_operator_in_a_function_is_named);
  return g_test_run ();
}
