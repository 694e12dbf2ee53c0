/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of 3x3 by F(2x2, 3x3): Lavin and Gray, Fast Algorithms for Convolutional Neural
 * Networks, 2015. Three kernels, 16 products of matrices in between: 2.25 times fewer
 * multiplications. */
#include "kernels.h"

#define LEAST_CHANNELS 16 /* below, moving numbers costs more than is won */
#define LEAST_TILES 16

typedef struct {
  gint64 inputs, outputs, rows, columns, n;
} Tiles;

static gboolean
fits (const AxonNode *node, const AxonWindow *w, Tiles *t)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  if (x->rank != 4 || axon_node_get_int (node, "group") != 1)
    return FALSE;
  for (guint d = 1; d < 3; d++)
    if (w->kernel[d] != 3 || w->stride[d] != 1 || w->dilation[d] != 1)
      return FALSE;
  *t = (Tiles){ .inputs = x->dims[1],
                .outputs = y->dims[1],
                .rows = (y->dims[2] + 1) / 2,
                .columns = (y->dims[3] + 1) / 2 };
  t->n = x->dims[0] * t->rows * t->columns;
  return t->inputs >= LEAST_CHANNELS && t->outputs >= LEAST_CHANNELS && t->n >= LEAST_TILES &&
         16 * MAX (t->inputs, t->outputs) * t->n < G_MAXINT32;
}

/* @family makes @y of @x, an item for each of @n. */
static GpuStep *
add_transform (GpuPlan *plan, const gchar *family, const GpuTensor *x, const GpuTensor *y, gint32 p,
               gint64 n)
{
  g_autofree gchar *name = gpu_kernel_for (plan, family, family, x->dtype, NULL);
  GpuStep *step = gpu_plan_step (plan, name, p, n, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  return step;
}

static GpuTensor *
transform_weights (GpuPlan *plan, GpuTensor *w, const Tiles *t)
{
  const AxonShape shape = AXON_SHAPE (16, t->inputs, t->outputs);
  GpuTensor *u = w->buffer->place == GPU_CONSTANT ? gpu_plan_prepared (plan, w->dtype, &shape)
                                                  : gpu_plan_scratch (plan, w->dtype, &shape);
  gpu_step_number (add_transform (plan, "winogradweights", w, u, gpu_plan_params (plan, NULL, 0),
                                  t->outputs * t->inputs),
                   t->inputs);
  return u;
}

/* FALSE: the convolution is none of this kind. */
gboolean
gpu_add_winograd (GpuPlan *plan, const AxonNode *node, const AxonWindow *w)
{
  const AxonShape *xs = &node->inputs[0]->type.shape;
  GpuTensor *x, *bias, *y, *v, *m;
  Tiles t;
  if (!plan->options.winograd || !fits (node, w, &t))
    return FALSE;
  x = gpu_plan_input (plan, node, 0);
  bias = gpu_plan_input (plan, node, 2);
  y = gpu_plan_output (plan, node, 0);
  const AxonShape in = AXON_SHAPE (16, t.inputs, t.n), out = AXON_SHAPE (16, t.outputs, t.n);
  const GpuWinogradInParams from = { .channels = gpu_int (t.inputs),
                                     .rows = gpu_int (xs->dims[2]),
                                     .columns = gpu_int (xs->dims[3]),
                                     .tile_rows = gpu_int (t.rows),
                                     .tile_columns = gpu_int (t.columns),
                                     .pad_top = gpu_int (w->pad[1]),
                                     .pad_left = gpu_int (w->pad[2]),
                                     .n_tiles = gpu_int (t.n) };
  const GpuWinogradOutParams to = { .channels = gpu_int (t.outputs),
                                    .rows = gpu_int (y->shape.dims[2]),
                                    .columns = gpu_int (y->shape.dims[3]),
                                    .tile_rows = gpu_int (t.rows),
                                    .tile_columns = gpu_int (t.columns),
                                    .n_tiles = gpu_int (t.n) };
  const gint64 items[] = { t.outputs * t.n, 1, 1 };
  g_autofree gchar *name = g_strdup_printf ("winograd_%s", gpu_type_name (x->dtype));
  GpuStep *step;
  v = gpu_plan_scratch (plan, x->dtype, &in);
  m = gpu_plan_scratch (plan, x->dtype, &out);
  add_transform (plan, "winogradin", x, v, GPU_PARAMS_OF (plan, from), t.inputs * t.n);
  gpu_products (plan, transform_weights (plan, gpu_plan_input (plan, node, 1), &t), TRUE, v, m, 16,
                t.outputs, t.inputs, t.n);
  step = gpu_plan_draft (plan, name, "winogradout", gpu_words_for (x->dtype, NULL), NULL,
                         GPU_PARAMS_OF (plan, to), items);
  gpu_step_read (plan, step, m);
  gpu_step_read (plan, step, bias);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, bias != NULL);
  return TRUE;
}
