/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnanchors.h"

#include <math.h>

#define PER_CELL 3
#define MAX_GRIDS 4

typedef struct {
  const gfloat *data;
  gint64 rows, columns, numbers; /* of each anchor */
  gint64 row_step, column_step, anchor_step, number_step;
  gdouble stride;
} Grid;

/* Where rows, columns, anchors and numbers stand in a shape: -1 where anchors and numbers share. */
static const struct {
  gint rank, row, column, anchor, number;
} layouts[] = {
  { 4, 2, 3, -1, 1 }, { 4, 1, 2, -1, 3 }, { 5, 2, 3, 1, 4 }, { 5, 1, 2, 3, 4 }, { 5, 3, 4, 1, 2 },
};

static gint64
step_of (const AxonShape *s, gint dim)
{
  gint64 step = 1;
  for (gint i = dim + 1; i < s->rank; i++)
    step *= s->dims[i];
  return step;
}

/* A grid divides the input into squares. */
static gboolean
is_grid (const GstNnDecodeInput *in, gint64 rows, gint64 columns)
{
  return rows > 0 && columns > 0 && in->width % columns == 0 && in->height % rows == 0 &&
         in->width / columns == in->height / rows && in->width / columns >= 4;
}

static gboolean
find_grid (const GstNnDecodeInput *in, guint index, Grid *g)
{
  const AxonShape *s = gst_nn_shape_at (in, index);
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    gint64 numbers;
    if (s->rank != layouts[i].rank || s->dims[0] != 1 ||
        !is_grid (in, s->dims[layouts[i].row], s->dims[layouts[i].column]))
      continue;
    numbers = s->dims[layouts[i].number];
    if (layouts[i].anchor < 0 ? numbers % PER_CELL != 0 : s->dims[layouts[i].anchor] != PER_CELL)
      continue;
    g->data = gst_nn_data_at (in, index);
    g->rows = s->dims[layouts[i].row];
    g->columns = s->dims[layouts[i].column];
    g->numbers = layouts[i].anchor < 0 ? numbers / PER_CELL : numbers;
    g->row_step = step_of (s, layouts[i].row);
    g->column_step = step_of (s, layouts[i].column);
    g->number_step = step_of (s, layouts[i].number);
    g->anchor_step =
        layouts[i].anchor < 0 ? g->numbers * g->number_step : step_of (s, layouts[i].anchor);
    g->stride = (gdouble)in->width / (gdouble)g->columns;
    return g->numbers > 5;
  }
  return FALSE;
}

static gint
compare_stride (gconstpointer a, gconstpointer b)
{
  return ((const Grid *)a)->stride < ((const Grid *)b)->stride ? -1 : 1;
}

/* All of them, finest first; 0: some output is none. */
static guint
find_grids (const GstNnDecodeInput *in, const GstNnAnchorForm *form, Grid grids[MAX_GRIDS],
            const gfloat **anchors)
{
  guint n = in->tensors->len;
  if (n < 2 || n > MAX_GRIDS)
    return 0;
  *anchors = in->n_anchors > 0 ? in->anchors : form->anchors[n - 1];
  if (*anchors == NULL || form->spreads[n - 1] == NULL ||
      (in->n_anchors > 0 && in->n_anchors != n * PER_CELL * 2))
    return 0;
  for (guint i = 0; i < n; i++)
    if (!find_grid (in, i, &grids[i]) || grids[i].numbers != grids[0].numbers)
      return 0;
  qsort (grids, n, sizeof *grids, compare_stride);
  for (guint i = 1; i < n; i++)
    if (grids[i].stride <= grids[i - 1].stride)
      return 0;
  return n;
}

gboolean
gst_nn_anchor_grids_fit (const GstNnDecodeInput *in, const GstNnAnchorForm *form)
{
  Grid grids[MAX_GRIDS];
  const gfloat *anchors;
  return find_grids (in, form, grids, &anchors) > 0;
}

typedef struct {
  const GstNnDecodeInput *in;
  const Grid *grid;
  gdouble spread;
  gboolean is_squared, is_raw; /* outputs lack the sigmoid */
} Cells;

static gdouble
number_at (const Cells *c, const gfloat *p, gint64 i)
{
  gdouble v = (gdouble)p[i * c->grid->number_step];
  return c->is_raw ? gst_nn_sigmoid (v) : v;
}

static void
add_cell (const Cells *c, gint64 column, gint64 row, const gfloat *p, const gfloat *anchor,
          GArray *objects)
{
  const Grid *g = c->grid;
  gint64 k = gst_nn_best_class (p + 5 * g->number_step, g->numbers - 5, g->number_step);
  gdouble score = number_at (c, p, 4) * number_at (c, p, 5 + k), x, y, w, h;
  if (!(score >= c->in->threshold))
    return;
  x = ((gdouble)column + number_at (c, p, 0) * c->spread - (c->spread - 1) / 2) * g->stride;
  y = ((gdouble)row + number_at (c, p, 1) * c->spread - (c->spread - 1) / 2) * g->stride;
  if (c->is_squared) {
    w = pow (2 * number_at (c, p, 2), 2) * (gdouble)anchor[0];
    h = pow (2 * number_at (c, p, 3), 2) * (gdouble)anchor[1];
  } else {
    w = exp ((gdouble)p[2 * g->number_step]) * (gdouble)anchor[0];
    h = exp ((gdouble)p[3 * g->number_step]) * (gdouble)anchor[1];
  }
  gst_nn_add_object (objects, x - w / 2, y - h / 2, w, h, score, (gint)k);
}

static void
decode_grid (const Cells *c, const gfloat *anchors, GArray *objects)
{
  const Grid *g = c->grid;
  gdouble t = c->in->threshold, least = c->is_raw ? log (t / (1 - t)) : t;
  for (gint64 a = 0; a < PER_CELL; a++)
    for (gint64 i = 0; i < g->rows * g->columns; i++) {
      gint64 row = i / g->columns, column = i % g->columns;
      const gfloat *p = g->data + a * g->anchor_step + row * g->row_step + column * g->column_step;
      if ((gdouble)p[4 * g->number_step] >= least)
        add_cell (c, column, row, p, anchors + 2 * a, objects);
    }
}

void
gst_nn_anchor_grids_decode (const GstNnDecodeInput *in, const GstNnAnchorForm *form,
                            GArray *objects)
{
  Grid grids[MAX_GRIDS];
  const gfloat *anchors = NULL;
  guint n = find_grids (in, form, grids, &anchors);
  for (guint i = 0; i < n; i++)
    decode_grid (&(Cells){ in, &grids[i], form->spreads[n - 1][i], form->is_squared,
                           g_strcmp0 (in->activation, "none") != 0 },
                 anchors + 2 * PER_CELL * i, objects);
}
