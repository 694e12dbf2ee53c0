/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BlazeFace: Bazarevsky et al., arXiv:1907.05047, and MediaPipe's detectors of palms and persons,
 * which have its anchors: github.com/google-ai-edge/mediapipe. Anchors are the centres of cells;
 * numbers are pixels from there; scores are logits. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>

#define N_LAYERS 5

/* Strides of layers; those that are the same lie in one grid. `strides` of the description says
 * others. */
static const struct {
  gint side;
  gint64 n, per_layer; /* anchors, of all and of each layer in a cell */
  guint strides[N_LAYERS];
  guint n_strides;
} nets[] = {
  { 128, 896, 2, { 8, 16, 16, 16 }, 4 },      /* faces, short range */
  { 256, 896, 2, { 16, 32, 32, 32 }, 4 },     /* faces, back camera */
  { 192, 2304, 1, { 4 }, 1 },                 /* faces, full range */
  { 192, 2016, 2, { 8, 16, 16, 16 }, 4 },     /* palms */
  { 256, 2944, 2, { 8, 16, 32, 32, 32 }, 5 }, /* palms, earlier */
  { 224, 2254, 2, { 8, 16, 32, 32, 32 }, 5 }, /* persons */
};

typedef struct {
  const gfloat *numbers;
  gint64 columns;
  GstNnRows scores;
  gint64 per_layer;
  const guint *strides;
  guint n_strides;
} Net;

static gint64
count_anchors (const GstNnDecodeInput *in, const Net *net)
{
  gint64 n = 0;
  for (guint i = 0; i < net->n_strides; i++)
    if (net->strides[i] > 0)
      n += net->per_layer * gst_nn_grid_cells (in->width, in->height, (gint)net->strides[i]);
  return n;
}

static gboolean
find_layers (const GstNnDecodeInput *in, gint64 n, Net *net)
{
  net->per_layer = 2;
  net->strides = in->strides;
  net->n_strides = in->n_strides;
  for (guint i = 0; in->n_strides == 0 && i < G_N_ELEMENTS (nets); i++)
    if (nets[i].side == in->width && nets[i].side == in->height && nets[i].n == n) {
      net->per_layer = nets[i].per_layer;
      net->strides = nets[i].strides;
      net->n_strides = nets[i].n_strides;
    }
  return net->n_strides > 0 && count_anchors (in, net) == n;
}

static gboolean
find_net (const GstNnDecodeInput *in, Net *net)
{
  gint64 n, c;
  for (guint i = 0; in->tensors->len == 2 && i < 2; i++)
    if (gst_nn_is_table (gst_nn_shape_at (in, i), &n, &c) && c > 4 && c % 2 == 0 &&
        gst_nn_find_table (in, n, 1) == (gint)(1 - i) && find_layers (in, n, net)) {
      net->numbers = gst_nn_data_at (in, i);
      net->columns = c;
      gst_nn_rows_init (&net->scores, in, 1 - i, n, 0);
      net->scores.is_logit = g_strcmp0 (in->activation, "none") != 0;
      return TRUE;
    }
  return FALSE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Net net;
  return find_net (in, &net);
}

/* The layers of one stride make one grid, whose cells have all their anchors side by side. */
static void
find_anchor (const GstNnDecodeInput *in, const Net *net, gdouble *x, gdouble *y)
{
  gint64 i = net->scores.i, n = 0, per_cell = 1, columns = 1;
  gint stride = 1;
  for (guint layer = 0; layer < net->n_strides && i >= n;) {
    i -= n;
    stride = (gint)net->strides[layer];
    per_cell = 0;
    for (; layer < net->n_strides && (gint)net->strides[layer] == stride; layer++)
      per_cell += net->per_layer;
    columns = (in->width + stride - 1) / stride;
    n = per_cell * gst_nn_grid_cells (in->width, in->height, stride);
  }
  *x = ((gdouble)(i / per_cell % columns) + 0.5) * stride;
  *y = ((gdouble)(i / per_cell / columns) + 0.5) * stride;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  Net net;
  find_net (in, &net);
  while (gst_nn_rows_next (&net.scores, in->threshold)) {
    const gfloat *p = net.numbers + net.columns * net.scores.i;
    gdouble x, y;
    GstNnDetection *found;
    find_anchor (in, &net, &x, &y);
    found =
        gst_nn_add_object (objects, x + (gdouble)(p[0] - p[2] / 2), y + (gdouble)(p[1] - p[3] / 2),
                           (gdouble)p[2], (gdouble)p[3], net.scores.score, 0);
    if (found != NULL)
      found->row = net.scores.i;
  }
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  Net net;
  gdouble x, y;
  find_net (in, &net);
  net.scores.i = found->row;
  find_anchor (in, &net, &x, &y);
  for (gint64 k = 4; k < net.columns; k += 2) {
    const gfloat *p = net.numbers + net.columns * found->row + k;
    gst_nn_say_keypoint (in, object, x + (gdouble)p[0], y + (gdouble)p[1], 1);
  }
  if (net.columns == 4 + 2 * 6)
    gst_nn_say_skeleton (object, "face6");
  else if (net.columns == 4 + 2 * 7)
    gst_nn_say_skeleton (object, "palm7");
}

const GstNnDecoder gst_nn_decoder_blazeface = {
  .name = "blazeface",
  .blurb = N_ ("faces, palms or persons with points by anchors, [1,N,4+2K] and [1,N,1] (BlazeFace, "
               "MediaPipe palm and pose)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
};
