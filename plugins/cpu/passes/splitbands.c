/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A depthwise convolution or a MaxPool with the convolution before it and the one by 1x1 behind it
 * (Sandler et al. 2018, "MobileNetV2") becomes bands of rows, channels last: what goes from one to
 * the next stays in the second caches. A band computes again those rows that the window meets
 * beyond it. */
#include "cpupasses.h"
#include "../cpueltwise.h"
#include "../cpupool.h"
#include "../cpuplan.h"
#include "../kernels/convchoice.h"
#include "../kernels/convparts.h"

#include <string.h>

#define MOST 3 /* nodes of a block */

/* A band computes at most one in so many rows again. */
#define AGAIN 6

/* What need not be cut, of the second caches: of one thread, and of several, which wait for each
 * other after every step; and what a band may take. */
#define FULL_ALONE 0.5
#define FULL_TOGETHER 1.25
#define NEAR 0.4

/* Nodes of which each alone reads the one before. */
typedef struct {
  AxonModel *model;
  AxonNode *nodes[MOST];
  AxonWindow windows[MOST];
  guint n;
} Block;

/* Rows. */
typedef struct {
  gint64 from, end;
} Rows;

static gboolean
is_picture (const AxonValue *value)
{
  return value->type.shape.rank == 4 && value->type.shape.dims[0] == 1;
}

/* Every row of the result meets a row of the source. */
static gboolean
meets_rows (const AxonWindow *w)
{
  gint64 reach = (w->kernel[1] - 1) * w->dilation[1];
  return w->pad[1] <= reach && w->pad_end[1] <= reach;
}

/* Of floats, with all that is fused into it. */
static gboolean
read_conv (const AxonNode *node, AxonWindow *window)
{
  const AxonValue *bias;
  if (node == NULL || !axon_node_is (node, "Conv") || !cpu_pass_is_planned (node) ||
      !is_picture (node->inputs[0]) || !axon_value_is_constant (node->inputs[1]))
    return FALSE;
  bias = axon_node_get_input (node, 2);
  return (bias == NULL || axon_value_is_constant (bias)) &&
         axon_window_init (window, node, &node->inputs[0]->type.shape,
                           node->inputs[1]->type.shape.dims + 2, FALSE, NULL) &&
         meets_rows (window);
}

static gboolean
is_pointwise (const AxonNode *conv, const AxonWindow *w)
{
  return axon_node_get_int (conv, "group") == 1 && w->kernel[1] * w->kernel[2] == 1 &&
         w->in[1] == w->out[1] && w->in[2] == w->out[2];
}

static void
add_node (Block *b, guint at, AxonNode *node, const AxonWindow *w)
{
  for (guint i = b->n++; i > at; i--) {
    b->nodes[i] = b->nodes[i - 1];
    b->windows[i] = b->windows[i - 1];
  }
  b->nodes[at] = node;
  b->windows[at] = *w;
}

static gboolean
read_pool (const AxonNode *node, AxonWindow *window)
{
  guint n = 0;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  return axon_node_is (node, "MaxPool") && cpu_pass_is_planned (node) && node->n_outputs == 1 &&
         is_picture (node->inputs[0]) && axon_node_get_int (node, "ceil_mode") == 0 && n == 2 &&
         axon_window_init (window, node, &node->inputs[0]->type.shape, kernel, FALSE, NULL) &&
         meets_rows (window);
}

static gdouble
bytes_of (const AxonValue *value)
{
  return (gdouble)axon_shape_get_numel (&value->type.shape) * sizeof (gfloat);
}

/* @node expands for a window behind it: its result, the larger one, is what shall stay near. */
static gboolean
belongs_to_next (const AxonNode *node)
{
  AxonNode *next = axon_match_only_user (node->outputs[0], NULL);
  AxonWindow w;
  return next != NULL && bytes_of (node->outputs[0]) > bytes_of (node->inputs[0]) &&
         (read_pool (next, &w) || (read_conv (next, &w) && cpu_conv_is_depthwise (next)));
}

/* @node, and what is computed with it; FALSE: nothing is. */
static gboolean
find_block (Block *b, AxonNode *node)
{
  AxonNode *before, *after;
  AxonWindow w;
  b->n = 0;
  if (!read_pool (node, &w) && (!read_conv (node, &w) || !cpu_conv_is_depthwise (node)))
    return FALSE;
  add_node (b, 0, node, &w);
  after = axon_match_only_user (node->outputs[0], "Conv");
  if (after != NULL && after->inputs[0] == node->outputs[0] && read_conv (after, &w) &&
      is_pointwise (after, &w) && !belongs_to_next (after))
    add_node (b, 1, after, &w);
  before = axon_match_input (node, 0, "Conv");
  if (before != NULL && axon_match_only_user (before->outputs[0], NULL) == node &&
      read_conv (before, &w) && axon_node_get_int (before, "group") == 1)
    add_node (b, 0, before, &w);
  return b->n > 1;
}

/* 0: as it is. */
static gint64
count_bands (const Block *b)
{
  const guint threads = cpu_parallel_width ();
  const gdouble near = (gdouble)cpu_second_cache () * threads;
  gint64 again = 0, n;
  gdouble inner = 0;
  for (guint i = 0; i + 1 < b->n; i++)
    inner += bytes_of (b->nodes[i]->outputs[0]);
  for (guint i = 1; i < b->n; i++) {
    const AxonWindow *w = &b->windows[i];
    again = MAX (again, (w->kernel[1] - 1) * w->dilation[1] + 1 - w->stride[1]);
  }
  if (inner <= near * (threads > 1 ? FULL_TOGETHER : FULL_ALONE))
    return 0;
  n = MIN ((gint64)(inner / (near * NEAR)) + 1,
           b->windows[b->n - 1].out[1] / MAX (again * AGAIN, 1));
  return n > 1 ? n : 0;
}

