/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tests of streams through nninfer share, on whatever device. */
#pragma once

#include <gst/check/gstharness.h>

static inline void
stream_end (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static inline guint64
count (GstHarness *h, const gchar *field)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value;
  gst_harness_get (h, "nninfer", "stats", &stats, NULL);
  g_assert_true (gst_structure_get_uint64 (stats, field, &value));
  return value;
}
