/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LSTM: one product for all steps' inputs, then a small kernel for each step. */
#include "kernels.h"

typedef struct {
  GpuTensor *x, *r, *bias, *h0, *c0, *y; /* y is [steps, directions, batch, hidden] */
  gint64 steps, batch, input, hidden, directions;
} Net;

static gboolean
is_plain (const AxonNode *node, gchar **why)
{
  const AxonAttr *activations = axon_node_find_attr (node, "activations");
  if (node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_node_get_int (node, "layout") == 0 &&
      axon_node_get_int (node, "input_forget") == 0 && axon_node_get_float (node, "clip") == 0 &&
      (activations == NULL || activations->n == 0) && axon_node_get_input (node, 4) == NULL &&
      axon_node_get_input (node, 7) == NULL)
    return TRUE;
  *why = g_strdup ("only float, without peepholes, lengths, clipping and other activations");
  return FALSE;
}

/* Part @index of the first axis of @t, [parts, rows, columns], turned. */
static GpuTensor *
turned_part (GpuPlan *plan, GpuTensor *t, gint64 index)
{
  gint64 rows = t->shape.dims[1], columns = t->shape.dims[2];
  const AxonShape shape = AXON_SHAPE (columns, rows);
  const gint64 xs[] = { 1, columns }, ys[] = { rows, 1 };
  GpuTensor *to = t->buffer->place == GPU_CONSTANT ? gpu_plan_prepared (plan, t->dtype, &shape)
                                                   : gpu_plan_scratch (plan, t->dtype, &shape);
  gpu_move (plan, t, index * rows * columns, to, 0, 2, shape.dims, xs, ys);
  return to;
}

static void
add_direction (GpuPlan *plan, const Net *l, GpuTensor *w, gint64 d, gboolean backwards,
               GpuTensor *cell)
{
  const AxonShape gates_shape = AXON_SHAPE (l->steps * l->batch, 4 * l->hidden);
  GpuTensor *gates = gpu_plan_scratch (plan, AXON_DTYPE_F32, &gates_shape);
  GpuTensor *r = turned_part (plan, l->r, d);
  g_autofree gchar *name = gpu_kernel_for (plan, "lstm", "lstm", AXON_DTYPE_F32, NULL);
  gint64 size = l->batch * l->hidden, from = -1;
  const GpuLstmParams params = { .hidden = gpu_int (l->hidden) };
  gint32 p = GPU_PARAMS_OF (plan, params);
  gpu_products (plan, l->x, FALSE, turned_part (plan, w, d), gates, 1, l->steps * l->batch,
                l->input, 4 * l->hidden);
  for (gint64 s = 0; s < l->steps; s++) {
    gint64 t = backwards ? l->steps - 1 - s : s, to = (t * l->directions + d) * size;
    GpuStep *step = gpu_plan_step (plan, name, p, size, 1, 1);
    GpuTensor *const read[] = { gates, r, l->bias, l->h0, l->c0 };
    const gint64 numbers[] = {
      l->bias != NULL, l->h0 != NULL,    l->c0 != NULL, t * l->batch * 4 * l->hidden, from, to,
      d * size,        d * 8 * l->hidden
    };
    for (guint i = 0; i < G_N_ELEMENTS (read); i++)
      gpu_step_read (plan, step, read[i]);
    gpu_step_write (plan, step, l->y);
    gpu_step_write (plan, step, cell);
    for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
      gpu_step_number (step, numbers[i]);
    from = to;
  }
}

static gboolean
build_lstm (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *xs = &node->inputs[0]->type.shape, *rs = &node->inputs[2]->type.shape;
  gboolean reverse = g_str_equal (axon_node_get_string (node, "direction"), "reverse");
  GpuTensor *last, *cells;
  Net l = { .steps = xs->dims[0],
            .batch = xs->dims[1],
            .input = xs->dims[2],
            .hidden = rs->dims[2],
            .directions = rs->dims[0] };
  const AxonShape all = AXON_SHAPE (l.steps, l.directions, l.batch, l.hidden);
  const AxonShape one = AXON_SHAPE (l.batch, l.hidden);
  gint64 size = l.batch * l.hidden, unit = 1;
  if (!is_plain (node, why))
    return FALSE;
  l.x = gpu_plan_input (plan, node, 0);
  l.r = gpu_plan_input (plan, node, 2);
  l.bias = gpu_plan_input (plan, node, 3);
  l.h0 = gpu_plan_input (plan, node, 5);
  l.c0 = gpu_plan_input (plan, node, 6);
  l.y = gpu_plan_output (plan, node, 0);
  last = gpu_plan_output (plan, node, 1);
  cells = gpu_plan_output (plan, node, 2);
  if (l.y == NULL)
    l.y = gpu_plan_scratch (plan, AXON_DTYPE_F32, &all);
  for (gint64 d = 0; d < l.directions; d++) {
    gboolean backwards = d == 1 || reverse;
    GpuTensor *cell = gpu_plan_scratch (plan, AXON_DTYPE_F32, &one);
    add_direction (plan, &l, gpu_plan_input (plan, node, 1), d, backwards, cell);
    if (last != NULL)
      gpu_move (plan, l.y, ((backwards ? 0 : l.steps - 1) * l.directions + d) * size, last,
                d * size, 1, &size, &unit, &unit);
    if (cells != NULL)
      gpu_move (plan, cell, 0, cells, d * size, 1, &size, &unit, &unit);
  }
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "LSTM", .impl = "lstm", .build = build_lstm },
};

GPU_DEFINE_FAMILY (recurrent, rows)
