/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the reader share. */
#pragma once

#include "../ops/axonopset-private.h"
#include "axononnx-private.h"

typedef struct {
  AxonModel *model;
  AxonOpSet *opset;
  Onnx__Model *proto;
  AxonWireAllocator allocator;
  const gchar *directory;
  GHashTable *versions; /* domain -> opset version */
  GCancellable *cancellable;
  guint n_nodes;      /* made so far: functions multiply */
  gsize n_name_bytes; /* of their names */
} Reader;

/* Where names are looked up: a graph, a body within one, or a function while it is expanded. */
typedef struct _Scope Scope;
struct _Scope {
  Reader *reader;
  AxonModel *model;     /* nodes go there */
  GHashTable *versions; /* domain -> opset version */
  guint depth;
  /* of a body */
  Scope *outer;        /* where names are that it does not define */
  GHashTable *own;     /* names that it defines */
  GPtrArray *captures; /* names taken from outer, in the order of the body's last inputs */
  /* of a function */
  GHashTable *names; /* its names -> AxonValue */
  Scope *caller;
  const Onnx__Node *call;
  const Onnx__Function *function;
  const gchar *prefix; /* of names in the model */
};

const gchar *axon_onnx_domain (const gchar *domain);
gint axon_onnx_version (GHashTable *versions, const gchar *domain);
GHashTable *axon_onnx_read_versions (Onnx__OperatorSetId *const *ids, gsize n);
const Onnx__Function *axon_onnx_find_function (Reader *r, const Onnx__Node *node);

/* Where tensors' bytes are taken from; NULL where they must stay, for what a function holds is read
 * again for its next call. */
AxonWireAllocator *axon_onnx_allocator (Scope *scope);

/* A value by its name in @scope, made where it is not there yet; NULL for the empty name. */
AxonValue *axon_onnx_find_value (Scope *scope, const gchar *name);

gboolean axon_onnx_read_graph (Scope *scope, Onnx__Graph *graph, GError **error);
gboolean axon_onnx_read_nodes (Scope *scope, Onnx__Node *const *nodes, gsize n, GError **error);

/* The attributes of @proto; bodies take their captures as further inputs of @node. */
gboolean axon_onnx_read_attributes (Scope *scope, AxonNode *node, const Onnx__Node *proto,
                                    GError **error);

/* Puts the nodes of @function in the place of @call. */
gboolean axon_onnx_expand (Scope *scope, const Onnx__Node *call, const Onnx__Function *function,
                           GError **error);
