/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "convshape.h"

#include "../onednn/cpudnn.h"

#define MOST_PLANES 4

static gboolean
is_usable (const AxonShape *x, const AxonShape *y)
{
  gint64 nx = axon_shape_get_numel (x), ny = axon_shape_get_numel (y);
  return x->rank >= 3 && x->rank <= 5 && nx > 0 && ny > 0 && nx < G_MAXINT / 8 && ny < G_MAXINT / 8;
}

static void
set_destination (CpuConv *c, const AxonShape *y, gint width)
{
  c->y_pixel = (gsize)y->dims[1];
  c->y_row = (gsize)width * c->y_pixel;
  c->y_frame = (gsize)(axon_shape_get_numel (y) / c->frames);
}

/* TRUE if a window is of one place along @d, and so is what it moves by. */
static gboolean
is_still (const AxonWindow *w, gint d)
{
  return w->kernel[d] == 1 && w->stride[d] == 1 && w->pad[d] == 0 && w->in[d] == w->out[d];
}

/* Of three dimensions those that the window moves along: rows and columns, every picture of a
 * volume being a frame; or from picture to picture, each of which is a row. */
static gboolean
set_window (CpuConv *c, const AxonWindow *w)
{
  gboolean by_pictures = !is_still (w, 0);
  gint h = by_pictures ? 0 : 1;
  if (by_pictures && !(is_still (w, 1) && is_still (w, 2)))
    return FALSE;
  c->frames *= by_pictures ? 1 : (gint)w->in[0];
  c->in_h = (gint)w->in[h];
  c->out_h = (gint)w->out[h];
  c->kernel_h = (gint)w->kernel[h];
  c->stride_h = (gint)w->stride[h];
  c->dilation_h = (gint)w->dilation[h];
  c->pad_top = (gint)w->pad[h];
  c->in_w = (gint)(w->in[2] * (by_pictures ? w->in[1] : 1));
  c->out_w = (gint)(w->out[2] * (by_pictures ? w->out[1] : 1));
  c->kernel_w = (gint)w->kernel[2];
  c->stride_w = (gint)w->stride[2];
  c->dilation_w = (gint)w->dilation[2];
  c->pad_left = (gint)w->pad[2];
  return TRUE;
}

/* Each channel by itself: channels are the lanes. */
static void
set_depthwise (CpuConv *c)
{
  c->depthwise = c->groups > 1 && c->channels == 1 && c->out_channels == 1;
  if (c->depthwise) {
    c->channels = c->groups;
    c->groups = 1;
  }
}

gboolean
cpu_conv_init (CpuConv *c, const AxonNode *node, const AxonShape *w)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 group = axon_node_get_int (node, "group");
  AxonWindow win;
  if (!is_usable (x, y) || !axon_window_init (&win, node, x, w->dims + 2, FALSE, NULL) ||
      !cpu_window_is_near (&win))
    return FALSE;
  *c = (CpuConv){ .groups = (gint)group,
                  .channels = (gint)w->dims[1],
                  .out_channels = (gint)(w->dims[0] / group),
                  .frames = (gint)x->dims[0] };
  if (!set_window (c, &win))
    return FALSE;
  set_destination (c, y, c->out_w);
  set_depthwise (c);
  return x->rank < 5 || c->depthwise;
}

gboolean
cpu_conv_init_transposed (CpuConv *c, AxonWindow *win, const AxonNode *node, guint weight)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  AxonValue *inputs[] = { node->inputs[0], node->inputs[weight] };
  AxonNode plain = *node;
  plain.inputs = inputs;
  plain.n_inputs = 2;
  if (!is_usable (x, y) || x->rank > 4 || !axon_window_of_transposed (win, &plain, NULL) ||
      !cpu_window_is_near (win))
    return FALSE;
  *c = (CpuConv){ .groups = (gint)axon_node_get_int (node, "group"),
                  .frames = (gint)x->dims[0],
                  .in_h = (gint)win->out[1],
                  .in_w = (gint)win->out[2],
                  .stride_h = 1,
                  .stride_w = 1 };
  c->channels = (gint)(x->dims[1] / c->groups);
  c->out_channels = (gint)(y->dims[1] / c->groups);
  set_destination (c, y, (gint)win->in[2]);
  set_depthwise (c);
  return TRUE;
}

