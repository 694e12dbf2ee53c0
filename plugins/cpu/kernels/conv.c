/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of bytes whose sums are exact. */
#include "int8.h"
#include "kernels.h"
#include "../onednn/cpudnn.h"

static gboolean
is_usable (const AxonShape *x, const AxonShape *y)
{
  gint64 nx = axon_shape_get_numel (x), ny = axon_shape_get_numel (y);
  return x->rank >= 3 && x->rank <= 4 && nx > 0 && ny > 0 && nx < G_MAXINT / 8 && ny < G_MAXINT / 8;
}

static void
set_destination (CpuInt8Conv *c, const AxonShape *y, gint width)
{
  c->y_pixel = (gsize)y->dims[1];
  c->y_row = (gsize)width * c->y_pixel;
  c->y_frame = (gsize)(axon_shape_get_numel (y) / y->dims[0]);
}

/* Each channel by itself: channels are the lanes. */
static void
set_depthwise (CpuInt8Conv *c)
{
  c->depthwise = c->groups > 1 && c->channels == 1 && c->out_channels == 1;
  if (c->depthwise) {
    c->channels = c->groups;
    c->groups = 1;
  }
}

static gboolean
set_geometry (CpuInt8Conv *c, const AxonNode *node, const AxonShape *w)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 group = axon_node_get_int (node, "group");
  AxonWindow win;
  if (!is_usable (x, y) || !axon_window_init (&win, node, x, w->dims + 2, FALSE, NULL))
    return FALSE;
  *c = (CpuInt8Conv){ .groups = (gint)group,
                      .channels = (gint)w->dims[1],
                      .out_channels = (gint)(w->dims[0] / group),
                      .frames = (gint)x->dims[0],
                      .in_h = (gint)win.in[1],
                      .in_w = (gint)win.in[2],
                      .out_h = (gint)win.out[1],
                      .out_w = (gint)win.out[2],
                      .kernel_h = (gint)win.kernel[1],
                      .kernel_w = (gint)win.kernel[2],
                      .stride_h = (gint)win.stride[1],
                      .stride_w = (gint)win.stride[2],
                      .dilation_h = (gint)win.dilation[1],
                      .dilation_w = (gint)win.dilation[2],
                      .pad_top = (gint)win.pad[1],
                      .pad_left = (gint)win.pad[2] };
  set_destination (c, y, c->out_w);
  set_depthwise (c);
  return TRUE;
}

static CpuTensor *
output_channels_last (CpuPlan *plan, const AxonNode *node)
{
  const AxonValue *y = node->outputs[0];
  g_autoptr (CpuMd) md = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  return cpu_plan_output (plan, node, 0, md);
}

/* QLinearConv, ConvInteger, ConvIntegerToFloat: which inputs are what says the row of the table. */
static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuInt8Form *form = plan->row->data;
  const AxonTensor *w = cpu_node_constant (node, (guint)form->w);
  g_auto (CpuInt8Node) n = { 0 };
  if (w == NULL || !set_geometry (&n.spec.conv, node, axon_tensor_get_shape (w)) ||
      !cpu_int8_node_init (&n, plan, node, form, axon_tensor_get_dim (w, 0)))
    return FALSE;
  n.spec.weights.tap = 1;
  n.spec.weights.in = (gsize)(n.spec.conv.kernel_h * n.spec.conv.kernel_w);
  n.spec.weights.out = n.spec.weights.in * (gsize)axon_tensor_get_dim (w, 1);
  n.in[0] = cpu_int8_source (plan, node, 0, &n.spec.conv);
  cpu_int8_add_step (plan, &n.spec, 1, n.runtime, n.in, n.n_in, output_channels_last (plan, node));
  return TRUE;
}

/* oneDNN where it is exact and at least as fast: not for depthwise layers without VNNI. */
static gboolean
build_qlinear_conv (CpuPlan *plan, const AxonNode *node, GError **error)
{
  const AxonShape *w = &node->inputs[3]->type.shape;
  gboolean depthwise = w->dims[1] == 1 && w->dims[0] == axon_node_get_int (node, "group");
  if ((cpu_dnn_has_exact_int8 () || !depthwise) && cpu_dnn_build_qlinear_conv (plan, node, error))
    return TRUE;
  return build_conv (plan, node, error);
}

/* One spatial dimension of a transposed convolution: outputs first, first + stride ... are a
 * convolution of their own, with every n-th tap, backwards. */
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

