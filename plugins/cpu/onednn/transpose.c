/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transpose, DepthToSpace and SpaceToDepth, as strided descriptions of the same data. Transposing
 * an nhwc tensor to N,H,W,C order costs nothing: its bytes lie that way already. */
#include "dnn-private.h"

#include "../kernels/kernels.h"

static gboolean
build_transpose (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 strides[AXON_MAX_RANK], moved[AXON_MAX_RANK];
  guint n;
  const gint64 *perm = axon_node_get_ints (node, "perm", &n);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *src;
  if (!dnn_is_movable (node))
    return FALSE;
  src = dnn_strided_input (plan, node, strides);
  for (gint i = 0; i < x->rank; i++)
    moved[i] = strides[perm ? perm[i] : x->rank - 1 - i];
  md = cpu_md_strided (src->dtype, y, moved);
  cpu_plan_alias (plan, node, 0, src, md); /* a view; whoever needs row-major converts it */
  return TRUE;
}

/* Copies @src, described by @shape and @strides, to a row-major output. */
static void
add_gather (CpuPlan *plan, const AxonNode *node, CpuTensor *src, const AxonShape *shape,
            const gint64 *strides)
{
  CpuTensor *dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_add_reorder (plan,
                   dnn_view (plan, src, shape, cpu_md_strided (src->dtype, shape, strides), 0),
                   dnn_view (plan, dst, shape, NULL, 0));
}

static gboolean
build_depth_to_space (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 b = axon_node_get_int (node, "blocksize"), s[AXON_MAX_RANK], c = x->dims[1] / (b * b);
  gboolean crd = g_str_equal (axon_node_get_string (node, "mode"), "CRD");
  AxonShape shape = AXON_SHAPE (x->dims[0], c, x->dims[2], b, x->dims[3], b);
  CpuTensor *src;
  if (!dnn_is_movable (node))
    return FALSE;
  src = dnn_strided_input (plan, node, s);
  gint64 strides[] = { s[0], crd ? b * b * s[1] : s[1], s[2], crd ? b * s[1] : b * c * s[1],
                       s[3], crd ? s[1] : c * s[1] };
  add_gather (plan, node, src, &shape, strides);
  return TRUE;
}

static gboolean
build_space_to_depth (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 b = axon_node_get_int (node, "blocksize"), s[AXON_MAX_RANK];
  AxonShape shape = AXON_SHAPE (x->dims[0], b, b, x->dims[1], x->dims[2] / b, x->dims[3] / b);
  CpuTensor *src;
  if (!dnn_is_movable (node))
    return FALSE;
  src = dnn_strided_input (plan, node, s);
  gint64 strides[] = { s[0], s[2], s[3], s[1], b * s[2], b * s[3] };
  add_gather (plan, node, src, &shape, strides);
  return TRUE;
}

const CpuKernel cpu_dnn_transpose_kernels[] = {
  { .name = "Transpose", .impl = "onednn", .build = build_transpose },
  { .name = "DepthToSpace", .impl = "onednn", .build = build_depth_to_space },
  { .name = "SpaceToDepth", .impl = "onednn", .build = build_space_to_depth },
  { 0 },
};
