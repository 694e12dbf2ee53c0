/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnplace.h"

#include <math.h>

static GstNnPoint
corner (const GstNnRule *rule, gdouble aspect, guint i)
{
  const gdouble *c = rule->coordinates + 2 * (i % rule->n_points);
  return (GstNnPoint){ c[0] * aspect, c[1] };
}

static gdouble
distance_to_edge (GstNnPoint a, GstNnPoint b, GstNnPoint p)
{
  gdouble dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  gdouble t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
  t = CLAMP (t, 0, 1);
  return hypot (a.x + t * dx - p.x, a.y + t * dy - p.y);
}

gdouble
gst_nn_place_in_zone (const GstNnRule *zone, gdouble aspect, GstNnPoint p)
{
  gdouble nearest = G_MAXDOUBLE;
  gboolean inside = FALSE;
  for (guint i = 0; i < zone->n_points; i++) {
    GstNnPoint a = corner (zone, aspect, i), b = corner (zone, aspect, i + 1);
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x)
      inside = !inside;
    nearest = MIN (nearest, distance_to_edge (a, b, p));
  }
  return inside ? nearest : -nearest;
}

gdouble
gst_nn_place_by_line (const GstNnRule *line, gdouble aspect, GstNnPoint p)
{
  GstNnPoint a = corner (line, aspect, 0), b = corner (line, aspect, 1);
  gdouble dx = b.x - a.x, dy = b.y - a.y;
  return (dx * (p.y - a.y) - dy * (p.x - a.x)) / hypot (dx, dy);
}

gboolean
gst_nn_place_crosses (const GstNnRule *line, gdouble aspect, GstNnPoint from, GstNnPoint to)
{
  GstNnPoint a = corner (line, aspect, 0), b = corner (line, aspect, 1);
  gdouble before = gst_nn_place_by_line (line, aspect, from);
  gdouble after = gst_nn_place_by_line (line, aspect, to);
  gdouble part = before / (before - after);
  gdouble x = from.x + part * (to.x - from.x), y = from.y + part * (to.y - from.y);
  gdouble dx = b.x - a.x, dy = b.y - a.y;
  gdouble along = ((x - a.x) * dx + (y - a.y) * dy) / (dx * dx + dy * dy);
  return along >= 0 && along <= 1;
}
