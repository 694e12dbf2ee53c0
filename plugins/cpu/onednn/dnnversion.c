/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All that differs between oneDNN 2.6 and 3.x, and what can only be said beside it: memory
 * descriptors, primitive descriptors, and how scales and zero points are given.
 *
 * Version 2 describes an operation first, in a struct, and derives some destinations; memory
 * descriptors are structs. Version 3 makes primitive descriptors directly, and memory descriptors
 * are opaque. In both a pointer to oneDNN's memory descriptor is what a CpuMd pointer is. */
#include "dnn-private.h"

#if DNNL_VERSION_MAJOR < 3
#define MD(md) ((const dnnl_memory_desc_t *)(md))
#else
#define MD(md) ((const_dnnl_memory_desc_t)(md))
#endif

static const DnnAttr *
attr_or_default (const DnnAttr *attr)
{
  return attr ? attr : dnn_attr_default ();
}

gsize
cpu_md_get_bytes (const CpuMd *md)
{
  return dnnl_memory_desc_get_size (MD (md));
}

gboolean
cpu_md_equal (const CpuMd *a, const CpuMd *b)
{
  return dnnl_memory_desc_equal (MD (a), MD (b)) != 0;
}

dnnl_memory_t
dnn_memory_new (const CpuMd *md, gpointer data)
{
  dnnl_memory_t memory = NULL;
  dnnl_memory_create (&memory, MD (md), dnn_engine (), data);
  return memory;
}

const CpuMd *
dnn_pd_get_md (const DnnPd *pd, dnnl_query_t what)
{
  return (const CpuMd *)dnnl_primitive_desc_query_md (pd, what, 0);
}

DnnPd *
dnn_pd_new_reorder (const CpuMd *from, const CpuMd *to)
{
  DnnPd *pd = NULL;
  dnnl_reorder_primitive_desc_create (&pd, MD (from), dnn_engine (), MD (to), dnn_engine (),
                                      dnn_attr_default ());
  return pd;
}

static const gchar *
impl_name (const DnnPd *pd)
{
  const char *name = "";
  dnnl_primitive_desc_query (pd, dnnl_query_impl_info_str, 0, &name);
  return name;
}

gboolean
dnn_pd_has_tiles (const DnnPd *pd)
{
  return strstr (impl_name (pd), "amx") != NULL;
}

/* Tiles (AMX) cost tens of microseconds to set up, whatever the work. */
static gboolean
is_wasteful (const DnnConv *conv, const DnnPd *pd)
{
  return conv->small && dnn_pd_has_tiles (pd);
}

#if DNNL_VERSION_MAJOR < 3

static CpuMd *
md_new (dnnl_status_t status, const dnnl_memory_desc_t *md)
{
  return status == dnnl_success ? g_memdup2 (md, sizeof *md) : NULL;
}

CpuMd *
dnn_md_new_strided (dnnl_data_type_t type, int rank, const dnnl_dims_t dims,
                    const dnnl_dims_t strides)
{
  dnnl_memory_desc_t md;
  return md_new (dnnl_memory_desc_init_by_strides (&md, rank, dims, type, strides), &md);
}

CpuMd *
dnn_md_new_tagged (dnnl_data_type_t type, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
  dnnl_memory_desc_t md;
  return md_new (dnnl_memory_desc_init_by_tag (&md, rank, dims, type, tag), &md);
}

CpuMd *
cpu_md_copy (const CpuMd *md)
{
  return md ? md_new (dnnl_success, MD (md)) : NULL;
}

void
cpu_md_free (CpuMd *md)
{
  g_free (md);
}

const dnnl_dim_t *
dnn_md_peek_strides (const CpuMd *md)
{
  const dnnl_memory_desc_t *d = MD (md);
  return d->format_kind == dnnl_blocked && d->format_desc.blocking.inner_nblks == 0 &&
                 d->extra.flags == 0 && d->offset0 == 0
             ? d->format_desc.blocking.strides
             : NULL;
}

static DnnPd *
pd_new (dnnl_status_t described, const void *operation, const DnnAttr *attr)
{
  DnnPd *pd = NULL;
  if (described == dnnl_success)
    dnnl_primitive_desc_create (&pd, operation, attr_or_default (attr), dnn_engine (), NULL);
  return pd;
}

/* The first implementation that is not a waste. */
static DnnPd *
pd_new_conv (dnnl_status_t described, const void *operation, const DnnAttr *attr,
             const DnnConv *conv)
{
  dnnl_primitive_desc_iterator_t implementations = NULL;
  DnnPd *pd = NULL;
  if (described != dnnl_success ||
      dnnl_primitive_desc_iterator_create (&implementations, operation, attr_or_default (attr),
                                           dnn_engine (), NULL) != dnnl_success)
    return NULL;
  do {
    if (pd != NULL)
      dnnl_primitive_desc_destroy (pd);
    pd = dnnl_primitive_desc_iterator_fetch (implementations);
  } while (is_wasteful (conv, pd) &&
           dnnl_primitive_desc_iterator_next (implementations) == dnnl_success);
  dnnl_primitive_desc_iterator_destroy (implementations);
  return pd;
}

