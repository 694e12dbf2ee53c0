/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of operator rows. */
#include "axonopset-private.h"

#include <string.h>

struct _AxonOpSet {
  GPtrArray *ops;      /* const AxonOp */
  GHashTable *by_name; /* "domain:name" -> GPtrArray of rows */
};

/* Without any row. */
AxonOpSet *
axon_op_set_new_empty (void)
{
  AxonOpSet *set = g_new0 (AxonOpSet, 1);
  set->ops = g_ptr_array_new ();
  set->by_name =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
  return set;
}

AxonOpSet *
axon_op_set_copy (AxonOpSet *set)
{
  AxonOpSet *copy = axon_op_set_new_empty ();
  for (guint i = 0; i < set->ops->len; i++)
    axon_op_set_add (copy, g_ptr_array_index (set->ops, i), 1);
  return copy;
}

void
axon_op_set_free (AxonOpSet *set)
{
  g_hash_table_unref (set->by_name);
  g_ptr_array_unref (set->ops);
  g_free (set);
}

/* Rows added later are preferred, so an extension may replace a built-in row. */
void
axon_op_set_add (AxonOpSet *set, const AxonOp *ops, guint n_ops)
{
  for (guint i = 0; i < n_ops; i++) {
    gchar *key = g_strdup_printf ("%s:%s", ops[i].domain ? ops[i].domain : "", ops[i].name);
    GPtrArray *rows = g_hash_table_lookup (set->by_name, key);
    if (rows == NULL) {
      rows = g_ptr_array_new ();
      g_hash_table_insert (set->by_name, key, rows);
    } else {
      g_free (key);
    }
    g_ptr_array_insert (rows, 0, (gpointer)&ops[i]);
    g_ptr_array_add (set->ops, (gpointer)&ops[i]);
  }
}

const AxonOp *
axon_op_set_lookup (AxonOpSet *set, const gchar *domain, const gchar *name, gint opset)
{
  g_autofree gchar *key = g_strdup_printf ("%s:%s", domain ? domain : "", name);
  GPtrArray *rows = g_hash_table_lookup (set->by_name, key);
  for (guint i = 0; rows != NULL && i < rows->len; i++) {
    const AxonOp *op = g_ptr_array_index (rows, i);
    if (opset >= op->since && (op->until == 0 || opset <= op->until))
      return op;
  }
  return NULL;
}

/* A reference kernel, of either form. */
gboolean
axon_op_has_kernel (const AxonOp *op)
{
  return op->eval != NULL || op->run != NULL;
}

guint
axon_op_set_get_n_ops (AxonOpSet *set)
{
  return set->ops->len;
}

const AxonOp *
axon_op_set_get_op (AxonOpSet *set, guint index)
{
  return g_ptr_array_index (set->ops, index);
}
