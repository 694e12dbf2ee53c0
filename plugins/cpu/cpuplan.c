/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builds plans: kernel choice per node, liveness, arena. */
#include "cpuplan.h"

#include "cpuchoice.h"
#include "cpulater.h"
#include "cpuopenmp.h"
#include "cputensors.h"
#include "kernels/convchoice.h"
#include "kernels/kernels.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-CPU"

#define ALIGNMENT 64

static void
step_free (gpointer data)
{
  CpuStep *step = data;
  if (step->destroy != NULL)
    step->destroy (step->data);
  g_free (step->in);
  g_free (step->out);
  g_free (step);
}

static void
touch (CpuTensor *const *tensors, guint n, guint step)
{
  for (guint i = 0; i < n; i++) {
    CpuBuffer *b = tensors[i] ? tensors[i]->buffer : NULL;
    if (b == NULL)
      continue;
    b->first = MIN (b->first, step);
    b->last = MAX (b->last, step);
  }
}

CpuStep *
cpu_plan_add_step (CpuPlan *plan, CpuStepFunc run, gpointer data, GDestroyNotify destroy,
                   const gchar *impl, CpuTensor *const *in, guint n_in, CpuTensor *const *out,
                   guint n_out)
{
  CpuStep *step = g_new0 (CpuStep, 1);
  AxonProfilingInfo info = { plan->node ? plan->node->name : "output",
                             plan->node ? plan->node->op->name : "Reorder", impl };
  step->run = run;
  step->data = data;
  step->destroy = destroy;
  step->in = g_memdup2 (in, n_in * sizeof *in);
  step->out = g_memdup2 (out, n_out * sizeof *out);
  step->n_in = n_in;
  step->n_out = n_out;
  step->index = plan->steps->len;
  touch (in, n_in, step->index);
  touch (out, n_out, step->index);
  g_ptr_array_add (plan->steps, step);
  g_array_append_val (plan->info, info);
  return step;
}

const AxonTensor *
cpu_node_constant (const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  return value ? value->type.value : NULL;
}

gboolean
cpu_node_axes (const AxonNode *node, gint64 *axes, guint *n)
{
  /* a file may say the attribute where the operator has none any more */
  const gint64 *attr =
      axon_node_has_form (node, AXON_FORM_ATTRIBUTES) ? axon_node_get_ints (node, "axes", n) : NULL;
  const AxonTensor *input = cpu_node_constant (node, 1);
  if (attr == NULL)
    *n = 0;
  if (attr == NULL && axon_node_get_input (node, 1) != NULL) {
    if (input == NULL)
      return FALSE;
    *n = (guint)axon_tensor_get_numel (input);
  }
  if (*n > AXON_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < *n; i++)
    axes[i] = attr ? attr[i] : (gint64)axon_tensor_get_value (input, i);
  return TRUE;
}

/* Forms that only reference kernels know. */
#define REFERENCE_FORMS                                                                            \
  (AXON_FORM_AXIS_BROADCAST | AXON_FORM_CHANNEL_SLOPES | AXON_FORM_SIDE_SCALES)

gboolean
cpu_knows_form (const AxonOp *op)
{
  return (op->form & REFERENCE_FORMS) == 0;
}

static gboolean
matches (const CpuKernel *kernel, const AxonNode *node)
{
  const AxonOp *op = node->op;
  return kernel->name == NULL ||
         (cpu_knows_form (op) && g_strcmp0 (kernel->domain, op->domain) == 0 &&
          g_str_equal (kernel->name, op->name));
}

/* FALSE without error: no row of the table takes the node. */
static gboolean
build_with_family (CpuPlan *plan, const AxonNode *node, const CpuKernel *rows, GError **error)
{
  for (plan->row = rows; plan->row->build != NULL; plan->row++) {
    GError *refusal = NULL;
    if (!matches (plan->row, node))
      continue;
    if (plan->row->build (plan, node, &refusal)) {
      if (plan->row->name == NULL)
        g_debug ("%s \"%s\": no kernel takes it, the reference runs", node->op->name, node->name);
      return TRUE;
    }
    if (refusal != NULL) {
      g_propagate_error (error, refusal);
      return FALSE;
    }
  }
  return FALSE;
}