/* Strides of a volume whose pictures are frames, or rows. FALSE: there are gaps between some. */
static gboolean
set_volume (CpuConv *c, const gint64 *dims, const gint64 *strides)
{
  gboolean are_rows = c->in_h == dims[2] && c->in_w == dims[3] * dims[4];
  c->x_pixel = (gsize)strides[4];
  c->x_row = (gsize)strides[are_rows ? 2 : 3];
  c->x_frame = (gsize)strides[are_rows ? 0 : 2];
  return are_rows ? dims[3] == 1 || strides[3] == dims[4] * strides[4]
                  : dims[0] == 1 || strides[0] == dims[2] * strides[2];
}

/* FALSE: blocks of channels, or gaps. */
static gboolean
set_source (CpuConv *c, const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK];
  gint last = t->shape.rank - 1;
  if (!cpu_md_get_strides (t->md, &t->shape, strides))
    return FALSE;
  if (last == 4)
    return strides[1] == 1 && set_volume (c, t->shape.dims, strides);
  c->x_pixel = (gsize)strides[last];
  c->x_row = last > 2 ? (gsize)strides[last - 1] : (gsize)c->in_w * c->x_pixel;
  c->x_frame = (gsize)strides[0];
  c->x_plane = strides[1] != 1 && t->shape.dims[1] != 1 ? (gsize)strides[1] : 0;
  return TRUE;
}

gboolean
cpu_conv_has_planes (CpuPlan *plan, const AxonNode *node)
{
  const CpuTensor *t = cpu_plan_input (plan, node, 0);
  return axon_node_is (node, "Conv") && axon_node_get_int (node, "group") == 1 && t->md == NULL &&
         t->shape.rank <= 4 && t->shape.dims[1] <= MOST_PLANES;
}

CpuTensor *
cpu_conv_planes (CpuPlan *plan, const AxonNode *node, CpuConv *c)
{
  CpuTensor *t = cpu_plan_input (plan, node, 0);
  set_source (c, t);
  return t;
}

CpuTensor *
cpu_conv_source (CpuPlan *plan, const AxonNode *node, guint index, CpuConv *c)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  if (!set_source (c, t) || c->x_plane > 0) {
    g_autoptr (CpuMd) md = cpu_md_channels_last (t->dtype, &t->shape);
    t = cpu_plan_input_as (plan, node, index, md);
    set_source (c, t);
  }
  return t;
}

CpuTensor *
cpu_conv_destination (CpuPlan *plan, const AxonNode *node)
{
  const AxonValue *y = node->outputs[0];
  g_autoptr (CpuMd) md = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  return cpu_plan_output (plan, node, 0, md);
}

/* One spatial dimension of a phase. */
typedef struct {
  gint out, taps, dilation, pad;
  gint first_tap, tap_step; /* of the model, of the phase's last tap on */
} Phase;

static gint
greatest_common_divisor (gint a, gint b)
{
  return b == 0 ? a : greatest_common_divisor (b, a % b);
}

/* Output o = stride * q + first gets input i by tap k where i * stride + k * dilation = o + pad. */
static Phase
phase_of (const AxonWindow *w, gint d, gint first)
{
  gint stride = (gint)w->stride[d], dilation = (gint)w->dilation[d], at = first + (gint)w->pad[d];
  gint common = greatest_common_divisor (stride, dilation), last = -1;
  Phase p = { .out = ((gint)w->in[d] - first + stride - 1) / stride,
              .dilation = dilation / common,
              .tap_step = stride / common };
  for (gint k = 0; k < (gint)w->kernel[d]; k++)
    if ((at - k * dilation) % stride == 0) {
      p.taps++;
      last = k;
    }
  p.first_tap = last;
  p.pad = last < 0 ? 0 : -((at - last * dilation) / stride);
  return p;
}

/* The taps of both dimensions, in the order of the phase's convolution. */
static gint *
tap_map (const Phase *y, const Phase *x, const AxonWindow *w)
{
  gint rows = MAX (y->taps, 1), columns = MAX (x->taps, 1);
  gint *map = g_new (gint, rows * columns);
  for (gint r = 0; r < rows; r++)
    for (gint c = 0; c < columns; c++)
      map[r * columns + c] = y->taps == 0 || x->taps == 0
                                 ? -1
                                 : (y->first_tap - r * y->tap_step) * (gint)w->kernel[2] +
                                       x->first_tap - c * x->tap_step;
  return map;
}