DnnPd *
dnn_pd_new_conv (const DnnConv *c, const DnnAttr *attr)
{
  const DnnWindow *w = c->window;
  dnnl_convolution_desc_t conv;
  dnnl_deconvolution_desc_t deconv;
  if (c->transposed)
    return pd_new_conv (dnnl_dilated_deconvolution_forward_desc_init (
                            &deconv, dnnl_forward_inference, dnnl_deconvolution_direct, MD (c->src),
                            MD (c->weights), MD (c->bias), MD (c->dst), w->stride, w->dilation,
                            w->pad, w->pad_end),
                        &deconv, attr, c);
  return pd_new_conv (dnnl_dilated_convolution_forward_desc_init (
                          &conv, dnnl_forward_inference, dnnl_convolution_direct, MD (c->src),
                          MD (c->weights), MD (c->bias), MD (c->dst), w->stride, w->dilation,
                          w->pad, w->pad_end),
                      &conv, attr, c);
}

DnnPd *
dnn_pd_new_pool (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst, const DnnWindow *w)
{
  dnnl_pooling_v2_desc_t pool;
  return pd_new (dnnl_pooling_v2_forward_desc_init (&pool, dnnl_forward_inference, alg, MD (src),
                                                    MD (dst), w->stride, w->kernel, w->dilation,
                                                    w->pad, w->pad_end),
                 &pool, NULL);
}

DnnPd *
dnn_pd_new_matmul (const CpuMd *a, const CpuMd *b, const CpuMd *bias, const CpuMd *dst,
                   const DnnAttr *attr)
{
  dnnl_matmul_desc_t matmul;
  return pd_new (dnnl_matmul_desc_init (&matmul, MD (a), MD (b), MD (bias), MD (dst)), &matmul,
                 attr);
}

DnnPd *
dnn_pd_new_eltwise (const DnnEltwise *e, const CpuMd *md)
{
  dnnl_eltwise_desc_t eltwise;
  return pd_new (dnnl_eltwise_forward_desc_init (&eltwise, dnnl_forward_inference, e->alg, MD (md),
                                                 e->alpha, e->beta),
                 &eltwise, NULL);
}

DnnPd *
dnn_pd_new_binary (dnnl_alg_kind_t alg, const CpuMd *a, const CpuMd *b, const CpuMd *dst,
                   const DnnAttr *attr)
{
  dnnl_binary_desc_t binary;
  return pd_new (dnnl_binary_desc_init (&binary, alg, MD (a), MD (b), MD (dst)), &binary, attr);
}

DnnPd *
dnn_pd_new_prelu (const CpuMd *md, const CpuMd *slope)
{
  dnnl_prelu_desc_t prelu;
  return pd_new (dnnl_prelu_forward_desc_init (&prelu, dnnl_forward_inference, MD (md), MD (slope)),
                 &prelu, NULL);
}

DnnPd *
dnn_pd_new_batch_norm (const CpuMd *md, gfloat epsilon)
{
  dnnl_batch_normalization_desc_t norm;
  return pd_new (dnnl_batch_normalization_forward_desc_init (
                     &norm, dnnl_forward_inference, MD (md), epsilon,
                     dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift),
                 &norm, NULL);
}

DnnPd *
dnn_pd_new_resampling (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst)
{
  dnnl_resampling_desc_t resampling;
  return pd_new (dnnl_resampling_forward_desc_init (&resampling, dnnl_forward_inference, alg, NULL,
                                                    MD (src), MD (dst)),
                 &resampling, NULL);
}

gboolean
dnn_posts_add_eltwise (DnnPosts *posts, const DnnEltwise *e)
{
  return dnnl_post_ops_append_eltwise (posts, 1, e->alg, e->alpha, e->beta) == dnnl_success;
}

gboolean
dnn_posts_add_sum (DnnPosts *posts)
{
  return dnnl_post_ops_append_sum (posts, 1) == dnnl_success;
}

void
dnn_scale_sums (G_GNUC_UNUSED CpuPlan *plan, G_GNUC_UNUSED DnnCall *call, DnnAttr *attr,
                G_GNUC_UNUSED DnnPosts *posts, const gfloat *scales, guint n,
                G_GNUC_UNUSED gint rank)
{
  dnnl_primitive_attr_set_output_scales (attr, n, n > 1 ? 1 << 1 : 0, scales);
}

