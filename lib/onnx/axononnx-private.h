/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "axononnx.h"
#include "axonwire-private.h"
#include "onnx.pb-c.h"

/* The largest file that is read whole. */
#define AXON_ONNX_MAX_FILE ((goffset)4 * 1024 * 1024 * 1024)

/* FALSE: a string in it is not UTF-8. The message came through axon_wire_scan(), so it is not deep.
 */
gboolean axon_onnx_check_text (const ProtobufCMessage *message, GError **error);

/* Makes a tensor of @proto. @directory (nullable) is where external data may lie: beneath it, no
 * links followed. Takes raw_data out of @proto instead of copying it. */
AxonTensor *axon_onnx_sparse_tensor (Onnx__SparseTensor *proto, AxonWireAllocator *allocator,
                                     const gchar *directory, GError **error);
AxonTensor *axon_onnx_tensor (Onnx__Tensor *proto, AxonWireAllocator *allocator,
                              const gchar *directory, GError **error);
