/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of two inputs; but for Max and Min, of which a number is what oneDNN makes
 * of it and of what is none. */
#include "dnn-private.h"

typedef struct {
  dnnl_alg_kind_t alg;
  gboolean commutes;
} Binary;

/* As ONNX broadcasts: ones in front. */
static AxonShape
pad_shape (const AxonShape *shape, gint rank)
{
  AxonShape padded = { .rank = rank };
  gint lead = rank - shape->rank;
  for (gint d = 0; d < rank; d++)
    padded.dims[d] = d < lead ? 1 : shape->dims[d - lead];
  return padded;
}

/* The operand that has the result's shape leads the layout: input 0 if both have it, but for a
 * constant one. FALSE: none that may. */
static gboolean
find_lead (const AxonNode *node, gboolean commutes, guint *lead)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  const AxonValue *a = node->inputs[0], *b = node->inputs[1];
  gboolean first = axon_shape_equal (&a->type.shape, y);
  gboolean second = commutes && axon_shape_equal (&b->type.shape, y);
  *lead = second && (!first || a->type.value != NULL) ? 1 : 0;
  return first || second;
}

static gboolean
build_binary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape, *s;
  g_autoptr (CpuMd) md = NULL, other_md = NULL;
  CpuTensor *first, *other;
  const Binary *binary = plan->row->data;
  guint lead;
  DnnCall call = { 0 };
  if (!dnn_is_f32 (node) || node->n_inputs != 2 || y->rank > 5 || y->rank < 1 ||
      !find_lead (node, binary->commutes, &lead))
    return FALSE;
  s = &node->inputs[1 - lead]->type.shape;
  first = cpu_plan_input (plan, node, lead);
  md = dnn_md_of (first);
  if (axon_shape_equal (s, y)) {
    other = cpu_plan_input_as (plan, node, 1 - lead, first->md);
    other_md = dnn_md_of (other);
  } else {
    AxonShape shape = pad_shape (s, y->rank);
    other = cpu_plan_input_as (plan, node, 1 - lead, NULL);
    other_md = dnn_md_plain (AXON_DTYPE_F32, &shape);
  }
  call.pd = dnn_pd_if_fast (dnn_pd_new_binary (binary->alg, md, other_md, md, NULL));
  if (call.pd == NULL)
    return FALSE;
  dnn_call_add_arg (&call, DNNL_ARG_SRC_0, first, FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_SRC_1,
                    cpu_dnn_view (plan, other, NULL, g_steal_pointer (&other_md), 0), FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST, cpu_plan_output (plan, node, 0, first->md), TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

const CpuKernel cpu_dnn_binary_kernels[] = {
  { .name = "Add",
    .impl = "onednn",
    .build = build_binary,
    .data = &(const Binary){ dnnl_binary_add, TRUE } },
  { .name = "Sum",
    .impl = "onednn",
    .build = build_binary,
    .data = &(const Binary){ dnnl_binary_add, TRUE } },
  { .name = "Sub",
    .impl = "onednn",
    .build = build_binary,
    .data = &(const Binary){ dnnl_binary_sub, FALSE } },
  { .name = "Mul",
    .impl = "onednn",
    .build = build_binary,
    .data = &(const Binary){ dnnl_binary_mul, TRUE } },
  { .name = "Div",
    .impl = "onednn",
    .build = build_binary,
    .data = &(const Binary){ dnnl_binary_div, FALSE } },
  { 0 },
};
