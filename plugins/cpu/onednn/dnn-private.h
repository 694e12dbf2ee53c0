/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the oneDNN room: a small library over oneDNN 2.6 and 3.x, and the builders that use it.
 *
 * dnnversion.c has all that differs between the versions, the first part of this header. dnn.c
 * makes layouts, and steps of primitives; posts.c what is fused into them. The other files are
 * builders, by the families of lib/ops. */
#pragma once

#include "cpudnn.h"

#include <oneapi/dnnl/dnnl.h>

typedef struct dnnl_primitive_attr DnnAttr;
typedef struct dnnl_primitive_desc DnnPd;
typedef struct dnnl_post_ops DnnPosts;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (DnnAttr, dnnl_primitive_attr_destroy)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DnnPd, dnnl_primitive_desc_destroy)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DnnPosts, dnnl_post_ops_destroy)

#define DNN_MAX_ARGS 12

/* A primitive and its arguments, to become a step. */
typedef struct {
  DnnPd *pd;
  int arg[DNN_MAX_ARGS];
  CpuTensor *tensor[DNN_MAX_ARGS];
  gboolean is_output[DNN_MAX_ARGS];
  guint n;
} DnnCall;

/* AxonWindow as oneDNN wants it: only the real spatial dimensions. */
typedef struct {
  int n;
  dnnl_dims_t kernel, stride, dilation, pad, pad_end;
} DnnWindow;

typedef struct {
  gboolean transposed;
  const CpuMd *src, *weights, *bias, *dst; /* bias may be NULL */
  const DnnWindow *window;
  gboolean small; /* not worth setting tile registers up */
} DnnConv;

typedef struct {
  dnnl_alg_kind_t alg;
  gfloat alpha, beta;
} DnnEltwise;

/* ---- dnnversion.c: what differs between versions of oneDNN ---- */

/* A CpuMd is oneDNN's own memory descriptor, whatever that is. NULL: oneDNN refuses it. */
CpuMd *dnn_md_new_strided (dnnl_data_type_t type, int rank, const dnnl_dims_t dims,
                           const dnnl_dims_t strides);
CpuMd *dnn_md_new_tagged (dnnl_data_type_t type, int rank, const dnnl_dims_t dims,
                          dnnl_format_tag_t tag);
/* Strides by dimension (borrowed); NULL for layouts that strides do not describe. */
const dnnl_dim_t *dnn_md_peek_strides (const CpuMd *md);
dnnl_memory_t dnn_memory_new (const CpuMd *md, gpointer data);

/* The layout that a primitive wants or leaves, lent by @pd: dnnl_query_src_md ... */
const CpuMd *dnn_pd_get_md (const DnnPd *pd, dnnl_query_t what);

/* Primitive descriptors; NULL where oneDNN has no implementation. @attr NULL: nothing fused. */
DnnPd *dnn_pd_new_conv (const DnnConv *conv, const DnnAttr *attr);
DnnPd *dnn_pd_new_pool (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst,
                        const DnnWindow *window);
DnnPd *dnn_pd_new_matmul (const CpuMd *a, const CpuMd *b, const CpuMd *bias, const CpuMd *dst,
                          const DnnAttr *attr);
DnnPd *dnn_pd_new_eltwise (const DnnEltwise *eltwise, const CpuMd *md);
DnnPd *dnn_pd_new_binary (dnnl_alg_kind_t alg, const CpuMd *a, const CpuMd *b, const CpuMd *dst,
                          const DnnAttr *attr);
DnnPd *dnn_pd_new_prelu (const CpuMd *md, const CpuMd *slope);
DnnPd *dnn_pd_new_batch_norm (const CpuMd *md, gfloat epsilon); /* with scale and shift */
DnnPd *dnn_pd_new_resampling (dnnl_alg_kind_t alg, const CpuMd *src, const CpuMd *dst);
DnnPd *dnn_pd_new_reorder (const CpuMd *from, const CpuMd *to);

