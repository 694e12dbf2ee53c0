/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Resize and Upsample as resampling, in the layout that the data is in. */
#include "dnn-private.h"
#include "../kernels/kernels.h"

/* oneDNN's places between pixels are products in floats, which are off by 0.0003 of a pixel at the
 * five thousandth. */
#define FARTHEST 1024

static gboolean
is_far (const AxonShape *x)
{
  for (gint d = 2; d < x->rank; d++)
    if (x->dims[d] > FARTHEST)
      return TRUE;
  return FALSE;
}

/* Nearest by whole factors and half-pixel linear are what oneDNN computes. */
static gboolean
resampling_alg (const AxonNode *node, dnnl_alg_kind_t *alg)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  const gchar *mode = axon_node_get_string (node, "mode");
  const gchar *ct = axon_node_get_string (node, "coordinate_transformation_mode");
  const gchar *nm = axon_node_get_string (node, "nearest_mode");
  gboolean half = g_str_equal (ct, "half_pixel"), whole = TRUE, above_one = TRUE;
  if (x->rank < 3 || x->rank > 5 || x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1])
    return FALSE;
  for (gint d = 2; d < x->rank; d++) {
    whole = whole && y->dims[d] % x->dims[d] == 0;
    above_one = above_one && y->dims[d] > 1;
  }
  *alg = g_str_equal (mode, "nearest") ? dnnl_resampling_nearest : dnnl_resampling_linear;
  if (g_str_equal (mode, "nearest"))
    return whole && ((g_str_equal (ct, "asymmetric") && g_str_equal (nm, "floor")) ||
                     (half && g_str_has_prefix (nm, "round")));
  return g_str_equal (mode, "linear") && !is_far (x) &&
         (half || (g_str_equal (ct, "pytorch_half_pixel") && above_one));
}

static gboolean
build_resize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  g_autoptr (CpuMd) in = NULL, out = NULL;
  g_autoptr (DnnPd) pd = NULL;
  dnnl_alg_kind_t alg;
  CpuTensor *src;
  if (!dnn_is_f32 (node) || !cpu_resize_is_plain (node) || !resampling_alg (node, &alg))
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  if (alg == dnnl_resampling_linear && /* ours is faster */
      (src->md == NULL || cpu_resize_is_narrow (&src->shape)))
    return FALSE;
  in = dnn_md_of (src);
  out = dnn_md_any (AXON_DTYPE_F32, &node->outputs[0]->type.shape);
  pd = dnn_pd_if_fast (dnn_pd_new_resampling (alg, in, out));
  if (pd != NULL && dnn_pd_is_simple (pd) && src->shape.rank < 5) /* ours takes these */
    return FALSE;
  return dnn_add_unary (plan, node, src, g_steal_pointer (&pd));
}

const CpuKernel cpu_dnn_resize_kernels[] = {
  { .name = "Resize", .impl = "onednn", .build = build_resize },
  { .name = "Upsample", .impl = "onednn", .build = build_resize },
  { 0 },
};
