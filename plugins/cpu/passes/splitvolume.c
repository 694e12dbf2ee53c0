/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A depthwise convolution of volumes becomes a sum of convolutions of pictures: one for each
 * picture that its window reaches, of the volume that begins there. oneDNN has no kernel for the
 * whole. */
#include "cpupasses.h"
#include "../cpuplan.h"

/* Of a node that is split. */
typedef struct {
  AxonModel *model;
  AxonNode *node;
  AxonWindow window;
} Split;

/* What comes in with the pictures before and behind it that the window meets. */
static AxonValue *
pad_volume (const Split *s)
{
  const gint64 pads[] = { 0, 0, s->window.pad[0], 0, 0, 0, 0, s->window.pad_end[0], 0, 0 };
  AxonValue *in[] = { s->node->inputs[0], NULL };
  if (s->window.pad[0] == 0 && s->window.pad_end[0] == 0)
    return in[0];
  in[1] = cpu_pass_add_ints (s->model, pads, G_N_ELEMENTS (pads));
  return cpu_pass_apply (s->model, s->node, "Pad", in, 2);
}

/* The pictures that the window meets with its @k-th. */
static AxonValue *
take_pictures (const Split *s, AxonValue *x, gint64 k)
{
  const AxonWindow *w = &s->window;
  const gint64 start = k * w->dilation[0], axis = 2, step = w->stride[0];
  const gint64 end = start + (w->out[0] - 1) * step + 1;
  AxonValue *in[] = { x, cpu_pass_add_ints (s->model, &start, 1),
                      cpu_pass_add_ints (s->model, &end, 1), cpu_pass_add_ints (s->model, &axis, 1),
                      cpu_pass_add_ints (s->model, &step, 1) };
  return cpu_pass_apply (s->model, s->node, "Slice", in, G_N_ELEMENTS (in));
}

/* Of each channel the @k-th picture of its filter. */
static AxonValue *
take_weights (const Split *s, gint64 k)
{
  const AxonTensor *all = cpu_node_constant (s->node, 1);
  const gint64 *kernel = s->window.kernel, size = kernel[1] * kernel[2];
  const AxonShape shape = AXON_SHAPE (axon_tensor_get_dim (all, 0), 1, 1, kernel[1], kernel[2]);
  g_autoptr (AxonTensor) some = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  const gfloat *from = axon_tensor_get_data (all);
  gfloat *to = axon_tensor_get_data (some);
  for (gint64 i = 0; i < shape.dims[0] * size; i++)
    to[i] = from[(i / size * kernel[0] + k) * size + i % size];
  return axon_model_add_constant (s->model, NULL, some);
}

static AxonValue *
add_conv (const Split *s, AxonValue *x, gint64 k)
{
  const AxonWindow *w = &s->window;
  const gint64 kernel[] = { 1, w->kernel[1], w->kernel[2] };
  const gint64 strides[] = { 1, w->stride[1], w->stride[2] };
  const gint64 dilations[] = { 1, w->dilation[1], w->dilation[2] };
  const gint64 pads[] = { 0, w->pad[1], w->pad[2], 0, w->pad_end[1], w->pad_end[2] };
  AxonValue *bias = k == 0 ? axon_node_get_input (s->node, 2) : NULL;
  AxonValue *in[] = { take_pictures (s, x, k), take_weights (s, k), bias };
  AxonValue *y = cpu_pass_apply (s->model, s->node, "Conv", in, bias != NULL ? 3 : 2);
  axon_node_set_ints (y->producer, "kernel_shape", kernel, 3);
  axon_node_set_ints (y->producer, "strides", strides, 3);
  axon_node_set_ints (y->producer, "dilations", dilations, 3);
  axon_node_set_ints (y->producer, "pads", pads, 6);
  axon_node_set_int (y->producer, "group", axon_node_get_int (s->node, "group"));
  return y;
}

static void
split (const Split *s)
{
  AxonValue *x = pad_volume (s), *sum = add_conv (s, x, 0);
  gint64 last = s->window.kernel[0] - 1;
  for (gint64 k = 1; k < last; k++) {
    AxonValue *both[] = { add_conv (s, x, k), sum };
    sum = cpu_pass_apply (s->model, s->node, "Add", both, 2);
  }
  AxonValue *both[] = { add_conv (s, x, last), sum };
  cpu_pass_replace (s->model, s->node, "Add", both, 2);
}

/* A volume by each channel alone, with a window that reaches along all of it. */
static gboolean
is_split (AxonNode *node, AxonWindow *window)
{
  const AxonTensor *w = axon_node_is (node, "Conv") ? cpu_node_constant (node, 1) : NULL;
  const AxonShape *x = &node->inputs[0]->type.shape, *shape;
  gint64 group;
  if (w == NULL || node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank != 5 ||
      !axon_shape_is_static (x) || axon_shape_get_numel (x) == 0)
    return FALSE;
  shape = axon_tensor_get_shape (w);
  group = axon_node_get_int (node, "group");
  return group > 1 && shape->dims[1] == 1 && shape->dims[0] == group &&
         axon_window_init (window, node, x, shape->dims + 2, FALSE, NULL) &&
         window->kernel[0] > 1 && window->kernel[1] * window->kernel[2] > 1 && window->out[0] > 0 &&
         window->out[1] > 0 && window->out[2] > 0;
}

gboolean
cpu_pass_split_volume (AxonModel *model, GError **error)
{
  gboolean changed = FALSE;
  for (guint i = model->nodes->len; i-- > 0;) {
    Split s = { .model = model, .node = model->nodes->pdata[i] };
    if (!is_split (s.node, &s.window))
      continue;
    split (&s);
    changed = TRUE;
  }
  return !changed || (axon_model_sort (model, error) && axon_model_infer_shapes (model, error));
}
