/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether a convolution of floats runs on our kernels or on oneDNN's.
 *
 * oneDNN's dense products are at the peak, and its layout is channels last where the processor has
 * AVX-512: there every node is chosen by itself, and on several threads its parts lose less than
 * ours do. That holds for pictures, too: changing their layout and oneDNN's product take as long as
 * ours, which reads their planes as they lie. Few pixels by many weights are ours. Elsewhere it
 * wants blocks of channels, and every change of layout costs a pass over memory, so a graph is
 * decided as a whole: ours are faster where much of the work is followed by slopes (PRelu), or
 * makes pictures of few channels by wide filters, or channels are put together that do not fill
 * blocks. Grouped and transposed convolutions are always ours: oneDNN multiplies matrices for the
 * first, of which ours read blocks as they lie where groups fill them, and computes the others from
 * the far end. So are those followed by slopes, and in graphs of blocks those that are padded far,
 * depthwise ones of which rows are tiles, and those of one pixel.
 * Functions that oneDNN computes slowly (SiLU and the like) are a pass of ours over what its
 * kernels leave, which are so much faster. */
#include "convchoice.h"
#include "convfinish.h"
#include "convparts.h"
#include "convshape.h"

#include "../cpuchoice.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../onednn/cpudnn.h"

#define LEAST_CHANNELS 16 /* that are summed for a pixel, in half precision or bf16 */

/* oneDNN's own limits of what it fuses at no cost. */
static gboolean
is_cheap (const gchar *name)
{
  static const gchar *const cheap[] = { "sum", "Relu", "Clip", "LeakyRelu", NULL };
  return g_strv_contains (cheap, name);
}

static gboolean
has_dear_posts (const AxonNode *node)
{
  const AxonAttr *names = axon_node_find_attr (node, "axon.posts");
  for (guint i = 0; names != NULL && i < names->n; i++)
    if (!is_cheap (names->strings[i]))
      return TRUE;
  return FALSE;
}

/* Slopes are a pass of their own of oneDNN's, which knows no vectors in blocks of channels. */
static gboolean
has_slopes (const AxonNode *node)
{
  const AxonAttr *names = axon_node_find_attr (node, "axon.posts");
  return names != NULL && g_strv_contains ((const gchar *const *)names->strings, "PRelu");
}

static gboolean
is_conv (const AxonNode *node)
{
  return (axon_node_is (node, "Conv") || axon_node_is (node, "ConvTranspose")) &&
         axon_node_get_input (node, 1) != NULL && node->inputs[0]->type.dtype == AXON_DTYPE_F32;
}

static gboolean
is_grouped (const AxonNode *node)
{
  return axon_node_get_int (node, "group") > 1;
}

gboolean
cpu_conv_is_depthwise (const AxonNode *node)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  return is_grouped (node) && w->dims[1] == 1 && w->dims[0] == axon_node_get_int (node, "group");
}

/* oneDNN multiplies matrices of one row for each channel. */
static gboolean
is_depthwise_volume (const AxonNode *node)
{
  return node->inputs[1]->type.shape.rank == 5 && cpu_conv_is_depthwise (node);
}

/* Along one dimension, for which oneDNN has no kernels where it is grouped, dilated, or long. */
static gboolean
is_line (const AxonNode *node)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  return w->rank == 3 && w->dims[2] > 1;
}

/* Of a wave, or of many, each by itself: oneDNN multiplies one pair of numbers at a time then, on
 * any number of threads. For us a filter is one run, or channels are the lanes. */
static gboolean
is_of_wave (const AxonNode *node)
{
  return is_line (node) && node->inputs[1]->type.shape.dims[1] == 1;
}

static gdouble
products (const AxonNode *node)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  const AxonShape *pixels =
      axon_node_is (node, "Conv") ? &node->outputs[0]->type.shape : &node->inputs[0]->type.shape;
  return (gdouble)axon_shape_get_numel (w) * (gdouble)axon_shape_get_numel (pixels) /
         (gdouble)MAX (pixels->dims[1], 1);
}

#define FARTHEST 3 /* columns before the first one, that oneDNN's kernels for blocks may meet */

/* Dilated or wide, so that pictures are padded by more: oneDNN multiplies matrices, which takes
 * twice as long. */
