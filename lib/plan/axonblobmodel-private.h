/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The form of a graph in a blob, for those who write and read it. Names are byte strings: ONNX
 * files hold some that are not UTF-8. */
#pragma once

#include "axonblob-private.h"

#define VALUE_TYPE "(ayayiiaxaaym(tt))" /* name, layout, dtype, rank, dims, symbols, constant */
#define NODE_TYPE                                                                                  \
  "(ayayiayaiaiaaymaya{ss}a(ayv))" /* domain, op, opset, name, inputs, outputs, origins,           \
                                      affinity, notes, attributes */
#define MODEL_TYPE "(ayba{ss}a" VALUE_TYPE "a" NODE_TYPE "aiai)"
