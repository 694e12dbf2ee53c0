/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the tests of nnanalytics share: frames of one second or less with objects on them, and what
 * was said of them. */
#pragma once

#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>

#define WIDTH 320
#define HEIGHT 200

typedef struct {
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  GString *events; /* as "type where track; ", in their order */
  guint64 n_frames;
} Scene;

/* nnanalytics with these settings, in JSON. */
Scene *scene_new (const gchar *settings);
void scene_free (Scene *s);
/* A frame, which takes 100 ms. */
GstBuffer *scene_frame (Scene *s);
/* An object that stands at @x, @y, parts of the frame; @track 0: it has none. */
GstNnObject *scene_add (GstBuffer *frame, guint64 track, const gchar *label, gdouble x, gdouble y);
/* What comes out; its events are in @s, too. */
GstBuffer *scene_push (Scene *s, GstBuffer *frame);
/* A frame with one track at @x, @y. */
void scene_step (Scene *s, guint64 track, gdouble x, gdouble y);
/* Counts of a zone or a line on the frame. */
void assert_shape (GstBuffer *frame, const gchar *name, guint64 count, guint64 back);
/* ... and on one more frame, with nobody on it. */
void scene_expect (Scene *s, const gchar *name, guint64 count, guint64 back);
