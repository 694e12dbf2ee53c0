/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which builder takes which operator. Elementwise operators are in gpuelementops.c. */
#include "kernels/kernels.h"

#define ROW(name, impl, build)                                                                     \
  {                                                                                                \
    NULL, name, impl, build                                                                        \
  }

const GpuKernel gpu_kernels[] = {
  ROW ("Reshape", "view", gpu_build_view),
  ROW ("Flatten", "view", gpu_build_view),
  ROW ("Squeeze", "view", gpu_build_view),
  ROW ("Unsqueeze", "view", gpu_build_view),
  ROW ("Identity", "view", gpu_build_view),
  ROW ("Dropout", "view", gpu_build_dropout),
  ROW ("Shape", "constant", gpu_build_known),
  ROW ("Size", "constant", gpu_build_known),
  ROW ("Constant", "constant", gpu_build_known),
  ROW ("ConstantOfShape", "constant", gpu_build_known),
  ROW ("Range", "constant", gpu_build_known),
  ROW ("Transpose", "move", gpu_build_transpose),
  ROW ("Slice", "move", gpu_build_slice),
  ROW ("Split", "move", gpu_build_split),
  ROW ("Concat", "move", gpu_build_concat),
  ROW ("Expand", "move", gpu_build_expand),
  ROW ("Tile", "move", gpu_build_tile),
  ROW ("DepthToSpace", "move", gpu_build_depth_space),
  ROW ("SpaceToDepth", "move", gpu_build_depth_space),
  ROW ("Pad", "pad", gpu_build_pad),
  ROW ("Gather", "gather", gpu_build_gather),
  ROW ("GatherElements", "gather", gpu_build_gather_elements),
  ROW ("GatherND", "gather", gpu_build_gather_nd),
  ROW ("ScatterElements", "scatter", gpu_build_scatter_elements),
  ROW ("Scatter", "scatter", gpu_build_scatter_elements),
  ROW ("ScatterND", "scatter", gpu_build_scatter_nd),
  ROW ("OneHot", "gather", gpu_build_one_hot),
  ROW ("Trilu", "move", gpu_build_trilu),
  ROW ("ReverseSequence", "move", gpu_build_reverse_sequence),
  ROW ("ReduceSum", "reduce", gpu_build_reduce),
  ROW ("ReduceMean", "reduce", gpu_build_reduce),
  ROW ("ReduceMax", "reduce", gpu_build_reduce),
  ROW ("ReduceMin", "reduce", gpu_build_reduce),
  ROW ("ReduceProd", "reduce", gpu_build_reduce),
  ROW ("ReduceL1", "reduce", gpu_build_reduce),
  ROW ("ReduceL2", "reduce", gpu_build_reduce),
  ROW ("ReduceSumSquare", "reduce", gpu_build_reduce),
  ROW ("ReduceLogSum", "reduce", gpu_build_reduce),
  ROW ("ReduceLogSumExp", "reduce", gpu_build_reduce),
  ROW ("GlobalAveragePool", "reduce", gpu_build_global_pool),
  ROW ("GlobalMaxPool", "reduce", gpu_build_global_pool),
  ROW ("GlobalLpPool", "reduce", gpu_build_global_pool),
  ROW ("ArgMax", "reduce", gpu_build_arg_reduce),
  ROW ("ArgMin", "reduce", gpu_build_arg_reduce),
  ROW ("TopK", "topk", gpu_build_top_k),
  ROW ("CumSum", "cumulate", gpu_build_cumulate),
  ROW ("CumProd", "cumulate", gpu_build_cumulate),
  ROW ("Softmax", "softmax", gpu_build_softmax),
  ROW ("LogSoftmax", "softmax", gpu_build_softmax),
  ROW ("Hardmax", "softmax", gpu_build_softmax),
  ROW ("LayerNormalization", "normalize", gpu_build_layer_norm),
  ROW ("RMSNormalization", "normalize", gpu_build_layer_norm),
  ROW ("InstanceNormalization", "normalize", gpu_build_instance_norm),
  ROW ("GroupNormalization", "normalize", gpu_build_group_norm),
  ROW ("LpNormalization", "normalize", gpu_build_lp_norm),
  ROW ("LRN", "normalize", gpu_build_lrn),
  ROW ("MatMul", "matmul", gpu_build_matmul),
  ROW ("Gemm", "matmul", gpu_build_gemm),
  ROW ("Conv", "conv", gpu_build_conv),
  ROW ("QLinearConv", "conv", gpu_build_qlinear_conv),
  ROW ("ConvTranspose", "deconv", gpu_build_deconv),
  ROW ("MaxPool", "pool", gpu_build_pool),
  ROW ("AveragePool", "pool", gpu_build_pool),
  ROW ("LpPool", "pool", gpu_build_pool),
  ROW ("Resize", "resize", gpu_build_resize),
  ROW ("Upsample", "resize", gpu_build_resize),
  ROW ("GridSample", "gather", gpu_build_grid_sample),
  ROW ("LSTM", "lstm", gpu_build_lstm),
  { AXON_DOMAIN_AXON, "ImageToTensor", "image", gpu_build_image },
};
const guint gpu_n_kernels = G_N_ELEMENTS (gpu_kernels);

GPtrArray *
gpu_kernel_names (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < gpu_n_kernels; i++)
    g_ptr_array_add (names,
                     g_strdup_printf ("%s:%s=%s",
                                      gpu_kernels[i].domain ? gpu_kernels[i].domain : "ai.onnx",
                                      gpu_kernels[i].name, gpu_kernels[i].impl));
  gpu_element_add_names (names);
  return names;
}
