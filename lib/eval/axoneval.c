/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "../base/axonutf8-private.h"
#include "../tensor/axontensorview-private.h"
#include <axon/plugin/axoneval.h>
#include <axon/plugin/axonwork.h>
#include "../ops/axonopset-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* Kernels that only move strings move them as bytes: they borrow, and run_kernel() copies. */
static gboolean
borrows (const AxonNode *node, AxonDType dtype)
{
  return axon_dtype_is_boxed (dtype) && !(node->op->flags & AXON_OP_MAKES_ELEMENTS);
}

static AxonTensor *
new_output (const AxonNode *node, const AxonTypeInfo *info, GError **error)
{
  return borrows (node, info->dtype) ? axon_tensor_new_borrowing (info->dtype, &info->shape, error)
                                     : axon_tensor_new (info->dtype, &info->shape, error);
}

static gboolean
adopt_outputs (const AxonNode *node, AxonTensor **out, GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (out[i] != NULL && borrows (node, axon_tensor_get_dtype (out[i]))) {
      AxonTensor *own = axon_tensor_adopt (out[i], error);
      axon_tensor_unref (out[i]);
      out[i] = own;
      if (own == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Inputs as shape inference knows them; outputs that it computed are taken. TRUE in @done: all. */
static gboolean
prepare_outputs (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, gboolean *done,
                 GError **error)
{
  g_autofree AxonTypeInfo *in_info = g_new0 (AxonTypeInfo, node->n_inputs + 1);
  g_autofree AxonTypeInfo *out_info = g_new0 (AxonTypeInfo, node->n_outputs + 1);
  gboolean ok = TRUE, missing = node->n_outputs == 0;
  axon_infos_of (node, in, in_info);
  if (!axon_node_infer (node, in_info, out_info, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++) {
    if (out_info[i].value != NULL && out[i] == NULL)
      out[i] = g_steal_pointer (&out_info[i].value);
    else
      missing = TRUE;
    if (out[i] == NULL && ok && node->outputs[i] != NULL && node->op->run == NULL)
      ok = (out[i] = new_output (node, &out_info[i], error)) != NULL;
    g_clear_pointer (&out_info[i].value, axon_tensor_unref);
  }
  *done = !missing;
  return ok;
}

/* Nothing is computed where nothing comes out: dimensions beside an empty one may be so large that
 * walking along them takes forever. */
static gboolean
are_empty (const AxonNode *node, AxonTensor *const *out)
{
  for (guint i = 0; i < node->n_outputs; i++)
    if (out[i] == NULL ? node->outputs[i] != NULL
                       : axon_tensor_get_numel (out[i]) > 0 ||
                             axon_tensor_get_dtype (out[i]) >= AXON_DTYPE_SEQUENCE)
      return FALSE;
  return TRUE;
}

static gboolean
run_kernel (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  gboolean done = FALSE;
  if (node->op->flags & AXON_OP_CONTROL)
    return node->op->run (node, in, out, error);
  if (!prepare_outputs (node, in, out, &done, error))
    return FALSE;
  if (done)
    return TRUE;
  if (node->op->run != NULL)
    return node->op->run (node, in, out, error);
  if (node->op->eval != NULL)
    return (are_empty (node, out) || node->op->eval (node, in, out, error)) &&
           adopt_outputs (node, out, error);
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("there is no reference kernel"));
  return FALSE;
}

gboolean
axon_eval_node (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  g_autofree gchar *what = NULL;
  GError *failure = NULL;
  if (run_kernel (node, in, out, &failure)) {
    if (!axon_work_is_cancelled ()) /* else the kernel may have stopped half way */
      return TRUE;
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, _ ("the run was cancelled"));
    return FALSE;
  }
  if (failure == NULL) /* an extension's */
    g_set_error (&failure, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("the kernel failed and did not say why"));
  what = axon_node_describe (node);
  if (!g_str_has_prefix (failure->message, what))
    g_prefix_error (&failure, "%s: ", what);
  axon_utf8_mend (failure->message); /* attributes are bytes, and operators quote them */
  g_propagate_error (error, failure);
  return FALSE;
}

typedef struct {
  AxonTensor **tensors; /* by value index */
  guint *uses;
} State;

static void
release (State *s, AxonValue *value)
{
  if (value != NULL && value->type.value == NULL && !value->is_output &&
      --s->uses[value->index] == 0)
    g_clear_pointer (&s->tensors[value->index], axon_tensor_unref);
}

static gboolean
run_node (State *s, const AxonNode *node, GError **error)
{
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, node->n_inputs + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, node->n_outputs + 1);
  gboolean ok;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = node->inputs[i] == NULL       ? NULL
            : node->inputs[i]->type.value ? node->inputs[i]->type.value
                                          : s->tensors[node->inputs[i]->index];
  ok = axon_eval_node (node, in, out, error);
  for (guint i = 0; i < node->n_outputs; i++) {
    AxonValue *value = node->outputs[i];
    if (value != NULL && (value->users->len > 0 || value->is_output))
      s->tensors[value->index] = out[i];
    else
      g_clear_pointer (&out[i], axon_tensor_unref);
  }
  for (guint i = 0; i < node->n_inputs; i++)
    release (s, node->inputs[i]);
  return ok;
}

/* The outermost run on this thread: bodies ask its hook whether to go on. */
typedef struct {
  AxonEvalHook hook;
  gpointer user_data;
  const AxonNode *node;
  guint index;
} Watch;

static __thread const Watch *watch;

gboolean
axon_eval_check (GError **error)
{
  if (axon_work_is_cancelled ()) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_CANCELLED, _ ("the run was cancelled"));
    return FALSE;
  }
  return watch == NULL || watch->hook == NULL ||
         watch->hook (watch->node, watch->index, 0, watch->user_data, error);
}

static gboolean
run_nodes (State *s, AxonModel *model, AxonEvalHook hook, gpointer user_data, GError **error)
{
  const Watch *outer = watch;
  Watch mine = { hook, user_data, NULL, 0 };
  gboolean ok = TRUE;
  for (guint i = 0; ok && i < model->nodes->len; i++) {
    gint64 start = g_get_monotonic_time ();
    mine.node = g_ptr_array_index (model->nodes, i);
    mine.index = i;
    watch = outer ? outer : &mine;
    ok = run_node (s, mine.node, error);
    watch = outer;
    if (ok && hook != NULL)
      ok = hook (mine.node, i, (gdouble)(g_get_monotonic_time () - start), user_data, error);
  }
  return ok;
}

gboolean
axon_eval_model (AxonModel *model, AxonTensor *const *inputs, AxonTensor **outputs,
                 AxonEvalHook hook, gpointer user_data, GError **error)
{
  guint n = model->values->len;
  g_autofree AxonTensor **tensors = g_new0 (AxonTensor *, n + 1);
  g_autofree guint *uses = g_new0 (guint, n + 1);
  State s = { tensors, uses };
  gboolean ok;
  for (guint i = 0; i < n; i++)
    uses[i] = ((AxonValue *)g_ptr_array_index (model->values, i))->users->len;
  for (guint i = 0; i < model->inputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->inputs, i);
    tensors[value->index] = axon_tensor_ref (inputs[i]);
  }
  ok = run_nodes (&s, model, hook, user_data, error);
  for (guint i = 0; ok && i < model->outputs->len; i++) {
    AxonValue *value = g_ptr_array_index (model->outputs, i);
    outputs[i] = axon_tensor_ref (value->type.value ? value->type.value : tensors[value->index]);
  }
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], axon_tensor_unref);
  return ok;
}
