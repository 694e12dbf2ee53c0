/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nodes that cannot be, one row each: refused with a message that names the node and says what is
 * wrong. Then nodes on empty tensors: a result or an error, never a trap. */
#include "axontest.h"

#include <string.h>

#define OPSET 27

typedef struct {
  const gchar *op;     /* "PRelu-6": as it was in operator set 6 */
  const gchar *inputs; /* "f32[2,3] i64[2]=1,2": a value makes it a constant; "-": left out */
  const gchar *attrs;  /* "axis=1 perm=0,0 mode:text" */
  const gchar *says;
} Case;

static const Case malformed[] = {
  { "Conv", "f32[1,3,8,8] f32[4,2,3,3]", "", "input channels" },
  { "Conv", "f32[1,3,8,8] f32[4,3,3,3]", "strides=0,1", "out of range" },
  { "Conv", "f32[1,3,8,8] f32[4,3,3,3]", "dilations=1", "expected 2 values" },
  { "Conv", "f32[1,3,2,2] f32[4,3,3,3]", "", "does not fit" },
  { "ConvTranspose", "f32[1,3,8,8] f32[4,3,3,3]", "", "input channels" },
  { "ConvTranspose", "f32[1,3,8,8] f32[3,4,3,3]", "strides=0,1", "out of range" },
  { "ConvTranspose", "f32[1,3,8,8] f32[3,4,3,3]", "pads=1", "expected 4 values" },
  { "ConvInteger", "u8[1,1,4,4] u8[2,1,2,2] u8[] u8[3]", "", "zero points" },
  { "MatMulInteger", "u8[2,3] u8[3,4] u8[5]", "", "zero points" },
  { "QLinearMatMul", "u8[2,3] f32[] u8[] u8[3,4] f32[] u8[] f32[] f32[]", "",
    "input 7: expected u8, i8, got f32" },
  { "QLinearMatMul", "u8[2,3] f32[0] u8[] u8[3,4] f32[] u8[] f32[] u8[]", "",
    "input 1: expected one element, got 0" },
  { "QLinearConv", "u8[1,1,4,4] f32[] u8[] u8[1,1,2,2] f32[] u8[] f32[] f32[]", "",
    "input 7: expected u8, i8, got f32" },
  { "QLinearConv", "u8[1,1,4,4] f32[] u8[] u8[1,1,2,2] f32[] u8[] u8[] u8[]", "",
    "input 6: expected f32, f16, f64, bf16, got u8" },
  { "QLinearConv", "u8[1,1,4,4] f32[] u8[] u8[1,1,2,2] f32[] u8[] f32[] u8[] f32[1]", "",
    "input 8: expected i32, got f32" },
  { "QLinearConcat", "f32[] u8[] u8[1,2] f32[] u8[] u8[1,2] f32[] -", "axis=1",
    "input 7 is required" },
  { "QLinearConcat", "f32[] u8[] u8[1,2] f32[] u8[] u8[1,2]", "axis=1", "three inputs per" },
  { "QLinearConcat", "f32[] u8[] u8[1,2] f32[] u8[] u8[1,2] u8[] u8[]", "axis=1",
    "input 6: expected f32, f16, f64, bf16, got u8" },
  { "QLinearGlobalAveragePool", "u8[1,2,4,4] f32[] u8[] f32[] u8[]", "channels_last=1",
    "channels_last is not supported" },
  { "QLinearMul", "i8[2,3] f32[] i8[] u8[3] f32[] u8[] f32[] i8[]", "",
    "input 3: expected i8, got u8" },
  { "MatMulInteger", "u8[2,3] f32[3,4]", "", "input 1: expected u8, i8, got f32" },
  { "DeformConv", "f32[1,4,5,5] f32[4,4,2,2] f32[1,4,4,4]", "", "offsets must be" },
  { "MaxPool", "f32[1,3,8,8]", "kernel_shape=0,2", "out of range" },
  { "LpPool", "f32[1,3,8,8]", "kernel_shape=2,2 p=0", "expected 1 or more" },
  { "MaxUnpool", "f32[1,1,2,2] i64[1,1,2,2]", "kernel_shape=2", "do not fit" },
  { "RoiAlign", "f32[1,2,8,8] f32[3,4] i64[3]", "output_height=-1", "out of range" },
  { "Gather", "f32[4] f32[2]", "", "i32 or i64" },
  { "Gather", "f32[4] i64[2]", "axis=3", "outside" },
  { "GatherElements", "f32[4,2] i64[4]", "", "rank" },
  { "GatherND", "f32[4,2] i64[2,3]", "", "do not fit" },
  { "GatherND", "f32[2,3] i64[4,1]", "batch_dims=1", "batch dimension 0 differs" },
  { "GatherND", "f32[2,3,5] i64[2,4,1]", "batch_dims=2", "batch dimension 1 differs" },
  { "ScatterElements", "f32[4] i64[2] f32[3]", "", "fits neither" },
  { "ScatterElements", "f32[4] i64[2] f32[2]", "reduction:div", "expected none, add" },
  { "ScatterND", "f32[4,4] i64[2,1] f32[2,3]", "", "expected 4" },
  { "Transpose", "f32[2,3]", "perm=0,0", "no permutation" },
  { "Reshape", "f32[2,3] i64[1]=4", "", "do not fit" },
  { "Reshape", "f32[8,8,0] i64[2]=8,8", "", "do not fit" },
  { "Squeeze", "f32[8,8,2] i64[1]=2", "", "only 1 can be squeezed" },
  { "Squeeze", "f32[8,8,0] i64[1]=2", "", "only 1 can be squeezed" },
  { "Concat", "f32[2,3] f32[3,3]", "axis=1", "dimension 0" },
  { "Split", "f32[6] i64[2]=3,4", "num_outputs=2", "add up" },
  { "Split", "f32[6] i64[2]=9223372036854775807,1", "num_outputs=2", "add up" },
  { "Slice", "f32[6] i64[1]=0 i64[1]=3 i64[1]=0 i64[1]=0", "", "step is 0" },
  { "Pad", "f32[2] i64[3]=1,1,1", "", "expected 2 values" },
  { "Pad", "f32[9223372036854775807,0] i64[4]=0,0,3,0", "", "too large" },
  { "CumSum", "f32[2,3] i64[2]=0,1", "", "expected one element" },
  { "CumSum", "f32[2,3] i64[2]", "", "expected one element" },
  { "BitCast", "f32[2,3]", "to=7", "differ in size" },
  { "Pad", "f32[2] i64[2]=1,1", "mode:mirror", "expected constant" },
  { "Expand", "f32[2,3] i64[2]=2,4", "", "broadcast" },
  { "Tile", "f32[2] i64[2]=1,2", "", "expected 1 repeats" },
  { "TopK", "f32[4] i64[1]=9", "", "k is 9" },
  { "OneHot", "i64[3] i64[]=0 f32[2]", "", "depth is 0" },
  { "Range", "f32[]=0 f32[]=1 f32[]=0", "", "delta is 0" },
  { "Einsum", "f32[2,3] f32[4,5]", "equation:ij,jk->ik", "\"j\" is" },
  { "Einsum", "f32[2,5] f32[0,3]", "equation:ij,jk->ik", "\"j\" is" },
  { "Einsum", "f32[2,3]", "equation:ij,jk", "expected 1 terms" },
  { "Einsum", "f32[2,3]", "equation:i+j", "unexpected" },
  { "Det", "f32[2,3]", "", "not square" },
  { "DepthToSpace", "f32[1,6,2,2]", "blocksize=2", "does not divide" },
  { "SpaceToDepth", "f32[1,6,3,2]", "blocksize=2", "does not divide" },
  { "SpaceToDepth", "f32[1,6,4,4]", "blocksize=4294967296", "out of range" },
  { "Resize", "f32[1,1,4,4] - f32[2]=1,2", "", "expected 4 values" },
  { "Resize", "f32[1,1,4,4] - f32[4]=1,1,-2,2", "", "out of range" },
  { "Resize", "f32[4] - f32[1]=2", "antialias=1 mode:nearest", "linear or cubic" },
  { "GridSample", "f32[1,1,4,4] f32[1,3,3,3]", "", "grid must be" },
  { "AffineGrid", "f32[1,2,3] i64[3]=1,1,4", "", "theta must be" },
  { "Col2Im", "f32[1,5,4] i64[2]=5,5 i64[2]=1,5", "", "not [N, C" },
  { "CenterCropPad", "f32[2,3] i64[1]=4", "", "expected 2" },
  { "NonMaxSuppression", "f32[1,6,4] f32[1,1,5]", "", "boxes must be" },
  { "LayerNormalization", "f32[2,3] f32[4]", "", "broadcast" },
  { "GroupNormalization", "f32[1,6,2] f32[6] f32[6]", "num_groups=4", "do not divide" },
  { "BatchNormalization", "f32[1,3,2] f32[3] f32[3] f32[3] f32[2]", "", "expected 3" },
  { "LRN", "f32[1,3,2,2]", "size=0", "size is 0" },
  { "LpNormalization", "f32[3]", "p=3", "expected 1 or 2" },
  { "NegativeLogLikelihoodLoss", "f32[2,3] i64[2]", "reduction:max", "expected none" },
  { "SoftmaxCrossEntropyLoss", "f32[2,3,4] i64[2]", "", "rank" },
  { "LSTM", "f32[5,1,3] f32[1,8,3] f32[1,12,2]", "hidden_size=2", "do not fit" },
  { "GRU", "f32[5,1,3] f32[1,6,3] f32[1,6,2] f32[3]", "", "must have" },
  { "DFT", "f32[4,3] - i64[]=0", "", "must be 1 (real) or 2" },
  { "DFT", "f32[4,1] - i64[]=1", "", "real and imaginary" },
  { "STFT", "f32[1,8,1] i64[]=0 f32[4]", "", "fit neither" },
  { "HannWindow", "i64[]=-4", "", "negative" },
  { "BitShift", "u8[2] u8[2]", "direction:UP", "expected LEFT" },
  { "QuantizeLinear", "f32[2,6] f32[5]", "axis=1", "5 scales" },
  { "QuantizeLinear", "f32[] f32[3]", "", "outside" },
  { "QuantizeLinear", "f32[2,6] f32[2,4]", "axis=1 block_size=2", "expected 3" },
  { "DequantizeLinear", "u8[2,6] f32[2,3]", "axis=1", "expected 6" },
  { "Attention", "f32[1,4,2,8] f32[1,3,2,8] f32[1,3,2,8]", "", "evenly" },
  { "Attention", "f32[1,2,12] f32[1,2,12] f32[1,2,12]", "q_num_heads=5 kv_num_heads=5",
    "does not divide" },
  { "LinearAttention", "f32[1,2,8] f32[1,2,8] f32[1,2,8] - f32[1,2,2]",
    "q_num_heads=2 kv_num_heads=2 update_rule:linear", "takes no decay" },
  { "LinearAttention", "f32[1,2,8] f32[1,2,8] f32[1,2,8]",
    "q_num_heads=3 kv_num_heads=2 update_rule:linear", "multiple" },
  { "LinearAttention", "f32[1,2,8] f32[1,3,8] f32[1,2,8]",
    "q_num_heads=2 kv_num_heads=2 update_rule:linear", "another batch or length" },
  { "ReverseSequence", "f32[4] i64[1]", "", "expected" },
  { "TfIdfVectorizer", "i64[4]",
    "mode:TF min_gram_length=1 max_gram_length=2 max_skip_count=0 ngram_counts=2,0 "
    "ngram_indexes=0,1 pool_int64s=5,6",
    "ngram_counts[1]" },
  { "MeanVarianceNormalization", "f32[1,2,4,4]", "axes=1,7", "axis 7" },
  { "CausalConvWithState", "f32[1,4,8] f32[3,1,2]", "", "expected [4, 1, k]" },
  { "CausalConvWithState", "f32[1,4,8] f32[4,1,2]", "activation:relu", "expected none" },
  { "ImageDecoder", "u8[9]", "pixel_format:YUV", "expected RGB" },
  { "RotaryEmbedding", "f32[1,2,3,5] f32[3,2] f32[3,2]", "", "odd or more" },
  { "ReverseSequence", "f32[2,3] i64[3]", "batch_axis=2", "0 and 1" },
  { "Cast", "f32[2]", "to=99", "cast to type" },
  { "Add", "f32[2] i64[2]", "", "input 1: expected f32 as input 0, got i64" },
  { "Clip", "f32[2] f32[] f64[]", "", "input 2: expected f32 as input 0, got f64" },
  { "SwiGLU", "f32[2] f32[1]", "", "differ in shape" },
  { "Mean", "f32[2] f32[3]", "", "broadcast" },
  { "PRelu", "f32[2] f32[3]", "", "broadcast" },
  { "PRelu-6", "f32[2,4] f32[3]", "", "3 values, the input 4 channels" },
  { "PRelu-6", "f32[2] f32[3]", "", "3 values, the input 2 channels" },
  { "PRelu-6", "f32[1,4,1] f32[3,0]", "", "0 values, the input 4 channels" },
  { "Einsum", "f32[3] -", "equation:i,i", "input 1 is required" },
  { "LSTM", "f32[1,2,3] f32[1,8,3] f32[1,8,2] bool[1,16]", "hidden_size=2",
    "input 3: expected f32, got bool" },
  { "Trilu", "f32[4,4] i8[]", "", "input 1: expected i64, got i8" },
  { "Trilu", "f32[4,4] i64[3]", "", "input 1: expected one element, got 3" },
  { "Pad", "f32[2] i64[2]=1,1 u8[]", "", "input 2: expected f32, got u8" },
  { "Pow", "f32[2] bool[2]", "", "input 1: expected" },
  { "DequantizeLinear", "u8[2] u8[]", "", "input 1: expected f32, f16, f64, bf16, f8e8m0" },
  { "Compress", "f32[2] f32[2]", "", "input 1: expected bool, got f32" },
  { "Where", "bool[2] f32[2] i64[2]", "", "Y is" },
};

