/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RetinaFace: Deng et al., arXiv:1905.00641; github.com/biubiug6/Pytorch_Retinaface. Two priors a
 * cell of the grids at strides 8, 16 and 32; offsets in tenths of a prior, logarithms of sizes in
 * fifths. */
#include "gstnnrows.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define CENTER 0.1
#define SIZE 0.2

/* The published widths and heights; `anchors` of the description says others. */
static const gfloat usual[] = { 16, 16, 32, 32, 64, 64, 128, 128, 256, 256, 512, 512 };

typedef struct {
  GstNnRows scores;
  const gfloat *boxes, *points, *sizes;
} Faces;

static gboolean
find_faces (const GstNnDecodeInput *in, Faces *faces)
{
  gint64 n = 2 * gst_nn_count_cells (in->width, in->height);
  gint boxes = gst_nn_find_table (in, n, 4), scores = gst_nn_find_table (in, n, 2);
  gint points = gst_nn_find_table (in, n, 10);
  if (in->tensors->len != 3 || boxes < 0 || scores < 0 || points < 0 ||
      (in->n_anchors != 0 && in->n_anchors != G_N_ELEMENTS (usual)) ||
      !gst_nn_rows_init (&faces->scores, in, (guint)scores, n, 1))
    return FALSE;
  faces->scores.finest = 8;
  faces->scores.per_cell = 2;
  faces->boxes = gst_nn_data_at (in, (guint)boxes);
  faces->points = gst_nn_data_at (in, (guint)points);
  faces->sizes = in->n_anchors > 0 ? in->anchors : usual;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Faces faces;
  return find_faces (in, &faces);
}

/* Centre and size. */
static void
find_prior (const GstNnDecodeInput *in, const Faces *faces, gdouble prior[4])
{
  gint64 column, row;
  gint stride = gst_nn_rows_locate (&faces->scores, in, &column, &row);
  const gfloat *size = faces->sizes + (stride / 16) * 4 + faces->scores.i % 2 * 2;
  prior[0] = ((gdouble)column + 0.5) * stride;
  prior[1] = ((gdouble)row + 0.5) * stride;
  prior[2] = (gdouble)size[0];
  prior[3] = (gdouble)size[1];
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  Faces f;
  find_faces (in, &f);
  while (gst_nn_rows_next (&f.scores, in->threshold)) {
    const gfloat *b = f.boxes + 4 * f.scores.i;
    gdouble p[4], w, h;
    GstNnDetection *found;
    find_prior (in, &f, p);
    w = p[2] * exp ((gdouble)b[2] * SIZE);
    h = p[3] * exp ((gdouble)b[3] * SIZE);
    found =
        gst_nn_add_object (objects, p[0] + (gdouble)b[0] * CENTER * p[2] - w / 2,
                           p[1] + (gdouble)b[1] * CENTER * p[3] - h / 2, w, h, f.scores.score, 0);
    if (found != NULL)
      found->row = f.scores.i;
  }
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  Faces f;
  gdouble p[4];
  find_faces (in, &f);
  f.scores.i = found->row;
  find_prior (in, &f, p);
  for (gint k = 0; k < 10; k += 2)
    gst_nn_say_keypoint (in, object, p[0] + (gdouble)f.points[10 * found->row + k] * CENTER * p[2],
                         p[1] + (gdouble)f.points[10 * found->row + k + 1] * CENTER * p[3], 1);
  gst_nn_say_skeleton (object, "face5");
}

const GstNnDecoder gst_nn_decoder_retinaface = {
  .name = "retinaface",
  .blurb = N_ ("faces with five points by priors, [1,N,4], [1,N,2] and [1,N,10] (RetinaFace)"),
  .fits = fits,
  .decode = decode,
  .detail = detail,
};
