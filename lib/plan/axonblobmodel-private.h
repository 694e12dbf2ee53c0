/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of a graph in a blob, for those who write and read it: a mark, offset and size of an
 * item. It holds, by axonblobbytes-private.h (an int has 32 bits; "n" is a count as an int; names
 * need not be UTF-8 where they were not in an ONNX file, which the reader refuses):
 *
 *   graph      name, flag quantized, notes, n values, n nodes, uses: inputs, uses: outputs
 *   notes      n of (text key, text)
 *   value      name, text layout, int dtype, shape, n texts symbols, flag, place of a constant if 1
 *   shape      int rank, as many dimensions of 64 bits
 *   place      64 bits offset, as of axon_blob_get_bytes(), 64 bits size
 *   node       text domain, text operator, int opset, name, uses: inputs, uses: outputs,
 *              n texts origins, flag, text affinity if 1, notes, n attributes
 *   uses       n of int: the value's number; -1: left out
 *   attribute  name, byte AxonAttrType; then, by that, 64 bits; double; text; n of 64 bits; n of
 *              float; n texts; int dtype, shape, place; graph, n of 64 bits captures */
#pragma once

#include "axonblob-private.h"
#include "axonblobbytes-private.h"

/* Bytes in a GVariant would be looked at one by one, whether they are normal. */
#define MODEL_TYPE "(utt)"
#define MODEL_MARK 0x48505247u /* tells it from what else a device may store */
#define MAX_BODIES 64          /* in each other, as in ONNX files */

/* What stands in the item. */
AxonModel *axon_blob_read_graph (AxonBlob *blob, GBytes *bytes, GError **error);
