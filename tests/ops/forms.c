/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators meant in early opsets: every device agrees with the reference. */
#include "nodes.h"

/* Pad, Reshape and Tile took other operands in opset 1. */
static void
the_first_opset_has_its_own_operands (void)
{
  static const gint64 paddings[] = { 0, 1, 0, 1 }, shape[] = { 5, 2 };
  static const gfloat tiles[] = { 3 }, axis[] = { 1 };
  AxonShape x = AXON_SHAPE (2, 3), scalar = { 0 };
  TestModel t = test_model_new (1);
  AxonNode *pad = test_model_node (&t, "Pad", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &x));
  AxonNode *reshape = test_model_node (&t, "Reshape", 1, pad->outputs[0]);
  AxonNode *tile =
      test_model_node (&t, "Tile", 3, reshape->outputs[0], test_model_constant (&t, &scalar, tiles),
                       test_model_constant (&t, &scalar, axis));
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = test_random (&x, 30);
  g_autoptr (AxonTensor) y = NULL;
  axon_node_set_ints (pad, "paddings", paddings, 4);
  axon_node_set_ints (reshape, "shape", shape, 2);
  model = test_model_finish (&t, tile->outputs[0]);
  test_compare_devices (model, input, 0);
  y = test_run (model, test_device (), NULL, input);
  g_assert_cmpint (axon_tensor_get_dim (y, 0), ==, 5);
  g_assert_cmpint (axon_tensor_get_dim (y, 1), ==, 6);
  /* 0 a | b c | 0 0 | d e | f 0, each row three times */
  g_assert_cmpfloat (axon_tensor_get_value (y, 3), ==, axon_tensor_get_value (input, 0));
  g_assert_cmpfloat (axon_tensor_get_value (y, 4 * 6 + 4), ==, axon_tensor_get_value (input, 5));
}

typedef struct {
  const gchar *op;
  gint opset;
  gint64 shape[4];    /* of the input, 0: none */
  gint64 operands[4]; /* numbers of elements of constants, as [1, n] or [n] */
  const gchar *attrs; /* name=value or name=a,b */
} Form;

static const Form forms[] = {
  { "Add", 6, { 2, 3, 4 }, { 3 }, "broadcast=1 axis=1" },
  { "Mul", 6, { 2, 3, 4 }, { 2 }, "broadcast=1 axis=0" },
  { "Pow", 6, { 2, 3 }, { 2 }, "broadcast=1 axis=0" },
  { "Greater", 6, { 2, 3 }, { 2 }, "broadcast=1 axis=0" },
  { "PRelu", 6, { 2, 3, 4 }, { 3 }, "" },
  { "BatchNormalization", 6, { 2, 3, 4 }, { 3, 3, 3, 3 }, "is_test=1" },
  { "Dropout", 6, { 2, 3 }, { 0 }, "is_test=1" },
  { "Cast", 5, { 2, 3 }, { 0 }, "to=INT32" },
  { "Clip", 6, { 2, 3 }, { 0 }, "min=-0.5 max=0.25" },
  { "Concat", 3, { 2, 3 }, { 0 }, "" },
  { "Selu", 5, { 2, 3 }, { 0 }, "" },
  { "Split", 2, { 2, 4 }, { 0 }, "axis=1 split=4" },
  { "Slice", 9, { 3, 4 }, { 0 }, "starts=0,1 ends=2,3" },
  { "Pad", 2, { 2, 3 }, { 0 }, "pads=0,1,1,0 value=2.5" },
  { "Squeeze", 11, { 2, 1, 3 }, { 0 }, "axes=1" },
  { "Unsqueeze", 11, { 2, 3 }, { 0 }, "axes=0,2" },
  { "ReduceMean", 11, { 2, 3, 4 }, { 0 }, "axes=1 keepdims=0" },
  { "ReduceSum", 11, { 2, 3, 4 }, { 0 }, "axes=0,2" },
  { "Softmax", 11, { 2, 3, 4 }, { 0 }, "axis=1" },
  { "LogSoftmax", 11, { 2, 3, 4 }, { 0 }, "axis=0" },
  { "Hardmax", 11, { 2, 3, 4 }, { 0 }, "axis=1" },
  { "TopK", 1, { 2, 5 }, { 0 }, "k=2" },
  { "Upsample", 1, { 1, 2, 3, 3 }, { 0 }, "height_scale=1.5 width_scale=2.5" },
  { "Upsample", 7, { 1, 2, 3, 3 }, { 0 }, "scales=1.,1.,1.5,2." },
  { "Upsample", 7, { 1, 2, 3, 3 }, { 0 }, "scales=1.,1.,2.5,1.5 mode=linear" },
};

static void
an_early_form_agrees_with_the_reference (gconstpointer data)
{
  const Form *form = data;
  TestModel t = test_model_new (form->opset);
  g_auto (GStrv) attrs = g_strsplit (form->attrs, " ", -1);
  AxonShape shape = { 0 };
  AxonValue *in[5];
  guint n = 1;
  AxonNode *node;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (form->shape) && form->shape[i] != 0; i++)
    shape.dims[shape.rank++] = form->shape[i];
  in[0] = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  for (guint i = 0; i < G_N_ELEMENTS (form->operands) && form->operands[i] != 0; i++) {
    AxonShape operand = AXON_SHAPE (form->operands[i]);
    g_autoptr (AxonTensor) positive = test_random (&operand, 7 + i);
    gfloat *values = axon_tensor_get_data (positive);
    for (gint64 k = 0; k < form->operands[i]; k++)
      values[k] = values[k] * 0.25f + 1;
    in[n++] = test_model_constant (&t, &operand, values);
  }
  node = test_model_node_of (&t, NULL, form->op, in, n, 1);
  for (guint i = 0; attrs[i] != NULL && *attrs[i] != '\0'; i++)
    node_set_attr (node, attrs[i]);
  model = test_model_finish (&t, node->outputs[0]);
  input = test_random (&shape, 3);
  if (g_str_equal (form->op, "Pow"))
    for (gsize k = 0; k < axon_tensor_get_numel (input); k++)
      ((gfloat *)axon_tensor_get_data (input))[k] += 1.1f;
  test_compare_devices (model, input, 1e-5);
}

/* Gemm before opset 7 says by an attribute that C is broadcast. */
static void
an_early_gemm_agrees_with_the_reference (void)
{
  AxonShape x = AXON_SHAPE (2, 3), w = AXON_SHAPE (3, 4), bias = AXON_SHAPE (4);
  TestModel t = test_model_new (6);
  AxonNode *gemm =
      test_model_node (&t, "Gemm", 3, test_model_input (&t, "x", AXON_DTYPE_F32, &x),
                       test_model_random (&t, &w, 1), test_model_random (&t, &bias, 2));
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) input = test_random (&x, 3);
  axon_node_set_int (gemm, "broadcast", 1);
  model = test_model_finish (&t, gemm->outputs[0]);
  test_compare_devices (model, input, 1e-5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/forms/an_early_form_agrees_with_the_reference/%s-%d-%u", forms[i].op, forms[i].opset, i);
    g_test_add_data_func (path, &forms[i], an_early_form_agrees_with_the_reference);
  }
  g_test_add_func ("/forms/the_first_opset_has_its_own_operands",
                   the_first_opset_has_its_own_operands);
  g_test_add_func ("/forms/an_early_gemm_agrees_with_the_reference",
                   an_early_gemm_agrees_with_the_reference);
  return g_test_run ();
}
