/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tile, Expand, and Slice where it is no view: where each place comes from. */
#include "kernels.h"
#include "remap.h"

/* Every dimension from its beginning again and again: one place of it, or all. */
static gboolean
build_repeat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint32 *maps[AXON_MAX_RANK] = { NULL };
  if (!cpu_can_remap (node) || x->rank > y->rank)
    return FALSE;
  for (gint d = 0; d < y->rank; d++) {
    gint missing = y->rank - x->rank;
    gint64 n = d < missing ? 1 : x->dims[d - missing];
    if (n == y->dims[d])
      continue;
    maps[d] = g_new (gint32, (gsize)y->dims[d]);
    for (gint64 i = 0; i < y->dims[d]; i++)
      maps[d][i] = (gint32)(i % n);
  }
  cpu_add_remap (plan, node, maps, NULL);
  return TRUE;
}

/* Value @i of a constant input of whole numbers; @otherwise where there is none. */
static gint64
constant_at (const AxonNode *node, guint index, guint i, gint64 otherwise)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  return t ? axon_dtype_load_int (axon_tensor_get_dtype (t), axon_tensor_get_data (t), i)
           : otherwise;
}

/* Slices that are no views: what walks backwards, and types that views cannot describe. */
static gboolean
build_slice (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint32 *maps[AXON_MAX_RANK] = { NULL };
  if (!cpu_can_remap (node) || cpu_node_constant (node, 1) == NULL ||
      (axon_node_get_input (node, 3) != NULL && cpu_node_constant (node, 3) == NULL) ||
      (axon_node_get_input (node, 4) != NULL && cpu_node_constant (node, 4) == NULL))
    return FALSE;
  for (guint k = 0; k < axon_tensor_get_numel (cpu_node_constant (node, 1)); k++) {
    gint64 d = constant_at (node, 3, k, k), from = constant_at (node, 1, k, 0);
    gint64 step = constant_at (node, 4, k, 1);
    d += d < 0 ? x->rank : 0;
    from += from < 0 ? x->dims[d] : 0;
    from = CLAMP (from, 0, x->dims[d] - 1); /* there is something in it */
    maps[d] = g_new (gint32, (gsize)y->dims[d]);
    for (gint64 i = 0; i < y->dims[d]; i++)
      maps[d][i] = (gint32)(from + i * step);
  }
  cpu_add_remap (plan, node, maps, NULL);
  return TRUE;
}

const CpuKernel cpu_repeat_kernels[] = {
  { .name = "Tile", .impl = "own", .build = build_repeat },
  { .name = "Expand", .impl = "own", .build = build_repeat },
  { .name = "Slice", .impl = "own", .build = build_slice },
  { 0 },
};
