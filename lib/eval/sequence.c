/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequences (11 on) and optionals (15, 18): tensors of tensors, which share their items. */
#include <axon/plugin/axoneval.h>
#include "../ops/ops-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static gboolean
infer_sequence (const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in, AxonTypeInfo *out,
                G_GNUC_UNUSED GError **error)
{
  out[0].dtype =
      g_str_equal (node->op->name, "Optional") ? AXON_DTYPE_OPTIONAL : AXON_DTYPE_SEQUENCE;
  out[0].shape = AXON_SHAPE (-1);
  return TRUE;
}

/* What the sequence holds is known when it runs. */
static gboolean
infer_item (G_GNUC_UNUSED const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in,
            G_GNUC_UNUSED AxonTypeInfo *out, G_GNUC_UNUSED GError **error)
{
  return TRUE;
}

static gboolean
infer_scalar_i64 (G_GNUC_UNUSED const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in,
                  AxonTypeInfo *out, G_GNUC_UNUSED GError **error)
{
  out[0].dtype = AXON_DTYPE_I64;
  out[0].shape = (AxonShape){ 0 };
  return TRUE;
}

static gboolean
is_sequence (const AxonTensor *value, GError **error)
{
  if (axon_tensor_get_dtype (value) != AXON_DTYPE_SEQUENCE)
    FAIL (MODEL, _ ("expected a sequence, got %s"),
          axon_dtype_get_name (axon_tensor_get_dtype (value)));
  return TRUE;
}

static gboolean
run_empty (G_GNUC_UNUSED const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in,
           AxonTensor **out, G_GNUC_UNUSED GError **error)
{
  out[0] = axon_tensor_new_sequence (NULL, 0);
  return TRUE;
}

static gboolean
run_construct (const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
               G_GNUC_UNUSED GError **error)
{
  out[0] = axon_tensor_new_sequence (in, node->n_inputs);
  return TRUE;
}

static gboolean
run_length (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
            GError **error)
{
  static const AxonShape scalar = { .rank = 0 };
  if (!is_sequence (in[0], error) ||
      (out[0] = axon_tensor_new (AXON_DTYPE_I64, &scalar, error)) == NULL)
    return FALSE;
  *(gint64 *)axon_tensor_get_data (out[0]) = (gint64)axon_tensor_get_numel (in[0]);
  return TRUE;
}

static gboolean
run_at (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  gint64 at;
  if (!is_sequence (in[0], error) || axon_tensor_get_numel (in[1]) != 1 ||
      !axon_check_index (axon_int_at (in[1], 0), (gint64)axon_tensor_get_numel (in[0]), &at, error))
    return FALSE;
  out[0] = axon_tensor_ref (axon_tensor_get_item (in[0], (gsize)at));
  return TRUE;
}

/* @position: of the new item, or of the one to go. */
static gboolean
run_change (AxonTensor *sequence, AxonTensor *item, AxonTensor *position, AxonTensor **out,
            GError **error)
{
  gint64 n, at;
  g_autoptr (GPtrArray) items = g_ptr_array_new ();
  if (!is_sequence (sequence, error))
    return FALSE;
  n = (gint64)axon_tensor_get_numel (sequence);
  at = position && axon_tensor_get_numel (position) ? axon_int_at (position, 0) : item ? n : -1;
  if (!axon_check_index (at, n + (item != NULL && at >= 0), &at, error))
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    g_ptr_array_add (items, axon_tensor_get_item (sequence, (gsize)i));
  if (item != NULL)
    g_ptr_array_insert (items, (gint)at, item);
  else
    g_ptr_array_remove_index (items, (guint)at);
  out[0] = axon_tensor_new_sequence ((AxonTensor *const *)items->pdata, items->len);
  return TRUE;
}

static gboolean
run_insert (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  return run_change (in[0], in[1], axon_operand (node, in, 2), out, error);
}

static gboolean
run_erase (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  return run_change (in[0], NULL, axon_operand (node, in, 1), out, error);
}

DECLARE_FAMILY (concat);
DECLARE_FAMILY (reshape);

static const AxonOp *
find_borrowed (const gchar *name)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    AxonOpSet *set = axon_op_set_new_empty ();
    axon_ops_concat (set);
    axon_ops_reshape (set);
    g_once_init_leave (&once, (gsize)set);
  }
  return axon_op_set_lookup ((AxonOpSet *)once, NULL, name, 12);
}

