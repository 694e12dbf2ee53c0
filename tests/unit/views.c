/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors on memory of the application, with strides: what they reach, and what is read. */
#include "axontest.h"

#include <string.h>

static AxonTensor *
strided (const AxonShape *shape, const gint64 *strides, gpointer data, gsize n_bytes,
         GError **error)
{
  return axon_tensor_new_strided (AXON_DTYPE_F32, shape, strides, data, n_bytes, NULL, NULL, error);
}

static void
strides_must_not_reach_beyond_the_memory (void)
{
  static const struct {
    AxonShape shape;
    gint64 strides[3];
    gsize needed; /* 0: no memory is enough */
  } cases[] = {
    { { 0, { 0 } }, { 0 }, 4 },
    { { 1, { 5 } }, { 4 }, 20 },
    { { 2, { 2, 3 } }, { 12, 4 }, 24 },
    { { 2, { 2, 3 } }, { 4, 8 }, 24 },    /* transposed */
    { { 2, { 2, 3 } }, { 100, 8 }, 120 }, /* with gaps */
    { { 2, { 5, 3 } }, { 0, 4 }, 12 },    /* every row is the same */
    { { 3, { 1, 1, 2 } }, { 99, 77, 4 }, 8 },
    { { 2, { 2, 3 } }, { 12, -4 }, 0 },
    { { 2, { 3, 2 } }, { G_MAXINT64, 4 }, 0 },
    { { 3, { 3, 3, 2 } }, { G_MAXINT64 / 2, G_MAXINT64 / 2, 4 }, 0 },
    { { 3, { 3, 3, 2 } }, { G_MAXINT64, G_MAXINT64, 4 }, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gsize least = cases[i].needed, much = G_MAXSIZE;
    gfloat data[30];
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonTensor) ok =
        least > 0 ? strided (&cases[i].shape, cases[i].strides, data, least, &error) : NULL;
    g_assert_no_error (error);
    g_assert_true ((ok != NULL) == (least > 0));
    g_assert_null (
        strided (&cases[i].shape, cases[i].strides, data, least > 0 ? least - 1 : much, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "the strides reach beyond"));
  }
}

static void
an_empty_tensor_needs_no_memory_whatever_its_strides (void)
{
  const gint64 strides[] = { 400, 4000 };
  AxonShape shape = AXON_SHAPE (0, 3), inner = AXON_SHAPE (3, 0);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) x = strided (&shape, strides, NULL, 0, &error);
  g_autoptr (AxonTensor) y = strided (&inner, strides, NULL, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (axon_tensor_get_numel (x), ==, 0);
  g_assert_cmpuint (axon_tensor_get_numel (y), ==, 0);
}

static void
a_transposed_or_repeated_tensor_reads_as_one_without_gaps (void)
{
  static const struct {
    gint64 strides[2];
    gfloat expected[6];
    gboolean dense;
  } cases[] = { { { 12, 4 }, { 0, 1, 2, 3, 4, 5 }, TRUE },
                { { 4, 8 }, { 0, 2, 4, 1, 3, 5 }, FALSE },
                { { 0, 4 }, { 0, 1, 2, 0, 1, 2 }, FALSE } };
  gfloat data[] = { 0, 1, 2, 3, 4, 5 };
  AxonShape shape = AXON_SHAPE (2, 3);
  TestModel t = test_model_new (13);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &shape));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (AxonTensor) x = strided (&shape, cases[i].strides, data, sizeof data, NULL);
    g_autoptr (AxonTensor) host = axon_tensor_to_host (x, NULL);
    g_autoptr (AxonTensor) y = test_run (model, "CPU", NULL, x);
    g_assert_cmpint (axon_tensor_is_contiguous (x), ==, cases[i].dense);
    g_assert_cmpint (axon_tensor_get_stride (x, 1), ==, cases[i].strides[1]);
    g_assert_cmpmem (axon_tensor_get_data (host), axon_tensor_get_n_bytes (host), cases[i].expected,
                     sizeof data);
    g_assert_cmpmem (axon_tensor_get_data (y), axon_tensor_get_n_bytes (y), cases[i].expected,
                     sizeof data);
  }
}

static void
count (gpointer user_data)
{
  ++*(guint *)user_data;
}

static void
memory_of_the_application_is_given_back_once (void)
{
  const gint64 strides[] = { 8 };
  gfloat data[6];
  guint n_calls = 0;
  AxonShape shape = AXON_SHAPE (3), begin = AXON_SHAPE (1), two = AXON_SHAPE (2);
  AxonTensor *x = axon_tensor_new_strided (AXON_DTYPE_F32, &shape, strides, data, sizeof data,
                                           count, &n_calls, NULL);
  AxonTensor *region = axon_tensor_new_roi (x, &begin, &two, NULL);
  g_assert_true (axon_tensor_get_data (region) == data + 2);
  axon_tensor_unref (x);
  g_assert_cmpuint (n_calls, ==, 0);
  axon_tensor_unref (region);
  g_assert_cmpuint (n_calls, ==, 1);
  g_assert_null (
      axon_tensor_new_strided (AXON_DTYPE_F32, &shape, strides, data, 8, count, &n_calls, NULL));
  g_assert_cmpuint (n_calls, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/views/" #name, name)
  ADD (strides_must_not_reach_beyond_the_memory);
  ADD (an_empty_tensor_needs_no_memory_whatever_its_strides);
  ADD (a_transposed_or_repeated_tensor_reads_as_one_without_gaps);
  ADD (memory_of_the_application_is_given_back_once);
  return g_test_run ();
}
