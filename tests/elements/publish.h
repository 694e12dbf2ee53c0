/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of nnpublish share: numbered records on a harness, and what became of them. */
#pragma once

#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>

typedef struct {
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
} Publisher;

/* nnpublish with these properties, as gst-launch takes them; its clock is the test's own. */
Publisher *publisher_new (const gchar *format, ...) __attribute__ ((format (printf, 1, 2)));
/* A frame with one object, whose label is "rN." */
void publisher_push (Publisher *p, guint n);
void publisher_free (Publisher *p);
guint64 publisher_stat (Publisher *p, const gchar *name);
/* Until so many are counted; half a minute is for ever. */
void publisher_wait (Publisher *p, const gchar *name, guint64 n);
/* Messages of the kind that have come so far; the text of the last. */
guint publisher_messages (Publisher *p, GstMessageType type, gchar **text);
/* The numbers of records in a text are first, first + 1, ..., last; each is there once, or more
 * often where it may come again. */
void assert_in_order (const gchar *text, guint first, guint last, gboolean again);
guint16 free_port (void);