static AxonValue *
take_rows (const Block *b, const AxonNode *like, AxonValue *x, const Rows *rows)
{
  const gint64 axis = 2;
  AxonValue *in[] = { x, cpu_pass_add_ints (b->model, &rows->from, 1),
                      cpu_pass_add_ints (b->model, &rows->end, 1),
                      cpu_pass_add_ints (b->model, &axis, 1) };
  return cpu_pass_apply (b->model, like, "Slice", in, G_N_ELEMENTS (in));
}

/* Rows @out of node @i, of @x; its window meets @outside so many rows before and behind that. */
static AxonValue *
add_part (const Block *b, guint i, AxonValue *x, const Rows *out, const gint64 *outside)
{
  const AxonNode *node = b->nodes[i];
  const AxonWindow *w = &b->windows[i];
  const gint64 pads[] = { outside[0], w->pad[2], outside[1], w->pad_end[2] };
  AxonValue *in[CPU_CONV_SLOPES + 1] = { x };
  AxonNode *part;
  for (guint k = 1; k < node->n_inputs; k++)
    in[k] = node->inputs[k];
  if (axon_node_get_input (node, CPU_CONV_RESIDUAL) != NULL)
    in[CPU_CONV_RESIDUAL] = take_rows (b, node, in[CPU_CONV_RESIDUAL], out);
  part = cpu_pass_apply (b->model, node, node->op->name, in, node->n_inputs)->producer;
  axon_node_set_ints (part, "kernel_shape", w->kernel + 1, 2);
  axon_node_set_ints (part, "strides", w->stride + 1, 2);
  axon_node_set_ints (part, "dilations", w->dilation + 1, 2);
  axon_node_set_ints (part, "pads", pads, G_N_ELEMENTS (pads));
  if (axon_node_is (node, "Conv"))
    axon_node_set_int (part, "group", axon_node_get_int (node, "group"));
  cpu_pass_copy_posts (part, node);
  return part->outputs[0];
}

/* @rows of the block's result. */
static AxonValue *
add_band (const Block *b, const Rows *rows)
{
  Rows out[MOST + 1];
  gint64 outside[MOST][2];
  AxonValue *x;
  out[b->n] = *rows;
  for (guint i = b->n; i-- > 0;) {
    const AxonWindow *w = &b->windows[i];
    gint64 from = out[i + 1].from * w->stride[1] - w->pad[1];
    gint64 end =
        (out[i + 1].end - 1) * w->stride[1] - w->pad[1] + (w->kernel[1] - 1) * w->dilation[1] + 1;
    out[i] = (Rows){ MAX (from, 0), MIN (end, w->in[1]) };
    outside[i][0] = out[i].from - from;
    outside[i][1] = end - out[i].end;
  }
  x = take_rows (b, b->nodes[0], b->nodes[0]->inputs[0], &out[0]);
  for (guint i = 0; i < b->n; i++)
    x = add_part (b, i, x, &out[i + 1], outside[i]);
  return x;
}

/* The nodes from @first on follow @node at once: bands one after the other. */
static void
move_behind (GPtrArray *nodes, guint first, const AxonNode *node)
{
  guint at = 0, n = nodes->len - first;
  g_autofree gpointer *moved = g_memdup2 (nodes->pdata + first, n * sizeof (gpointer));
  while (nodes->pdata[at] != node)
    at++;
  memmove (nodes->pdata + at + 1 + n, nodes->pdata + at + 1, (first - at - 1) * sizeof (gpointer));
  memcpy (nodes->pdata + at + 1, moved, n * sizeof (gpointer));
}

/* Gives what puts the bands together. */
static AxonNode *
split (const Block *b, gint64 n)
{
  AxonNode *last = b->nodes[b->n - 1], *concat;
  AxonValue *y = last->outputs[0];
  g_autofree AxonValue **bands = g_new (AxonValue *, n);
  gint64 rows = b->windows[b->n - 1].out[1];
  guint first = b->model->nodes->len;
  for (gint64 i = 0; i < n; i++) {
    const Rows some = { rows * i / n, rows * (i + 1) / n };
    bands[i] = add_band (b, &some);
  }
  axon_node_set_output (last, 0, NULL);
  concat = axon_pass_add_node (b->model, last, NULL, "Concat", CPU_PASS_OPSET, bands, (guint)n, y);
  axon_node_set_int (concat, "axis", 2);
  move_behind (b->model->nodes, first, last);
  for (guint i = b->n; i-- > 0;)
    axon_model_remove_node (b->model, b->nodes[i]);
  return concat;
}

gboolean
cpu_pass_split_bands (AxonModel *model, GError **error)
{
  Block b = { .model = model };
  gboolean changed = FALSE;
  if (!cpu_conv_prefers_channels_last (model))
    return TRUE;
  for (guint i = 0; i < model->nodes->len; i++) {
    gint64 n = find_block (&b, model->nodes->pdata[i]) ? count_bands (&b) : 0;
    if (n > 0)
      g_ptr_array_find (model->nodes, split (&b, n), &i); /* bands stay as they are */
    changed |= n > 0;
  }
  return !changed || axon_model_infer_shapes (model, error);
}
