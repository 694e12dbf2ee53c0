/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pad with a constant over row-major memory, by runs of bytes. */
#include "kernels.h"

#include <string.h>

typedef struct {
  AxonShape in, out;
  gint64 pads[AXON_MAX_RANK];
  guint8 value[8];
  gsize size;
} PadPlan;

/* Copies the rows of @in to their place in @out, which is filled already. */
static void
copy_rows (const PadPlan *p, guint8 *y, const guint8 *x, gint dim)
{
  gsize in_step = p->size, out_step = p->size;
  for (gint d = dim + 1; d < p->in.rank; d++) {
    in_step *= (gsize)p->in.dims[d];
    out_step *= (gsize)p->out.dims[d];
  }
  y += (gsize)p->pads[dim] * out_step;
  if (in_step == out_step) { /* nothing is padded further in: one run */
    memcpy (y, x, (gsize)p->in.dims[dim] * in_step);
    return;
  }
  for (gint64 i = 0; i < p->in.dims[dim]; i++)
    copy_rows (p, y + (gsize)i * out_step, x + (gsize)i * in_step, dim + 1);
}

static void
run_pad (const CpuStep *step, const CpuInstance *instance)
{
  const PadPlan *p = step->data;
  guint8 *y = cpu_tensor_data (instance, step->out[0]);
  gsize n = (gsize)axon_shape_get_numel (&p->out);
  guint64 bits = 0;
  memcpy (&bits, p->value, p->size);
  if (bits == 0)
    memset (y, 0, n * p->size);
  else
    for (gsize i = 0; i < n; i++)
      memcpy (y + i * p->size, p->value, p->size);
  copy_rows (p, y, cpu_tensor_data (instance, step->in[0]), 0);
}

static gboolean
get_pads (const AxonNode *node, PadPlan *p)
{
  const AxonTensor *pads = cpu_node_constant (node, 1), *value = cpu_node_constant (node, 2);
  guint n;
  const gchar *name = axon_node_has_form (node, AXON_FORM_PADDINGS) ? "paddings" : "pads";
  const gint64 *attr = axon_node_get_ints (node, name, &n);
  AxonDType dtype = node->inputs[0]->type.dtype;
  if (attr == NULL && (pads == NULL || axon_tensor_get_dtype (pads) != AXON_DTYPE_I64))
    return FALSE;
  if ((axon_node_get_input (node, 2) != NULL && value == NULL) ||
      axon_node_get_input (node, 3) != NULL)
    return FALSE;
  for (gint d = 0; d < p->in.rank; d++) {
    p->pads[d] = attr ? attr[d] : ((const gint64 *)axon_tensor_get_data (pads))[d];
    if (p->pads[d] < 0 || p->out.dims[d] < p->in.dims[d] + p->pads[d])
      return FALSE; /* cropping */
  }
  if (attr != NULL)
    axon_dtype_store (dtype, p->value, 0, axon_node_get_float (node, "value"));
  else if (value != NULL)
    memcpy (p->value, axon_tensor_get_data (value), p->size);
  return TRUE;
}

static gboolean
build_pad (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  PadPlan p = { .in = node->inputs[0]->type.shape,
                .out = node->outputs[0]->type.shape,
                .size = axon_dtype_get_size (node->inputs[0]->type.dtype) };
  CpuTensor *src, *dst;
  if (!g_str_equal (axon_node_get_string (node, "mode"), "constant") || p.in.rank < 1 ||
      p.size > sizeof p.value || axon_shape_get_numel (&p.in) == 0 || !get_pads (node, &p))
    return FALSE;
  src = cpu_plan_input_as (plan, node, 0, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_pad, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_pad_kernels[] = {
  { .name = "Pad", .impl = "own", .build = build_pad },
  { 0 },
};
