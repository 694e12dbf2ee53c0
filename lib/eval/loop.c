/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loop (1 to 25) and Scan (8: with a batch dimension, 9 to 25). */
#include "control-private.h"

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
    FAIL (MODEL, "%u outputs for %u states", node->n_outputs, n_states);
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

/* Stacks what a scan output gave in all turns along a new axis @axis, in reverse where asked. */
static AxonTensor *
stack (GPtrArray *items, AxonDType dtype, gint64 axis, gboolean reverse, GError **error)
{
  AxonTensor *first = items->len ? g_ptr_array_index (items, 0) : NULL, *out;
  AxonShape shape = first ? *axon_tensor_get_shape (first) : (AxonShape){ 0 };
  AxonLines lines;
  gsize row;
  gint at;
  if (shape.rank + 1 > AXON_MAX_RANK) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "a scan output of rank %d",
                 shape.rank + 1);
    return NULL;
  }
  if (!axon_check_axis (axis, shape.rank + 1, &at, error))
    return NULL;
  memmove (shape.dims + at + 1, shape.dims + at, (gsize)(shape.rank - at) * sizeof (gint64));
  shape.dims[at] = items->len;
  shape.rank++;
  dtype = first ? axon_tensor_get_dtype (first) : dtype ? dtype : AXON_DTYPE_F32;
  out = axon_tensor_new (dtype, &shape, error);
  if (out == NULL)
    return NULL;
  lines = axon_lines (&shape, at);
  row = (gsize)lines.inner * axon_dtype_get_size (dtype);
  for (guint i = 0; i < items->len; i++) {
    AxonTensor *item = g_ptr_array_index (items, reverse ? items->len - 1 - i : i);
    if (axon_tensor_get_dtype (item) != dtype || axon_dtype_is_boxed (dtype) ||
        !axon_shape_equal (axon_tensor_get_shape (item), axon_tensor_get_shape (first))) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                   "a scan output differs in type or shape from turn to turn");
      axon_tensor_unref (out);
      return NULL;
    }
    for (gint64 o = 0; o < lines.outer; o++)
      memcpy ((guint8 *)axon_tensor_get_data (out) + (gsize)(o * lines.n + i) * row,
              (guint8 *)axon_tensor_get_data (item) + (gsize)o * row, row);
  }
  return out;
}

static gboolean
loop_turns (LoopRun *l, AxonTensor *limit, AxonTensor *condition, AxonTensor *const *around,
            GError **error)
{
  static const AxonShape scalar = { .rank = 0 };
  gint64 max = limit && axon_tensor_get_numel (limit) ? axon_int_at (limit, 0) : G_MAXINT64;
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
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "a state has no first value");
  ok = ok && loop_turns (&l, in[0], in[1], in, error);
  for (guint i = 0; ok && i < l.n_scans; i++) {
    const AxonValue *value = node->outputs[n_states + i];
    out[n_states + i] = stack (collected[i], value ? value->type.dtype : 0, 0, FALSE, error);
    ok = out[n_states + i] != NULL;
  }
  for (guint i = 0; ok && i < n_states; i++)
    out[i] = g_steal_pointer (&state[i]);
  axon_unref_all (state, n_states);
  for (guint i = 0; i < l.n_scans; i++)
    g_ptr_array_unref (collected[i]);
  return ok;
}

/* Scan: inputs states, scans; body inputs states, slices of the scans; outputs states, scans. */
typedef struct {
  const AxonAttr *body;
  guint n_states, n_in, n_out; /* scan inputs and outputs */
  gint64 turns;
  const AxonNode *node;
} ScanRun;

static gint64
scan_attr (const AxonNode *node, const gchar *name, guint i)
{
  guint n;
  const gint64 *values = axon_node_get_ints (node, name, &n);
  return values && i < n ? values[i] : 0;
}

static gboolean
is_batched (const AxonNode *node)
{
  return axon_node_has_form (node, AXON_FORM_BATCHED);
}

/* How many inputs stand before the states: Scan 8 has sequence lengths there. */
static guint
scan_first (const AxonNode *node)
{
  return is_batched (node) ? 1 : 0;
}

static gboolean
scan_counts (const AxonNode *node, ScanRun *s, GError **error)
{
  guint n = axon_body_count_formal (node) - scan_first (node);
  gint64 scans = axon_node_get_int (node, "num_scan_inputs");
  if (scans < 1 || scans > n)
    FAIL (MODEL, "num_scan_inputs is %" G_GINT64_FORMAT " of %u inputs", scans, n);
  *s = (ScanRun){ .n_in = (guint)scans, .n_states = n - (guint)scans, .node = node };
  if (node->n_outputs < s->n_states)
    FAIL (MODEL, "%u outputs for %u states", node->n_outputs, s->n_states);
  s->n_out = node->n_outputs - s->n_states;
  s->body = axon_body_of (node, "body", n, node->n_outputs, error);
  return s->body != NULL;
}

