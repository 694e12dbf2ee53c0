/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of nninfer on device MOCK share. */
#pragma once

#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>

#define CAPS "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

static inline GstHarness *
harness_new (const gchar *config, guint nireq)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch =
      g_strdup_printf ("nninfer model=%s device=MOCK nireq=%u %s%s%s", model, nireq,
                       config ? "config=\"config," : "", config ? config : "", config ? "\"" : "");
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE); /* of live streams frames may pass */
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static inline GstBuffer *
frame (GstHarness *h, guint i)
{
  GstBuffer *buffer = gst_harness_create_buffer (h, 64 * 48 * 3);
  gst_buffer_memset (buffer, 0, 0, 64 * 48 * 3);
  GST_BUFFER_PTS (buffer) = i * GST_SECOND / 30;
  return buffer;
}