/* Runs operator @name on @in, as its row of the tables would. */
static gboolean
borrow_operator (const gchar *name, gint64 axis, AxonTensor **in, guint n_in, AxonTensor **out,
                 GError **error)
{
  g_autoptr (AxonModel) model = axon_model_new (NULL);
  g_autofree AxonValue **values = g_new0 (AxonValue *, n_in + 1);
  AxonValue *result = axon_model_add_value (model, NULL);
  AxonNode *node;
  for (guint i = 0; i < n_in; i++)
    values[i] = axon_model_add_constant (model, NULL, in[i]);
  node = axon_model_add_node (model, find_borrowed (name), 12, name, values, n_in, &result, 1);
  if (g_str_equal (name, "Unsqueeze") || g_str_equal (name, "Squeeze"))
    axon_node_set_ints (node, "axes", &axis, 1);
  else
    axon_node_set_int (node, "axis", axis);
  return axon_eval_node (node, in, out, error);
}

static gboolean
run_concat (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  gboolean stack = axon_node_get_int (node, "new_axis") != 0;
  gint64 axis = axon_node_get_int (node, "axis");
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  if (!is_sequence (in[0], error))
    return FALSE;
  if (axon_tensor_get_numel (in[0]) == 0)
    FAIL (MODEL, _ ("the sequence is empty"));
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]); i++) {
    AxonTensor *item = axon_tensor_get_item (in[0], i), *wide = NULL;
    if (axon_tensor_get_dtype (item) >= AXON_DTYPE_SEQUENCE)
      FAIL (MODEL, _ ("item %zu is no tensor"), i);
    if (stack && !borrow_operator ("Unsqueeze", axis, &item, 1, &wide, error))
      return FALSE;
    g_ptr_array_add (items, stack ? wide : axon_tensor_ref (item));
  }
  return borrow_operator ("Concat", axis, (AxonTensor **)items->pdata, items->len, out, error);
}

/* A part of @x along @axis. */
static AxonTensor *
cut (AxonTensor *x, gint axis, gint64 at, gint64 n, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (x), begin = shape;
  g_autoptr (AxonTensor) view = NULL;
  if (axon_dtype_is_boxed (axon_tensor_get_dtype (x))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("splitting strings"));
    return NULL;
  }
  for (gint d = 0; d < shape.rank; d++)
    begin.dims[d] = d == axis ? at : 0;
  shape.dims[axis] = n;
  if (axon_shape_get_numel (&shape) == 0)
    return axon_tensor_new (axon_tensor_get_dtype (x), &shape, error);
  view = axon_tensor_new_roi (x, &begin, &shape, error);
  return view ? axon_tensor_to_host (view, error) : NULL;
}

/* split: one size for all parts (the last may be smaller), or one for each; else single slices,
 * which lose the axis unless keepdims. */
static gboolean
run_split (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  AxonTensor *split = axon_operand (node, in, 1);
  gboolean list = split != NULL && axon_tensor_get_shape (split)->rank > 0;
  gboolean drop = split == NULL && axon_node_get_int (node, "keepdims") == 0;
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  gint64 at = 0;
  gint axis;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), x->rank, &axis, error))
    return FALSE;
  for (gsize i = 0; at < x->dims[axis] || (list && i < axon_tensor_get_numel (split)); i++) {
    gint64 n = 1;
    AxonTensor *part, *thin = NULL;
    if (list && i >= axon_tensor_get_numel (split))
      FAIL (MODEL, _ ("the sizes do not add up to %lld"), (long long)x->dims[axis]);
    if (split != NULL)
      n = axon_int_at (split, list ? i : 0);
    if (n < (list ? 0 : 1) || (list && n > x->dims[axis] - at))
      FAIL (MODEL, _ ("size %lld is out of range"), (long long)n);
    n = MIN (n, x->dims[axis] - at);
    part = cut (in[0], axis, at, n, error);
    if (part == NULL)
      return FALSE;
    g_ptr_array_add (items, part);
    if (drop) {
      if (!borrow_operator ("Squeeze", axis, &part, 1, &thin, error))
        return FALSE;
      g_ptr_array_remove_index (items, items->len - 1);
      g_ptr_array_add (items, thin);
    }
    at += n;
  }
  out[0] = axon_tensor_new_sequence ((AxonTensor *const *)items->pdata, items->len);
  return TRUE;
}

