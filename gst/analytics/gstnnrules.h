/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nnanalytics watches for, as a user writes it: zones, lines, a heat map
 * (docs/analytics.schema.json). Never changes once parsed. */
#pragma once

#include <gst/nn/nn.h>

typedef struct {
  gchar *name;
  gboolean is_zone;
  gdouble *coordinates; /* x, y of each point, parts of the frame */
  guint n_points;
  GStrv labels;       /* of what counts here; NULL: everything */
  GstClockTime dwell; /* zones: tell of who stays so long; 0: nobody */
  guint crowd;        /* zones: tell when there are so many; 0: never */
} GstNnRule;

typedef struct {
  gatomicrefcount ref_count;
  GPtrArray *rules;              /* GstNnRule */
  gdouble margin;                /* part of the frame's height that a jitter may be */
  GstClockTime forget;           /* who was not seen so long is gone */
  gboolean by_center;            /* an object is where its centre is, not its foot */
  guint heat_columns, heat_rows; /* 0: no heat map */
  gdouble half_life;             /* seconds in which it cools to a half; 0: never */
} GstNnRules;

/* NULL with an error that says what, where, and what is expected. */
GstNnRules *gst_nn_rules_parse (const gchar *json, GError **error);
GstNnRules *gst_nn_rules_ref (GstNnRules *rules);
void gst_nn_rules_unref (GstNnRules *rules);
