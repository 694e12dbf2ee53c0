/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scan (8: with a batch dimension, 9 to 25). */
#include "control-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

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
    FAIL (MODEL, _ ("num_scan_inputs is %lld of %u inputs"), (long long)scans, n);
  *s = (ScanRun){ .n_in = (guint)scans, .n_states = n - (guint)scans, .node = node };
  if (node->n_outputs < s->n_states)
    FAIL (MODEL, _ ("%u outputs for %u states"), node->n_outputs, s->n_states);
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
      FAIL (MODEL, _ ("scan inputs of %lld and %lld slices"), (long long)s->turns, (long long)n);
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
    out[s->n_states + i] =
        axon_body_stack (collected[i], AXON_DTYPE_UNDEFINED, axis, reverse, error);
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
        g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("input %u has another batch size"),
                     1 + i);
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
      ok = (out[i] = axon_body_stack (all[i], AXON_DTYPE_UNDEFINED, 0, FALSE, error)) != NULL;
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
      FAIL (MODEL, _ ("input %u is left out"), i);
  return is_batched (node) ? scan_batches (&s, in, out, error)
                           : scan_sequence (&s, in, in, out, error);
}

#define SCAN_ATTRS REQUIRED ("body", AXON_ATTR_GRAPH), REQUIRED ("num_scan_inputs", AXON_ATTR_INT)
#define SCAN                                                                                       \
  .name = "Scan", .inputs = { 0, AXON_VARIADIC }, .outputs = { 1, AXON_VARIADIC },                 \
  .infer = infer_scan, .run = run_scan, .flags = AXON_OP_CONTROL

static const AxonOp rows[] = {
  { SCAN, .since = 8, .until = 8, .form = AXON_FORM_BATCHED,
    .attrs = ATTRS (SCAN_ATTRS, ATTR_INTS ("directions")) },
  { SCAN, .since = 9,
    .attrs = ATTRS (SCAN_ATTRS, ATTR_INTS ("scan_input_axes"), ATTR_INTS ("scan_input_directions"),
                    ATTR_INTS ("scan_output_axes"), ATTR_INTS ("scan_output_directions")) },
};

DEFINE_FAMILY (scan, rows)
