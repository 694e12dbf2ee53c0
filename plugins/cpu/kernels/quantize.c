/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Per-tensor QuantizeLinear, DequantizeLinear, QLinearAdd, Cast between halves and floats, and
 * HardSigmoid: loops over dense memory in whatever order it lies. */
#include "kernels.h"
#include "../onednn/cpudnn.h"

#include <math.h>

static gboolean
is_dense (const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK], span = 1;
  if (t->md == NULL)
    return TRUE;
  if (!cpu_md_get_strides (t->md, &t->shape, strides))
    return FALSE;
  for (gint d = 0; d < t->shape.rank; d++)
    span += (t->shape.dims[d] - 1) * strides[d];
  return span == axon_shape_get_numel (&t->shape);
}

CpuTensor *
cpu_dense_input (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype, CpuMd **md)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  gint64 strides[AXON_MAX_RANK];
  *md = NULL;
  if (!is_dense (t)) {
    g_autoptr (CpuMd) last = t->shape.rank >= 3 ? cpu_md_channels_last (t->dtype, &t->shape) : NULL;
    t = cpu_plan_input_as (plan, node, index, last);
  }
  if (t->md != NULL && cpu_md_get_strides (t->md, &t->shape, strides))
    *md = cpu_md_strided (dtype, &t->shape, strides);
  return t;
}

typedef struct {
  gfloat a, b, c, lo, hi; /* meaning by kernel */
  gsize n;
} Params;

CPU_CLONES static void
quantize_u8 (guint8 *restrict y, const gfloat *restrict x, gsize n, gfloat scale, gfloat zero,
             gfloat lo, gfloat hi)
{
  for (gsize i = 0; i < n; i++) {
    gfloat v = rintf (x[i] / scale) + zero;
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    y[i] = (guint8)(gint32)v;
  }
}

CPU_CLONES static void
quantize_i8 (gint8 *restrict y, const gfloat *restrict x, gsize n, gfloat scale, gfloat zero,
             gfloat lo, gfloat hi)
{
  for (gsize i = 0; i < n; i++) {
    gfloat v = rintf (x[i] / scale) + zero;
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    y[i] = (gint8)(gint32)v;
  }
}

static void
run_quantize (const CpuStep *step, const CpuInstance *instance)
{
  const Params *p = step->data;
  gpointer y = cpu_tensor_data (instance, step->out[0]);
  const gfloat *x = cpu_tensor_data (instance, step->in[0]);
  if (step->out[0]->dtype == AXON_DTYPE_U8)
    quantize_u8 (y, x, p->n, p->a, p->b, p->lo, p->hi);
  else
    quantize_i8 (y, x, p->n, p->a, p->b, p->lo, p->hi);
}

CPU_CLONES static void
dequantize_u8 (gfloat *restrict y, const guint8 *restrict x, gsize n, gfloat scale, gfloat zero)
{
  for (gsize i = 0; i < n; i++)
    y[i] = ((gfloat)x[i] - zero) * scale;
}

CPU_CLONES static void
dequantize_i8 (gfloat *restrict y, const gint8 *restrict x, gsize n, gfloat scale, gfloat zero)
{
  for (gsize i = 0; i < n; i++)
    y[i] = ((gfloat)x[i] - zero) * scale;
}

static void
run_dequantize (const CpuStep *step, const CpuInstance *instance)
{
  const Params *p = step->data;
  gconstpointer x = cpu_tensor_data (instance, step->in[0]);
  gfloat *y = cpu_tensor_data (instance, step->out[0]);
  if (step->in[0]->dtype == AXON_DTYPE_U8)
    dequantize_u8 (y, x, p->n, p->a, p->b);
  else
    dequantize_i8 (y, x, p->n, p->a, p->b);
}

static void
set_range (Params *p, AxonDType dtype, gfloat zero, const AxonNode *node)
{
  guint n;
  const gint64 *clip = axon_node_get_ints (node, "axon.clip", &n);
  p->lo = dtype == AXON_DTYPE_U8 ? 0 : -128;
  p->hi = dtype == AXON_DTYPE_U8 ? 255 : 127;
  p->b = zero;
  if (clip != NULL) {
    p->lo = MAX (p->lo, (gfloat)clip[0]);
    p->hi = MIN (p->hi, (gfloat)clip[1]);
  }
}

static void
add_dense (CpuPlan *plan, const AxonNode *node, CpuStepFunc run, Params *params, CpuTensor *src,
           CpuMd *md)
{
  CpuTensor *dst = cpu_plan_output (plan, node, 0, md);
  params->n = (gsize)axon_shape_get_numel (&src->shape);
  cpu_plan_add_step (plan, run, g_memdup2 (params, sizeof *params), g_free, "own", &src, 1, &dst,
                     1);
  cpu_md_free (md);
}

gboolean
cpu_build_quantize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType to = node->outputs[0]->type.dtype;
  gdouble scale, zero;
  Params p = { 0 };
  CpuMd *md;
  CpuTensor *src;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || !(AXON_DTYPE_BIT (to) & AXON_DTYPES_BYTE) ||
      !axon_quant_scalar (node, 1, &scale) || !axon_quant_scalar (node, 2, &zero) || scale == 0)
    return FALSE;
  set_range (&p, to, (gfloat)zero, node);
  p.a = (gfloat)scale;
  src = cpu_dense_input (plan, node, 0, to, &md);
  add_dense (plan, node, run_quantize, &p, src, md);
  return TRUE;
}

