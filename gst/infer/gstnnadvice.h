/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which device shall run which node, as nnquery found: a context of the pipeline, with one advice
 * for each model. */
#pragma once

#include <gst/gst.h>

#define GST_NN_QUERY_CONTEXT "axon.nn.query"

/* Replaces what @context says of @model. */
void gst_nn_add_advice (GstStructure *context, const gchar *model, const gchar *devices,
                        const GstStructure *affinities);
/* With fields `devices` and `affinities`; NULL: nobody asked about @model. */
const GstStructure *gst_nn_find_advice (const GstStructure *context, const gchar *model);