static gboolean
infer_scan (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  guint first = scan_first (node);
  ScanRun s;
  g_autofree AxonTypeInfo *formal = NULL;
  if (!scan_counts (node, &s, error))
    return FALSE;
  formal = g_new0 (AxonTypeInfo, s.n_states + s.n_in + 1);
  for (guint i = 0; i < s.n_states + s.n_in; i++)
    formal[i] = (AxonTypeInfo){ in[first + i].dtype, AXON_SHAPE_UNKNOWN, NULL };
  if (!axon_body_infer (s.body, formal, in, out, error))
    return FALSE;
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].shape = AXON_SHAPE_UNKNOWN;
  return TRUE;
}

/* Slice @at of @x along @axis, which goes away. */
static AxonTensor *
slice (AxonTensor *x, gint axis, gint64 at, GError **error)
{
  AxonShape size = *axon_tensor_get_shape (x), begin = size;
  g_autoptr (AxonTensor) view = NULL;
  g_autoptr (AxonTensor) dense = NULL;
  for (gint d = 0; d < size.rank; d++)
    begin.dims[d] = d == axis ? at : 0;
  size.dims[axis] = 1;
  view = axon_tensor_new_roi (x, &begin, &size, error);
  dense = view ? axon_tensor_to_host (view, error) : NULL;
  if (dense == NULL)
    return NULL;
  memmove (size.dims + axis, size.dims + axis + 1, (gsize)(size.rank - axis - 1) * sizeof (gint64));
  size.rank--;
  return axon_tensor_reshape (dense, &size);
}

static gboolean
scan_turn (const ScanRun *s, gint64 turn, AxonTensor **state, AxonTensor *const *scans,
           AxonTensor *const *around, GPtrArray **collected, GError **error)
{
  g_autofree AxonTensor **formal = g_new0 (AxonTensor *, s->n_states + s->n_in + 1);
  g_autofree AxonTensor **out = g_new0 (AxonTensor *, s->n_states + s->n_out + 1);
  gboolean ok = TRUE;
  memcpy (formal, state, s->n_states * sizeof *formal);
  for (guint i = 0; ok && i < s->n_in; i++) {
    gint64 axis = is_batched (s->node) ? 0 : scan_attr (s->node, "scan_input_axes", i);
    gboolean reverse =
        scan_attr (s->node, is_batched (s->node) ? "directions" : "scan_input_directions", i) != 0;
    gint at;
    ok = axon_check_axis (axis, axon_tensor_get_shape (scans[i])->rank, &at, error) &&
         (formal[s->n_states + i] =
              slice (scans[i], at, reverse ? s->turns - 1 - turn : turn, error)) != NULL;
  }
  ok = ok && axon_body_run (s->body, formal, around, out, error);
  axon_unref_all (formal + s->n_states, s->n_in);
  for (guint i = 0; ok && i < s->n_states; i++) {
    axon_tensor_unref (state[i]);
    state[i] = g_steal_pointer (&out[i]);
  }
  for (guint i = 0; ok && i < s->n_out; i++)
    g_ptr_array_add (collected[i], g_steal_pointer (&out[s->n_states + i]));
  axon_unref_all (out, s->n_states + s->n_out);
  return ok;
}

static gboolean
scan_length (ScanRun *s, AxonTensor *const *scans, GError **error)
{
  for (guint i = 0; i < s->n_in; i++) {
    gint64 axis = is_batched (s->node) ? 0 : scan_attr (s->node, "scan_input_axes", i), n;
    gint at;
    if (!axon_check_axis (axis, axon_tensor_get_shape (scans[i])->rank, &at, error))
      return FALSE;
    n = axon_tensor_get_dim (scans[i], (guint)at);
    if (i > 0 && n != s->turns)
      FAIL (MODEL, "scan inputs of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT " slices", s->turns,
            n);
    s->turns = n;
  }
  return TRUE;
}

