/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Transpose, DepthToSpace and SpaceToDepth, as strided descriptions of the same data. Transposing
 * an nhwc tensor to N,H,W,C order costs nothing: its bytes lie that way already. */
#include "dnn-private.h"

#include "../kernels/kernels.h"
#include "../kernels/rows.h"

#define MANY 8 /* channels of a result that another operator takes; of fewer it is a picture */

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

/* A picture as it lies, and as its blocks of pixels shall lie. */
typedef struct {
  CpuTensor *src;
  CpuMd *md; /* of the result; NULL: row-major */
  gint64 from[4], to[4];
} Blocks;

/* Channels that are last stay so. */
static Blocks
blocks_of (CpuPlan *plan, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  Blocks b = { 0 };
  b.src = dnn_strided_input (plan, node, b.from);
  if (y->dims[1] >= MANY && cpu_channels_are_inner (x, b.from))
    b.md = cpu_md_channels_last (b.src->dtype, y);
  cpu_md_get_strides (b.md, y, b.to);
  return b;
}

/* Copies element by element what @shape and @strides name in both. */
static void
add_copy (CpuPlan *plan, const AxonNode *node, Blocks *b, const AxonShape *shape,
          const gint64 *from, const gint64 *to)
{
  g_autoptr (CpuMd) md = g_steal_pointer (&b->md);
  CpuTensor *dst = cpu_plan_output (plan, node, 0, md);
  AxonDType dtype = b->src->dtype;
  cpu_add_reorder (plan, cpu_dnn_view (plan, b->src, shape, cpu_md_strided (dtype, shape, from), 0),
                   cpu_dnn_view (plan, dst, shape, cpu_md_strided (dtype, shape, to), 0));
}

static gboolean
build_depth_to_space (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 b = axon_node_get_int (node, "blocksize"), c = x->dims[1] / (b * b);
  gboolean crd = g_str_equal (axon_node_get_string (node, "mode"), "CRD");
  AxonShape shape = AXON_SHAPE (x->dims[0], c, x->dims[2], b, x->dims[3], b);
  if (!dnn_is_movable (node))
    return FALSE;
  Blocks blocks = blocks_of (plan, node);
  const gint64 *s = blocks.from, *t = blocks.to;
  gint64 from[] = { s[0], crd ? b * b * s[1] : s[1], s[2], crd ? b * s[1] : b * c * s[1],
                    s[3], crd ? s[1] : c * s[1] };
  gint64 to[] = { t[0], t[1], b * t[2], t[2], b * t[3], t[3] };
  add_copy (plan, node, &blocks, &shape, from, to);
  return TRUE;
}

static gboolean
build_space_to_depth (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint64 b = axon_node_get_int (node, "blocksize"), c = x->dims[1];
  AxonShape shape = AXON_SHAPE (x->dims[0], b, b, c, x->dims[2] / b, x->dims[3] / b);
  if (!dnn_is_movable (node))
    return FALSE;
  Blocks blocks = blocks_of (plan, node);
  const gint64 *s = blocks.from, *t = blocks.to;
  gint64 from[] = { s[0], s[2], s[3], s[1], b * s[2], b * s[3] };
  gint64 to[] = { t[0], b * c * t[1], c * t[1], t[1], t[2], t[3] };
  add_copy (plan, node, &blocks, &shape, from, to);
  return TRUE;
}

const CpuKernel cpu_dnn_transpose_kernels[] = {
  { .name = "Transpose", .impl = "onednn", .build = build_transpose },
  { .name = "DepthToSpace", .impl = "onednn", .build = build_depth_to_space },
  { .name = "SpaceToDepth", .impl = "onednn", .build = build_space_to_depth },
  { 0 },
};
