/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MoveNet: of one person 17 joints as y, x, score; of several such a row for each, followed by the
 * box as ymin, xmin, ymax, xmax and its score; all in 0..1 of the input (model cards of
 * MoveNet.SinglePose and MoveNet.MultiPose, Google, 2021). */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>

#define JOINTS 17
#define ROW (JOINTS * 3 + 5)

static gboolean
is_of_one (const GstNnDecodeInput *in)
{
  gint64 rows, columns;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &rows, &columns) &&
         rows == JOINTS && columns == 3;
}

static gboolean
is_of_several (const GstNnDecodeInput *in)
{
  gint64 rows, columns;
  return in->tensors->len == 1 && gst_nn_is_table (gst_nn_shape_at (in, 0), &rows, &columns) &&
         rows > 0 && columns == ROW;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  return in->width > 0 && (is_of_one (in) || is_of_several (in));
}

/* Six persons; other tables have as many columns, too. */
static gboolean
recognises (const GstNnDecodeInput *in)
{
  return is_of_one (in) ||
         (is_of_several (in) && axon_tensor_get_numel (gst_nn_tensor_at (in, 0)) == 6 * ROW);
}

static void
say_joints (const GstNnDecodeInput *in, GstNnObject *object, const gfloat *v)
{
  for (guint i = 0; i < JOINTS; i++, v += 3)
    gst_nn_say_keypoint (in, object, (gdouble)v[1] * in->width, (gdouble)v[0] * in->height,
                         (gdouble)v[2]);
  gst_nn_say_skeleton (object, "coco17");
}

static void
decode (const GstNnDecodeInput *in, GArray *objects)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  gint64 rows, columns;
  if (!is_of_several (in) || !gst_nn_is_table (gst_nn_shape_at (in, 0), &rows, &columns))
    return;
  for (gint64 i = 0; i < rows; i++, v += ROW) {
    const gfloat *b = v + 3 * JOINTS;
    GstNnDetection *found =
        (gdouble)b[4] >= in->threshold
            ? gst_nn_add_object (objects, (gdouble)b[1] * in->width, (gdouble)b[0] * in->height,
                                 (gdouble)(b[3] - b[1]) * in->width,
                                 (gdouble)(b[2] - b[0]) * in->height, (gdouble)b[4], 0)
            : NULL;
    if (found != NULL)
      found->row = i;
  }
}

static void
detail (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  say_joints (in, object, v + found->row * ROW);
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  if (is_of_one (in))
    say_joints (in, target, axon_tensor_get_data (gst_nn_tensor_at (in, 0)));
}

const GstNnDecoder gst_nn_decoder_movenet = {
  .name = "movenet",
  .blurb = N_ ("joints of one person [1,1,17,3], or of six with their boxes [1,6,56] (MoveNet)"),
  .fits = fits,
  .recognises = recognises,
  .decode = decode,
  .detail = detail,
  .whole = whole,
};