void
cpu_conv_count_phases (const AxonWindow *w, gint *rows, gint *columns)
{
  *rows = (gint)MIN (w->stride[1], w->in[1]);
  *columns = (gint)MIN (w->stride[2], w->in[2]);
}

CpuConvPhase
cpu_conv_get_phase (const CpuConv *whole, const AxonWindow *w, gint first_y, gint first_x)
{
  Phase y = phase_of (w, 1, first_y), x = phase_of (w, 2, first_x);
  CpuConvPhase phase = { .conv = *whole, .taps = tap_map (&y, &x, w) };
  CpuConv *c = &phase.conv;
  phase.origin = (gsize)first_y * c->y_row + (gsize)first_x * c->y_pixel;
  c->out_h = y.out;
  c->out_w = x.out;
  c->kernel_h = MAX (y.taps, 1);
  c->kernel_w = MAX (x.taps, 1);
  c->dilation_h = y.dilation;
  c->dilation_w = x.dilation;
  c->pad_top = y.pad;
  c->pad_left = x.pad;
  c->y_row *= (gsize)w->stride[1];
  c->y_pixel *= (gsize)w->stride[2];
  return phase;
}

gboolean
cpu_conv_fits_blocks (gint64 channels, gint64 groups, gint block)
{
  return channels * groups % block == 0 && (channels % block == 0 || block % channels == 0);
}

/* Of all groups. */
static gint
count_results (const CpuConv *c)
{
  return c->depthwise ? c->channels : c->out_channels * c->groups;
}

gboolean
cpu_conv_fills_blocks (const CpuConv *c, gint block, gint lanes)
{
  return block > 0 && block % lanes == 0 && cpu_conv_fits_blocks (c->channels, c->groups, block) &&
         cpu_conv_fits_blocks (count_results (c) / c->groups, c->groups, block);
}

gint
cpu_conv_get_block (CpuPlan *plan, const AxonNode *node, const CpuConv *c, gint lanes)
{
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  gint block = x->md ? (gint)cpu_md_get_block (x->md, x->dtype, &x->shape) : 0;
  if (block == 0 && !plan->channels_last && !cpu_dnn_is_channels_last ()) /* it is converted */
    block = CPU_DNN_BLOCK;
  /* blocks of a volume lie between its pictures, which are frames */
  return x->shape.rank < 5 && cpu_conv_fills_blocks (c, block, lanes) ? block : 0;
}

gint
cpu_conv_get_result_block (const CpuPlan *plan, const CpuConv *c, gint lanes)
{
  gboolean in_blocks = !plan->channels_last && !cpu_dnn_is_channels_last ();
  return in_blocks && CPU_DNN_BLOCK % lanes == 0 && c->out_channels % CPU_DNN_BLOCK == 0
             ? CPU_DNN_BLOCK
             : 0;
}

CpuMd *
cpu_conv_result_blocks (const AxonNode *node, CpuConv *c, gint block)
{
  c->block = block;
  c->y_pixel = (gsize)block;
  c->y_row = c->y_pixel * (gsize)c->out_w;
  c->y_block = c->y_row * (gsize)c->out_h;
  c->y_frame = c->y_block * (gsize)(count_results (c) / block);
  return cpu_md_channel_blocks (AXON_DTYPE_F32, &node->outputs[0]->type.shape, block);
}

CpuTensor *
cpu_conv_blocks (CpuPlan *plan, const AxonNode *node, CpuConv *c, gint block, CpuMd **md)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  g_autoptr (CpuMd) source = cpu_md_channel_blocks (AXON_DTYPE_F32, x, block);
  c->x_pixel = (gsize)block;
  c->x_row = c->x_pixel * (gsize)c->in_w;
  c->x_block = c->x_row * (gsize)c->in_h;
  c->x_frame = c->x_block * (gsize)(c->channels * c->groups / block);
  *md = cpu_conv_result_blocks (node, c, block);
  return cpu_plan_input_as (plan, node, 0, source);
}
