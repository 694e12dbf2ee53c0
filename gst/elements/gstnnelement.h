/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every element file starts with: errors, registration, translation. */
#pragma once

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <gst/base/gstbasetransform.h>
#include <gst/nn/nn.h>

/* A GError as element error or warning, in one place. */
void gst_nn_post_error (GstElement *element, const GError *error);
void gst_nn_post_warning (GstElement *element, const GError *error);

/* FALSE, and an element error that names what @pad takes, what came (NULL: nothing) and what helps,
 * where @pad's template does not have @caps. */
gboolean gst_nn_takes_caps (GstElement *element, GstPad *pad, const GstCaps *caps);
/* An element error: what is behind @pad does not take its caps. */
void gst_nn_post_refused_caps (GstElement *element, GstPad *pad);

/* A warning, once for each element: @buffer has raw outputs and no results, so nndecode is missing.
 */
void gst_nn_warn_if_undecoded (GstElement *element, GstBuffer *buffer);

/* For transforms that leave frames where they are: upstream may do what downstream can take. Is
 * GstBaseTransform's propose_allocation. */
gboolean gst_nn_propose_allocation (GstBaseTransform *base, GstQuery *decide_query,
                                    GstQuery *query);
/* Controlled properties get their values of the buffer's time. Is its before_transform. */
void gst_nn_before_transform (GstBaseTransform *base, GstBuffer *buffer);
/* The same for elements that are no transforms. */
void gst_nn_sync_values (GstElement *element, const GstSegment *segment, GstBuffer *buffer);

/* What all elements need before the first is registered. */
void gst_nn_element_init (void);
/* An enumeration whose names are in the user's language from now on; @values must live on. */
GType gst_nn_enum_register (const gchar *name, GEnumValue *values);

/* Defines gst_element_register_NAME(), which the plugin calls, and an application that links the
 * elements statically: GST_ELEMENT_REGISTER (nninfer, NULL). */
#define GST_NN_ELEMENT_REGISTER_DEFINE(name, type)                                                 \
  GST_ELEMENT_REGISTER_DECLARE (name);                                                             \
  GST_ELEMENT_REGISTER_DEFINE_WITH_CODE (name, #name, GST_RANK_NONE, type, gst_nn_element_init ())
