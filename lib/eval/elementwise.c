/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several elementwise operators in one node: what devices make of a run of them.
 *
 * Attribute steps names operators of ai.onnx, operands what each works on, two numbers a step: an
 * input, or, from the number of inputs on, the result of a step before; -1 for none. Two numbers of
 * args are a step's first attributes that are floats. The last step's result is the node's. */
#include "../ops/ops-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define OPSET 24
#define CLIP_OPSET 6 /* its bounds are attributes */

DECLARE_FAMILY (binary);
DECLARE_FAMILY (unary);

static const AxonOp *
find_step (const gchar *name)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    AxonOpSet *set = axon_op_set_new_empty ();
    axon_ops_binary (set);
    axon_ops_unary (set);
    g_once_init_leave (&once, (gsize)set);
  }
  return axon_op_set_lookup ((AxonOpSet *)once, NULL, name,
                             g_str_equal (name, "Clip") ? CLIP_OPSET : OPSET);
}

static gboolean
check_step (const AxonNode *node, const gchar *name, const gint64 *operands, guint index,
            GError **error)
{
  const AxonOp *op = find_step (name);
  gint64 known = (gint64)node->n_inputs + index;
  guint n = operands[1] >= 0 ? 2 : 1;
  if (op == NULL || op->eval == NULL || (op->flags & AXON_OP_ELEMENTWISE) == 0 ||
      n < op->inputs.min || n > op->inputs.max)
    FAIL (MODEL, _ ("step %u: \"%s\" is no elementwise operator of %u operands"), index, name, n);
  if (operands[0] < 0 || operands[0] >= known || operands[1] < -1 || operands[1] >= known)
    FAIL (MODEL, _ ("step %u: operands %lld and %lld, expected some below %lld"), index,
          (long long)operands[0], (long long)operands[1], (long long)known);
  return TRUE;
}

static gboolean
infer_elementwise (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonAttr *steps = axon_node_find_attr (node, "steps");
  guint n_operands, n_args;
  const gint64 *operands = axon_node_get_ints (node, "operands", &n_operands);
  axon_node_get_floats (node, "args", &n_args);
  if (steps->n == 0 || n_operands != 2 * steps->n || n_args != 2 * steps->n)
    FAIL (MODEL, _ ("%u steps, %u operands and %u args: expected two of each a step"), steps->n,
          n_operands, n_args);
  for (guint i = 0; i < steps->n; i++)
    if (!check_step (node, steps->strings[i], operands + 2 * i, i, error))
      return FALSE;
  return axon_infer_broadcast (node, in, out, error);
}

static void
set_args (AxonNode *step, const gfloat *args)
{
  guint n = 0;
  for (const AxonAttrSpec *a = step->op->attrs; a != NULL && a->name != NULL && n < 2; a++)
    if (a->type == AXON_ATTR_FLOAT)
      axon_node_set_float (step, a->name, (gdouble)args[n++]);
}

/* By the operator's own kernel. */
static AxonTensor *
run_step (const gchar *name, const gfloat *args, AxonTensor *const *in, guint n, GError **error)
{
  g_autoptr (AxonModel) model = axon_model_new (name);
  AxonValue *values[] = { axon_model_add_value (model, NULL), axon_model_add_value (model, NULL),
                          axon_model_add_value (model, NULL) };
  const AxonOp *op = find_step (name);
  AxonNode *step = axon_model_add_node (model, op, OPSET, name, values, n, &values[2], 1);
  AxonTypeInfo types[2] = { 0 }, type = { 0 };
  g_autoptr (AxonTensor) y = NULL;
  set_args (step, args);
  for (guint i = 0; i < n; i++) {
    types[i].dtype = axon_tensor_get_dtype (in[i]);
    types[i].shape = *axon_tensor_get_shape (in[i]);
  }
  if (!op->infer (step, types, &type, error))
    return NULL;
  y = axon_tensor_new (type.dtype, &type.shape, error);
  return y != NULL && op->eval (step, in, &y, error) ? g_steal_pointer (&y) : NULL;
}

static gboolean
eval_elementwise (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  const AxonAttr *steps = axon_node_find_attr (node, "steps");
  guint n;
  const gint64 *operands = axon_node_get_ints (node, "operands", &n);
  const gfloat *args = axon_node_get_floats (node, "args", &n);
  g_autoptr (GPtrArray) made = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  AxonTensor *last;
  for (guint i = 0; i < node->n_inputs; i++)
    g_ptr_array_add (made, axon_tensor_ref (in[i]));
  for (guint i = 0; i < steps->n; i++) {
    const gint64 *of = operands + 2 * i;
    AxonTensor *operand[2] = { made->pdata[of[0]], of[1] < 0 ? NULL : made->pdata[of[1]] };
    AxonTensor *y = run_step (steps->strings[i], args + 2 * i, operand, of[1] < 0 ? 1 : 2, error);
    if (y == NULL)
      return FALSE;
    g_ptr_array_add (made, y);
  }
  last = made->pdata[made->len - 1];
  if (!axon_shape_equal (axon_tensor_get_shape (last), axon_tensor_get_shape (out[0])))
    FAIL (MODEL, _ ("the last step gives another shape than all inputs together"));
  return axon_eval_copy (node, &last, out, error);
}

static const AxonOp rows[] = {
  {
      .name = "Elementwise",
      .domain = AXON_DOMAIN_AXON,
      .since = 1,
      .inputs = { 1, AXON_VARIADIC },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = AXON_VARIADIC,
      .attrs = ATTRS (REQUIRED ("steps", AXON_ATTR_STRINGS), REQUIRED ("operands", AXON_ATTR_INTS),
                      REQUIRED ("args", AXON_ATTR_FLOATS)),
      .infer = infer_elementwise,
      .eval = eval_elementwise,
      .flags = AXON_OP_ELEMENTWISE,
  },
};

DEFINE_FAMILY (elementwise, rows)