static gboolean
run_optional (const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
              G_GNUC_UNUSED GError **error)
{
  out[0] = axon_tensor_new_optional (axon_operand (node, in, 0));
  return TRUE;
}

/* From opset 18 a tensor or a sequence may stand for an optional that holds it. */
static gboolean
run_get_element (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
                 GError **error)
{
  gboolean optional = axon_tensor_get_dtype (in[0]) == AXON_DTYPE_OPTIONAL;
  if (optional && axon_tensor_get_numel (in[0]) == 0)
    FAIL (MODEL, _ ("the optional is empty"));
  out[0] = axon_tensor_ref (optional ? axon_tensor_get_item (in[0], 0) : in[0]);
  return TRUE;
}

static gboolean
infer_has_element (G_GNUC_UNUSED const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in,
                   AxonTypeInfo *out, G_GNUC_UNUSED GError **error)
{
  out[0].dtype = AXON_DTYPE_BOOL;
  out[0].shape = (AxonShape){ 0 };
  return TRUE;
}

static gboolean
run_has_element (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  static const AxonShape scalar = { .rank = 0 };
  AxonTensor *value = axon_operand (node, in, 0);
  gboolean has = value != NULL && (axon_tensor_get_dtype (value) != AXON_DTYPE_OPTIONAL ||
                                   axon_tensor_get_numel (value) > 0);
  out[0] = axon_tensor_new (AXON_DTYPE_BOOL, &scalar, error);
  if (out[0] != NULL)
    *(guint8 *)axon_tensor_get_data (out[0]) = (guint8)has;
  return out[0] != NULL;
}

#define SEQUENCE .outputs = { 1, 1 }, .flags = AXON_OP_CONTROL

static const AxonOp rows[] = {
  { SEQUENCE, .name = "SequenceEmpty", .since = 11, .inputs = { 0, 0 },
    .attrs = ATTRS (ATTR_I ("dtype", 1)), .infer = infer_sequence, .run = run_empty },
  { SEQUENCE, .name = "SequenceConstruct", .since = 11, .inputs = { 1, AXON_VARIADIC },
    .infer = infer_sequence, .run = run_construct },
  { SEQUENCE, .name = "SequenceLength", .since = 11, .inputs = { 1, 1 }, .infer = infer_scalar_i64,
    .run = run_length },
  { SEQUENCE, .name = "SequenceAt", .since = 11, .inputs = { 2, 2 }, .operands = ".n",
    .infer = infer_item, .run = run_at },
  { SEQUENCE, .name = "SequenceInsert", .since = 11, .inputs = { 2, 3 }, .operands = "..n",
    .infer = infer_sequence, .run = run_insert },
  { SEQUENCE, .name = "SequenceErase", .since = 11, .inputs = { 1, 2 }, .operands = ".n",
    .infer = infer_sequence, .run = run_erase },
  { SEQUENCE, .name = "ConcatFromSequence", .since = 11, .inputs = { 1, 1 },
    .attrs = ATTRS (REQUIRED ("axis", AXON_ATTR_INT), ATTR_I ("new_axis", 0)), .infer = infer_item,
    .run = run_concat },
  { SEQUENCE, .name = "SplitToSequence", .since = 11, .inputs = { 1, 2 }, .operands = ".n",
    .attrs = ATTRS (ATTR_I ("axis", 0), ATTR_I ("keepdims", 1)), .infer = infer_sequence,
    .run = run_split },
  { SEQUENCE, .name = "Optional", .since = 15, .inputs = { 0, 1 }, .infer = infer_sequence,
    .run = run_optional },
  { SEQUENCE, .name = "OptionalGetElement", .since = 15, .inputs = { 1, 1 }, .infer = infer_item,
    .run = run_get_element },
  { SEQUENCE, .name = "OptionalHasElement", .since = 15, .inputs = { 0, 1 },
    .infer = infer_has_element, .run = run_has_element },
};

DEFINE_FAMILY (sequence, rows)
