/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loop (1 to 25). */
#include "control-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

/* Loop: inputs M, cond, states; body inputs iteration, cond, states; outputs cond, states, scans.
 */
static gboolean
infer_loop (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  guint n_states = axon_body_count_formal (node) - 2;
  g_autofree AxonTypeInfo *formal = g_new0 (AxonTypeInfo, n_states + 3);
  g_autofree AxonTypeInfo *results = g_new0 (AxonTypeInfo, node->n_outputs + 2);
  const AxonAttr *body = axon_body_of (node, "body", n_states + 2, node->n_outputs + 1, error);
  if (body == NULL)
    return FALSE;
  if (node->n_outputs < n_states)
    FAIL (MODEL, _ ("%u outputs for %u states"), node->n_outputs, n_states);
  formal[0] = (AxonTypeInfo){ AXON_DTYPE_I64, { 0 }, NULL };
  formal[1] = (AxonTypeInfo){ AXON_DTYPE_BOOL, { 0 }, NULL };
  for (guint i = 0; i < n_states; i++) /* shapes of states may change from turn to turn */
    formal[i + 2] = (AxonTypeInfo){ in[i + 2].dtype, AXON_SHAPE_UNKNOWN, NULL };
  if (!axon_body_infer (body, formal, in, results, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = results[i + 1].dtype;
    if (i < n_states && in[i + 2].dtype != results[i + 1].dtype)
      out[i].dtype = AXON_DTYPE_UNDEFINED; /* by the number of turns */
  }
  return TRUE;
}

typedef struct {
  const AxonAttr *body;
  guint n_states, n_scans;
  AxonTensor **state;    /* owned */
  GPtrArray **collected; /* of scan outputs */
} LoopRun;

/* One turn. @go: the condition for the next one. */
static gboolean
loop_turn (LoopRun *l, gint64 turn, AxonTensor *condition, AxonTensor *const *around,
           AxonTensor **next_condition, gboolean *go, GError **error)
{
  static const AxonShape scalar = { .rank = 0 };
  guint n_out = 1 + l->n_states + l->n_scans;
  g_autofree AxonTensor **formal = g_new0 (AxonTensor *, l->n_states + 2);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, n_out + 1);
  g_autoptr (AxonTensor) list = axon_tensor_new_i64 (&turn, 1);
  g_autoptr (AxonTensor) number = axon_tensor_reshape (list, &scalar);
  gboolean ok;
  formal[0] = number;
  formal[1] = condition;
  memcpy (formal + 2, l->state, l->n_states * sizeof *formal);
  ok = axon_body_run (l->body, formal, around, out, error) && axon_body_truth (out[0], go, error);
  if (!ok) {
    axon_unref_all (out, n_out);
    return FALSE;
  }
  *next_condition = out[0];
  for (guint i = 0; i < l->n_states; i++) {
    axon_tensor_unref (l->state[i]);
    l->state[i] = out[1 + i];
  }
  for (guint i = 0; i < l->n_scans; i++)
    g_ptr_array_add (l->collected[i], out[1 + l->n_states + i]);
  return TRUE;
}

static gboolean
loop_turns (LoopRun *l, AxonTensor *limit, AxonTensor *condition, AxonTensor *const *around,
            GError **error)
{
  static const AxonShape scalar = { .rank = 0 };
  if (!axon_check_scalar (limit, 0, error))
    return FALSE;
  gint64 max = limit ? axon_int_at (limit, 0) : G_MAXINT64;
  g_autoptr (AxonTensor) current =
      condition ? axon_tensor_ref (condition) : axon_tensor_new (AXON_DTYPE_BOOL, &scalar, error);
  gboolean go = TRUE;
  if (current == NULL)
    return FALSE;
  if (condition == NULL)
    *(guint8 *)axon_tensor_get_data (current) = 1;
  else if (!axon_body_truth (condition, &go, error))
    return FALSE;
  for (gint64 turn = 0; go && turn < max; turn++) {
    AxonTensor *next = NULL;
    if (!loop_turn (l, turn, current, around, &next, &go, error))
      return FALSE;
    axon_tensor_unref (current);
    current = next;
  }
  return TRUE;
}

static gboolean
run_loop (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  guint n_states = axon_body_count_formal (node) - 2;
  LoopRun l = { .body = axon_node_find_attr (node, "body"),
                .n_states = n_states,
                .n_scans = node->n_outputs - n_states };
  g_autofree AxonTensor **state = l.state = g_new0 (AxonTensor *, n_states + 1);
  g_autofree GPtrArray **collected = l.collected = g_new0 (GPtrArray *, l.n_scans + 1);
  gboolean ok = TRUE;
  for (guint i = 0; i < l.n_scans; i++)
    collected[i] = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; ok && i < n_states; i++) {
    ok = in[i + 2] != NULL;
    state[i] = ok ? axon_tensor_ref (in[i + 2]) : NULL;
  }
  if (!ok)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("a state has no first value"));
  ok = ok && loop_turns (&l, in[0], in[1], in, error);
  for (guint i = 0; ok && i < l.n_scans; i++) {
    const AxonValue *value = node->outputs[n_states + i];
    out[n_states + i] =
        axon_body_stack (collected[i], value ? value->type.dtype : 0, 0, FALSE, error);
    ok = out[n_states + i] != NULL;
  }
  for (guint i = 0; ok && i < n_states; i++)
    out[i] = g_steal_pointer (&state[i]);
  axon_unref_all (state, n_states);
  for (guint i = 0; i < l.n_scans; i++)
    g_ptr_array_unref (collected[i]);
  return ok;
}

static const AxonOp rows[] = {
  {
      .name = "Loop",
      .since = 1,
      .inputs = { 2, AXON_VARIADIC },
      .operands = "LZ+.",
      .outputs = { 0, AXON_VARIADIC },
      .attrs = ATTRS (REQUIRED ("body", AXON_ATTR_GRAPH)),
      .infer = infer_loop,
      .flags = AXON_OP_CONTROL | AXON_OP_OPTIONAL_INPUTS,
      .run = run_loop,
  },
};

DEFINE_FAMILY (loop, rows)
