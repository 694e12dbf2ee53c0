/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnassign.h"

#define NONE (-1)

struct _GstNnAssignment {
  guint n_rows, n_columns;
  GArray *numbers, *places; /* what all below point into; they only grow */
  gdouble *costs;
  gdouble *row_price, *column_price; /* dual variables */
  gdouble *distance;                 /* of each column from the row that is being placed */
  gint *column_of, *row_of;          /* the matching, both ways */
  gint *from;                        /* the row from which a column was reached */
  gint *rows, *columns;              /* visited, in order */
  gint *is_visited;                  /* columns */
};

/* Where a search ended. */
typedef struct {
  guint n_rows, n_columns; /* visited */
  gdouble distance;
  gint column; /* a free one, or NONE: then row stays alone */
  gint row;
} End;

GstNnAssignment *
gst_nn_assignment_new (void)
{
  GstNnAssignment *a = g_new0 (GstNnAssignment, 1);
  a->numbers = g_array_new (FALSE, FALSE, sizeof (gdouble));
  a->places = g_array_new (FALSE, FALSE, sizeof (gint));
  return a;
}

void
gst_nn_assignment_free (GstNnAssignment *a)
{
  g_array_unref (a->numbers);
  g_array_unref (a->places);
  g_free (a);
}

gdouble *
gst_nn_assignment_begin (GstNnAssignment *a, guint n_rows, guint n_columns)
{
  gdouble *number;
  gint *place;
  g_array_set_size (a->numbers, n_rows * n_columns + n_rows + 2 * n_columns);
  g_array_set_size (a->places, 2 * n_rows + 4 * n_columns);
  number = &g_array_index (a->numbers, gdouble, 0);
  place = &g_array_index (a->places, gint, 0);
  a->n_rows = n_rows;
  a->n_columns = n_columns;
  a->costs = number;
  a->row_price = a->costs + n_rows * n_columns;
  a->column_price = a->row_price + n_rows;
  a->distance = a->column_price + n_columns;
  a->column_of = place;
  a->rows = a->column_of + n_rows;
  a->row_of = a->rows + n_rows;
  a->from = a->row_of + n_columns;
  a->columns = a->from + n_columns;
  a->is_visited = a->columns + n_columns;
  return a->costs;
}

/* Ways from @row to the columns that were not visited; returns the nearest, or NONE. */
static gint
relax (GstNnAssignment *a, gint row, gdouble so_far)
{
  const gdouble *costs = a->costs + (guint)row * a->n_columns;
  gint nearest = NONE;
  for (guint c = 0; c < a->n_columns; c++) {
    gdouble way;
    if (a->is_visited[c])
      continue;
    way = so_far + costs[c] - a->row_price[row] - a->column_price[c];
    if (way < a->distance[c]) {
      a->distance[c] = way;
      a->from[c] = row;
    }
    if (a->distance[c] < (nearest == NONE ? G_MAXDOUBLE : a->distance[nearest]))
      nearest = (gint)c;
  }
  return nearest;
}

/* The nearest free place for @row: a column that nobody has, or the loneliness of a row on the way.
 */
static End
search (GstNnAssignment *a, gint row, gdouble limit)
{
  End end = { .distance = G_MAXDOUBLE, .column = NONE };
  gdouble so_far = 0;
  for (guint c = 0; c < a->n_columns; c++) {
    a->distance[c] = G_MAXDOUBLE;
    a->is_visited[c] = FALSE;
  }
  for (;;) {
    gdouble alone = so_far + limit - a->row_price[row];
    gint nearest = relax (a, row, so_far);
    a->rows[end.n_rows++] = row;
    if (alone < end.distance) {
      end.distance = alone;
      end.row = row;
    }
    if (nearest == NONE || end.distance <= a->distance[nearest])
      return end;
    so_far = a->distance[nearest];
    a->is_visited[nearest] = TRUE;
    a->columns[end.n_columns++] = nearest;
    if (a->row_of[nearest] == NONE) {
      end.distance = so_far;
      end.column = nearest;
      return end;
    }
    row = a->row_of[nearest];
  }
}

static void
change_prices (GstNnAssignment *a, const End *end)
{
  for (guint i = 0; i < end->n_rows; i++) {
    gint column = a->column_of[a->rows[i]]; /* NONE: the row that is being placed */
    a->row_price[a->rows[i]] += end->distance - (column == NONE ? 0 : a->distance[column]);
  }
  for (guint i = 0; i < end->n_columns; i++)
    a->column_price[a->columns[i]] -= end->distance - a->distance[a->columns[i]];
}

/* Everybody on the way takes the next column. */
static void
augment (GstNnAssignment *a, const End *end)
{
  gint column = end->column;
  if (column == NONE) {
    column = a->column_of[end->row];
    a->column_of[end->row] = NONE;
  }
  while (column != NONE) {
    gint row = a->from[column], given_up = a->column_of[row];
    a->row_of[column] = row;
    a->column_of[row] = column;
    column = given_up;
  }
}

const gint *
gst_nn_assignment_solve (GstNnAssignment *a, gdouble limit)
{
  for (guint i = 0; i < a->n_rows * a->n_columns; i++)
    if (!(a->costs[i] < limit))
      a->costs[i] = G_MAXDOUBLE;
  for (guint r = 0; r < a->n_rows; r++) {
    a->row_price[r] = 0;
    a->column_of[r] = NONE;
  }
  for (guint c = 0; c < a->n_columns; c++) {
    a->column_price[c] = 0;
    a->row_of[c] = NONE;
  }
  for (guint r = 0; r < a->n_rows; r++) {
    End end = search (a, (gint)r, limit);
    change_prices (a, &end);
    augment (a, &end);
  }
  return a->column_of;
}
