/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pass manager, the ordered table of common passes, and matchers for device passes. */
#include <axon/plugin/axonpass.h>
#include <axon/plugin/axonbuiltins.h>

#include "config.h"
#include <float.h>
#include <glib/gi18n-lib.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-passes"

static const AxonPass COMMON[] = {
  { "expand-contrib", axon_pass_expand_contrib },
  { "fold-constants", axon_pass_fold_constants },
  { "remove-identity", axon_pass_remove_identity },
  { "fold-batch-norm", axon_pass_fold_batch_norm },
  { "remove-dead-code", axon_pass_remove_dead_code },
};

gboolean
axon_passes_run (AxonModel *model, const AxonPass *passes, guint n_passes,
                 GCancellable *cancellable, GError **error)
{
  for (guint i = 0; i < n_passes; i++) {
    guint before = model->nodes->len;
    if (g_cancellable_set_error_if_cancelled (cancellable, error))
      return FALSE;
    if (!passes[i].run (model, error)) {
      g_prefix_error (error, _ ("pass %s: "), passes[i].name);
      return FALSE;
    }
    g_assert (axon_model_verify (model, NULL));
    if (model->nodes->len != before)
      g_debug ("%s: %s: %u nodes, were %u", axon_model_get_name (model), passes[i].name,
               model->nodes->len, before);
  }
  return TRUE;
}

gboolean
axon_passes_run_common (AxonModel *model, GCancellable *cancellable, GError **error)
{
  return axon_passes_run (model, COMMON, G_N_ELEMENTS (COMMON), cancellable, error);
}

AxonModel *
axon_passes_apply_common (AxonModel *model, GCancellable *cancellable, GError **error)
{
  AxonModel *clone = axon_model_clone (model);
  if (!axon_passes_run_common (clone, cancellable, error))
    g_clear_object (&clone);
  return clone;
}

gboolean
axon_node_is_in (const AxonNode *node, const gchar *domain, const gchar *name)
{
  return g_str_equal (node->op->name, name) && g_strcmp0 (node->op->domain, domain) == 0;
}

gboolean
axon_node_is (const AxonNode *node, const gchar *name)
{
  return axon_node_is_in (node, NULL, name);
}

AxonNode *
axon_match_input (const AxonNode *node, guint index, const gchar *name)
{
  AxonValue *value = axon_node_get_input (node, index);
  AxonNode *producer = value ? value->producer : NULL;
  return producer != NULL && axon_node_is (producer, name) ? producer : NULL;
}

AxonNode *
axon_match_only_user (const AxonValue *value, const gchar *name)
{
  AxonNode *user = axon_value_get_only_user (value);
  return user != NULL && (name == NULL || axon_node_is (user, name)) ? user : NULL;
}

gboolean
axon_match_scalar (const AxonValue *value, gdouble *scalar)
{
  if (!axon_value_is_constant (value) || axon_tensor_get_numel (value->type.value) != 1)
    return FALSE;
  *scalar = axon_tensor_get_value (value->type.value, 0);
  return TRUE;
}

void
axon_bypass_node (AxonModel *model, AxonNode *node, AxonNode *heir)
{
  AxonValue *from = node->outputs[0], *to = node->inputs[0];
  if (heir != NULL)
    axon_node_add_origins (heir, node);
  if (from->is_output) {
    guint index;
    g_ptr_array_find (model->outputs, from, &index);
    axon_model_set_output (model, index, to);
  }
  axon_model_replace_value (model, from, to);
  axon_model_remove_node (model, node);
}

AxonNode *
axon_pass_add_node (AxonModel *model, const AxonNode *like, const gchar *domain, const gchar *name,
                    gint opset, AxonValue *const *in, guint n_in, AxonValue *out)
{
  AxonNode *node = axon_model_add_node (model, axon_builtin_op (domain, name, opset), opset,
                                        like->name, in, n_in, &out, 1);
  axon_node_add_origins (node, (AxonNode *)like);
  return node;
}

AxonValue *
axon_pass_add_scalar (AxonModel *model, AxonDType dtype, gdouble value)
{
  AxonShape shape = { 0 };
  g_autoptr (AxonTensor) t = axon_tensor_new (dtype, &shape, NULL);
  axon_dtype_store (dtype, axon_tensor_get_data (t), 0, value);
  return axon_model_add_constant (model, NULL, t);
}

static void
copy_attr (AxonNode *to, const AxonAttr *a)
{
  if (a->type == AXON_ATTR_INTS)
    axon_node_set_ints (to, a->name, a->ints, a->n);
  else if (a->type == AXON_ATTR_INT)
    axon_node_set_int (to, a->name, a->i);
  else if (a->type == AXON_ATTR_FLOAT)
    axon_node_set_float (to, a->name, a->f);
  else if (a->type == AXON_ATTR_STRING)
    axon_node_set_string (to, a->name, a->s);
}

void
axon_pass_copy_attrs (AxonNode *to, const AxonNode *from)
{
  for (const AxonAttrSpec *spec = to->op->attrs; spec != NULL && spec->name != NULL; spec++) {
    const AxonAttr *attr = axon_node_find_attr (from, spec->name);
    if (attr != NULL)
      copy_attr (to, attr);
  }
}

static gboolean
clip_bound (const AxonNode *node, guint index, const gchar *attr, gdouble fallback, gfloat *out)
{
  gdouble v = fallback;
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    v = axon_node_get_float (node, attr);
  else if (axon_node_get_input (node, index) != NULL &&
           !axon_match_scalar (node->inputs[index], &v))
    return FALSE;
  *out = (gfloat)CLAMP (v, -(gdouble)FLT_MAX, (gdouble)FLT_MAX);
  return TRUE;
}

gboolean
axon_match_clip (const AxonNode *node, gfloat *lo, gfloat *hi)
{
  return clip_bound (node, 1, "min", -(gdouble)FLT_MAX, lo) &&
         clip_bound (node, 2, "max", (gdouble)FLT_MAX, hi);
}
