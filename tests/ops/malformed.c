/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes that cannot be, one row each: refused with a message that names the node and says what is
 * wrong. Then nodes on empty tensors: a result or an error, never a trap. */
#include "nodes.h"

#include <string.h>

static const NodeCase empty[] = {
  { "GroupNormalization", "f32[2,0,4] f32[0] f32[0]", "num_groups=3", NULL },
  { "Softmax", "f32[0,4,100000]", "axis=0", NULL },
  { "Transpose", "f32[2147483647,0]", "perm=1,0", NULL },
  { "MelWeightMatrix", "i64[]=8 i64[]=16 i64[]=8192 f32[]=0 f32[]=inf", "", NULL },
  { "MelWeightMatrix", "i64[]=8 i64[]=16 i64[]=8192 f32[]=nan f32[]=8192", "", NULL },
  { "AveragePool", "f32[1,2147483647,0,0]", "kernel_shape=2,2", NULL },
  { "QLinearAveragePool", "u8[1,0,4,4] f32[]=1 u8[]=0 f32[]=1 u8[]=0", "kernel_shape=2,2", NULL },
  { "QLinearGlobalAveragePool", "u8[1,4,0,4] f32[]=1 u8[]=0 f32[]=1 u8[]=0", "", NULL },
  { "Dropout", "f32[3] f32[0] bool[]=1", "", "expected one element" },
  { "MelWeightMatrix", "i64[]=8 i64[]=16 i64[]=8192 f32[0] f32[]=8192", "",
    "expected one element" },
  { "MelWeightMatrix", "i64[]=8 i64[]=16 i64[0] f32[]=0 f32[]=8192", "", "expected one element" },
  { "Adam", "f32[0] i64[]=1 f32[2] f32[2] f32[2] f32[2]", "", "expected one element" },
  { "Adagrad", "f32[]=1 i64[0] f32[2] f32[2] f32[2]", "", "expected one element" },
  { "Momentum", "f32[0] i64[0] f32[2] f32[2] f32[2]", "mode:standard", "expected one element" },
  { "InstanceNormalization", "f32[0,3,4] f32[3] f32[3]", "", NULL },
  { "LayerNormalization", "f32[3,0] f32[0]", "", NULL },
  { "BatchNormalization", "f32[0,3,4] f32[3] f32[3] f32[3] f32[3]", "", NULL },
  { "Softmax", "f32[2,0]", "", NULL },
  { "LogSoftmax", "f32[0,3]", "", NULL },
  { "Hardmax", "f32[2,0]", "", NULL },
  { "ReduceMean", "f32[2,0] i64[1]=1", "", NULL },
  { "ReduceMax", "f32[2,0] i64[1]=1", "", NULL },
  { "ReduceSum", "f32[0,3] i64[1]=0", "", NULL },
  { "ArgMax", "f32[0,3]", "axis=1", NULL },
  { "TopK", "f32[0,3] i64[1]=2", "", NULL },
  { "TopK", "f32[2,0] i64[1]=0", "", NULL },
  { "CumSum", "f32[2,0] i64[]=1", "", NULL },
  { "Concat", "f32[2,0] f32[2,0]", "axis=1", NULL },
  { "Gather", "f32[0,3] i64[0]", "", NULL },
  { "MatMul", "f32[2,0] f32[0,3]", "", NULL },
  { "Gemm", "f32[2,0] f32[0,3]", "", NULL },
  { "Attention", "f32[1,2,0,4] f32[1,2,0,4] f32[1,2,0,4]", "", NULL },
  { "Attention", "f32[1,2,3,4] f32[1,0,3,4] f32[1,0,3,4]", "", NULL },
  { "RoiAlign", "f32[1,2,0,0] f32[1,4] i64[1]", "output_height=2 output_width=2", NULL },
  { "GridSample", "f32[1,1,0,4] f32[1,2,2,2]", "", NULL },
  { "Resize", "f32[1,1,0,4] - - i64[4]=1,1,2,4", "", NULL },
  { "LinearAttention", "f32[1,0,8] f32[1,0,8] f32[1,0,8]",
    "q_num_heads=2 kv_num_heads=2 update_rule:linear", NULL },
  { "LinearAttention", "f32[1,2,0] f32[1,2,0] f32[1,2,4]",
    "q_num_heads=2 kv_num_heads=2 update_rule:linear", NULL },
  { "CausalConvWithState", "f32[1,4,0] f32[4,1,3]", "", NULL },
  { "ImageDecoder", "u8[0]", "", NULL },
  { "ImageDecoder", "u8[9]", "", NULL },
  { "DFT", "f32[1,0,1] - i64[]=1", "", NULL },
  { "NonZero", "f32[0,3]", "", NULL },
  { "Unique", "f32[0]", "", NULL },
  { "NonMaxSuppression", "f32[1,0,4] f32[1,2,0]", "", NULL },
  { "Einsum", "f32[2,0] f32[0,3]", "equation:ij,jk->ik", NULL },
  { "Det", "f32[2,0,0]", "", NULL },
  { "Where", "bool[0] f32[1] f32[0]", "", NULL },
  { "Pow", "f32[0] f32[1]", "", NULL },
  { "Erf", "f32[0]", "", NULL },
  { "Mod", "i32[3] i32[3]", "", NULL }, /* the constants below are 0: division by it */
  { "Div", "i32[3] i32[3]", "", NULL },
};

