/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather, GatherElements, GatherND. */
#include "indices.h"

static gboolean
add_gather (GpuPlan *plan, const AxonNode *node, const gchar *family, const gchar *type, gint32 p)
{
  GpuTensor *x = gpu_plan_input (plan, node, 0), *index = gpu_plan_input (plan, node, 1);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  g_autofree gchar *base = g_strdup_printf ("%s_%s", family, type);
  g_autofree gchar *name = gpu_kernel_for (plan, base, family, x->dtype, "I", type, NULL);
  GpuStep *step = gpu_each_element (plan, name, p, (GpuTensor *[]){ x, index }, 2, y);
  gpu_step_complaint (plan, step, GPU_WRONG_INDEX);
  return TRUE;
}

static gboolean
build_gather (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const gchar *type = gpu_index_type (node, why);
  GpuLines lines = gpu_lines (x, gpu_node_axis (node, x->rank));
  const GpuGatherParams params = { .count = gpu_int (
                                       axon_shape_get_numel (&node->inputs[1]->type.shape)),
                                   .inner = gpu_int (lines.inner),
                                   .length = gpu_int (lines.length) };
  if (type == NULL)
    return FALSE;
  return add_gather (plan, node, "gather", type, GPU_PARAMS_OF (plan, params));
}

static gboolean
build_gather_elements (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *type = gpu_index_type (node, why);
  gint axis = gpu_node_axis (node, x->rank);
  gint64 xs[AXON_MAX_RANK];
  GpuGatherElementsParams params = {
    .rank = x->rank,
    .axis = axis,
    .length = gpu_int (x->dims[axis]),
  };
  if (type == NULL)
    return FALSE;
  gpu_strides (x, xs);
  gpu_ints (y->dims, x->rank, params.size);
  gpu_ints (xs, x->rank, params.x_step);
  return add_gather (plan, node, "gatherelements", type, GPU_PARAMS_OF (plan, params));
}

static gboolean
build_gather_nd (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  const gchar *type = gpu_index_type (node, why);
  gint batch =
      axon_node_find_attr (node, "batch_dims") ? (gint)axon_node_get_int (node, "batch_dims") : 0;
  gint64 length = index->dims[index->rank - 1], slice = 1, per_batch = 1, batch_size = 1;
  GpuGatherNdParams params;
  if (type == NULL)
    return FALSE;
  for (gint d = batch + (gint)length; d < x->rank; d++)
    slice *= x->dims[d];
  for (gint d = batch; d < index->rank - 1; d++)
    per_batch *= index->dims[d];
  for (gint d = batch; d < x->rank; d++)
    batch_size *= x->dims[d];
  params = (GpuGatherNdParams){ .length = gpu_int (length),
                                .slice = gpu_int (slice),
                                .per_batch = gpu_int (per_batch),
                                .batch_size = gpu_int (batch_size) };
  gpu_set_axes (x, batch, length, params.size, params.x_step);
  return add_gather (plan, node, "gathernd", type, GPU_PARAMS_OF (plan, params));
}

static const GpuKernel rows[] = {
  { .name = "Gather", .impl = "gather", .build = build_gather },
  { .name = "GatherElements", .impl = "gather", .build = build_gather_elements },
  { .name = "GatherND", .impl = "gather", .build = build_gather_nd },
};

GPU_DEFINE_FAMILY (gather, rows)
