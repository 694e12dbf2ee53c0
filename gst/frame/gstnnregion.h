/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Objects for others: GstVideoRegionOfInterestMeta with DL Streamer's parameters. The meta's id is
 * the object's number. */
#pragma once

#include <gst/nn/nn.h>

void gst_nn_region_add (GstBuffer *buffer, const GstNnObject *object,
                        const GstNnResultMeta *result);
/* The objects were moved or have tracks: the regions that were added for them say so, too. */
void gst_nn_region_update_all (GstBuffer *buffer, GstNnResultMeta *result);
