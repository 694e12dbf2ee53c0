/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models of one node, each spelled as a row of a table. */
#pragma once

#include "axontest.h"

typedef struct {
  const gchar *op; /* "PRelu-6": as it was in operator set 6 */
  /* "f32[2,3] i64[2]=1,2": a value makes it a constant; "f32[2]:1,2": an input of these values;
   * "f32[2,?]": a dimension that is not known; "f32": a rank that is not; "-": left out */
  const gchar *inputs;
  const gchar *attrs; /* "axis=1 perm=0,0 mode:text" */
  const gchar *says;  /* what is expected */
} NodeCase;

/* A tensor as it is spelled. */
typedef struct {
  AxonDType dtype;
  AxonShape shape;
  AxonTensor *tensor; /* NULL: there can be none of such a shape; zeroed but for the values */
  gboolean has_values, is_constant;
} NodeTensor;

void node_tensor_parse (const gchar *text, NodeTensor *t);
void node_tensor_clear (NodeTensor *t);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (NodeTensor, node_tensor_clear)

/* Numbers of an input that the row leaves open: none is 0, as zeros hide much. */
void node_fill (AxonTensor *tensor);

/* Calls @fill with each input of @inputs whose values @c leaves open. */
typedef void (*NodeFillFunc) (AxonTensor *tensor, gpointer user_data);
void node_fill_inputs (const NodeCase *c, const GPtrArray *inputs, NodeFillFunc fill,
                       gpointer user_data);

/* "name=value" or "name:value", by the type that the operator's table says. */
void node_set_attr (AxonNode *node, const gchar *text);

/* The model of one node called "bad" with @n_out outputs, not yet inferred. @constants: all inputs
 * but the first are constants. @inputs gets what the graph's inputs are to be. */
AxonModel *node_case_build (const NodeCase *c, guint n_out, gboolean constants, GPtrArray *inputs,
                            AxonNode **node);

/* What operators give: operators that compute, and those that move, reduce or make numbers. */
extern const NodeCase result_cases[], move_cases[], number_cases[];
extern const guint n_result_cases, n_move_cases, n_number_cases;

/* Nodes that cannot be, and what is said of them. */
extern const NodeCase malformed_cases[];
extern const guint n_malformed_cases;
