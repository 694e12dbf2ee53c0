/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Outputs as decoders read them: f32, one number after another. What is of another type is
 * converted into memory that all elements share, for it is twice as large as the outputs and needed
 * for a moment only. Any thread. */
#pragma once

#include <axon/axon.h>

/* Memory for the outputs of one model: AxonTensor of each that is of another type, or NULL. */
typedef GPtrArray GstNnFloats;

/* Between open and close an element decodes. Of what it gives back as much is kept as there are
 * such elements, and nothing when there are none. */
void gst_nn_floats_open (void);
void gst_nn_floats_close (void);

/* Memory for outputs like @tensors, until it is given back. */
GstNnFloats *gst_nn_floats_take (const GPtrArray *tensors);
void gst_nn_floats_give (GstNnFloats *floats);
/* @tensors as f32, without those that cannot be read; free it. Valid until @floats is given back.
 */
GPtrArray *gst_nn_floats_convert (GstNnFloats *floats, const GPtrArray *tensors);
