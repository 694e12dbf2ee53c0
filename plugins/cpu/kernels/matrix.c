/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trilu: a part of each row is copied, the rest is zeros. */
#include "kernels.h"
#include "../cpupool.h"

#include <string.h>

#define PARALLEL_BYTES 65536

typedef struct {
  gint64 rows, columns;
  gsize size;
  gboolean upper;
} Triangle;

typedef struct {
  const Triangle *plan;
  gint64 k; /* of the diagonal */
  const guint8 *x;
  guint8 *y;
} TriangleRun;

/* Kept are columns before, or from, row + k (+ 1) on. */
static void
copy_rows (gpointer data, gint64 first, gint64 end)
{
  const TriangleRun *run = data;
  const Triangle *t = run->plan;
  gsize row = (gsize)t->columns * t->size;
  for (gint64 r = first; r < end; r++) {
    gint64 k = CLAMP (run->k, -t->rows - 1, t->columns + 1) + (t->upper ? 0 : 1);
    gsize cut = (gsize)CLAMP (r % t->rows + k, 0, t->columns) * t->size;
    guint8 *y = run->y + (gsize)r * row;
    const guint8 *x = run->x + (gsize)r * row;
    memset (t->upper ? y : y + cut, 0, t->upper ? cut : row - cut);
    memcpy (t->upper ? y + cut : y, t->upper ? x + cut : x, t->upper ? row - cut : cut);
  }
}

static void
run_triangle (const CpuStep *step, const CpuInstance *instance)
{
  const Triangle *t = step->data;
  TriangleRun run = { t, 0, cpu_tensor_data (instance, step->in[0]),
                      cpu_tensor_data (instance, step->out[0]) };
  gint64 row = t->columns * (gint64)t->size;
  if (step->n_in > 1)
    run.k = axon_dtype_load_int (step->in[1]->dtype, cpu_tensor_data (instance, step->in[1]), 0);
  cpu_parallel_ranges (axon_shape_get_numel (&step->in[0]->shape) / t->columns,
                       PARALLEL_BYTES / row + 1, copy_rows, &run);
}

static gboolean
build_triangle (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTypeInfo *x = &node->inputs[0]->type;
  const AxonValue *k = axon_node_get_input (node, 1);
  guint n_in = k != NULL && axon_shape_get_numel (&k->type.shape) > 0 ? 2 : 1;
  CpuTensor *in[2], *dst;
  Triangle t;
  if (x->shape.rank < 2 || axon_shape_get_numel (&x->shape) < 1)
    return FALSE;
  t = (Triangle){ x->shape.dims[x->shape.rank - 2], x->shape.dims[x->shape.rank - 1],
                  axon_dtype_get_size (x->dtype), axon_node_get_int (node, "upper") != 0 };
  in[0] = cpu_plan_input_as (plan, node, 0, NULL);
  in[1] = n_in > 1 ? cpu_plan_input_as (plan, node, 1, NULL) : NULL;
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_triangle, g_memdup2 (&t, sizeof t), g_free, "own", in, n_in, &dst,
                     1);
  return TRUE;
}

const CpuKernel cpu_matrix_kernels[] = {
  { .name = "Trilu", .impl = "own", .build = build_triangle },
  { 0 },
};
