/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of nodes: a short list per node, defaults in the operator's row. */
#include <axon/plugin/axongraph.h>

#include "config.h"
#include <glib/gi18n-lib.h>

static const AxonAttrSpec *
find_spec (const AxonNode *node, const gchar *name)
{
  for (const AxonAttrSpec *s = node->op->attrs; s != NULL && s->name != NULL; s++)
    if (g_str_equal (s->name, name))
      return s;
  return NULL;
}

AxonAttr *
axon_node_add_attr (AxonNode *node, const gchar *name, AxonAttrType type)
{
  AxonAttr *attr = (AxonAttr *)axon_node_find_attr (node, name);
  if (attr != NULL)
    g_ptr_array_remove (node->attrs, attr);
  attr = g_new0 (AxonAttr, 1);
  attr->name = g_strdup (name);
  attr->type = type;
  g_ptr_array_add (node->attrs, attr);
  return attr;
}

void
axon_node_set_int (AxonNode *node, const gchar *name, gint64 value)
{
  axon_node_add_attr (node, name, AXON_ATTR_INT)->i = value;
}

void
axon_node_set_float (AxonNode *node, const gchar *name, gdouble value)
{
  axon_node_add_attr (node, name, AXON_ATTR_FLOAT)->f = value;
}

void
axon_node_set_string (AxonNode *node, const gchar *name, const gchar *value)
{
  axon_node_add_attr (node, name, AXON_ATTR_STRING)->s = g_strdup (value);
}

void
axon_node_set_ints (AxonNode *node, const gchar *name, const gint64 *values, guint n)
{
  AxonAttr *attr = axon_node_add_attr (node, name, AXON_ATTR_INTS);
  attr->ints = g_memdup2 (values, n * sizeof *values);
  attr->n = n;
}

void
axon_node_set_floats (AxonNode *node, const gchar *name, const gfloat *values, guint n)
{
  AxonAttr *attr = axon_node_add_attr (node, name, AXON_ATTR_FLOATS);
  attr->floats = g_memdup2 (values, n * sizeof *values);
  attr->n = n;
}

const AxonAttr *
axon_node_find_attr (const AxonNode *node, const gchar *name)
{
  for (guint i = 0; i < node->attrs->len; i++) {
    const AxonAttr *attr = g_ptr_array_index (node->attrs, i);
    if (g_str_equal (attr->name, name))
      return attr;
  }
  return NULL;
}

gint64
axon_node_get_int (const AxonNode *node, const gchar *name)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  const AxonAttrSpec *spec = find_spec (node, name);
  return attr ? attr->i : spec ? spec->i : 0;
}

gdouble
axon_node_get_float (const AxonNode *node, const gchar *name)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  const AxonAttrSpec *spec = find_spec (node, name);
  return attr ? attr->f : spec ? spec->f : 0;
}

const gchar *
axon_node_get_string (const AxonNode *node, const gchar *name)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  const AxonAttrSpec *spec = find_spec (node, name);
  return attr ? attr->s : spec ? spec->s : NULL;
}

const gint64 *
axon_node_get_ints (const AxonNode *node, const gchar *name, guint *n)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  *n = attr ? attr->n : 0;
  return attr ? attr->ints : NULL;
}

const gfloat *
axon_node_get_floats (const AxonNode *node, const gchar *name, guint *n)
{
  const AxonAttr *attr = axon_node_find_attr (node, name);
  *n = attr ? attr->n : 0;
  return attr ? attr->floats : NULL;
}

gboolean
axon_node_has_form (const AxonNode *node, AxonOpForm form)
{
  return (node->op->form & form) != 0;
}

static gboolean
check_attr (const AxonNode *node, const AxonAttrSpec *spec, GError **error)
{
  static const gchar *const type_names[] = { "int",    "float",   "string", "ints",
                                             "floats", "strings", "tensor", "graph" };
  const AxonAttr *attr = axon_node_find_attr (node, spec->name);
  if (attr == NULL && spec->required) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("attribute \"%s\" is missing"),
                 spec->name);
    return FALSE;
  }
  if (attr != NULL && attr->type != spec->type) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("attribute \"%s\": expected %s, got %s"),
                 spec->name, type_names[spec->type], type_names[attr->type]);
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_arity (gboolean is_input, guint n, guint min, guint max, GError **error)
{
  if (n >= min && n <= max)
    return TRUE;
  if (max == AXON_VARIADIC)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 is_input ? _ ("expected at least %u inputs, got %u")
                          : _ ("expected at least %u outputs, got %u"),
                 min, n);
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 is_input ? _ ("expected %u to %u inputs, got %u")
                          : _ ("expected %u to %u outputs, got %u"),
                 min, max, n);
  return FALSE;
}

/* Of inputs of any number none is left out; but Scan of operator sets before 9 has lengths first.
 */
static gboolean
needs_input (const AxonOp *op, guint index)
{
  if (index < op->inputs.min)
    return !(op->flags & AXON_OP_OPTIONAL_INPUTS);
  return op->inputs.max == AXON_VARIADIC && index > 0;
}

gboolean
axon_node_check (const AxonNode *node, GError **error)
{
  const AxonOp *op = node->op;
  gboolean ok = check_arity (TRUE, node->n_inputs, op->inputs.min, op->inputs.max, error) &&
                check_arity (FALSE, node->n_outputs, op->outputs.min, op->outputs.max, error);
  for (guint i = 0; ok && i < node->n_inputs; i++)
    if (node->inputs[i] == NULL && needs_input (op, i)) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("input %u is required"), i);
      ok = FALSE;
    }
  for (const AxonAttrSpec *s = op->attrs; ok && s != NULL && s->name != NULL; s++)
    ok = check_attr (node, s, error);
  if (!ok) {
    g_autofree gchar *what = axon_node_describe (node);
    g_prefix_error (error, "%s: ", what);
  }
  return ok;
}