/* One sequence: @in are states and scans, @out the results, one reference each. */
static gboolean
scan_sequence (ScanRun *s, AxonTensor *const *in, AxonTensor *const *around, AxonTensor **out,
               GError **error)
{
  g_autofree AxonTensor **state = g_new0 (AxonTensor *, s->n_states + 1);
  g_autofree GPtrArray **collected = g_new0 (GPtrArray *, s->n_out + 1);
  gboolean ok = scan_length (s, in + s->n_states, error);
  for (guint i = 0; i < s->n_states; i++)
    state[i] = axon_tensor_ref (in[i]);
  for (guint i = 0; i < s->n_out; i++)
    collected[i] = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (gint64 turn = 0; ok && turn < s->turns; turn++)
    ok = scan_turn (s, turn, state, in + s->n_states, around, collected, error);
  for (guint i = 0; ok && i < s->n_out; i++) {
    gint64 axis = is_batched (s->node) ? 0 : scan_attr (s->node, "scan_output_axes", i);
    gboolean reverse = scan_attr (s->node, "scan_output_directions", i) != 0;
    out[s->n_states + i] = stack (collected[i], AXON_DTYPE_UNDEFINED, axis, reverse, error);
    ok = out[s->n_states + i] != NULL;
  }
  for (guint i = 0; ok && i < s->n_states; i++)
    out[i] = g_steal_pointer (&state[i]);
  axon_unref_all (state, s->n_states);
  for (guint i = 0; i < s->n_out; i++)
    g_ptr_array_unref (collected[i]);
  return ok;
}

/* Scan 8: every input and output has the batch first. */
static gboolean
scan_batches (ScanRun *s, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  guint n_in = s->n_states + s->n_in, n_out = s->n_states + s->n_out;
  gint64 batch = axon_tensor_get_dim (in[1], 0);
  g_autofree AxonTensor **one = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **result = g_new0 (AxonTensor *, n_out + 1);
  g_autofree GPtrArray **all = g_new0 (GPtrArray *, n_out + 1);
  gboolean ok = in[0] == NULL;
  if (!ok)
    FAIL (UNSUPPORTED, "sequence_lens");
  for (guint i = 0; i < n_out; i++)
    all[i] = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (gint64 b = 0; ok && b < batch; b++) {
    for (guint i = 0; ok && i < n_in; i++) {
      ok = axon_tensor_get_shape (in[1 + i])->rank > 0 &&
           axon_tensor_get_dim (in[1 + i], 0) == batch;
      if (!ok)
        g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "input %u has another batch size", 1 + i);
      ok = ok && (one[i] = slice (in[1 + i], 0, b, error)) != NULL;
    }
    ok = ok && scan_sequence (s, one, in, result, error);
    for (guint i = 0; ok && i < n_out; i++)
      g_ptr_array_add (all[i], g_steal_pointer (&result[i]));
    axon_unref_all (one, n_in);
    axon_unref_all (result, n_out);
  }
  for (guint i = 0; i < n_out; i++) {
    if (ok)
      ok = (out[i] = stack (all[i], AXON_DTYPE_UNDEFINED, 0, FALSE, error)) != NULL;
    g_ptr_array_unref (all[i]);
  }
  return ok;
}

static gboolean
run_scan (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  ScanRun s;
  if (!scan_counts (node, &s, error))
    return FALSE;
  for (guint i = scan_first (node); i < scan_first (node) + s.n_states + s.n_in; i++)
    if (in[i] == NULL)
      FAIL (MODEL, "input %u is left out", i);
  return is_batched (node) ? scan_batches (&s, in, out, error)
                           : scan_sequence (&s, in, in, out, error);
}

#define SCAN_ATTRS REQUIRED ("body", AXON_ATTR_GRAPH), REQUIRED ("num_scan_inputs", AXON_ATTR_INT)
#define SCAN                                                                                       \
  .name = "Scan", .inputs = { 0, AXON_VARIADIC }, .outputs = { 1, AXON_VARIADIC },                 \
  .infer = infer_scan, .run = run_scan, .flags = AXON_OP_CONTROL

static const AxonOp rows[] = {
  {
      .name = "Loop",
      .since = 1,
      .inputs = { 2, AXON_VARIADIC },
      .outputs = { 0, AXON_VARIADIC },
      .attrs = ATTRS (REQUIRED ("body", AXON_ATTR_GRAPH)),
      .infer = infer_loop,
      .flags = AXON_OP_CONTROL | AXON_OP_OPTIONAL_INPUTS,
      .run = run_loop,
  },
  { SCAN, .since = 8, .until = 8, .form = AXON_FORM_BATCHED,
    .attrs = ATTRS (SCAN_ATTRS, ATTR_INTS ("directions")) },
  { SCAN, .since = 9,
    .attrs = ATTRS (SCAN_ATTRS, ATTR_INTS ("scan_input_axes"), ATTR_INTS ("scan_input_directions"),
                    ATTR_INTS ("scan_output_axes"), ATTR_INTS ("scan_output_directions")) },
};

DEFINE_FAMILY (loop, rows)