/* Data that a run refuses. */
static const NodeCase refused[] = {
  { "Gather", "f32[3] i64[1]:3", "", "index 3 is outside dimension 3" },
  { "Gather", "f32[3] i64[1]:-4", "", "index -4 is outside dimension 3" },
  { "GatherElements", "f32[3] i64[1]:3", "", "index 3 is outside dimension 3" },
  { "GatherElements", "f32[1,3] i64[2,3]", "axis=1", "dimension 0: indices have 2, data 1" },
  { "GatherND", "f32[3,2] i64[1,2]:0,2", "", "index 2 is outside dimension 2" },
  { "GatherND", "f32[3,2] i64[1,2]:-4,0", "", "index -4 is outside dimension 3" },
  { "ScatterElements", "f32[3] i64[1]:3 f32[1]", "", "index 3 is outside dimension 3" },
  { "ScatterND", "f32[3,2] i64[1,1]:3 f32[1,2]", "", "index 3 is outside dimension 3" },
  { "TensorScatter", "f32[1,3,1] f32[1,2,1] i64[1]:2", "", "write index 3 is outside dimension 3" },
  { "TensorScatter", "f32[1,3,1] f32[1,1,1] i64[1]:-1", "", "write index -1 is outside" },
  { "TensorScatter", "f32[1,3,1] f32[1,1,1] i64[1]:-1", "mode:circular", "write index -1" },
  { "TensorScatter", "f32[2,3,1] f32[2,1,1] i64[1]", "", "one for each of 2 rows" },
  { "ReverseSequence", "f32[4,2] i64[3]", "", "expected 2 sequence lengths" },
  { "ReverseSequence", "f32[4,2] i64[2]:4,5", "", "sequence length 5 is outside [0, 4]" },
  { "ReverseSequence", "f32[4,2] i64[2]:-1,4", "", "sequence length -1 is outside" },
  { "ReverseSequence", "f32[4,2] i64[4]:2,2,2,3", "batch_axis=0 time_axis=1",
    "sequence length 3 is outside [0, 2]" },
  { "NegativeLogLikelihoodLoss", "f32[1,3] i64[1]:3", "", "index 3 is outside dimension 3" },
  { "NonMaxSuppression", "f32[1,2,4] f32[1,1,2] i64[]:1 f32[]:1.5", "",
    "iou_threshold 1.5 is outside [0, 1]" },
  { "NonMaxSuppression", "f32[1,2,4] f32[1,1,2] i64[]:1 f32[]:-1", "", "is outside [0, 1]" },
  { "MaxUnpool", "f32[1,1,2] i64[1,1,2]:0,4", "kernel_shape=2 strides=2", "outside the output" },
  { "MaxUnpool", "f32[1,1,2] i64[1,1,2]:0,-1", "kernel_shape=2 strides=2", "outside the output" },
  { "MaxUnpool", "f32[1,1,2] i64[1,1,3]", "kernel_shape=2 strides=2", "their number differs" },
  { "RoiAlign", "f32[1,1,2,2] f32[1,4] i64[1]:1", "", "index 1 is outside dimension 1" },
  { "RoiAlign", "f32[1,1,2,2] f32[1,4] i64[2]", "", "one batch index for each region" },
  { "MaxRoiPool", "f32[1,1,2,2] f32[1,5]:1,0,0,1,1", "pooled_shape=1,1",
    "index 1 is outside dimension 1" },
  { "LSTM", "f32[2,1,3] f32[1,8,3] f32[1,8,2] - i32[1]:3", "hidden_size=2",
    "sequence length 3 is outside [0, 2]" },
  { "LSTM", "f32[2,1,3] f32[1,8,3] f32[1,8,2] - i32[1]:-1", "hidden_size=2",
    "sequence length -1 is outside" },
  { "LSTM", "f32[2,1,3] f32[1,8,3] f32[1,8,2] - i32[2]", "hidden_size=2", "must have 1 elements" },
  { "LSTM", "f32[2,1,3] f32[1,8,3] f32[1,8,2] - - - - f32[1,5]", "hidden_size=2",
    "P must have 6 elements" },
  { "MelWeightMatrix", "i64[]:8 i64[]:16 i64[]:0 f32[]:0 f32[]:1", "", "must be positive" },
  { "Range", "i64[]:0 i64[]:1 i64[]:0", "", "delta is 0" },
  { "TopK", "f32[3] i64[1]:4", "", "k is 4, dimension 0 has 3" },
  { "Split", "f32[6] i64[2]:3,4", "", "add up to 7, not 6" },
  { "Split", "f32[6] i64[3]:2,2,2", "", "3 sizes for 2 outputs" },
  { "Slice", "f32[6] i64[1]:0 i64[1]:3 i64[1]:0 i64[1]:0", "", "step is 0" },
  { "Attention", "f32[1,1,2,4] f32[1,1,3,4] f32[1,1,3,4] f32[3,3]", "", "the mask cannot be" },
  { "RotaryEmbedding", "f32[1,1,2,4] f32[3,2] f32[3,2] i64[1,2]:0,3", "",
    "index 3 is outside dimension 3" },
  { "RotaryEmbedding", "f32[1,1,2,4] f32[3,1] f32[3,1] i64[1,2]", "", "rows of 2" },
};

