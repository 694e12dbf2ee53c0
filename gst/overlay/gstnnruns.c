/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnruns.h"

#include <string.h>

#define EDGE 127.5 /* what has the upper bit is inside */
#define UPPER G_GUINT64_CONSTANT (0x8080808080808080)
#define AT_ONCE 8

void
gst_nn_runs_init (GstNnRuns *runs, const GstNnMask *mask, const GstNnPaints *paints)
{
  guint columns = gst_nn_mask_get_columns (mask), rows = gst_nn_mask_get_rows (mask);
  *runs = (GstNnRuns){ .of = g_new (GstNnRun, columns + 1),
                       .smooth = paints->of_coverage,
                       .n_bands = paints->of_coverage ? rows + 1 : rows,
                       .paints = paints,
                       .values = g_bytes_get_data (gst_nn_mask_get_values (mask), NULL),
                       .columns = columns,
                       .rows = rows,
                       .cells = g_new (guint, columns) };
  gst_nn_mask_get_area (mask, &runs->x, &runs->y, &runs->width, &runs->height);
}

void
gst_nn_runs_clear (GstNnRuns *runs)
{
  g_free (runs->of);
  g_free (runs->cells);
}

void
gst_nn_runs_get_band (const GstNnRuns *runs, guint band, gdouble *top, gdouble *bottom)
{
  gdouble above = runs->smooth ? band - .5 : band;
  *top = runs->y + MAX (above, 0) * runs->height / runs->rows;
  *bottom = runs->y + MIN (above + 1, runs->rows) * runs->height / runs->rows;
}

static const guint8 *
row_of (const GstNnRuns *runs, guint row)
{
  return runs->values + (gsize)MIN (row, runs->rows - 1) * runs->columns;
}

/* The rows between whose middles a band is; the first and the last one go on to the edge. */
static void
get_rows (const GstNnRuns *runs, guint band, const guint8 **above, const guint8 **below)
{
  *above = row_of (runs, MAX (band, 1) - 1);
  *below = row_of (runs, band);
}

static void
add_run (GstNnRuns *runs, gdouble left, gdouble right, const GstNnPaint *paint)
{
  gdouble step = runs->width / runs->columns;
  runs->of[runs->n++] = (GstNnRun){ runs->x + left * step, runs->x + right * step, paint };
}

static void
cut_row (GstNnRuns *runs, const guint8 *values)
{
  const GstNnPaint *const *paints = runs->paints->of;
  runs->n = 0;
  for (guint c = 0, next; c < runs->columns; c = next) {
    const GstNnPaint *paint = paints[values[c]];
    for (next = c + 1; next < runs->columns && paints[values[next]] == paint;)
      next++;
    if (paint != NULL)
      add_run (runs, c, next, paint);
  }
}

/* Whether the first @n + 1 values of both rows, @n being 1 or 8, are inside or all outside. */
static inline gboolean
are_alike (const guint8 *above, const guint8 *below, gsize n)
{
  guint64 v[4] = { 0 };
  memcpy (&v[0], above, n);
  memcpy (&v[1], above + 1, n);
  memcpy (&v[2], below, n);
  memcpy (&v[3], below + 1, n);
  return (((v[0] & v[1] & v[2] & v[3]) ^ (v[0] | v[1] | v[2] | v[3])) & UPPER) == 0;
}

static void
find_cells (GstNnRuns *runs, const guint8 *above, const guint8 *below)
{
  runs->n_cells = 0;
  for (guint c = 0; c + 1 < runs->columns;) {
    if (c + AT_ONCE < runs->columns && are_alike (above + c, below + c, AT_ONCE)) {
      c += AT_ONCE;
      continue;
    }
    if (!are_alike (above + c, below + c, 1))
      runs->cells[runs->n_cells++] = c;
    c++;
  }
}

void
gst_nn_runs_enter (GstNnRuns *runs, guint band)
{
  const guint8 *above, *below;
  if (!runs->smooth) {
    cut_row (runs, row_of (runs, band));
    return;
  }
  get_rows (runs, band, &above, &below);
  find_cells (runs, above, below);
}

void
gst_nn_runs_cut_between (GstNnRuns *runs, guint band, gdouble y)
{
  const GstNnPaint *paint = runs->paints->of[G_MAXUINT8];
  const guint8 *above, *below;
  gdouble t = (y - runs->y) / runs->height * runs->rows + .5 - band, left = 0;
  gboolean inside;
  get_rows (runs, band, &above, &below);
#define BETWEEN(c) (above[c] + t * (below[c] - above[c]))
  inside = BETWEEN (0) > EDGE;
  runs->n = 0;
  for (guint i = 0; i < runs->n_cells; i++) {
    guint c = runs->cells[i];
    gdouble a = BETWEEN (c), b = BETWEEN (c + 1), edge;
    if ((a > EDGE) == (b > EDGE))
      continue;
    edge = c + .5 + (EDGE - a) / (b - a);
    if (inside)
      add_run (runs, left, edge, paint);
    left = edge;
    inside = !inside;
  }
#undef BETWEEN
  if (inside)
    add_run (runs, left, runs->columns, paint);
}
