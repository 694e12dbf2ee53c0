/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a plan takes of its model's budget: packed weights while it is built, the arena by each
 * stream that runs it. What is too much is refused before it is allocated. */
#include "cpuplan.h"

#include "config.h"
#include <axon/axon-plugin.h>
#include <glib/gi18n-lib.h>

/* Packed weights are at most so many times as large as those of the model: convolutions after
 * Winograd (4x4 of 3x3), and copies for wider pixels. */
#define PACKED 5
#define TABLE 28 /* bytes for each index of a dimension whose elements are moved: remap.c */

static gsize
constant_bytes (const AxonNode *node)
{
  gsize n_bytes = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && node->inputs[i]->type.value != NULL)
      n_bytes += axon_tensor_get_n_bytes (node->inputs[i]->type.value);
  return n_bytes;
}

/* Packing itself cannot fail: the memory is asked for, and given back, before it begins. */
static gboolean
can_pack (gsize n_bytes, GError **error)
{
  gpointer memory = g_try_malloc (n_bytes * PACKED);
  gboolean ok = memory != NULL || n_bytes == 0;
  g_free (memory);
  if (!ok)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY,
                 _ ("out of memory: packing %zu bytes of weights"), n_bytes);
  return ok;
}

/* Of shapes that are known, with a table of one number for each index of a dimension, as kernels
 * that move elements make them; G_MAXSIZE where that is no number of bytes any more. */
static gsize
output_bytes (const AxonNode *node)
{
  gsize sum = 0, table = 0;
  for (guint i = 0; i < node->n_outputs; i++) {
    const AxonValue *value = node->outputs[i];
    gint64 n = value ? axon_shape_get_numel (&value->type.shape) : -1;
    gsize size = value ? axon_dtype_get_size (value->type.dtype) : 0, bytes;
    if (n <= 0)
      continue;
    if (!g_size_checked_mul (&bytes, (gsize)n, size) || !g_size_checked_add (&sum, sum, bytes))
      return G_MAXSIZE;
    for (gint d = 0; d < value->type.shape.rank; d++)
      table = MAX (table, (gsize)value->type.shape.dims[d]);
  }
  return g_size_checked_add (&sum, sum, MIN (table, G_MAXSIZE / TABLE) * TABLE) ? sum : G_MAXSIZE;
}

/* Kernels make tables of what they will write, so what a run could not write is refused before. */
static gboolean
can_write (CpuPlan *plan, const AxonNode *node, GError **error)
{
  gsize n_bytes = output_bytes (node);
  if (!axon_budget_take (plan->budget, n_bytes, error))
    return FALSE;
  axon_budget_give (plan->budget, n_bytes);
  return TRUE;
}

gboolean
cpu_plan_reserve (CpuPlan *plan, const AxonNode *node, GError **error)
{
  gsize n_bytes = constant_bytes (node);
  g_autofree gchar *what = NULL;
  if (can_write (plan, node, error) && can_pack (n_bytes, error) &&
      axon_budget_take (plan->budget, n_bytes, error)) {
    plan->n_reserved += n_bytes;
    return TRUE;
  }
  what = axon_node_describe (node);
  g_prefix_error (error, "%s: ", what);
  return FALSE;
}

static gboolean
is_made_by_runs (const CpuBuffer *b)
{
  return (b->place == CPU_ARENA || b->place == CPU_OUTPUT) && b->first != G_MAXUINT;
}

static const CpuBuffer *
largest_buffer (const CpuPlan *plan)
{
  const CpuBuffer *largest = NULL;
  for (guint i = 0; i < plan->buffers->len; i++) {
    const CpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (is_made_by_runs (b) && (largest == NULL || b->n_bytes > largest->n_bytes))
      largest = b;
  }
  return largest;
}

/* What a run takes: the arena and the outputs; G_MAXSIZE where that is no number of bytes any
 * more, or where the arena's size is a sum that wrapped. */
static gsize
bytes_of_run (const CpuPlan *plan)
{
  gsize outputs = 0, all = 0;
  for (guint i = 0; i < plan->buffers->len; i++) {
    const CpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (!is_made_by_runs (b))
      continue;
    if (!g_size_checked_add (&all, all, b->n_bytes))
      return G_MAXSIZE;
    outputs += b->place == CPU_OUTPUT ? b->n_bytes : 0;
  }
  return g_size_checked_add (&all, plan->arena_size, outputs) ? all : G_MAXSIZE;
}

gboolean
cpu_plan_check_memory (const CpuPlan *plan, GError **error)
{
  const CpuBuffer *largest = largest_buffer (plan);
  const AxonProfilingInfo *info = (const AxonProfilingInfo *)(gconstpointer)plan->info->data;
  gsize n_bytes = bytes_of_run (plan);
  if (axon_budget_take (plan->budget, n_bytes, error)) {
    axon_budget_give (plan->budget, n_bytes);
    return TRUE;
  }
  if (largest != NULL && largest->first < plan->info->len)
    g_prefix_error (error, _ ("%s \"%s\" (%zu bytes, the most of all): "),
                    info[largest->first].node_type, info[largest->first].node_name,
                    largest->n_bytes);
  return FALSE;
}
