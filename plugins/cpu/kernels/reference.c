/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reference kernel, for what has no better one. */
#include "indices.h"
#include "kernels.h"
#include "../cpudenormals.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* FALSE: @t is there, but no tensor can be of its shape. */
static gboolean
wrap (const CpuInstance *instance, const CpuTensor *t, AxonTensor **tensor)
{
  gsize n;
  if (t == NULL)
    return TRUE;
  n = (gsize)axon_shape_get_numel (&t->shape) * axon_dtype_get_size (t->dtype);
  *tensor = axon_tensor_new_wrapped (t->dtype, &t->shape, cpu_tensor_data (instance, t), n, NULL,
                                     NULL, instance->error);
  return *tensor != NULL;
}

/* As in axon_eval_node(): what is beside an empty dimension may be walked along forever. */
static gboolean
is_empty (const CpuStep *step)
{
  for (guint i = 0; i < step->n_out; i++)
    if (step->out[i] != NULL && axon_shape_get_numel (&step->out[i]->shape) > 0)
      return FALSE;
  return TRUE;
}

void
cpu_run_reference_kernel (const AxonNode *node, const CpuStep *step, const CpuInstance *instance)
{
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, step->n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, step->n_out + 1);
  gboolean ok = TRUE;
  if (is_empty (step))
    return;
  for (guint i = 0; i < step->n_in; i++)
    ok = ok && wrap (instance, step->in[i], &in[i]);
  for (guint i = 0; i < step->n_out; i++)
    ok = ok && wrap (instance, step->out[i], &out[i]);
  if (!ok || !node->op->eval (node, in, out, instance->error)) {
    g_autofree gchar *what = axon_node_describe (node);
    g_prefix_error (instance->error, "%s: ", what);
  }
  for (guint i = 0; i < step->n_in; i++)
    g_clear_pointer (&in[i], axon_tensor_unref);
  for (guint i = 0; i < step->n_out; i++)
    g_clear_pointer (&out[i], axon_tensor_unref);
}

void
cpu_refuse_index (const AxonNode *node, const CpuInstance *instance, const CpuIndices *x,
                  gint64 n_indices, gint64 n)
{
  g_autofree gchar *what = axon_node_describe (node);
  for (gint64 i = 0; i < n_indices; i++) {
    gint64 at = x->wide ? ((const gint64 *)x->data)[i] : ((const gint32 *)x->data)[i];
    if (at >= -n && at < n)
      continue;
    g_set_error (instance->error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("%s: index %lld is outside dimension %lld"), what, (long long)at, (long long)n);
    return;
  }
}

/* Denormal numbers are kept: those of doubles are no hindrance to anybody, and the reference is
 * what others are measured by. */
static void
run_reference (const CpuStep *step, const CpuInstance *instance)
{
  CpuFloatMode mode = cpu_float_mode_get ();
  cpu_denormals_set_flushed (FALSE);
  cpu_run_reference_kernel (step->data, step, instance);
  cpu_float_mode_set (mode);
}

static gboolean
build_reference (CpuPlan *plan, const AxonNode *node, GError **error)
{
  g_autofree CpuTensor **in = g_new0 (CpuTensor *, node->n_inputs + 1);
  g_autofree CpuTensor **out = g_new0 (CpuTensor *, node->n_outputs + 1);
  if (axon_node_find_attr (node, "axon.posts") != NULL &&
      !axon_node_is_in (node, AXON_DOMAIN_AXON, "ConvIntegerToFloat")) { /* it knows them itself */
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: no kernel takes it with what was fused into it; "
                    "AXON_CPU_DISABLE_PASSES=fuse-activation leaves that out"),
                 what);
    return FALSE;
  }
  if (node->op->eval == NULL) {
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("%s: no kernel: its extension brings none for CPU and no reference kernel"),
                 what);
    return FALSE;
  }
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] == NULL)
      continue;
    if (!axon_shape_is_static (&node->outputs[i]->type.shape)) {
      g_autofree gchar *what = axon_node_describe (node);
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("%s: the shape of output %u depends on data (device TEMPLATE runs this)"),
                   what, i);
      return FALSE;
    }
    out[i] = cpu_plan_output (plan, node, i, NULL);
  }
  cpu_plan_add_step (plan, run_reference, (gpointer)node, NULL, "reference", in, node->n_inputs,
                     out, node->n_outputs);
  return TRUE;
}

const CpuKernel cpu_reference_kernels[] = {
  { .impl = "reference", .build = build_reference },
  { 0 },
};
