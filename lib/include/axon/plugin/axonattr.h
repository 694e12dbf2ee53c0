/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attributes of nodes: the value given, else the default of the operator's row. Not locked, as the
 * model that the node belongs to. */
#pragma once

#include <axon/plugin/axonop.h>

G_BEGIN_DECLS

typedef struct {
  gchar *name;
  AxonAttrType type;
  gint64 i;
  gdouble f;
  gchar *s;
  gint64 *ints;
  gfloat *floats;
  gchar **strings;
  guint n; /* elements of ints, floats or strings */
  AxonTensor *tensor;
  AxonModel *graph; /* indexed, never written; its inputs are its formal ones, then what it takes
                       from around it: the node's inputs whose positions are in ints */
} AxonAttr;

/**
 * axon_node_add_attr:
 * @node: a node
 * @name: name of the attribute
 * @type: its type
 *
 * Adds an attribute of value 0; it replaces one of the same name.
 *
 * Returns: (transfer none): the attribute, whose value the caller sets
 *
 * Since: 1.0
 */
AXON_API AxonAttr *axon_node_add_attr (AxonNode *node, const gchar *name, AxonAttrType type);

/**
 * axon_node_set_int:
 * @node: a node
 * @name: name of the attribute
 * @value: its value
 *
 * Sets an attribute.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_int (AxonNode *node, const gchar *name, gint64 value);

/**
 * axon_node_set_float:
 * @node: a node
 * @name: name of the attribute
 * @value: its value
 *
 * Sets an attribute.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_float (AxonNode *node, const gchar *name, gdouble value);

/**
 * axon_node_set_string:
 * @node: a node
 * @name: name of the attribute
 * @value: its value; copied
 *
 * Sets an attribute.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_string (AxonNode *node, const gchar *name, const gchar *value);

/**
 * axon_node_set_ints:
 * @node: a node
 * @name: name of the attribute
 * @values: (array length=n): its values; copied
 * @n: how many
 *
 * Sets an attribute.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_ints (AxonNode *node, const gchar *name, const gint64 *values, guint n);

/**
 * axon_node_set_floats:
 * @node: a node
 * @name: name of the attribute
 * @values: (array length=n): its values; copied
 * @n: how many
 *
 * Sets an attribute.
 *
 * Since: 1.0
 */
AXON_API void axon_node_set_floats (AxonNode *node, const gchar *name, const gfloat *values,
                                    guint n);

/**
 * axon_node_find_attr:
 * @node: a node
 * @name: name of the attribute
 *
 * Finds an attribute that the node has itself; defaults are the row's.
 *
 * Returns: (transfer none) (nullable): the attribute
 *
 * Since: 1.0
 */
AXON_API const AxonAttr *axon_node_find_attr (const AxonNode *node, const gchar *name);

/**
 * axon_node_get_int:
 * @node: a node
 * @name: name of an attribute of that type
 *
 * Reads an attribute.
 *
 * Returns: its value, else the row's default, else 0
 *
 * Since: 1.0
 */
AXON_API gint64 axon_node_get_int (const AxonNode *node, const gchar *name);

/**
 * axon_node_get_float:
 * @node: a node
 * @name: name of an attribute of that type
 *
 * Reads an attribute.
 *
 * Returns: its value, else the row's default, else 0
 *
 * Since: 1.0
 */
AXON_API gdouble axon_node_get_float (const AxonNode *node, const gchar *name);

/**
 * axon_node_get_string:
 * @node: a node
 * @name: name of an attribute of that type
 *
 * Reads an attribute.
 *
 * Returns: (transfer none) (nullable): its value, else the row's default
 *
 * Since: 1.0
 */
AXON_API const gchar *axon_node_get_string (const AxonNode *node, const gchar *name);

/**
 * axon_node_get_ints:
 * @node: a node
 * @name: name of an attribute of that type
 * @n: (out): how many; 0 where the node has none
 *
 * Reads an attribute.
 *
 * Returns: (transfer none) (nullable) (array length=n): its values
 *
 * Since: 1.0
 */
AXON_API const gint64 *axon_node_get_ints (const AxonNode *node, const gchar *name, guint *n);

/**
 * axon_node_get_floats:
 * @node: a node
 * @name: name of an attribute of that type
 * @n: (out): how many; 0 where the node has none
 *
 * Reads an attribute.
 *
 * Returns: (transfer none) (nullable) (array length=n): its values
 *
 * Since: 1.0
 */
AXON_API const gfloat *axon_node_get_floats (const AxonNode *node, const gchar *name, guint *n);

G_END_DECLS