static CpuInt8Spec
phase_spec (const CpuInt8Spec *whole, const AxonWindow *w, gint first_y, gint first_x, gint **taps)
{
  Phase y = phase_of (w, 1, first_y), x = phase_of (w, 2, first_x);
  CpuInt8Spec spec = *whole;
  CpuInt8Conv *c = &spec.conv;
  c->out_h = y.out;
  c->out_w = x.out;
  c->kernel_h = MAX (y.taps, 1);
  c->kernel_w = MAX (x.taps, 1);
  c->dilation_h = y.dilation;
  c->dilation_w = x.dilation;
  c->pad_top = y.pad;
  c->pad_left = x.pad;
  spec.y_origin = (gsize)first_y * c->y_row + (gsize)first_x * c->y_pixel;
  c->y_row *= (gsize)w->stride[1];
  c->y_pixel *= (gsize)w->stride[2];
  spec.weights.taps = *taps = tap_map (&y, &x, w);
  return spec;
}

static void
add_phases (CpuPlan *plan, const AxonNode *node, CpuInt8Node *n, const AxonWindow *w)
{
  gint rows = (gint)MIN (w->stride[1], w->in[1]), columns = (gint)MIN (w->stride[2], w->in[2]);
  g_autofree CpuInt8Spec *specs = g_new (CpuInt8Spec, rows * columns);
  g_autofree gint **taps = g_new (gint *, rows * columns);
  for (gint y = 0; y < rows; y++)
    for (gint x = 0; x < columns; x++)
      specs[y * columns + x] = phase_spec (&n->spec, w, y, x, &taps[y * columns + x]);
  cpu_int8_add_step (plan, specs, (guint)(rows * columns), n->runtime, n->in, n->n_in,
                     output_channels_last (plan, node));
  for (gint i = 0; i < rows * columns; i++)
    g_free (taps[i]);
}

/* QLinearConvTranspose, weights [I, O/g, k...]. */
static gboolean
build_transposed (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuInt8Form *form = plan->row->data;
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const AxonTensor *w = cpu_node_constant (node, (guint)form->w);
  g_auto (CpuInt8Node) n = { 0 };
  CpuInt8Conv *c = &n.spec.conv;
  AxonWindow win;
  if (w == NULL || !is_usable (x, y))
    return FALSE;
  AxonValue *inputs[] = { node->inputs[0], node->inputs[form->w] };
  AxonNode plain = *node;
  plain.inputs = inputs;
  plain.n_inputs = 2;
  if (!axon_window_of_transposed (&win, &plain, NULL))
    return FALSE;
  c->groups = (gint)axon_node_get_int (node, "group");
  c->channels = (gint)(x->dims[1] / c->groups);
  c->out_channels = (gint)axon_tensor_get_dim (w, 1);
  c->frames = (gint)x->dims[0];
  c->in_h = (gint)win.out[1];
  c->in_w = (gint)win.out[2];
  c->stride_h = c->stride_w = 1;
  set_destination (c, y, (gint)win.in[2]);
  if (!cpu_int8_node_init (&n, plan, node, form, y->dims[1]))
    return FALSE;
  n.spec.weights.tap = 1;
  n.spec.weights.out = (gsize)(win.kernel[1] * win.kernel[2]);
  n.spec.weights.in = n.spec.weights.out * (gsize)c->out_channels;
  n.spec.weights.per_group = (gsize)c->out_channels;
  n.spec.weights.group = n.spec.weights.in * (gsize)c->channels - n.spec.weights.in;
  set_depthwise (c);
  n.in[0] = cpu_int8_source (plan, node, 0, c);
  add_phases (plan, node, &n, &win);
  return TRUE;
}

const CpuKernel cpu_int8_conv_kernels[] = {
  { .name = "QLinearConv", .impl = "int8", .build = build_qlinear_conv, .data = &cpu_int8_qlinear },
  { .name = "ConvInteger", .impl = "int8", .build = build_conv, .data = &cpu_int8_integer },
  { .domain = AXON_DOMAIN_AXON,
    .name = "ConvIntegerToFloat",
    .impl = "int8",
    .build = build_conv,
    .data = &cpu_int8_to_float },
  { .domain = AXON_DOMAIN_AXON,
    .name = "QLinearConvTranspose",
    .impl = "int8",
    .build = build_transposed,
    .data = &cpu_int8_qlinear },
  { 0 },
};
