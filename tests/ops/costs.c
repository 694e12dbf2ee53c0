/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many operations a node is, and how many bytes a model takes, as far as shapes are known. */
#include "nodes.h"

#include <string.h>

static const NodeCase operations[] = {
  { "Conv", "f32[2,4,9,8] f32[6,2,3,2]", "group=2", "14112" },
  { "Conv", "f32[?,4,9,8] f32[6,2,3,2]", "group=2", "0" },
  { "FusedConv", "f32[1,1,4] f32[1,1,3]", "activation:Relu", "12" },
  { "ConvIntegerToFloat", "u8[1,1,4] u8[2,1,3] f32[] f32[]", "", "24" },
  { "DeformConv", "f32[1,2,5,5] f32[3,2,2,2] f32[1,8,4,4]", "", "768" },
  { "ConvTranspose", "f32[1,2,3] f32[2,5,4]", "", "240" },
  { "QLinearConvTranspose", "u8[1,2,3] f32[] u8[] u8[2,5,4]=1 f32[] u8[] f32[] u8[]", "", "240" },
  { "MatMul", "f32[5,2,3] f32[3,4]", "", "240" },
  { "MatMul", "f32[3] f32[3]", "", "6" },
  { "MatMul", "f32[2,?] f32[3,4]", "", "8" },
  { "MatMul", "f32 f32[3,4]", "", "0" },
  { "Gemm", "f32[2,3] f32[3,4]", "", "48" },
  { "Gemm", "f32[3,2] f32[3,4]", "transA=1", "48" },
  { "QGemm", "u8[2,3] f32[] u8[] u8[3,4] f32[] u8[]", "", "48" },
  { "MatMulIntegerToFloat", "u8[2,3] u8[3,4] f32[] f32[]", "", "48" },
  { "DynamicQuantizeMatMul", "f32[2,3] u8[3,4] f32[]", "", "48" },
  { "LSTM", "f32[5,2,3] f32[1,8,3] f32[1,8,2]", "hidden_size=2", "800" },
  { "GRU", "f32[5,2,3] f32[1,6,3] f32[1,6,2]", "hidden_size=2", "600" },
  { "RNN", "f32[4,1,3] f32[1,2,3] f32[1,2,2]", "hidden_size=2", "80" },
  { "RNN", "f32[?,1,3] f32[1,2,3] f32[1,2,2]", "hidden_size=2", "0" },
  { "MaxPool", "f32[1,2,5,6]", "kernel_shape=2,3", "192" },
  { "AveragePool", "f32[1,2,5]", "kernel_shape=3", "18" },
  { "LpPool", "f32[1,2,5]", "kernel_shape=5", "10" },
  { "GlobalMaxPool", "f32[1,2,5,6]", "", "60" },
  { "GlobalLpPool", "f32[1,2,5]", "", "10" },
  { "ReduceMax", "f32[3,4] i64[1]=0", "", "12" },
  { "ReduceLogSumExp", "f32[3,4] i64[1]=1", "", "12" },
  { "ArgMin", "f32[3,4]", "", "12" },
  { "TopK", "f32[3,4] i64[1]=2", "", "12" },
  { "Relu", "f32[3,4]", "", "12" },
  { "Add", "f32[3,1] f32[4]", "", "12" },
  { "Relu", "f32[3,?]", "", "0" },
  { "NonZero", "f32[3,4]", "", "0" },
};

static AxonModel *
infer_case (const NodeCase *c)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  AxonNode *node;
  AxonModel *model = node_case_build (c, 1, FALSE, inputs, &node);
  axon_model_infer_shapes (model, &error);
  g_assert_no_error (error);
  return model;
}

static void
a_node_is_that_many_operations (gconstpointer data)
{
  const NodeCase *c = data;
  g_autoptr (AxonModel) model = infer_case (c);
  g_assert_cmpfloat (axon_model_get_flops (model), ==, g_ascii_strtod (c->says, NULL));
}

/* Constants, and what lives at the same time. */
static const NodeCase bytes[] = {
  { "Relu", "f32[3,4]", "", "96" },
  { "Relu", "f16[3,4]", "", "48" },
  { "Relu", "f32[3,?]", "", "0" },
  { "Add", "f32[3,4] f32[4]=1", "", "112" },
  { "MatMul", "f32[2,3] f32[3,4]", "", "104" },
};

static void
a_model_takes_that_many_bytes (gconstpointer data)
{
  const NodeCase *c = data;
  g_autoptr (AxonModel) model = infer_case (c);
  g_assert_cmpuint (axon_model_get_memory (model), ==, g_ascii_strtoull (c->says, NULL, 10));
}

/* Of a chain only two values live at the same time; of one that is used again at the end, three. */
static void
values_that_nobody_needs_any_more_take_no_bytes (void)
{
  for (guint again = 0; again < 2; again++) {
    TestModel t = test_model_new (13);
    AxonValue *first = test_model_input (&t, "x", AXON_DTYPE_F32, &AXON_SHAPE (10)), *v;
    g_autoptr (AxonModel) model = NULL;
    v = first = test_model_node (&t, "Relu", 1, first)->outputs[0];
    for (guint i = 0; i < 4; i++)
      v = test_model_node (&t, "Neg", 1, v)->outputs[0];
    if (again)
      v = test_model_node (&t, "Add", 2, first, v)->outputs[0];
    model = test_model_finish (&t, v);
    g_assert_cmpuint (axon_model_get_memory (model), ==, again ? 120 : 80);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (operations); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/costs/a_node_is_that_many_operations/%s-%u", operations[i].op, i);
    g_test_add_data_func (path, &operations[i], a_node_is_that_many_operations);
  }
  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/costs/a_model_takes_that_many_bytes/%s-%u", bytes[i].op, i);
    g_test_add_data_func (path, &bytes[i], a_model_takes_that_many_bytes);
  }
  g_test_add_func ("/costs/values_that_nobody_needs_any_more_take_no_bytes",
                   values_that_nobody_needs_any_more_take_no_bytes);
  return g_test_run ();
}