/* FALSE without error: no family takes the node, of those that plan->choice names. */
static gboolean
build_with_families (CpuPlan *plan, const AxonNode *node, GError **error)
{
  for (const CpuFamily *f = cpu_families; f->name != NULL; f++) {
    GError *failure = NULL;
    if (g_strv_contains ((const gchar *const *)plan->disabled, f->name) ||
        !cpu_choice_names (plan->choice, f->name))
      continue;
    if (build_with_family (plan, node, f->rows, &failure))
      return TRUE;
    if (failure != NULL) {
      g_propagate_error (error, failure);
      return FALSE;
    }
  }
  return FALSE;
}

static gboolean
build_node (CpuPlan *plan, const AxonNode *node, GError **error)
{
  GError *failure = NULL;
  gboolean built;
  plan->node = node;
  if (!cpu_plan_reserve (plan, node, error))
    return FALSE;
  built = cpu_build_extension (plan, node, &failure);
  plan->choice = cpu_choice_of (node);
  if (!built && failure == NULL && plan->choice != CPU_BY_RULE)
    built = build_with_families (plan, node, &failure);
  plan->choice = CPU_BY_RULE;
  if (!built && failure == NULL)
    built = build_with_families (plan, node, &failure);
  if (failure != NULL) {
    g_propagate_error (error, failure);
    return FALSE;
  }
  if (plan->lacks_memory || !cpu_later_is_well (plan->later)) {
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("%s: out of memory"), what);
    return FALSE;
  }
  g_assert (built); /* the reference kernel takes every node */
  for (guint i = 0; i < node->n_inputs; i++)
    cpu_plan_end_input (plan, node, i);
  plan->node = NULL;
  return TRUE;
}

static void
plan_memory (CpuPlan *plan)
{
  g_autofree AxonArenaItem *items = g_new0 (AxonArenaItem, plan->buffers->len + 1);
  g_autoptr (GPtrArray) arena = g_ptr_array_new ();
  for (guint i = 0; i < plan->buffers->len; i++) {
    CpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (b->place != CPU_ARENA || b->first == G_MAXUINT)
      continue;
    items[arena->len] = (AxonArenaItem){ b->n_bytes, b->first, b->last, 0 };
    g_ptr_array_add (arena, b);
  }
  plan->arena_size = axon_plan_arena (items, arena->len, ALIGNMENT);
  for (guint i = 0; i < arena->len; i++)
    ((CpuBuffer *)g_ptr_array_index (arena, i))->offset = items[i].offset;
}

static gboolean
build_in_order (CpuPlan *plan, const CpuCompile *call, GError **error)
{
  const GPtrArray *nodes = plan->model->nodes;
  cpu_plan_add_inputs (plan);
  for (guint i = 0; i < nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (nodes, i);
    if (g_cancellable_set_error_if_cancelled (call->cancellable, error) ||
        !build_node (plan, node, error))
      return FALSE;
    if (call->progress != NULL)
      call->progress (0.1 + 0.9 * i / nodes->len, node->name, call->user_data);
  }
  cpu_plan_add_outputs (plan);
  return TRUE;
}

/* With helpers, and what is left to them. */
static gboolean
build_nodes (CpuPlan *plan, guint n_helpers, const CpuCompile *call, GError **error)
{
  gboolean ok;
  plan->later = cpu_later_new (n_helpers);
  ok = build_in_order (plan, call, error);
  if (ok) {
    plan_memory (plan);
    cpu_later_finish (plan->later, call->cancellable);
  }
  ok = ok && !g_cancellable_set_error_if_cancelled (call->cancellable, error);
  if (ok && (plan->lacks_memory || !cpu_later_is_well (plan->later))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("%s: out of memory"),
                 axon_model_get_name (plan->model));
    ok = FALSE;
  }
  g_clear_pointer (&plan->later, cpu_later_free);
  g_clear_pointer (&plan->packings, g_ptr_array_unref);
  return ok;
}