void
dnn_set_zero_point (G_GNUC_UNUSED CpuPlan *plan, G_GNUC_UNUSED DnnCall *call, DnnAttr *attr,
                    int arg, gint32 zero)
{
  if (zero != 0)
    dnnl_primitive_attr_set_zero_points (attr, arg, 1, 0, &zero);
}

#else

CpuMd *
dnn_md_new_strided (dnnl_data_type_t type, int rank, const dnnl_dims_t dims,
                    const dnnl_dims_t strides)
{
  dnnl_memory_desc_t md = NULL;
  dnnl_memory_desc_create_with_strides (&md, rank, dims, type, strides);
  return (CpuMd *)md;
}

CpuMd *
dnn_md_new_tagged (dnnl_data_type_t type, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
  dnnl_memory_desc_t md = NULL;
  dnnl_memory_desc_create_with_tag (&md, rank, dims, type, tag);
  return (CpuMd *)md;
}

CpuMd *
cpu_md_copy (const CpuMd *md)
{
  dnnl_memory_desc_t copy = NULL;
  if (md != NULL)
    dnnl_memory_desc_clone (&copy, MD (md));
  return (CpuMd *)copy;
}

void
cpu_md_free (CpuMd *md)
{
  if (md != NULL)
    dnnl_memory_desc_destroy ((dnnl_memory_desc_t)md);
}

/* Nothing tells of what else a layout of blocks has (compensation of weights): it is one of strides
 * if the same strides make the same layout. */
const dnnl_dim_t *
dnn_md_peek_strides (const CpuMd *md)
{
  dnnl_format_kind_t kind = dnnl_format_kind_undef;
  dnnl_data_type_t type = dnnl_data_type_undef;
  const dnnl_dims_t *dims = NULL, *strides = NULL;
  g_autoptr (CpuMd) again = NULL;
  int rank = 0, n_blocks = 0;
  dnnl_memory_desc_query (MD (md), dnnl_query_format_kind, &kind);
  dnnl_memory_desc_query (MD (md), dnnl_query_inner_nblks_s32, &n_blocks);
  if (kind != dnnl_blocked || n_blocks != 0)
    return NULL;
  dnnl_memory_desc_query (MD (md), dnnl_query_data_type, &type);
  dnnl_memory_desc_query (MD (md), dnnl_query_ndims_s32, &rank);
  dnnl_memory_desc_query (MD (md), dnnl_query_dims, &dims);
  dnnl_memory_desc_query (MD (md), dnnl_query_strides, &strides);
  again = dnn_md_new_strided (type, rank, *dims, *strides);
  return again != NULL && cpu_md_equal (md, again) ? *strides : NULL;
}

/* Below version 3.4 this implementation scales only one channel of an incomplete last block of a
 * depthwise convolution. */
static gboolean
loses_channels (const DnnPd *pd)
{
  const_dnnl_memory_desc_t src = dnnl_primitive_desc_query_md (pd, dnnl_query_src_md, 0);
  const_dnnl_memory_desc_t weights = dnnl_primitive_desc_query_md (pd, dnnl_query_weights_md, 0);
  const dnnl_dims_t *dims = NULL;
  int n_src = 0, n_weights = 0;
  dnnl_memory_desc_query (src, dnnl_query_ndims_s32, &n_src);
  dnnl_memory_desc_query (weights, dnnl_query_ndims_s32, &n_weights);
  dnnl_memory_desc_query (weights, dnnl_query_dims, &dims);
  return dnnl_version ()->minor < 4 && g_str_has_prefix (impl_name (pd), "jit_uni_int8") &&
         n_weights > n_src && (*dims)[1] == 1 && (*dims)[0] % 8 > 1;
}

DnnPd *
dnn_pd_new_conv (const DnnConv *c, const DnnAttr *attr)
{
  const DnnWindow *w = c->window;
  DnnPd *pd = NULL;
  if (c->transposed)
    dnnl_deconvolution_forward_primitive_desc_create (
        &pd, dnn_engine (), dnnl_forward_inference, dnnl_deconvolution_direct, MD (c->src),
        MD (c->weights), MD (c->bias), MD (c->dst), w->stride, w->dilation, w->pad, w->pad_end,
        attr_or_default (attr));
  else
    dnnl_convolution_forward_primitive_desc_create (
        &pd, dnn_engine (), dnnl_forward_inference, dnnl_convolution_direct, MD (c->src),
        MD (c->weights), MD (c->bias), MD (c->dst), w->stride, w->dilation, w->pad, w->pad_end,
        attr_or_default (attr));
  while (pd != NULL && (loses_channels (pd) || is_wasteful (c, pd)))
    if (dnnl_primitive_desc_next_impl (pd) != dnnl_success) {
      dnnl_primitive_desc_destroy (pd);
      pd = NULL;
    }
  return pd;
}

