/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QLinearConcat: each part is copied, or brought to the result's scale by a factor or a table. */
#include "kernels.h"
#include "qlinear.h"
#include "rows.h"
#include "../onednn/cpudnn.h"

typedef struct {
  CpuRows rows;
  CpuByteTable table;
} Part;

static void
run_concat (const CpuStep *step, const CpuInstance *instance)
{
  const Part *parts = step->data;
  for (guint i = 0; i < step->n_in; i++) {
    CpuByteRun run = { &parts[i].table, cpu_tensor_data (instance, step->out[0]),
                       cpu_tensor_data (instance, step->in[i]) };
    cpu_rows_run_blocks (&parts[i].rows, cpu_byte_table_rows, &run);
  }
}

/* Inputs: Y_scale, Y_zero, then X, X_scale, X_zero for each part. */
static gboolean
set_table (Part *part, const AxonNode *node, guint i, gint axis)
{
  AxonTensor *in[5];
  gfloat value[5] = { 0 }, factor;
  for (guint k = 0; k < G_N_ELEMENTS (in); k++) {
    in[k] = (AxonTensor *)cpu_node_constant (node, k < 2 ? k : 3 * i + k);
    value[k] = k == 2 ? 0 : (gfloat)axon_tensor_get_value (in[k], 0);
  }
  if (!cpu_byte_table_init (&part->table, node, in, G_N_ELEMENTS (in), 2,
                            node->outputs[0]->type.shape.rank, axis))
    return FALSE;
  factor = value[3] / value[0];
  cpu_byte_table_rescale (&part->table, node->outputs[0]->type.dtype == AXON_DTYPE_I8, factor,
                          value[1] - value[4] * factor);
  return TRUE;
}

static void
set_rows (Part *part, const CpuTensor *x, const CpuTensor *y, gint axis, gint64 first)
{
  gint64 strides[2][AXON_MAX_RANK] = { { 0 } };
  cpu_md_get_strides (y->md, &y->shape, strides[0]);
  cpu_md_get_strides (x->md, &x->shape, strides[1]);
  cpu_rows_init (&part->rows, &x->shape, strides, 2);
  part->rows.offset = first * strides[0][axis];
}

/* A layout in which a row of the part is one of the result, too. */
static CpuTensor *
part_input (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md)
{
  AxonValue *value = node->inputs[index];
  g_autoptr (CpuMd) last =
      md != NULL ? cpu_md_channels_last (value->type.dtype, &value->type.shape) : NULL;
  CpuTensor *x = cpu_rows_input (plan, node, index);
  gint64 strides[AXON_MAX_RANK];
  cpu_md_get_strides (x->md, &x->shape, strides);
  return strides[md != NULL ? 1 : x->shape.rank - 1] == 1
             ? x
             : cpu_plan_input_as (plan, node, index, last);
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->outputs[0]->type.shape;
  guint n = (node->n_inputs - 2) / 3;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autofree Part *parts = g_new0 (Part, n);
  g_autofree CpuTensor **in = g_new0 (CpuTensor *, n);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *y;
  gint64 first = 0;
  axis += axis < 0 ? shape->rank : 0;
  if (!cpu_has_qlinear (node))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!set_table (&parts[i], node, i, axis))
      return FALSE;
  md = cpu_rows_result (cpu_rows_input (plan, node, 2), node->outputs[0]->type.dtype, shape);
  y = cpu_plan_output (plan, node, 0, md);
  for (guint i = 0; i < n; i++) {
    in[i] = part_input (plan, node, 2 + 3 * i, md);
    set_rows (&parts[i], in[i], y, axis, first);
    first += in[i]->shape.dims[axis];
  }
  cpu_plan_add_step (plan, run_concat, g_steal_pointer (&parts), g_free, "own", in, n, &y, 1);
  return TRUE;
}

const CpuKernel cpu_qlinear_concat_kernels[] = {
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearConcat",
    .impl = "own",
    .build = build_concat },
  { 0 },
};
