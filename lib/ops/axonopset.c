/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The set of operator rows, and the list of built-in families. */
#include "ops-private.h"

#include <string.h>

#define FAMILIES(X)                                                                                \
  X (attention)                                                                                    \
  X (binary)                                                                                       \
  X (box)                                                                                          \
  X (cast)                                                                                         \
  X (concat)                                                                                       \
  X (contrib)                                                                                      \
  X (control)                                                                                      \
  X (conv)                                                                                         \
  X (cumulative)                                                                                   \
  X (gather)                                                                                       \
  X (gemm)                                                                                         \
  X (generate)                                                                                     \
  X (grid)                                                                                         \
  X (image)                                                                                        \
  X (integer)                                                                                      \
  X (logic)                                                                                        \
  X (loop)                                                                                         \
  X (loss)                                                                                         \
  X (matrix)                                                                                       \
  X (normalize)                                                                                    \
  X (norm)                                                                                         \
  X (pad)                                                                                          \
  X (patch)                                                                                        \
  X (pool)                                                                                         \
  X (qlinear)                                                                                      \
  X (qlinearconv)                                                                                  \
  X (quantize)                                                                                     \
  X (random)                                                                                       \
  X (recurrent)                                                                                    \
  X (reduce)                                                                                       \
  X (repeat)                                                                                       \
  X (reshape)                                                                                      \
  X (resize)                                                                                       \
  X (roi)                                                                                          \
  X (scatter)                                                                                      \
  X (picture)                                                                                      \
  X (select)                                                                                       \
  X (sequence)                                                                                     \
  X (signal)                                                                                       \
  X (slice)                                                                                        \
  X (softmax)                                                                                      \
  X (state)                                                                                        \
  X (text)                                                                                         \
  X (training)                                                                                     \
  X (transpose)                                                                                    \
  X (unary)

#define DECLARE(name) DECLARE_FAMILY (name);
FAMILIES (DECLARE)
#undef DECLARE

struct _AxonOpSet {
  GPtrArray *ops;      /* const AxonOp */
  GHashTable *by_name; /* "domain:name" -> GPtrArray of rows */
};

AxonOpSet *
axon_op_set_new (void)
{
  AxonOpSet *set = g_new0 (AxonOpSet, 1);
  set->ops = g_ptr_array_new ();
  set->by_name =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
#define ADD(name) axon_ops_##name (set);
  FAMILIES (ADD)
#undef ADD
  return set;
}

/* The built-in rows and whatever was added to @set. */
AxonOpSet *
axon_op_set_copy (AxonOpSet *set)
{
  AxonOpSet *copy = axon_op_set_new ();
  for (guint i = copy->ops->len; i < set->ops->len; i++)
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

const AxonOp *
axon_builtin_op (const gchar *domain, const gchar *name, gint opset)
{
  static gsize once;
  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize)axon_op_set_new ());
  return axon_op_set_lookup ((AxonOpSet *)once, domain, name, opset);
}
