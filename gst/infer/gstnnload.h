/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models and extensions, for the elements. */
#pragma once

#include <axon/axon.h>

/* The graph of an ONNX file, or of a file that axon-compile wrote. */
AxonModel *gst_nn_load_model (const gchar *path, GError **error);
gboolean gst_nn_is_compiled_file (const gchar *path);
/* Libraries separated by commas, loaded once per process. */
gboolean gst_nn_load_extensions (const gchar *paths, GError **error);
