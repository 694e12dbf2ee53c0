/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table that most detectors give: a candidate's numbers are a row, or a column. Walks over
 * those that score enough. One thread. */
#pragma once

#include "gstnndecoder.h"

#define GST_NN_ROWS_BLOCK 64

typedef struct {
  const gfloat *data;
  gint64 n, columns; /* candidates, and numbers of each */
  gint64 row_step, column_step;
  gint64 first_class, n_classes;
  gint64 objectness; /* column of what class scores are multiplied with; -1: none */
  gboolean is_logit; /* scores lack the sigmoid */
  gint finest;       /* stride of the first grid of cells */
  gint64 per_cell;   /* candidates of each */
  gboolean is_final; /* corners, score, class of what the model itself chose */
  gint64 detail;     /* column behind the classes: weights of maps, or keypoints */
  guint maps;        /* output that the weights are for */
  /* the candidate */
  gint64 i;
  gint class_id;
  gdouble score;
  gfloat best[GST_NN_ROWS_BLOCK]; /* of a block of candidates that are columns */
} GstNnRows;

/* Output @index, which is there, as [1,n,C] or [1,C,n] with more than @least columns, all behind
 * which are classes. FALSE: it is not. */
gboolean gst_nn_rows_init (GstNnRows *rows, const GstNnDecodeInput *in, guint index, gint64 n,
                           gint64 least);
/* The same where n is @per_cell times the cells of grids from stride 8 to 32 or 64, or 4 to 32. */
gboolean gst_nn_rows_init_cells (GstNnRows *rows, const GstNnDecodeInput *in, guint index,
                                 gint64 per_cell, gint64 least);
/* The same of two outputs, of which @maps is [1,K,H,W]: the last K columns are weights of maps. */
gboolean gst_nn_rows_init_masks (GstNnRows *rows, const GstNnDecodeInput *in, gint64 per_cell,
                                 gint64 least);
/* Output @index as [1,n,@columns] of what the model itself chose: corners, score, class. */
gboolean gst_nn_rows_init_final (GstNnRows *rows, const GstNnDecodeInput *in, guint index,
                                 gint64 columns);
/* The same with weights of maps behind. */
gboolean gst_nn_rows_init_final_masks (GstNnRows *rows, const GstNnDecodeInput *in);
/* Two outputs in any order, classes [1,n,C] and @boxes [1,n,4]. */
gboolean gst_nn_rows_init_queries (GstNnRows *rows, const GstNnDecodeInput *in,
                                   const gfloat **boxes);
/* The next candidate that reaches the threshold. FALSE: there is none. */
gboolean gst_nn_rows_next (GstNnRows *rows, gdouble threshold);
/* The cell of the candidate, and the stride of its grid. */
gint gst_nn_rows_locate (const GstNnRows *rows, const GstNnDecodeInput *in, gint64 *column,
                         gint64 *row);

static inline gdouble
gst_nn_row_at (const GstNnRows *rows, gint64 column)
{
  return (gdouble)rows->data[rows->i * rows->row_step + column * rows->column_step];
}

/* Columns 0 to 3 as a box in pixels: centre and size, or corners of what is final. */
void gst_nn_rows_add_box (const GstNnRows *rows, GArray *objects);

/* Finds a decoder's table; FALSE: the outputs are none of its. */
typedef gboolean (*GstNnRowsFind) (const GstNnDecodeInput *in, GstNnRows *rows);

/* Adds the boxes of all candidates that reach the threshold. */
void gst_nn_rows_decode (const GstNnDecodeInput *in, GstNnRowsFind find, GArray *objects);
/* The candidate that @found was. */
gboolean gst_nn_rows_return (GstNnRows *rows, const GstNnDecodeInput *in, GstNnRowsFind find,
                             const GstNnDetection *found);
/* Says keypoints behind the classes: x, y and, with three @numbers, a score. */
void gst_nn_rows_say_keypoints (const GstNnRows *rows, const GstNnDecodeInput *in,
                                GstNnObject *object, gint64 numbers);
/* Says the mask of an object of gst_nn_rows_decode(). */
void gst_nn_rows_say_mask (const GstNnDecodeInput *in, GstNnRowsFind find,
                           const GstNnDetection *found, GstNnObject *object);

/* fits() and decode() of a decoder whose table @find finds; detail(), too, of one with masks. */
#define GST_NN_DEFINE_ROWS_DECODER(find)                                                           \
  static gboolean fits (const GstNnDecodeInput *in)                                                \
  {                                                                                                \
    GstNnRows rows;                                                                                \
    return find (in, &rows);                                                                       \
  }                                                                                                \
  static void decode (const GstNnDecodeInput *in, GArray *objects)                                 \
  {                                                                                                \
    gst_nn_rows_decode (in, find, objects);                                                        \
  }
#define GST_NN_DEFINE_MASKS_DECODER(find)                                                          \
  GST_NN_DEFINE_ROWS_DECODER (find)                                                                \
  static void detail (const GstNnDecodeInput *in, const GstNnDetection *found,                     \
                      GstNnObject *object)                                                         \
  {                                                                                                \
    gst_nn_rows_say_mask (in, find, found, object);                                                \
  }
