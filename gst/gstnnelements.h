/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The element types that the plugin registers. */
#pragma once

#include "gstnncommon.h"

GType gst_nn_infer_get_type (void);
GType gst_nn_preproc_get_type (void);
GType gst_nn_decode_get_type (void);
GType gst_nn_overlay_get_type (void);
GType gst_nn_publish_get_type (void);
GType gst_nn_query_get_type (void);
