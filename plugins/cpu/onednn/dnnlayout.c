/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Types and layouts of tensors as oneDNN says them. */
#include "dnn-private.h"

dnnl_data_type_t
dnn_type (AxonDType dtype)
{
  switch (dtype) {
  case AXON_DTYPE_F32:
    return dnnl_f32;
  case AXON_DTYPE_U8:
  case AXON_DTYPE_BOOL: /* which is moved, and nothing else */
    return dnnl_u8;
  case AXON_DTYPE_I8:
    return dnnl_s8;
  case AXON_DTYPE_I32:
    return dnnl_s32;
  case AXON_DTYPE_BF16: /* of products, and nothing else */
    return dnnl_bf16;
  default:
    return dnnl_data_type_undef;
  }
}

gboolean
cpu_dnn_has_type (AxonDType dtype)
{
  return dtype != AXON_DTYPE_BF16 && dnn_type (dtype) != dnnl_data_type_undef;
}

gboolean
dnn_is_f32 (const AxonNode *node)
{
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         axon_shape_get_numel (&node->inputs[0]->type.shape) > 0 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

gboolean
dnn_is_movable (const AxonNode *node)
{
  const AxonTypeInfo *x = &node->inputs[0]->type;
  return cpu_dnn_has_type (x->dtype) && x->shape.rank >= 1 && x->shape.rank <= 6 &&
         axon_shape_get_numel (&x->shape) > 0 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

/* A scalar is a vector of one; an empty shape cannot be described and does not come here. */
static int
to_dims (const AxonShape *shape, dnnl_dims_t dims)
{
  for (gint i = 0; i < shape->rank; i++)
    dims[i] = shape->dims[i];
  if (shape->rank == 0)
    dims[0] = 1;
  return MAX (shape->rank, 1);
}

static void
row_major (const AxonShape *shape, gint64 *strides)
{
  for (gint i = shape->rank - 1; i >= 0; i--)
    strides[i] = i == shape->rank - 1 ? 1 : strides[i + 1] * MAX (shape->dims[i + 1], 1);
}

CpuMd *
dnn_md_plain (AxonDType dtype, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK];
  row_major (shape, strides);
  return cpu_md_strided (dtype, shape, strides);
}

CpuMd *
dnn_md_any (AxonDType dtype, const AxonShape *shape)
{
  dnnl_dims_t dims = { 0 };
  int n = to_dims (shape, dims);
  return dnn_md_new_tagged (dnn_type (dtype), n, dims, dnnl_format_tag_any);
}

CpuMd *
dnn_md_of (const CpuTensor *t)
{
  return t->md ? cpu_md_copy (t->md) : dnn_md_plain (t->dtype, &t->shape);
}

/* NULL: strides that oneDNN refuses, such as every third row of four, where a whole last step would
 * reach into the next plane. */
CpuMd *
cpu_md_strided (AxonDType dtype, const AxonShape *shape, const gint64 *strides)
{
  dnnl_dims_t dims = { 0 }, own = { 1 };
  int n = to_dims (shape, dims);
  for (gint i = 0; i < shape->rank; i++)
    own[i] = strides[i];
  return dnn_md_new_strided (dnn_type (dtype), n, dims, own);
}

/* nCw8c, nChw16c and the like; NULL: no such layout */
CpuMd *
cpu_md_channel_blocks (AxonDType dtype, const AxonShape *shape, gint64 block)
{
  static const dnnl_format_tag_t tags[][2] = { { dnnl_aBc8b, dnnl_aBc16b },
                                               { dnnl_aBcd8b, dnnl_aBcd16b },
                                               { dnnl_aBcde8b, dnnl_aBcde16b } };
  dnnl_dims_t dims = { 0 };
  if ((block != 8 && block != 16) || shape->rank < 3 || shape->rank > 5 ||
      !cpu_dnn_has_type (dtype))
    return NULL;
  return dnn_md_new_tagged (dnn_type (dtype), to_dims (shape, dims), dims,
                            tags[shape->rank - 3][block == 16]);
}

gint64
cpu_md_get_block (const CpuMd *md, AxonDType dtype, const AxonShape *shape)
{
  for (gint64 block = 8; md != NULL && block <= 16; block *= 2) {
    g_autoptr (CpuMd) blocks = cpu_md_channel_blocks (dtype, shape, block);
    if (blocks != NULL && cpu_md_equal (md, blocks))
      return block;
  }
  return 0;
}

CpuMd *
cpu_md_channels_last (AxonDType dtype, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK], at = shape->dims[1];
  strides[1] = 1;
  for (gint i = shape->rank - 1; i >= 0; i--)
    if (i != 1) {
      strides[i] = at;
      at *= shape->dims[i];
    }
  return cpu_md_strided (dtype, shape, strides);
}

gboolean
cpu_md_get_strides (const CpuMd *md, const AxonShape *shape, gint64 *strides)
{
  const dnnl_dim_t *own = md ? dnn_md_peek_strides (md) : NULL;
  if (md == NULL)
    row_major (shape, strides);
  else if (own == NULL)
    return FALSE;
  for (gint i = 0; own != NULL && i < shape->rank; i++)
    strides[i] = own[i];
  return TRUE;
}

CpuTensor *
cpu_dnn_view (CpuPlan *plan, const CpuTensor *t, const AxonShape *shape, CpuMd *md, gint64 offset)
{
  CpuTensor *view = g_new0 (CpuTensor, 1);
  *view = *t;
  view->md = md;
  view->offset += (gsize)offset * axon_dtype_get_size (t->dtype);
  if (shape != NULL)
    view->shape = *shape;
  g_ptr_array_add (plan->tensors, view);
  return view;
}
