/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What object detection APIs end in: TensorFlow's four outputs (y before x, fractions),
 * torchvision's and ONNX's SSD (x before y), TensorRT's EfficientNMS, MMDetection's. What an output
 * is, names tell, else types, else the order; corners are fractions where none lies beyond twice
 * the picture. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

typedef struct {
  guint boxes, scores, classes; /* outputs */
  gint count;                   /* -1: none */
  gint64 n, step;               /* boxes; numbers of each */
  gboolean is_yx;
} Parts;

static gboolean
is_vector (const GstNnDecodeInput *in, guint i, gint64 n)
{
  const AxonShape *s = gst_nn_shape_at (in, i);
  return axon_shape_get_numel (s) == n && (s->rank == 1 || (s->rank > 1 && s->dims[0] == 1));
}

static gboolean
is_classes (const GstNnDecodeInput *in, guint i)
{
  AxonDType dtype =
      in->raw ? axon_tensor_get_dtype (g_ptr_array_index (in->raw, i)) : AXON_DTYPE_F32;
  return gst_nn_is_called (in, i, "class") || gst_nn_is_called (in, i, "label") ||
         dtype == AXON_DTYPE_I64 || dtype == AXON_DTYPE_I32;
}

static gboolean
find_boxes (const GstNnDecodeInput *in, Parts *p)
{
  for (p->boxes = 0; p->boxes < in->tensors->len; p->boxes++)
    if (gst_nn_is_table (gst_nn_shape_at (in, p->boxes), &p->n, &p->step) &&
        p->step == (in->tensors->len == 2 ? 5 : 4))
      return TRUE;
  return FALSE;
}

/* The one or two vectors, and the number if there is one. */
static guint
find_vectors (const GstNnDecodeInput *in, Parts *p, guint vectors[2])
{
  guint n = 0, needed = p->step == 5 ? 1 : 2;
  p->count = -1;
  for (guint i = 0; i < in->tensors->len; i++) {
    if (i == p->boxes)
      continue;
    if (in->tensors->len == 4 && p->count < 0 &&
        axon_shape_get_numel (gst_nn_shape_at (in, i)) == 1 && (p->n != 1 || i == 0 || i == 3))
      p->count = (gint)i;
    else if (n < needed && is_vector (in, i, p->n))
      vectors[n++] = i;
    else
      return 0;
  }
  return n == needed && (p->count >= 0) == (in->tensors->len == 4) ? n : 0;
}

static gboolean
find_parts (const GstNnDecodeInput *in, Parts *p)
{
  guint vectors[2], n;
  if (in->tensors->len < 2 || in->tensors->len > 4 || !find_boxes (in, p))
    return FALSE;
  n = find_vectors (in, p, vectors);
  if (n == 0)
    return FALSE;
  p->is_yx = p->count == 3 || gst_nn_is_called (in, p->boxes, "detection_boxes");
  if (n == 1) {
    p->scores = p->boxes;
    p->classes = vectors[0];
    return TRUE;
  }
  p->classes = is_classes (in, vectors[0])   ? vectors[0]
               : is_classes (in, vectors[1]) ? vectors[1]
                                             : vectors[p->count != 3];
  p->scores = vectors[0] + vectors[1] - p->classes;
  return TRUE;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Parts parts;
  return find_parts (in, &parts);
}

static gdouble
score_at (const GstNnDecodeInput *in, const Parts *p, gint64 i)
{
  const gfloat *scores = gst_nn_data_at (in, p->scores);
  return (gdouble)(p->scores == p->boxes ? scores[i * p->step + 4] : scores[i]);
}

static gint64
count_boxes (const GstNnDecodeInput *in, const Parts *p)
{
  gdouble count = p->count < 0 ? (gdouble)p->n : (gdouble)gst_nn_data_at (in, (guint)p->count)[0];
  return count >= 0 ? (gint64)MIN (count, (gdouble)p->n) : 0;
}

/* No box of an object is two pixels large and at the origin. */
static gboolean
are_fractions (const GstNnDecodeInput *in, const Parts *p, gint64 n)
{
  const gfloat *b = gst_nn_data_at (in, p->boxes);
  for (gint64 i = 0; i < n; i++)
    for (gint k = 0; k < 4; k++)
      if (score_at (in, p, i) >= in->threshold && b[i * p->step + k] > 2)
        return FALSE;
  return TRUE;
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *classes, *b;
  gdouble sx = 1, sy = 1;
  gint64 n;
  Parts p;
  find_parts (in, &p);
  n = count_boxes (in, &p);
  classes = gst_nn_data_at (in, p.classes);
  b = gst_nn_data_at (in, p.boxes);
  if (are_fractions (in, &p, n)) {
    sx = in->width;
    sy = in->height;
  }
  for (gint64 i = 0; i < n; i++, b += p.step) {
    gdouble score = score_at (in, &p, i), x = (gdouble)b[p.is_yx], y = (gdouble)b[!p.is_yx];
    gdouble w = (gdouble)b[2 + p.is_yx] - x, h = (gdouble)b[2 + !p.is_yx] - y;
    if (score >= in->threshold && classes[i] >= 0 && classes[i] <= G_MAXINT16)
      gst_nn_add_object (objects, x * sx, y * sy, w * sx, h * sy, score, (gint)(classes[i] + 0.5f));
  }
}

const GstNnDecoder gst_nn_decoder_detections = {
  .name = "detections",
  .blurb = N_ ("objects that the model chose: boxes [1,N,4], classes and scores [1,N], number (SSD "
               "of TensorFlow, torchvision, EfficientNMS), or boxes with scores [1,N,5] and "
               "classes (MMDetection)"),
  .fits = fits,
  .decode = decode,
  .is_final = TRUE,
};
