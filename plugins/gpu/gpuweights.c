/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuweights.h"

#include <string.h>
#include <xxhash.h>

static gchar *
to_text (XXH128_hash_t hash)
{
  return g_strdup_printf ("%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
                          (guint64)hash.high64, (guint64)hash.low64);
}

gchar *
gpu_weights_key (const GpuPlan *plan, guint constant)
{
  const AxonTensor *tensor = g_ptr_array_index (plan->constants, constant);
  gsize n = axon_tensor_get_numel (tensor) * axon_dtype_get_size (axon_tensor_get_dtype (tensor));
  const XXH128_hash_t hash =
      n > 0 ? XXH3_128bits (axon_tensor_get_data ((AxonTensor *)tensor), n) : (XXH128_hash_t){ 0 };
  g_autofree gchar *bytes = to_text (hash);
  return g_strdup_printf ("%s:%" G_GSIZE_FORMAT, bytes, n);
}

static void
add_argument (const GpuPlan *plan, const GpuStep *step, const GpuArg *arg, GString *text)
{
  g_autofree gchar *key = NULL;
  if (arg->buffer == NULL)
    g_string_append_printf (text, "|%d", arg->number);
  else if (arg->buffer->place == GPU_CONSTANT)
    key = gpu_weights_key (plan, arg->buffer->index);
  else if (arg->buffer->place == GPU_PREPARED && arg->buffer != step->makes)
    key = gpu_prepared_key (plan, arg->buffer);
  else
    g_string_append (text, "|.");
  if (key != NULL)
    g_string_append_printf (text, "|%s", key);
}

/* The second argument is where the parameters begin: the parameters stand for it. */
static void
add_step (const GpuPlan *plan, const GpuStep *step, GString *text)
{
  g_string_append_printf (text, "\n%s %" G_GSIZE_FORMAT, step->kernel, step->global[0]);
  for (guint i = 0; i < step->n_params; i++)
    g_string_append_printf (text, ",%d", g_array_index (plan->params, gint32, step->params + i));
  for (guint i = 0; i < step->args->len; i++)
    if (i != GPU_PARAMS_ARGUMENT)
      add_argument (plan, step, &g_array_index (step->args, GpuArg, i), text);
}

gchar *
gpu_prepared_key (const GpuPlan *plan, const GpuBuffer *prepared)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_string_append_printf (text, "%" G_GSIZE_FORMAT, prepared->n_bytes);
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    if (step->makes == prepared)
      add_step (plan, step, text);
  }
  return to_text (XXH3_128bits (text->str, text->len));
}
