/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inside the oneDNN room. Everything that depends on version 2.6 stands here and in dnn.c. */
#pragma once

#include "cpudnn.h"

#include <oneapi/dnnl/dnnl.h>

struct _CpuMd {
  dnnl_memory_desc_t d;
};

#define DNN_MAX_ARGS 12

/* A primitive and its arguments, to become a step. */
typedef struct {
  dnnl_primitive_desc_t pd;
  int arg[DNN_MAX_ARGS];
  CpuTensor *tensor[DNN_MAX_ARGS];
  gboolean is_output[DNN_MAX_ARGS];
  guint n;
} DnnCall;

dnnl_engine_t dnn_engine (void);
dnnl_data_type_t dnn_type (AxonDType dtype);
dnnl_memory_desc_t dnn_md (const CpuTensor *t);
dnnl_memory_desc_t dnn_md_plain (AxonDType dtype, const AxonShape *shape);
dnnl_memory_desc_t dnn_md_any (AxonDType dtype, const AxonShape *shape);
const CpuMd *dnn_query (dnnl_primitive_desc_t pd, dnnl_query_t what, int index);

/* NULL where oneDNN has no implementation, or only a reference one (up to 1000 times slower). */
dnnl_primitive_desc_t dnn_pd_new (const void *desc, const dnnl_primitive_attr_t attr);
gboolean dnn_pd_is_reference (dnnl_primitive_desc_t pd);

void dnn_call_arg (DnnCall *call, int arg, CpuTensor *tensor, gboolean is_output);
/* Takes over call->pd. Adds the scratchpad. */
void dnn_call_add (CpuPlan *plan, DnnCall *call);

dnnl_primitive_attr_t dnn_attr_new (void);

/* Constant @data (row-major or strided as @from) packed to the layout @to. */
CpuTensor *dnn_pack (CpuPlan *plan, const dnnl_memory_desc_t *from, gconstpointer data,
                     const CpuMd *to);

/* Fused activations and residuals of a node (passes/fuseactivation.c). */
gboolean dnn_append_posts (dnnl_primitive_attr_t attr, const AxonNode *node, gboolean *has_sum);
gboolean dnn_eltwise_of (const gchar *op, gfloat alpha, gfloat beta, dnnl_alg_kind_t *alg,
                         gfloat *a, gfloat *b);

/* AxonWindow as oneDNN wants it: only the real spatial dimensions. */
typedef struct {
  int n;
  dnnl_dims_t kernel, stride, dilation, pad, pad_end;
} DnnWindow;

gboolean dnn_window (DnnWindow *w, const AxonNode *node, const AxonShape *x, const AxonShape *y,
                     const gint64 *kernel);