static gboolean
is_far (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *w = &node->inputs[1]->type.shape;
  AxonWindow window;
  return axon_node_is (node, "Conv") && !is_grouped (node) && x->rank == 4 &&
         axon_window_init (&window, node, x, w->dims + 2, FALSE, NULL) && window.pad[2] > FARTHEST;
}

/* What oneDNN's dense products in blocks are faster by than ours. */
#define GAIN 0.125

/* How often oneDNN takes the time of a full block for one that filters of some width leave partly
 * empty. */
#define EMPTY 2.5

static gboolean
has_groups_in_blocks (const AxonNode *node)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  gint64 groups = axon_node_get_int (node, "group");
  return cpu_conv_fits_blocks (w->dims[1], groups, CPU_DNN_BLOCK) &&
         cpu_conv_fits_blocks (w->dims[0] / groups, groups, CPU_DNN_BLOCK);
}

/* What blocks of channels lose, by products of ours. */
static gdouble
loss_of (const AxonNode *node)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  if ((has_dear_posts (node) && !cpu_can_finish_conv (node)) ||
      axon_node_is (node, "ConvTranspose") || is_line (node) || is_far (node) ||
      (is_grouped (node) && !cpu_conv_is_depthwise (node) && !has_groups_in_blocks (node)))
    return products (node) * 2 * GAIN;
  if (!is_grouped (node) && w->rank == 4 && w->dims[2] > 1 && w->dims[3] > 1 &&
      w->dims[0] < CPU_DNN_BLOCK)
    return products (node) * MAX (EMPTY * CPU_DNN_BLOCK / (gdouble)MAX (w->dims[0], 1) - 2, 0);
  return 0;
}

/* Products that take as long as moving an element out of blocks and into them again. */
#define MOVED 40

/* Elements of a picture that leave blocks of channels for @node: of parts that end within a block,
 * or to which channels are added. */
static gdouble
elements_out_of_blocks (const AxonNode *node)
{
  gboolean joins = axon_node_is (node, "Concat"), moves = FALSE;
  const AxonShape *y;
  if (!joins && !axon_node_is (node, "Pad"))
    return 0;
  y = &node->outputs[0]->type.shape;
  if (y->rank != 4 || node->outputs[0]->type.dtype != AXON_DTYPE_F32)
    return 0;
  if (!joins)
    moves = y->dims[1] != node->inputs[0]->type.shape.dims[1];
  else if ((axon_node_get_int (node, "axis") + 4) % 4 == 1)
    for (guint i = 0; i + 1 < node->n_inputs; i++)
      moves |= node->inputs[i]->type.shape.dims[1] % CPU_DNN_BLOCK != 0;
  return moves ? (gdouble)axon_shape_get_numel (y) : 0;
}

gboolean
cpu_conv_prefers_channels_last (const AxonModel *model)
{
  gdouble all = 0, lost = 0;
  gboolean chosen;
  if (cpu_dnn_is_channels_last () || !cpu_dnn_has_kernels ())
    return TRUE;
  if (cpu_choice_of_layout (model, &chosen))
    return chosen;
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    lost += elements_out_of_blocks (node) * MOVED;
    if (!is_conv (node))
      continue;
    all += products (node);
    lost += loss_of (node);
  }
  return lost > all * GAIN;
}

/* Of fewer channels than vectors have, which oneDNN leaves partly empty. */
static gboolean
is_narrow (const AxonNode *node)
{
  return cpu_conv_is_depthwise (node) &&
         node->inputs[0]->type.shape.dims[1] < cpu_isa_get ()->vector->floats.lanes;
}

#define FEW_PIXELS 64

static gint64
count_pixels (const AxonNode *conv)
{
  const AxonShape *y = &conv->outputs[0]->type.shape;
  return axon_shape_get_numel (y) / MAX (y->dims[1], 1);
}

static gboolean
is_pointwise (const AxonNode *conv)
{
  const AxonShape *w = &conv->inputs[1]->type.shape;
  return axon_shape_get_numel (w) == w->dims[0] * w->dims[1];
}

/* As in squeeze and excite, where oneDNN's call takes longer than the products. */
static gboolean
is_of_one_pixel (const AxonNode *node)
{
  return is_pointwise (node) && count_pixels (node) == 1;
}

/* For one thread, of so few pixels that what comes in is weights, of which ours fetch the next ones
 * from beyond the second cache. */
