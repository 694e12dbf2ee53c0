/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "floatposts.h"

#include "../cpueltwise.h"

gboolean
cpu_float_posts_init (CpuFloatPosts *self, const AxonNode *node)
{
  const AxonAttr *names = axon_node_find_attr (node, "axon.posts");
  const AxonAttr *args = axon_node_find_attr (node, "axon.post_args");
  *self = (CpuFloatPosts){ 0 };
  for (guint i = 0; names != NULL && i < names->n; i++) {
    CpuPost *post = self->has_sum ? &self->after : &self->before;
    if (g_str_equal (names->strings[i], "sum")) {
      if (self->has_sum)
        return FALSE;
      self->has_sum = TRUE;
    } else if (g_str_equal (names->strings[i], "PRelu")) {
      if (self->has_slopes || post->kind != CPU_POST_NONE)
        return FALSE;
      self->has_slopes = TRUE;
      self->slopes_last = self->has_sum;
    } else if (post->kind != CPU_POST_NONE ||
               (self->has_slopes && !self->slopes_last && !self->has_sum) ||
               !cpu_post_init (post, names->strings[i], args->floats[2 * i],
                               args->floats[2 * i + 1]) ||
               post->kind > CPU_LAST_ACTIVATION) {
      return FALSE;
    }
  }
  return TRUE;
}

CpuFloatConvRun
cpu_float_run_begin (const CpuFloatPosts *posts, const CpuStep *step, const CpuInstance *instance)
{
  return (CpuFloatConvRun){ .x = cpu_tensor_data (instance, step->in[0]),
                            .y = cpu_tensor_data (instance, step->out[0]),
                            .residual =
                                step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL,
                            .slopes_last = posts->slopes_last,
                            .before = posts->before,
                            .after = posts->after };
}

CpuFloatParts
cpu_float_parts_begin (const CpuFloatPosts *posts, const CpuStep *step, const CpuInstance *instance)
{
  return (CpuFloatParts){ step->data, cpu_float_run_begin (posts, step, instance),
                          cpu_tensor_data (instance, step->out[1]) };
}

gboolean
cpu_float_conv_has_constants (const AxonNode *node)
{
  const AxonTensor *w = cpu_node_constant (node, 1);
  return w != NULL && axon_tensor_get_dtype (w) == AXON_DTYPE_F32 &&
         node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         (axon_node_get_input (node, 2) == NULL || cpu_node_constant (node, 2) != NULL) &&
         axon_node_find_attr (node, "output_shape") == NULL;
}

const gfloat *
cpu_float_constant (const AxonNode *node, guint input)
{
  const AxonTensor *tensor = cpu_node_constant (node, input);
  return tensor ? axon_tensor_get_data (tensor) : NULL;
}

CpuTensor *
cpu_float_destination (CpuPlan *plan, const AxonNode *node, const CpuFloatPosts *posts,
                       const CpuMd *md, CpuTensor **residual)
{
  *residual = posts->has_sum ? cpu_plan_input_as (plan, node, CPU_CONV_RESIDUAL, md) : NULL;
  return *residual != NULL && *residual == cpu_plan_input (plan, node, CPU_CONV_RESIDUAL) &&
                 cpu_plan_is_last_use (plan, *residual)
             ? cpu_plan_alias (plan, node, 0, *residual, md)
             : cpu_plan_output (plan, node, 0, md);
}
