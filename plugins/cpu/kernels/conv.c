/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of bytes whose sums are exact. */
#include "convshape.h"
#include "int8.h"
#include "kernels.h"
#include "../onednn/cpudnn.h"

/* QLinearConv, ConvInteger, ConvIntegerToFloat: which inputs are what says the row of the table. */
static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuInt8Form *form = plan->row->data;
  const AxonTensor *w = cpu_node_constant (node, (guint)form->w);
  g_auto (CpuInt8Node) n = { 0 };
  if (w == NULL || !cpu_conv_init (&n.spec.conv.shape, node, axon_tensor_get_shape (w)) ||
      !cpu_int8_node_init (&n, plan, node, form, axon_tensor_get_dim (w, 0)))
    return FALSE;
  n.spec.weights.tap = 1;
  n.spec.weights.in = (gsize)(n.spec.conv.shape.kernel_h * n.spec.conv.shape.kernel_w);
  n.spec.weights.out = n.spec.weights.in * (gsize)axon_tensor_get_dim (w, 1);
  n.in[0] = cpu_int8_source (plan, node, 0, &n.spec.conv);
  cpu_int8_add_step (plan, &n.spec, 1, n.runtime, n.in, n.n_in, cpu_conv_destination (plan, node));
  return TRUE;
}

/* Ours, but for groups of few channels, which leave vectors empty (measured: two to three times
 * oneDNN's time), and where there are tiles (AMX) and work for them (twice). Of all else networks
 * as wholes are at least as fast, and planned in a third of the time. */
static gboolean
build_qlinear_conv (CpuPlan *plan, const AxonNode *node, GError **error)
{
  const AxonShape *w = &node->inputs[3]->type.shape;
  gint64 group = axon_node_get_int (node, "group");
  gboolean depthwise = w->dims[1] == 1 && w->dims[0] == group;
  gboolean tiles = cpu_dnn_has_tiles () && group == 1;
  if (cpu_dnn_has_kernels () && (tiles || (group > 1 && !depthwise)) &&
      cpu_dnn_build_qlinear_conv (plan, node, tiles))
    return TRUE;
  return build_conv (plan, node, error) ||
         (cpu_dnn_has_kernels () && cpu_dnn_build_qlinear_conv (plan, node, FALSE));
}

static void
add_phases (CpuPlan *plan, const AxonNode *node, CpuInt8Node *n, const AxonWindow *w)
{
  gint rows, columns;
  g_autofree CpuInt8Spec *specs = NULL;
  g_autofree gint **taps = NULL;
  cpu_conv_count_phases (w, &rows, &columns);
  specs = g_new (CpuInt8Spec, rows * columns);
  taps = g_new (gint *, rows * columns);
  for (gint i = 0; i < rows * columns; i++) {
    CpuConvPhase phase = cpu_conv_get_phase (&n->spec.conv.shape, w, i / columns, i % columns);
    specs[i] = n->spec;
    specs[i].conv.shape = phase.conv;
    specs[i].y_origin = phase.origin;
    specs[i].weights.taps = taps[i] = phase.taps;
  }
  cpu_int8_add_step (plan, specs, (guint)(rows * columns), n->runtime, n->in, n->n_in,
                     cpu_conv_destination (plan, node));
  for (gint i = 0; i < rows * columns; i++)
    g_free (taps[i]);
}

/* QLinearConvTranspose, weights [I, O/g, k...]. */
static gboolean
build_transposed (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuInt8Form *form = plan->row->data;
  g_auto (CpuInt8Node) n = { 0 };
  CpuInt8Weights *weights = &n.spec.weights;
  gsize channels, outs;
  AxonWindow win;
  if (cpu_node_constant (node, (guint)form->w) == NULL ||
      !cpu_conv_init_transposed (&n.spec.conv.shape, &win, node, (guint)form->w) ||
      !cpu_int8_node_init (&n, plan, node, form, node->outputs[0]->type.shape.dims[1]))
    return FALSE;
  outs = (gsize)axon_tensor_get_dim (cpu_node_constant (node, (guint)form->w), 1);
  channels = (gsize)(node->inputs[0]->type.shape.dims[1] / axon_node_get_int (node, "group"));
  weights->tap = 1;
  weights->out = (gsize)(win.kernel[1] * win.kernel[2]);
  weights->in = weights->out * outs;
  weights->per_group = outs;
  weights->group = weights->in * channels - weights->in;
  n.in[0] = cpu_int8_source (plan, node, 0, &n.spec.conv);
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