DnnPd *
dnn_pd_new_pool (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst, const DnnWindow *w)
{
  DnnPd *pd = NULL;
  dnnl_pooling_forward_primitive_desc_create (&pd, dnn_engine (), dnnl_forward_inference, alg,
                                              MD (src), MD (dst), w->stride, w->kernel, w->dilation,
                                              w->pad, w->pad_end, dnn_attr_default ());
  return pd;
}

DnnPd *
dnn_pd_new_matmul (const CpuMd *a, const CpuMd *b, const CpuMd *bias, const CpuMd *dst,
                   const DnnAttr *attr)
{
  DnnPd *pd = NULL;
  dnnl_matmul_primitive_desc_create (&pd, dnn_engine (), MD (a), MD (b), MD (bias), MD (dst),
                                     attr_or_default (attr));
  return pd;
}

/* Version 3 makes NaN of gelu_erf (infinity) on AVX-512. */
DnnPd *
dnn_pd_new_eltwise (const DnnEltwise *e, const CpuMd *md)
{
  DnnPd *pd = NULL;
  if (e->alg == dnnl_eltwise_gelu_erf)
    return NULL;
  dnnl_eltwise_forward_primitive_desc_create (&pd, dnn_engine (), dnnl_forward_inference, e->alg,
                                              MD (md), MD (md), e->alpha, e->beta,
                                              dnn_attr_default ());
  return pd;
}

DnnPd *
dnn_pd_new_binary (dnnl_alg_kind_t alg, const CpuMd *a, const CpuMd *b, const CpuMd *dst,
                   const DnnAttr *attr)
{
  DnnPd *pd = NULL;
  dnnl_binary_primitive_desc_create (&pd, dnn_engine (), alg, MD (a), MD (b), MD (dst),
                                     attr_or_default (attr));
  return pd;
}

DnnPd *
dnn_pd_new_prelu (const CpuMd *md, const CpuMd *slope)
{
  DnnPd *pd = NULL;
  dnnl_prelu_forward_primitive_desc_create (&pd, dnn_engine (), dnnl_forward_inference, MD (md),
                                            MD (slope), MD (md), dnn_attr_default ());
  return pd;
}

DnnPd *
dnn_pd_new_batch_norm (const CpuMd *md, gfloat epsilon)
{
  DnnPd *pd = NULL;
  dnnl_batch_normalization_forward_primitive_desc_create (
      &pd, dnn_engine (), dnnl_forward_inference, MD (md), MD (md), epsilon,
      dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift, dnn_attr_default ());
  return pd;
}

DnnPd *
dnn_pd_new_resampling (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst)
{
  DnnPd *pd = NULL;
  dnnl_resampling_forward_primitive_desc_create (&pd, dnn_engine (), dnnl_forward_inference, alg,
                                                 NULL, MD (src), MD (dst), dnn_attr_default ());
  return pd;
}

gboolean
dnn_posts_add_eltwise (DnnPosts *posts, const DnnEltwise *e)
{
  return dnnl_post_ops_append_eltwise (posts, e->alg, e->alpha, e->beta) == dnnl_success;
}

gboolean
dnn_posts_add_sum (DnnPosts *posts)
{
  return dnnl_post_ops_append_sum (posts, 1, 0, dnnl_data_type_undef) == dnnl_success;
}

/* Version 3's scales of source and weights would come before the bias, and be rounded there: scales
 * of sums with their bias are a product behind it, which is what version 2 computes. */
void
dnn_scale_sums (CpuPlan *plan, DnnCall *call, G_GNUC_UNUSED DnnAttr *attr, DnnPosts *posts,
                const gfloat *scales, guint n, gint rank)
{
  AxonShape shape = { .rank = rank };
  g_autoptr (CpuMd) md = NULL;
  for (gint d = 0; d < rank; d++)
    shape.dims[d] = d == 1 ? n : 1;
  md = dnn_md_plain (AXON_DTYPE_F32, &shape);
  dnn_call_add_arg (
      call, DNNL_ARG_ATTR_MULTIPLE_POST_OP (dnnl_post_ops_len (posts)) | DNNL_ARG_SRC_1,
      cpu_plan_constant (plan, AXON_DTYPE_F32, &shape, g_memdup2 (scales, n * sizeof *scales)),
      FALSE);
  dnnl_post_ops_append_binary (posts, dnnl_binary_mul, MD (md));
}

void
dnn_set_zero_point (CpuPlan *plan, DnnCall *call, DnnAttr *attr, int arg, gint32 zero)
{
  AxonShape one = AXON_SHAPE (1);
  if (zero == 0)
    return;
  dnnl_primitive_attr_set_zero_points_mask (attr, arg, 0);
  dnn_call_add_arg (call, DNNL_ARG_ATTR_ZERO_POINTS | arg,
                    cpu_plan_constant (plan, AXON_DTYPE_I32, &one, g_memdup2 (&zero, sizeof zero)),
                    FALSE);
}

#endif
