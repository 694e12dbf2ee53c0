/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gputune.h"
#include "gpuinstance.h"

#define RUNS 4 /* the fastest counts; the first one may compile */

static const gint variants[] = {
  1,
  2,
  4,
  GPU_TILE_VARIANT (1, 8),
  GPU_TILE_VARIANT (2, 2),
  GPU_TILE_VARIANT (2, 8),
  GPU_TILE_VARIANT (4, 1),
  GPU_TILE_VARIANT (4, 4),
  GPU_TILE_VARIANT (8, 1),
  GPU_TILE_VARIANT (8, 4),
};

gboolean
gpu_is_variant (gint variant)
{
  for (guint i = 0; i < G_N_ELEMENTS (variants); i++)
    if (variants[i] == variant)
      return TRUE;
  return FALSE;
}

static gboolean
is_tuned (const GpuStep *step)
{
  return g_str_has_prefix (step->kernel, "conv") || g_str_has_prefix (step->kernel, "pointwise") ||
         g_str_has_prefix (step->kernel, "depthwise") || g_str_has_prefix (step->kernel, "matmul");
}

/* @fastest: node name -> microseconds, as gdouble. */
static void
keep_faster (const GpuPlan *plan, const gdouble *times, gint variant, GHashTable *fastest,
             GHashTable *best)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    const gdouble *known = g_hash_table_lookup (fastest, step->info.node_name);
    if (!is_tuned (step) || step->once || times[i] <= 0 || (known != NULL && *known <= times[i]))
      continue;
    g_hash_table_insert (fastest, g_strdup (step->info.node_name),
                         g_memdup2 (&times[i], sizeof times[i]));
    g_hash_table_insert (best, g_strdup (step->info.node_name), GINT_TO_POINTER (variant));
  }
}

static gboolean
measure (GpuStore *store, const GpuPlan *plan, cl_command_queue queue, gint variant,
         GHashTable *fastest, GHashTable *best, GError **error)
{
  g_autofree gdouble *times = g_new0 (gdouble, plan->steps->len + 1);
  GpuProgram *program = gpu_program_new (store, plan, error);
  GpuInstance *instance = program ? gpu_instance_new (program, error) : NULL;
  gboolean ok = instance != NULL;
  for (guint run = 0; ok && run < RUNS; run++) {
    ok = gpu_instance_measure (instance, queue, times, error);
    if (ok)
      keep_faster (plan, times, variant, fastest, best);
  }
  g_clear_pointer (&instance, gpu_instance_free);
  g_clear_pointer (&program, gpu_program_free);
  return ok;
}

gboolean
gpu_tune (GpuStore *store, GpuMakePlan make, gpointer user_data, GHashTable *best, GError **error)
{
  g_autoptr (GHashTable) fastest = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  cl_int status;
  cl_command_queue queue =
      gpu_cl.CreateCommandQueue (gpu_store_get_context (store), gpu_store_get_device (store)->id,
                                 CL_QUEUE_PROFILING_ENABLE, &status);
  gboolean ok = gpu_cl_ok (status, "clCreateCommandQueue", error);
  for (guint i = 0; ok && i < G_N_ELEMENTS (variants); i++) {
    GpuOptions options = *gpu_store_get_options (store);
    GpuPlan *plan;
    if ((variants[i] & GPU_IN_LOCAL) && !options.local)
      break;
    options.variant = variants[i];
    plan = make (&options, user_data, error);
    ok = plan != NULL && measure (store, plan, queue, variants[i], fastest, best, error);
    g_clear_pointer (&plan, gpu_plan_free);
  }
  if (queue != NULL)
    gpu_cl.ReleaseCommandQueue (queue);
  return ok;
}