static const Case empty[] = {
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

/* "f32[2,3]=1,2": a tensor, zeroed but for the values; NULL: there can be none of such a @shape. */
static AxonTensor *
parse_tensor (const gchar *text, AxonDType *dtype, AxonShape *shape, gboolean *has_values)
{
  g_auto (GStrv) halves = g_strsplit (text, "=", 2);
  const gchar *bracket = strchr (halves[0], '[');
  g_autofree gchar *name = g_strndup (halves[0], (gsize)(bracket - halves[0]));
  g_autofree gchar *dims = g_strndup (bracket + 1, strlen (bracket) - 2);
  g_auto (GStrv) values = g_strsplit (halves[1] ? halves[1] : "", ",", -1);
  AxonTensor *tensor;
  *has_values = halves[1] != NULL;
  *dtype = axon_dtype_from_name (name);
  *shape = (AxonShape){ 0 };
  for (gchar *at = dims; *at != '\0'; at += *at == ',')
    shape->dims[shape->rank++] = g_ascii_strtoll (at, &at, 10);
  tensor = axon_tensor_new (*dtype, shape, NULL);
  if (tensor == NULL)
    return NULL;
  memset (axon_tensor_get_data (tensor), 0, axon_tensor_get_n_bytes (tensor));
  for (guint i = 0; i < axon_tensor_get_numel (tensor) && values[i] != NULL; i++)
    axon_dtype_store (axon_tensor_get_dtype (tensor), axon_tensor_get_data (tensor), i,
                      g_ascii_strtod (values[i], NULL));
  return tensor;
}

static void
set_attr (AxonNode *node, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit_set (text, "=:", 2);
  g_auto (GStrv) items = g_strsplit (words[1], ",", -1);
  const AxonAttrSpec *spec = node->op->attrs;
  gint64 ints[8];
  guint n = 0;
  if (strchr (text, '=') == NULL ||
      (strchr (text, ':') && strchr (text, ':') < strchr (text, '='))) {
    axon_node_set_string (node, words[0], words[1]);
    return;
  }
  for (; items[n] != NULL; n++)
    ints[n] = g_ascii_strtoll (items[n], NULL, 10);
  while (spec->name != NULL && !g_str_equal (spec->name, words[0]))
    spec++;
  if (spec->type == AXON_ATTR_INTS)
    axon_node_set_ints (node, words[0], ints, n);
  else
    axon_node_set_int (node, words[0], ints[0]);
}

static const AxonOp *
find_op (const gchar *text, gint64 *opset)
{
  g_auto (GStrv) words = g_strsplit (text, "-", 2);
  const gchar *name = words[0];
  const AxonOp *op;
  *opset = words[1] ? g_ascii_strtoll (words[1], NULL, 10) : OPSET;
  op = axon_builtin_op (NULL, name, *opset);
  op = op ? op : axon_builtin_op ("ai.onnx.preview.training", name, 1);
  return op ? op : axon_builtin_op ("com.microsoft", name, 1);
}

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

/* The model of one node, not yet inferred. @inputs gets what the graph's inputs are to be. */
static AxonModel *
build (const Case *c, gboolean constants, GPtrArray *inputs, AxonNode **node)
{
  gint64 opset;
  const AxonOp *op = find_op (c->op, &opset);
  TestModel t = test_model_new (opset);
  g_auto (GStrv) texts = g_strsplit (c->inputs, " ", -1);
  g_auto (GStrv) attrs = g_strsplit (c->attrs, " ", -1);
  AxonValue *in[8] = { NULL }, *out[3] = { axon_model_add_value (t.model, "y"), NULL };
  guint n = g_strv_length (texts), n_out = count_outputs (c->op);
  g_assert_nonnull (op);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("x%u", i);
    g_autoptr (AxonTensor) tensor = NULL;
    gboolean has_values;
    AxonDType dtype;
    AxonShape shape;
    if (g_str_equal (texts[i], "-"))
      continue;
    tensor = parse_tensor (texts[i], &dtype, &shape, &has_values);
    if (has_values || (constants && i > 0)) {
      in[i] = axon_model_add_constant (t.model, name, tensor);
      continue;
    }
    in[i] = test_model_input (&t, name, dtype, &shape);
    if (tensor != NULL)
      g_ptr_array_add (inputs, g_steal_pointer (&tensor));
  }
  for (guint i = 1; i < n_out; i++) {
    g_autofree gchar *name = g_strdup_printf ("y%u", i);
    out[i] = axon_model_add_value (t.model, name);
  }
  *node = axon_model_add_node (t.model, op, opset, "bad", in, n, out, n_out);
  for (guint i = 0; attrs[i] != NULL && *attrs[i] != '\0'; i++)
    set_attr (*node, attrs[i]);
  axon_model_add_output (t.model, out[0]);
  return t.model;
}

static void
a_malformed_node_is_refused_and_named (gconstpointer data)
{
  const Case *c = data;
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
compile_and_run (const Case *c, gboolean constants, const gchar *device)
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
  const Case *c = data;
  for (guint d = 0; d < 4; d++) {
    g_autoptr (GError) error = compile_and_run (c, d / 2 == 1, devices[d % 2]);
    if (c->says != NULL)
      g_assert_nonnull (error);
    if (c->says != NULL && !g_str_equal (devices[d % 2], "GPU")) /* which has no such kernel */
      g_assert_nonnull (strstr (error->message, c->says));
  }
}

#define ADD_TABLE(table, func)                                                                     \
  for (guint i = 0; i < G_N_ELEMENTS (table); i++) {                                               \
    g_autofree gchar *path = g_strdup_printf ("/malformed/" #func "/%s-%u", table[i].op, i);       \
    g_test_add_data_func (path, &table[i], func);                                                  \
  }

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD_TABLE (malformed, a_malformed_node_is_refused_and_named);
  ADD_TABLE (empty, an_empty_or_zero_input_traps_nothing);
  return g_test_run ();
}