static gboolean
is_of_weights (const AxonNode *node, guint threads)
{
  gsize bytes = (gsize)axon_shape_get_numel (&node->inputs[1]->type.shape) * sizeof (gfloat);
  return threads == 1 && is_pointwise (node) && count_pixels (node) <= FEW_PIXELS &&
         bytes > cpu_second_cache () / 4;
}

/* Channels of a group: those that are summed, and those of the result. A matrix of weights is a
 * convolution by 1x1. */
static gboolean
read_channels (const AxonNode *node, gint64 *in, gint64 *out)
{
  const AxonShape *w = &node->inputs[1]->type.shape;
  if (axon_node_is (node, "Conv")) {
    *in = w->dims[1];
    *out = w->dims[0] / axon_node_get_int (node, "group");
  } else if (axon_node_is (node, "ConvTranspose")) {
    *in = w->dims[0] / axon_node_get_int (node, "group");
    *out = w->dims[1];
  } else if (w->rank >= 2) {
    gboolean turned = axon_node_is (node, "Gemm") && axon_node_get_int (node, "transB") != 0;
    *in = w->dims[w->rank - (turned ? 1 : 2)];
    *out = w->dims[w->rank - (turned ? 2 : 1)];
  } else {
    return FALSE;
  }
  return TRUE;
}

/* Where vectors of halves are mostly full, and sums long enough to pay for making halves of what is
 * summed. */
gboolean
cpu_conv_takes_halves (const CpuPlan *plan, const AxonNode *node)
{
  gint64 in, out, lanes, padded;
  if (plan->products != AXON_DTYPE_F16 || !read_channels (node, &in, &out))
    return FALSE;
  lanes = cpu_isa_get ()->vector->halves->lanes;
  padded = (out + lanes - 1) / lanes * lanes;
  return in >= LEAST_CHANNELS && padded * 3 <= out * 4;
}

gboolean
cpu_conv_takes_bf16 (const CpuPlan *plan, const AxonNode *node)
{
  gint64 in, out;
  return plan->products == AXON_DTYPE_BF16 && axon_node_is (node, "Conv") && !is_grouped (node) &&
         read_channels (node, &in, &out) && in >= LEAST_CHANNELS && out >= LEAST_CHANNELS &&
         products (node) >= CPU_CONV_SMALL * plan->n_threads;
}

/* TRUE if source and result fill blocks of channels, so that ours read and write them as they lie,
 * and are faster. Few pixels by many weights stay oneDNN's: it cuts what is summed, so that it
 * depends less on the second cache. */
static gboolean
is_own_in_blocks (const AxonNode *node)
{
  const CpuFloatConvKernels *kernels = &cpu_isa_get ()->vector->floats;
  CpuConv c;
  if (!axon_node_is (node, "Conv") || node->inputs[0]->type.shape.rank != 4 ||
      !cpu_conv_init (&c, node, &node->inputs[1]->type.shape) ||
      !cpu_conv_fills_blocks (&c, CPU_DNN_BLOCK, kernels->lanes))
    return FALSE;
  return c.depthwise ? kernels->has_lines (&c) : is_of_one_pixel (node);
}

gboolean
cpu_conv_is_own (const CpuPlan *plan, const AxonNode *node)
{
  if (plan->choice != CPU_BY_RULE)
    return plan->choice == CPU_OWN;
  if (cpu_conv_takes_bf16 (plan, node))
    return FALSE;
  if (axon_node_is (node, "ConvTranspose") || (is_grouped (node) && !cpu_conv_is_depthwise (node)))
    return TRUE;
  if (is_depthwise_volume (node))
    return TRUE;
  if (cpu_conv_takes_halves (plan, node))
    return TRUE;
  if (!cpu_dnn_is_channels_last ())
    return plan->channels_last || is_far (node) || has_slopes (node) || is_own_in_blocks (node);
  if (is_of_wave (node))
    return TRUE;
  if (has_slopes (node) || is_narrow (node))
    return TRUE;
  if (is_of_one_pixel (node) || is_of_weights (node, plan->n_threads))
    return TRUE;
  return plan->n_threads == 1 && is_grouped (node);
}

gboolean
cpu_conv_is_finished_apart (const AxonNode *node)
{
  return has_dear_posts (node) && cpu_can_finish_conv (node);
}
