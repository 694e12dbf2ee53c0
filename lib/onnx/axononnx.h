/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ONNX reader and writer: the only code that parses model bytes. */
#pragma once

#include <axon/plugin/axongraph.h>
#include "../ops/axonopset-private.h"

G_BEGIN_DECLS

/* Reads a regular file whole; refuses directories, pipes, devices and empty files. */
GBytes *axon_onnx_load_file (const gchar *path, GError **error);
AxonModel *axon_onnx_read_file (const gchar *path, AxonOpSet *opset, GCancellable *cancellable,
                                GError **error);
AxonModel *axon_onnx_read_bytes (GBytes *bytes, const gchar *directory, AxonOpSet *opset,
                                 GCancellable *cancellable, GError **error);
AxonTensor *axon_onnx_read_value_file (const gchar *path, AxonDType kind, GError **error);

/* The graph as an ONNX file. */
GBytes *axon_onnx_write_bytes (AxonModel *model, AxonOpSet *opset, AxonWriteFlags flags,
                               GError **error);

G_END_DECLS
