/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* SSD: Liu et al., arXiv:1512.02325. Priors are the model's third output, as Caffe's PriorBox
 * writes them: corners, then variances; else grids by `strides` and `anchors` of the description;
 * else those of SSD300: github.com/amdegroot/ssd.pytorch. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define N_GRIDS 6
#define N_LOOK 100 /* rows that tell whether scores lack the softmax */
#define CENTER 0.1
#define SIZE 0.2

typedef struct {
  const gfloat *offsets, *scores, *priors; /* no priors: they are computed */
  gint64 n, c;
  guint per_cell; /* anchors of the description, of each cell */
} Ssd;

/* Of SSD300, trained on COCO or on VOC: least sizes, and the largest; further aspect ratios. */
static const gdouble sizes[2][N_GRIDS + 1] = {
  { 21, 45, 99, 153, 207, 261, 315 },
  { 30, 60, 111, 162, 213, 264, 315 },
};
static const struct {
  gint cells, stride;
  guint n_ratios;
} grids[N_GRIDS] = {
  { 38, 8, 1 }, { 19, 16, 2 }, { 10, 32, 2 }, { 5, 64, 2 }, { 3, 100, 1 }, { 1, 300, 1 },
};
#define N_SSD300 8732
#define N_VOC 21

/* [1,N,C], or flat [1,N*C] where @n is known. */
static gboolean
is_flat (const AxonShape *s, gint64 n, gint64 *c)
{
  gint64 rows, columns;
  if (!gst_nn_is_table (s, &rows, &columns) || n <= 0)
    return FALSE;
  *c = rows == n ? columns : columns / n;
  return rows == n || (rows == 1 && columns % n == 0);
}

/* Caffe's three outputs, in any order: the priors are two rows. */
static gboolean
find_caffe (const GstNnDecodeInput *in, Ssd *ssd)
{
  gint64 rows, columns, four, c;
  for (guint i = 0; in->tensors->len == 3 && i < 3; i++) {
    if (!gst_nn_is_table (gst_nn_shape_at (in, i), &rows, &columns) || rows != 2 ||
        columns % 4 != 0)
      continue;
    for (guint k = 0; k < 3; k++)
      if (k != i && is_flat (gst_nn_shape_at (in, k), columns / 4, &four) && four == 4 &&
          is_flat (gst_nn_shape_at (in, 3 - i - k), columns / 4, &c) && c > 1) {
        *ssd = (Ssd){ gst_nn_data_at (in, k),
                      gst_nn_data_at (in, 3 - i - k),
                      gst_nn_data_at (in, i),
                      columns / 4,
                      c,
                      0 };
        return TRUE;
      }
  }
  return FALSE;
}

static gint64
count_described (const GstNnDecodeInput *in, guint *per_cell)
{
  gint64 n = 0;
  *per_cell = in->n_strides > 0 ? in->n_anchors / 2 / in->n_strides : 0;
  for (guint i = 0; i < in->n_strides && in->strides[i] > 0; i++)
    n += *per_cell * gst_nn_grid_cells (in->width, in->height, (gint)in->strides[i]);
  return n;
}

static gboolean
find_ssd (const GstNnDecodeInput *in, Ssd *ssd)
{
  gint64 n, four, rows, c;
  guint per_cell;
  if (find_caffe (in, ssd))
    return TRUE;
  for (guint i = 0; in->tensors->len == 2 && i < 2; i++)
    if (gst_nn_is_table (gst_nn_shape_at (in, i), &n, &four) && four == 4 &&
        gst_nn_is_table (gst_nn_shape_at (in, 1 - i), &rows, &c) && rows == n && c > 1 &&
        (count_described (in, &per_cell) == n ||
         (n == N_SSD300 && in->width == 300 && in->height == 300))) {
      *ssd = (Ssd){ gst_nn_data_at (in, i),
                    gst_nn_data_at (in, 1 - i),
                    NULL,
                    n,
                    c,
                    count_described (in, &per_cell) == n ? per_cell : 0 };
      return TRUE;
    }
  return FALSE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Ssd ssd;
  return find_ssd (in, &ssd);
}

/* Offsets alone have the shapes of boxes. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  Ssd ssd;
  return find_caffe (in, &ssd);
}

/* Centre, size, variances of both; in fractions. */
static void
read_prior (const Ssd *ssd, gint64 i, gdouble prior[6])
{
  const gfloat *p = ssd->priors + 4 * i, *variance = p + 4 * ssd->n;
  prior[0] = (gdouble)(p[0] + p[2]) / 2;
  prior[1] = (gdouble)(p[1] + p[3]) / 2;
  prior[2] = (gdouble)(p[2] - p[0]);
  prior[3] = (gdouble)(p[3] - p[1]);
  prior[4] = (gdouble)variance[0];
  prior[5] = (gdouble)variance[2];
}