gboolean
cpu_build_dequantize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype;
  gdouble scale, zero;
  Params p = { 0 };
  CpuMd *md;
  CpuTensor *src;
  if (!(AXON_DTYPE_BIT (from) & AXON_DTYPES_BYTE) || axon_value_is_constant (node->inputs[0]) ||
      node->outputs[0]->type.dtype != AXON_DTYPE_F32 || !axon_quant_scalar (node, 1, &scale) ||
      !axon_quant_scalar (node, 2, &zero))
    return FALSE;
  p.a = (gfloat)scale;
  p.b = (gfloat)zero;
  src = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  add_dense (plan, node, run_dequantize, &p, src, md);
  return TRUE;
}

/* y = round (xa * a + xb * b + c), clamped */
#define ADD_FUNC(name, type)                                                                       \
  CPU_CLONES static void name (type *restrict y, const type *restrict xa, const type *restrict xb, \
                               gsize n, gfloat a, gfloat b, gfloat c, gfloat lo, gfloat hi)        \
  {                                                                                                \
    for (gsize i = 0; i < n; i++) {                                                                \
      gfloat v = rintf ((gfloat)xa[i] * a + (gfloat)xb[i] * b + c);                                \
      v = v > lo ? v : lo;                                                                         \
      v = v < hi ? v : hi;                                                                         \
      y[i] = (type)(gint32)v;                                                                      \
    }                                                                                              \
  }
ADD_FUNC (add_u8, guint8)
ADD_FUNC (add_i8, gint8)

static void
run_add (const CpuStep *step, const CpuInstance *instance)
{
  const Params *p = step->data;
  gconstpointer a = cpu_tensor_data (instance, step->in[0]);
  gconstpointer b = cpu_tensor_data (instance, step->in[1]);
  gpointer y = cpu_tensor_data (instance, step->out[0]);
  if (step->out[0]->dtype == AXON_DTYPE_U8)
    add_u8 (y, a, b, p->n, p->a, p->b, p->c, p->lo, p->hi);
  else
    add_i8 (y, a, b, p->n, p->a, p->b, p->c, p->lo, p->hi);
}

gboolean
cpu_build_qlinear_add (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gdouble v[6]; /* a scale, zero; b scale, zero; y scale, zero */
  static const guint inputs[] = { 1, 2, 4, 5, 6, 7 };
  CpuTensor *in[2], *dst;
  Params p = { 0 };
  CpuMd *md;
  if (!axon_shape_equal (&node->inputs[0]->type.shape, &node->inputs[3]->type.shape))
    return FALSE;
  for (guint i = 0; i < 6; i++)
    if (!axon_quant_scalar (node, inputs[i], &v[i]))
      return FALSE;
  set_range (&p, node->outputs[0]->type.dtype, 0, node);
  p.a = (gfloat)(v[0] / v[4]);
  p.b = (gfloat)(v[2] / v[4]);
  p.c = (gfloat)(v[5] - v[0] / v[4] * v[1] - v[2] / v[4] * v[3]);
  in[0] = cpu_dense_input (plan, node, 0, node->outputs[0]->type.dtype, &md);
  in[1] = cpu_plan_input_as (plan, node, 3, in[0]->md);
  p.n = (gsize)axon_shape_get_numel (&in[0]->shape);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_add, g_memdup2 (&p, sizeof p), g_free, "own", in, 2, &dst, 1);
  cpu_md_free (md);
  return TRUE;
}

static void
run_cast (const CpuStep *step, const CpuInstance *instance)
{
  const Params *p = step->data;
  gconstpointer x = cpu_tensor_data (instance, step->in[0]);
  gpointer y = cpu_tensor_data (instance, step->out[0]);
#ifndef __FLT16_MAX__ /* the compiler has no half-precision type */
  for (gsize i = 0; i < p->n; i++)
    axon_dtype_store (step->out[0]->dtype, y, i, axon_dtype_load (step->in[0]->dtype, x, i));
#else
  if (step->in[0]->dtype == AXON_DTYPE_F16)
    for (gsize i = 0; i < p->n; i++)
      ((gfloat *)y)[i] = (gfloat)((const _Float16 *)x)[i];
  else
    for (gsize i = 0; i < p->n; i++)
      ((_Float16 *)y)[i] = (_Float16)((const gfloat *)x)[i];
#endif
}

gboolean
cpu_build_cast (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype, to = node->outputs[0]->type.dtype;
  Params p = { 0 };
  if (!((from == AXON_DTYPE_F16 && to == AXON_DTYPE_F32) ||
        (from == AXON_DTYPE_F32 && to == AXON_DTYPE_F16)))
    return FALSE;
  add_dense (plan, node, run_cast, &p, cpu_plan_input_as (plan, node, 0, NULL), NULL);
  return TRUE;
}

CPU_CLONES static void
hard_sigmoid (gfloat *restrict y, const gfloat *restrict x, gsize n, gfloat a, gfloat b)
{
  for (gsize i = 0; i < n; i++) {
    gfloat v = x[i] * a + b;
    v = v > 0 ? v : 0;
    y[i] = v < 1 ? v : 1;
  }
}

static void
run_hard_sigmoid (const CpuStep *step, const CpuInstance *instance)
{
  const Params *p = step->data;
  hard_sigmoid (cpu_tensor_data (instance, step->out[0]), cpu_tensor_data (instance, step->in[0]),
                p->n, p->a, p->b);
}

gboolean
cpu_build_hard_sigmoid (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Params p = { .a = (gfloat)axon_node_get_float (node, "alpha"),
               .b = (gfloat)axon_node_get_float (node, "beta") };
  CpuMd *md;
  CpuTensor *src;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  src = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  add_dense (plan, node, run_hard_sigmoid, &p, src, md);
  return TRUE;
}
