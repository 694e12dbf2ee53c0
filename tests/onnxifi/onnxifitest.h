/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A client of the vendor library, and models as it sends them. Each model sets the client's names.
 */
#pragma once

#include "axontest.h"

#include <axon/onnxifi.h>

typedef struct {
  onnxBackendID *ids;
  size_t n_ids;
  onnxBackendID id; /* the CPU's */
  onnxBackend backend;
  const gchar *input, *output, *weight; /* names in the models */
  gfloat weights[12];
} Client;

Client client_new (void);
void client_clear (Client *c);
onnxGraph client_graph (Client *c, GBytes *model);
onnxMemoryFenceV1 client_fence (const Client *c);
/* Signals, waits, and asserts that all went well; or what onnxRunGraph answers. */
void client_run (Client *c, onnxGraph graph);
onnxStatus client_try_run (Client *c, onnxGraph graph);
onnxTensorDescriptorV1 tensor_f32 (const gchar *name, guint32 dimensions, const guint64 *shape,
                                   gpointer buffer);

/* f32[1,width] -> Relu; width -1: symbolic */
GBytes *relu_bytes (Client *c, gint64 width);
/* f32[1,4] x weights f32[4,3] */
GBytes *product_bytes (Client *c, AxonWriteFlags flags);
/* f32[] < 0 */
GBytes *is_negative_bytes (Client *c);