static void
described_prior (const GstNnDecodeInput *in, const Ssd *ssd, gint64 i, gdouble prior[6])
{
  guint grid = 0, a;
  gint stride = (gint)in->strides[0];
  gint64 n, columns;
  while (i >= (n = ssd->per_cell * gst_nn_grid_cells (in->width, in->height, stride))) {
    i -= n;
    stride = (gint)in->strides[++grid];
  }
  columns = (in->width + stride - 1) / stride;
  a = 2 * (grid * ssd->per_cell + (guint)(i % ssd->per_cell));
  prior[0] = ((gdouble)(i / ssd->per_cell % columns) + 0.5) * stride / in->width;
  prior[1] = ((gdouble)(i / ssd->per_cell / columns) + 0.5) * stride / in->height;
  prior[2] = (gdouble)in->anchors[a] / in->width;
  prior[3] = (gdouble)in->anchors[a + 1] / in->height;
}

/* A square, a larger square, then for each ratio the lying box and the standing one. */
static void
ssd300_prior (const Ssd *ssd, gint64 i, gdouble prior[6])
{
  const gdouble *size = sizes[ssd->c == N_VOC];
  guint g = 0;
  gint64 n, per_cell = 4;
  gdouble side, ratio;
  while (i >= (n = per_cell * grids[g].cells * grids[g].cells)) {
    i -= n;
    per_cell = 2 + 2 * grids[++g].n_ratios;
  }
  n = i % per_cell;
  side = n == 1 ? sqrt (size[g] * size[g + 1]) : size[g];
  ratio = n < 2 ? 1 : n < 4 ? 2 : 3;
  ratio = n % 2 == 1 ? sqrt (1 / ratio) : sqrt (ratio);
  prior[0] = ((gdouble)(i / per_cell % grids[g].cells) + 0.5) * grids[g].stride / 300;
  prior[1] = ((gdouble)(i / per_cell / grids[g].cells) + 0.5) * grids[g].stride / 300;
  prior[2] = MIN (side * ratio / 300, 1);
  prior[3] = MIN (side / ratio / 300, 1);
}

static void
add_box (const GstNnDecodeInput *in, const Ssd *ssd, gint64 i, gdouble score, gint class_id,
         GArray *objects)
{
  const gfloat *o = ssd->offsets + 4 * i;
  gdouble p[6] = { 0, 0, 0, 0, CENTER, SIZE }, w, h;
  if (ssd->priors != NULL)
    read_prior (ssd, i, p);
  else if (ssd->per_cell > 0)
    described_prior (in, ssd, i, p);
  else
    ssd300_prior (ssd, i, p);
  w = p[2] * exp ((gdouble)o[2] * p[5]) * in->width;
  h = p[3] * exp ((gdouble)o[3] * p[5]) * in->height;
  gst_nn_add_object (objects, (p[0] + (gdouble)o[0] * p[4] * p[2]) * in->width - w / 2,
                     (p[1] + (gdouble)o[1] * p[4] * p[3]) * in->height - h / 2, w, h, score,
                     class_id);
}

/* Class 0 is the background, and is not counted where labels do not name it. */
static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  gboolean is_logit;
  Ssd ssd;
  find_ssd (in, &ssd);
  is_logit = in->activation ? g_str_equal (in->activation, "softmax")
                            : !gst_nn_are_shares (ssd.scores, MIN (ssd.n, N_LOOK) * ssd.c);
  for (gint64 i = 0; i < ssd.n; i++) {
    const gfloat *s = ssd.scores + ssd.c * i;
    gdouble top = 0, sum = is_logit ? gst_nn_softmax_sum (s, ssd.c, &top) : 1;
    for (gint64 k = 1; k < ssd.c; k++) {
      gdouble score = is_logit ? exp ((gdouble)s[k] - top) / sum : (gdouble)s[k];
      if (score >= in->threshold)
        add_box (in, &ssd, i, score, (gint)k - (in->n_labels + 1 == ssd.c), objects);
    }
  }
}

const GstNnDecoder gst_nn_decoder_ssd = {
  .name = "ssd",
  .blurb = N_ ("offsets [1,N,4] and scores [1,N,C] by priors, which the model gives as [1,2,4N] "
               "(Caffe), or known (SSD300)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
};