static guint
count_outputs (const gchar *name)
{
  static const struct {
    const gchar *name;
    guint n;
  } several[] = { { "Split", 2 }, { "Adagrad", 2 }, { "Momentum", 2 }, { "Adam", 3 } };
  for (guint i = 0; i < G_N_ELEMENTS (several); i++)
    if (g_str_equal (several[i].name, name))
      return several[i].n;
  return 1;
}

static AxonModel *
build (const NodeCase *c, gboolean constants, GPtrArray *inputs, AxonNode **node)
{
  return node_case_build (c, count_outputs (c->op), constants, inputs, node);
}

static void
a_malformed_node_is_refused_and_named (gconstpointer data)
{
  const NodeCase *c = data;
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GError) error = NULL;
  AxonNode *node;
  g_autoptr (AxonModel) model = build (c, FALSE, inputs, &node);
  g_assert_false (axon_node_check (node, &error) && axon_model_infer_shapes (model, &error));
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, node->op->name));
  g_assert_nonnull (strstr (error->message, "\"bad\""));
  g_assert_nonnull (strstr (error->message, c->says));
}

/* Why it could not be compiled or run; NULL: it was. */
static GError *
compile_and_run (const NodeCase *c, gboolean constants, const gchar *device)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  AxonNode *node;
  g_autoptr (AxonModel) model = build (c, constants, inputs, &node);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  GError *error = NULL;
  if (!axon_node_check (node, &error) || !axon_model_infer_shapes (model, &error))
    return error;
  compiled = axon_core_compile_model (axon_core_get_default (), model, device, NULL, NULL, NULL,
                                      NULL, &error);
  if (compiled == NULL)
    return error;
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < inputs->len; i++)
    g_assert_true (axon_infer_request_set_input_tensor (request, i, inputs->pdata[i], NULL));
  if (!axon_infer_request_infer (request, &error))
    g_assert_nonnull (error);
  return error;
}

static void
an_empty_or_zero_input_traps_nothing (gconstpointer data)
{
  const gchar *const devices[] = { "TEMPLATE", test_device () };
  const NodeCase *c = data;
  for (guint d = 0; d < 4; d++) {
    g_autoptr (GError) error = compile_and_run (c, d / 2 == 1, devices[d % 2]);
    if (c->says != NULL)
      g_assert_nonnull (error);
    if (c->says != NULL && !g_str_equal (devices[d % 2], "GPU")) /* which has no such kernel */
      g_assert_nonnull (strstr (error->message, c->says));
  }
}

/* Whether what is wrong is a constant or only comes with the run. */
static void
data_that_cannot_be_are_refused_in_a_run (gconstpointer data)
{
  static const gchar *const devices[] = { "TEMPLATE", "CPU" };
  const NodeCase *c = data;
  for (guint d = 0; d < 2 * G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = compile_and_run (c, d / 2 == 1, devices[d % 2]);
    g_assert_nonnull (error);
    g_test_message ("%s", error->message);
    g_assert_nonnull (strstr (error->message, c->says));
  }
}

#define ADD_TABLE(table, n, func)                                                                  \
  for (guint i = 0; i < n; i++) {                                                                  \
    g_autofree gchar *path = g_strdup_printf ("/malformed/" #func "/%s-%u", table[i].op, i);       \
    g_test_add_data_func (path, &table[i], func);                                                  \
  }

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_TABLE (malformed_cases, n_malformed_cases, a_malformed_node_is_refused_and_named);
  ADD_TABLE (refused, G_N_ELEMENTS (refused), data_that_cannot_be_are_refused_in_a_run);
  ADD_TABLE (empty, G_N_ELEMENTS (empty), an_empty_or_zero_input_traps_nothing);
  return g_test_run ();
}
