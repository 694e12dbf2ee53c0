/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of frames before a model share. */
#pragma once

#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>

/* Takes @buffer over; what comes out of @launch. */
static inline GstBuffer *
preprocess (const gchar *launch, const gchar *caps, GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new_parse (launch);
  GstBuffer *out;
  gst_harness_set_live (h, FALSE); /* of live streams frames may pass */
  gst_harness_set_src_caps_str (h, caps);
  g_assert_cmpint (gst_harness_push (h, buffer), ==, GST_FLOW_OK);
  out = gst_harness_pull (h);
  gst_harness_teardown (h);
  return out;
}
