/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What elements and metas call the library's description of a model. */
#pragma once

#include <axon/axon.h>
#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnDescription: (skip)
 *
 * What a model file does not say about itself; travels with its outputs. Bindings know it as
 * #AxonModelDescription.
 *
 * Since: 1.0
 */
typedef AxonModelDescription GstNnDescription;

#define GST_TYPE_NN_DESCRIPTION AXON_TYPE_MODEL_DESCRIPTION
#define gst_nn_description_new axon_model_description_new
#define gst_nn_description_ref axon_model_description_ref
#define gst_nn_description_unref axon_model_description_unref
#define gst_nn_description_set axon_model_description_set
#define gst_nn_description_get axon_model_description_get
#define gst_nn_description_get_key axon_model_description_get_key
#define gst_nn_description_load axon_model_description_load
#define gst_nn_description_get_doubts axon_model_description_get_doubts
#define gst_nn_description_get_label axon_model_description_get_label

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnDescription, axon_model_description_unref)

G_END_DECLS
