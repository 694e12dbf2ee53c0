/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnregions.h"

#include <math.h>

/* Cells of a row that hang together. */
typedef struct {
  gint64 row, first, last;
  gdouble sum;
  guint parent; /* a run of the same region, in the end its first */
} Run;

typedef struct {
  gdouble x, y;
} Point;

static guint
find_root (Run *runs, guint i)
{
  while (runs[i].parent != i)
    i = runs[i].parent = runs[runs[i].parent].parent;
  return i;
}

static void
join (Run *runs, guint a, guint b)
{
  a = find_root (runs, a);
  b = find_root (runs, b);
  runs[MAX (a, b)].parent = MIN (a, b);
}

static void
add_runs_of_row (const GstNnMap *map, gint64 row, gdouble threshold, GArray *runs)
{
  gboolean inside = FALSE;
  for (gint64 c = 0; c < map->columns; c++) {
    gdouble v = gst_nn_map_at (map, 0, row, c);
    Run *run;
    if (!(v > threshold)) { /* NaN, too */
      inside = FALSE;
      continue;
    }
    if (!inside) {
      Run first = { .row = row, .first = c, .parent = runs->len };
      g_array_append_val (runs, first);
      inside = TRUE;
    }
    run = &g_array_index (runs, Run, runs->len - 1);
    run->last = c;
    run->sum += v;
  }
}

/* Joins the runs from @below on, of one row, with those from @above, of the row before. */
static void
join_rows (Run *runs, guint above, guint below, guint end)
{
  for (guint a = above, b = below; a < below && b < end;) {
    if (runs[a].first <= runs[b].last + 1 && runs[b].first <= runs[a].last + 1)
      join (runs, a, b);
    if (runs[a].last < runs[b].last)
      a++;
    else
      b++;
  }
}

static GArray *
find_runs (const GstNnMap *map, gdouble threshold)
{
  GArray *runs = g_array_new (FALSE, FALSE, sizeof (Run));
  guint above = 0, below = 0;
  for (gint64 row = 0; row < map->rows; row++) {
    add_runs_of_row (map, row, threshold, runs);
    join_rows ((Run *)(gpointer)runs->data, above, below, runs->len);
    above = below;
    below = runs->len;
  }
  for (guint i = 0; i < runs->len; i++)
    g_array_index (runs, Run, i).parent = find_root ((Run *)(gpointer)runs->data, i);
  return runs;
}

static gdouble
turn (const Point *a, const Point *b, const Point *c)
{
  return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/* Andrew's monotone chain; @points come by rows, from left to right. Returns the corners. */
static guint
find_hull (const Point *points, guint n, Point *hull)
{
  guint k = 0;
  for (guint pass = 0, least = 1; pass < 2; pass++, least = k)
    for (guint i = pass; i < n; i++) {
      const Point *p = &points[pass ? n - 1 - i : i];
      while (k > least && turn (&hull[k - 2], &hull[k - 1], p) >= 0)
        k--;
      hull[k++] = *p;
    }
  return n > 1 ? k - 1 : k; /* the first closes it */
}

/* The rectangle along the edge from @a to @b. */
static GstNnRegion
rectangle_along (const Point *hull, guint n, const Point *a, const Point *b)
{
  gdouble length = hypot (b->x - a->x, b->y - a->y);
  gdouble ux = length > 0 ? (b->x - a->x) / length : 1,
          uy = length > 0 ? (b->y - a->y) / length : 0;
  gdouble u0 = G_MAXDOUBLE, u1 = -G_MAXDOUBLE, v0 = G_MAXDOUBLE, v1 = -G_MAXDOUBLE;
  for (guint i = 0; i < n; i++) {
    gdouble u = hull[i].x * ux + hull[i].y * uy, v = hull[i].y * ux - hull[i].x * uy;
    u0 = MIN (u0, u);
    u1 = MAX (u1, u);
    v0 = MIN (v0, v);
    v1 = MAX (v1, v);
  }
  return (GstNnRegion){ .x = (u0 + u1) / 2 * ux - (v0 + v1) / 2 * uy + 0.5,
                        .y = (u0 + u1) / 2 * uy + (v0 + v1) / 2 * ux + 0.5,
                        .width = u1 - u0,
                        .height = v1 - v0,
                        .angle = atan2 (uy, ux) };
}

/* One side of the smallest rectangle lies along an edge of the hull (Freeman and Shapira, 1975). */
static GstNnRegion
smallest_rectangle (const Point *hull, guint n)
{
  GstNnRegion best = rectangle_along (hull, n, &hull[0], &hull[n > 1 ? 1 : 0]);
  for (guint i = 1; i < n; i++) {
    GstNnRegion r = rectangle_along (hull, n, &hull[i], &hull[(i + 1) % n]);
    if (r.width * r.height < best.width * best.height)
      best = r;
  }
  for (; fabs (best.angle) > G_PI_4 + 1e-9; best.angle -= copysign (G_PI_2, best.angle)) {
    gdouble width = best.width;
    best.width = best.height;
    best.height = width;
  }
  return best;
}

/* The run @root and those after it with this root; @points and @hull have place for all. */
static GstNnRegion
measure (const Run *runs, const guint *next, guint root, Point *points, Point *hull)
{
  GstNnRegion region;
  gdouble sum = 0, cells = 0;
  guint n = 0, i = root;
  do {
    points[n++] = (Point){ (gdouble)runs[i].first, (gdouble)runs[i].row };
    if (runs[i].last > runs[i].first)
      points[n++] = (Point){ (gdouble)runs[i].last, (gdouble)runs[i].row };
    sum += runs[i].sum;
    cells += (gdouble)(runs[i].last - runs[i].first + 1);
    i = next[i];
  } while (i != root);
  region = smallest_rectangle (hull, find_hull (points, n, hull));
  region.mean = sum / cells;
  return region;
}

/* The runs of each region as a ring, in their order. */
static void
make_rings (const Run *runs, guint n, guint *next, guint *last)
{
  for (guint i = 0; i < n; i++) {
    guint root = runs[i].parent;
    next[i] = root;
    if (root != i)
      next[last[root]] = i;
    last[root] = i;
  }
}

GArray *
gst_nn_map_find_regions (const GstNnMap *map, gdouble threshold)
{
  GArray *regions = g_array_new (FALSE, FALSE, sizeof (GstNnRegion));
  g_autoptr (GArray) found = find_runs (map, threshold);
  const Run *runs = (const Run *)(gpointer)found->data;
  guint n = found->len;
  g_autofree guint *next = g_new (guint, n), *last = g_new (guint, n);
  g_autofree Point *points = g_new (Point, 2 * (gsize)n), *hull = g_new (Point, 2 * (gsize)n + 2);
  make_rings (runs, n, next, last);
  for (guint i = 0; i < n; i++)
    if (runs[i].parent == i) {
      GstNnRegion region = measure (runs, next, i, points, hull);
      g_array_append_val (regions, region);
    }
  return regions;
}
