/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whole numbers on device CPU, against the reference: indices and sizes that a graph computes. */
#include "axontest.h"

#include <math.h>
#include <string.h>

static AxonNode *
cast_to (TestModel *t, AxonValue *value, AxonDType dtype)
{
  AxonNode *n = test_model_node (t, "Cast", 1, value);
  axon_node_set_int (n, "to", (gint)dtype); /* ONNX has the same numbers */
  return n;
}

/* With their signs, zeros, and what wraps. */
static void
whole_numbers_agree (gconstpointer op)
{
  static const gfloat second[] = { 3, -3, 0, 1, -1, 7, -7, 100000 };
  AxonShape xs = AXON_SHAPE (16, 8), row = AXON_SHAPE (8);
  for (guint i = 0; i < 4; i++) {
    AxonDType dtype = i & 1 ? AXON_DTYPE_I64 : AXON_DTYPE_I32;
    TestModel t = test_model_new (20);
    AxonNode *b = cast_to (&t, test_model_constant (&t, &row, second), dtype);
    AxonNode *n =
        test_model_node (&t, op, 2, test_model_input (&t, "x", dtype, &xs), b->outputs[0]);
    g_autoptr (AxonTensor) x = axon_tensor_new (dtype, &xs, NULL);
    g_autoptr (AxonModel) model = NULL;
    for (gint k = 0; k < 16 * 8; k++) {
      gint64 v = k / 8 < 12 ? k / 8 - 6 : i & 1 ? G_MININT64 + k / 8 - 13 : G_MININT32 + k / 8 - 13;
      if (i & 1)
        ((gint64 *)axon_tensor_get_data (x))[k] = v;
      else
        ((gint32 *)axon_tensor_get_data (x))[k] = (gint32)v;
    }
    if (g_str_equal (op, "Mod"))
      axon_node_set_int (n, "fmod", i / 2);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

static void
casts_of_whole_numbers_agree (void)
{
  static const AxonDType to[] = { AXON_DTYPE_F32, AXON_DTYPE_I32, AXON_DTYPE_I64 };
  AxonShape xs = AXON_SHAPE (5, 7);
  for (guint i = 0; i < 4 * G_N_ELEMENTS (to); i++) {
    static const AxonDType from[] = { AXON_DTYPE_I32, AXON_DTYPE_I64, AXON_DTYPE_U8,
                                      AXON_DTYPE_BOOL };
    AxonDType dtype = from[i / G_N_ELEMENTS (to)];
    TestModel t = test_model_new (20);
    AxonNode *n = cast_to (&t, test_model_input (&t, "x", dtype, &xs), to[i % G_N_ELEMENTS (to)]);
    g_autoptr (AxonTensor) x = axon_tensor_new (dtype, &xs, NULL);
    g_autoptr (AxonModel) model = NULL;
    for (gint k = 0; k < 35; k++)
      axon_dtype_store (dtype, axon_tensor_get_data (x), (gsize)k,
                        dtype == AXON_DTYPE_BOOL ? k % 3 == 0 : (k - 17) * 123456789.);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

/* Of floats, too: halves of the way, what no whole number holds, and what is no number. */
static void
floats_become_the_same_whole_numbers (void)
{
  static const gfloat values[] = { 0.f,      -0.f,          0.5f,         -0.5f,         1.999f,
                                   -1.999f,  2147483520.f,  2147483648.f, -2147483648.f, -3e9f,
                                   3e9f,     9.2233715e18f, 9.223372e18f, -9.223372e18f, -1e30f,
                                   INFINITY, -INFINITY,     NAN };
  AxonShape xs = AXON_SHAPE (G_N_ELEMENTS (values));
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (20);
    AxonNode *n = cast_to (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &xs),
                           i ? AXON_DTYPE_I64 : AXON_DTYPE_I32);
    g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &xs, NULL);
    g_autoptr (AxonModel) model = NULL;
    memcpy (axon_tensor_get_data (x), values, sizeof values);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

/* What a type cannot hold is saturated by floats, cut by whole numbers. Halves are computed as
 * floats. */
static void
numbers_of_every_type_become_those_of_every_other (void)
{
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_F64, AXON_DTYPE_BOOL, AXON_DTYPE_U8,
                                     AXON_DTYPE_I8,  AXON_DTYPE_I32, AXON_DTYPE_I64 };
  static const gfloat values[] = { NAN,   INFINITY, -INFINITY, 0,      0.5f,  -0.5f, 1.9f,
                                   -1.9f, 127.7f,   -128.7f,   255.5f, 256,   300,   -129.f,
                                   70000, -5,       3e9f,      -3e9f,  1e30f, -1e30f };
  AxonShape shape = AXON_SHAPE (G_N_ELEMENTS (values));
  g_autoptr (AxonTensor) x = test_tensor (&shape, values);
  for (guint i = 0; i < G_N_ELEMENTS (types) * G_N_ELEMENTS (types); i++) {
    AxonDType from = types[i % G_N_ELEMENTS (types)], to = types[i / G_N_ELEMENTS (types)];
    TestModel t = test_model_new (20);
    AxonNode *n = cast_to (&t, test_model_input (&t, "x", AXON_DTYPE_F32, &shape), from);
    g_autoptr (AxonModel) model = NULL;
    n = cast_to (&t, cast_to (&t, n->outputs[0], to)->outputs[0], AXON_DTYPE_F32);
    g_test_message ("%s to %s", axon_dtype_get_name (from), axon_dtype_get_name (to));
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, x, 0);
  }
}

int
main (int argc, char **argv)
{
  static const gchar *const pairs[] = { "Add",  "Sub",         "Mul",   "Div",
                                        "Max",  "Min",         "Equal", "Greater",
                                        "Less", "LessOrEqual", "Mod",   "GreaterOrEqual" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_autofree gchar *path = g_strconcat ("/whole/whole_numbers_agree/", pairs[i], NULL);
    g_test_add_data_func (path, pairs[i], whole_numbers_agree);
  }
  g_test_add_func ("/whole/casts_of_whole_numbers_agree", casts_of_whole_numbers_agree);
  g_test_add_func ("/whole/floats_become_the_same_whole_numbers",
                   floats_become_the_same_whole_numbers);
  g_test_add_func ("/whole/numbers_of_every_type_become_those_of_every_other",
                   numbers_of_every_type_become_those_of_every_other);
  return g_test_run ();
}
