/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A depthwise convolution of volumes becomes a sum of convolutions of pictures: one for each
 * picture that its window reaches, of the volume that begins there. oneDNN has no kernel for the
 * whole. */
#include "cpupasses.h"
#include "../onednn/cpudnn.h"

#define MOST 32 /* pictures of a window, each of which becomes nodes */

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
static AxonTensor *
take_weights (const Split *s, gint64 k, GError **error)
{
  const AxonTensor *all = cpu_node_constant (s->node, 1);
  const gint64 *kernel = s->window.kernel, size = kernel[1] * kernel[2];
  const AxonShape shape = AXON_SHAPE (axon_tensor_get_dim (all, 0), 1, 1, kernel[1], kernel[2]);
  AxonTensor *some = axon_tensor_new (AXON_DTYPE_F32, &shape, error);
  const gfloat *from = axon_tensor_get_data (all);
  gfloat *to = some != NULL ? axon_tensor_get_data (some) : NULL;
  for (gint64 i = 0; to != NULL && i < shape.dims[0] * size; i++)
    to[i] = from[(i / size * kernel[0] + k) * size + i % size];
  return some;
}

static AxonValue *
add_conv (const Split *s, AxonValue *x, gint64 k, AxonTensor *weights)
{
  const AxonWindow *w = &s->window;
  const gint64 kernel[] = { 1, w->kernel[1], w->kernel[2] };
  const gint64 strides[] = { 1, w->stride[1], w->stride[2] };
  const gint64 dilations[] = { 1, w->dilation[1], w->dilation[2] };
  const gint64 pads[] = { 0, w->pad[1], w->pad[2], 0, w->pad_end[1], w->pad_end[2] };
  AxonValue *bias = k == 0 ? axon_node_get_input (s->node, 2) : NULL;
  AxonValue *in[] = { take_pictures (s, x, k), axon_model_add_constant (s->model, NULL, weights),
                      bias };
  AxonValue *y = cpu_pass_apply (s->model, s->node, "Conv", in, bias != NULL ? 3 : 2);
  axon_node_set_ints (y->producer, "kernel_shape", kernel, 3);
  axon_node_set_ints (y->producer, "strides", strides, 3);
  axon_node_set_ints (y->producer, "dilations", dilations, 3);
  axon_node_set_ints (y->producer, "pads", pads, 6);
  axon_node_set_int (y->producer, "group", axon_node_get_int (s->node, "group"));
  return y;
}

static gboolean
split (const Split *s, GError **error)
{
  AxonValue *x = pad_volume (s), *both[2] = { NULL };
  const gint64 n = s->window.kernel[0];
  for (gint64 k = 0; k < n; k++) {
    g_autoptr (AxonTensor) weights = take_weights (s, k, error);
    if (weights == NULL)
      return FALSE;
    both[0] = add_conv (s, x, k, weights);
    if (k == n - 1)
      cpu_pass_replace (s->model, s->node, "Add", both, G_N_ELEMENTS (both));
    else
      both[1] =
          k == 0 ? both[0] : cpu_pass_apply (s->model, s->node, "Add", both, G_N_ELEMENTS (both));
  }
  return TRUE;
}

/* A volume by each channel alone, with a window that reaches along all of it. */
static gboolean
is_split (const AxonNode *node, AxonWindow *window)
{
  const AxonTensor *w = axon_node_is (node, "Conv") ? cpu_node_constant (node, 1) : NULL;
  const AxonShape *x, *shape;
  gint64 group;
  if (w == NULL || !cpu_pass_is_planned (node))
    return FALSE;
  x = &node->inputs[0]->type.shape;
  shape = axon_tensor_get_shape (w);
  group = axon_node_get_int (node, "group");
  return x->rank == 5 && group > 1 && shape->dims[1] == 1 && shape->dims[0] == group &&
         axon_window_init (window, node, x, shape->dims + 2, FALSE, NULL) &&
         cpu_window_is_near (window) && window->kernel[0] > 1 && window->kernel[0] <= MOST &&
         window->kernel[1] * window->kernel[2] > 1;
}

static gboolean
rewrite (AxonModel *model, AxonNode *node, GError **error)
{
  Split s = { .model = model, .node = node };
  return is_split (node, &s.window) && split (&s, error);
}

gboolean
cpu_pass_split_volume (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, rewrite, error);
}