/* Fused operations, in the order in which they are appended. */
gboolean dnn_posts_add_eltwise (DnnPosts *posts, const DnnEltwise *eltwise);
gboolean dnn_posts_add_sum (DnnPosts *posts);

/* What makes an integer primitive a quantised one: its sums, bias included, times @scales (one or
 * by output channel), before all other posts, and zero points. What the primitive wants of them
 * when it runs becomes an argument of @call. */
void dnn_scale_sums (CpuPlan *plan, DnnCall *call, DnnAttr *attr, DnnPosts *posts,
                     const gfloat *scales, guint n, gint rank);
void dnn_set_zero_point (CpuPlan *plan, DnnCall *call, DnnAttr *attr, int arg, gint32 zero);

/* ---- dnn.c ---- */

dnnl_engine_t dnn_engine (void);
dnnl_data_type_t dnn_type (AxonDType dtype);
/* A type that oneDNN has, and something in it. */
gboolean dnn_is_f32 (const AxonNode *node);
gboolean dnn_is_movable (const AxonNode *node);

/* Input 0 with strides: its own, or converted to row-major where it is blocked. */
CpuTensor *dnn_strided_input (CpuPlan *plan, const AxonNode *node, gint64 *strides);

/* Layouts (transfer full): of a tensor, row-major, whatever the primitive likes. */
CpuMd *dnn_md_of (const CpuTensor *t);
CpuMd *dnn_md_plain (AxonDType dtype, const AxonShape *shape);
CpuMd *dnn_md_any (AxonDType dtype, const AxonShape *shape);

/* Takes over @pd. NULL instead of a reference implementation (up to 1000 times slower). */
DnnPd *dnn_pd_if_fast (DnnPd *pd);
gboolean dnn_pd_is_simple (const DnnPd *pd); /* loops that know no processor */
gboolean dnn_pd_has_tiles (const DnnPd *pd); /* multiplies by AMX */

DnnAttr *dnn_attr_new (void);
const DnnAttr *dnn_attr_default (void);
DnnPosts *dnn_posts_new (void);

void dnn_call_add_arg (DnnCall *call, int arg, CpuTensor *tensor, gboolean is_output);
/* Makes the step. Takes over call->pd; adds the scratchpad. */
void dnn_call_finish (CpuPlan *plan, DnnCall *call);
/* One source, one destination in the layout that the primitive likes. Takes over @pd; FALSE if it
 * is NULL. */
gboolean dnn_add_unary (CpuPlan *plan, const AxonNode *node, CpuTensor *src, DnnPd *pd);

/* A constant in row-major order, as it is. */
CpuTensor *dnn_copy_constant (CpuPlan *plan, const AxonTensor *tensor, const AxonShape *shape);

/* The caller's thread's. */
dnnl_stream_t dnn_stream (void);
/* FALSE: there are no @n_bytes of memory for code. */
gboolean dnn_primitive_create (dnnl_primitive_t *primitive, DnnPd *pd, gsize n_bytes);
/* For code of all that may be made at the same time. */
gsize dnn_code_bytes (const CpuPlan *plan);

gboolean dnn_window_init (DnnWindow *w, const AxonNode *node, const AxonShape *x,
                          const AxonShape *y, const gint64 *kernel);

/* ---- pack.c ---- */

/* Constant @data in layout @from, packed to @to: later where @data is of the plan's node. */
CpuTensor *dnn_pack (CpuPlan *plan, const CpuMd *from, gconstpointer data, const CpuMd *to);

/* ---- posts.c ---- */

/* Fused activations and residuals of a node (passes/fuseactivation.c). FALSE: oneDNN does not take
 * them. */
gboolean dnn_attr_set_posts (DnnAttr *attr, const AxonNode *node, gboolean *has_sum);
/* What oneDNN computes for an operator. FALSE: nothing. */
gboolean dnn_eltwise_init (DnnEltwise *eltwise, const gchar *op, gfloat alpha, gfloat beta);
