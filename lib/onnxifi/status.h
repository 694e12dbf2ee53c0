/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Errors as statuses. */
#pragma once

#include <axon/onnxifi.h>

#include <axon/axon.h>

/* What an error of reading or compiling a model is. Frees @error. */
onnxStatus status_of_model (GError *error);
/* What an error of the device or of memory is; others are internal. Frees @error. */
onnxStatus status_of_device (GError *error);
/* TRUE if a tensor may have this type: the standard's, and BOOL. */
gboolean status_knows_dtype (onnxEnum type);
