/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every element file starts with: errors, registration, translation. */
#pragma once

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <gst/nn/nn.h>

/* A GError as element error, in one place. */
void gst_nn_post_error (GstElement *element, const GError *error);

/* What all elements need before the first is registered. */
void gst_nn_element_init (void);

/* Defines gst_element_register_NAME(), which the plugin calls, and an application that links the
 * elements statically: GST_ELEMENT_REGISTER (nninfer, NULL). */
#define GST_NN_ELEMENT_REGISTER_DEFINE(name, type)                                                 \
  GST_ELEMENT_REGISTER_DECLARE (name);                                                             \
  GST_ELEMENT_REGISTER_DEFINE_WITH_CODE (name, #name, GST_RANK_NONE, type, gst_nn_element_init ())