/* @model: static shapes but for frames. Keeps a reference. */
CpuPlan *
cpu_plan_new (AxonModel *model, GPtrArray *extensions, const CpuPlanOptions *options,
              CpuPacked *packed, const CpuCompile *call, GError **error)
{
  GStrv disabled = cpu_families_disabled (error);
  CpuPlan *plan;
  if (disabled == NULL)
    return NULL;
  plan = g_new0 (CpuPlan, 1);
  plan->disabled = disabled;
  plan->model = g_object_ref (model);
  plan->budget = axon_budget_ref (axon_work_get_budget ());
  plan->extensions = g_ptr_array_ref (extensions);
  plan->n_threads = options->n_threads;
  plan->winograd = options->winograd;
  plan->products = options->products;
  plan->packed = packed;
  plan->xnnpack = options->xnnpack;
  plan->channels_last = options->xnnpack || cpu_conv_prefers_channels_last (model);
  plan->steps = g_ptr_array_new_with_free_func (step_free);
  plan->tensors = g_ptr_array_new_with_free_func (cpu_tensor_free);
  plan->buffers = g_ptr_array_new_with_free_func (cpu_buffer_free);
  plan->reps = g_new0 (GPtrArray *, model->values->len + 1);
  plan->info = g_array_new (FALSE, FALSE, sizeof (AxonProfilingInfo));
  for (guint i = 0; i < model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (model->values, i))->index = i;
  if (!build_nodes (plan, options->n_helpers, call, error) ||
      !cpu_plan_check_memory (plan, error)) {
    cpu_plan_free (plan);
    return NULL;
  }
  g_debug ("%s: %u nodes, %u steps, %u threads, oneDNN's by %s, %" G_GSIZE_FORMAT
           " bytes of weights after Winograd",
           axon_model_get_name (model), model->nodes->len, plan->steps->len, plan->n_threads,
           cpu_openmp_is_ours () ? "us" : "libgomp",
           options->winograd.bytes - plan->winograd.bytes);
  return plan;
}

/* @types, joined by "+", with @type (g_free); types: nullable. */
static gchar *
join_type (const gchar *types, const gchar *type)
{
  g_auto (GStrv) all = g_strsplit (types ? types : "", "+", -1);
  if (g_strv_contains ((const gchar *const *)all, type))
    return g_strdup (types);
  return types ? g_strconcat (types, "+", type, NULL) : g_strdup (type);
}

/* Nodes that a pass made of one have its name, and all that runs them, each once. */
AxonModel *
cpu_plan_describe (const CpuPlan *plan)
{
  AxonModel *model = axon_model_clone (plan->model);
  g_autoptr (GHashTable) types = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  for (guint i = 0; i < plan->info->len; i++) {
    const AxonProfilingInfo *step = &g_array_index (plan->info, AxonProfilingInfo, i);
    const gchar *before = g_hash_table_lookup (types, step->node_name);
    g_hash_table_insert (types, (gpointer)step->node_name, join_type (before, step->exec_type));
  }
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    const gchar *type = g_hash_table_lookup (types, node->name);
    if (type != NULL)
      axon_node_set_exec_type (node, type);
  }
  return model;
}

void
cpu_plan_free (CpuPlan *plan)
{
  for (guint i = 0; i < plan->model->values->len; i++)
    g_clear_pointer (&plan->reps[i], g_ptr_array_unref);
  g_free (plan->reps);
  g_ptr_array_unref (plan->steps);
  g_ptr_array_unref (plan->tensors);
  g_ptr_array_unref (plan->buffers);
  g_array_unref (plan->info);
  g_ptr_array_unref (plan->extensions);
  g_object_unref (plan->model);
  axon_budget_give (plan->budget, plan->n_reserved);
  axon_budget_unref (plan->budget);
  g_strfreev (plan->disabled);
  g_free (plan);
}
