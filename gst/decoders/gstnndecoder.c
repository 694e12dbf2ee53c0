/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnndecoder.h"
#include "gstnnlists.h"
#include "elements/gstnnelement.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define DECLARE(name) extern const GstNnDecoder gst_nn_decoder_##name;
GST_NN_DECODERS (DECLARE)

#define ROW(name) &gst_nn_decoder_##name,
static const GstNnDecoder *const decoders[] = { GST_NN_DECODERS (ROW) };

/* Later models whose outputs are those of an earlier one. */
static const struct {
  const gchar *name, *decoder;
} aliases[] = {
  { "yolov7", "yolov5" },         { "yolov7-seg", "yolov5-seg" }, { "yolov9", "yolov8" },
  { "yolo11", "yolov8" },         { "yolo11-seg", "yolov8-seg" }, { "yolo11-pose", "yolov8-pose" },
  { "yolo11-obb", "yolov8-obb" }, { "yolo26", "yolov10" },        { "ultraface", "boxes-scores" },
  { "palm", "blazeface" },
};

const GstNnDecoder *
gst_nn_decoder_find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (aliases); i++)
    if (g_str_equal (aliases[i].name, name))
      return gst_nn_decoder_find (aliases[i].decoder);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (g_str_equal (decoders[i]->name, name))
      return decoders[i];
  return NULL;
}

const GstNnDecoder *
gst_nn_decoder_probe (const GstNnDecodeInput *in)
{
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    if (decoders[i]->fits (in) && (decoders[i]->recognises == NULL || decoders[i]->recognises (in)))
      return decoders[i];
  return NULL;
}

/* Numbers are those of this build; names are what lasts. */
GType
gst_nn_decoder_name_get_type (void)
{
  static GEnumValue values[2 + G_N_ELEMENTS (decoders) + G_N_ELEMENTS (aliases) + 1] = {
    { 0, N_ ("As the model's description says, else by the shapes of the outputs"), "auto" },
    { 1, N_ ("Outputs have no results"), GST_NN_NO_DECODER }
  };
  static gsize type;
  if (g_once_init_enter (&type)) {
    gint n = 2;
    for (guint i = 0; i < G_N_ELEMENTS (decoders); i++, n++)
      values[n] = (GEnumValue){ n, decoders[i]->blurb, decoders[i]->name };
    for (guint i = 0; i < G_N_ELEMENTS (aliases); i++) {
      const GstNnDecoder *same = gst_nn_decoder_find (aliases[i].decoder);
      if (same != NULL) { /* in this build */
        values[n] = (GEnumValue){ n, same->blurb, aliases[i].name };
        n++;
      }
    }
    g_once_init_leave (&type, gst_nn_enum_register ("GstNnDecoderName", values));
  }
  return type;
}

gboolean
gst_nn_by_name_only (G_GNUC_UNUSED const GstNnDecodeInput *in)
{
  return FALSE;
}

gchar *
gst_nn_decoder_list (void)
{
  g_autoptr (GString) s = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (decoders); i++)
    g_string_append_printf (s, "%s%s", i > 0 ? ", " : "", decoders[i]->name);
  return g_string_free (g_steal_pointer (&s), FALSE);
}

const AxonTensor *
gst_nn_tensor_at (const GstNnDecodeInput *in, guint index)
{
  return g_ptr_array_index (in->tensors, index);
}

const AxonShape *
gst_nn_shape_at (const GstNnDecodeInput *in, guint index)
{
  return axon_tensor_get_shape (gst_nn_tensor_at (in, index));
}

gint64
gst_nn_count_row (const GstNnDecodeInput *in, guint index)
{
  const AxonShape *s = gst_nn_shape_at (in, index);
  gint64 n = axon_shape_get_numel (s), largest = 1;
  for (gint i = 0; i < s->rank; i++)
    largest = MAX (largest, s->dims[i]);
  return largest == n ? n : 0;
}

gint
gst_nn_longest_row (const GstNnDecodeInput *in)
{
  gint64 most = 0;
  gint longest = -1;
  for (guint i = 0; i < in->tensors->len; i++)
    if (gst_nn_count_row (in, i) > most) {
      most = gst_nn_count_row (in, i);
      longest = (gint)i;
    }
  return longest;
}

const gfloat *
gst_nn_data_at (const GstNnDecodeInput *in, guint index)
{
  return axon_tensor_get_data (gst_nn_tensor_at (in, index));
}

gboolean
gst_nn_is_table (const AxonShape *shape, gint64 *rows, gint64 *columns)
{
  gint rank = shape->rank;
  if (rank < 2)
    return FALSE;
  for (gint i = 0; i < rank - 2; i++)
    if (shape->dims[i] != 1)
      return FALSE;
  *rows = shape->dims[rank - 2];
  *columns = shape->dims[rank - 1];
  return TRUE;
}

gboolean
gst_nn_is_map (const AxonShape *shape, gint64 *channels, gint64 *rows, gint64 *columns)
{
  if (shape->rank != 4 || shape->dims[0] != 1)
    return FALSE;
  *channels = shape->dims[1];
  *rows = shape->dims[2];
  *columns = shape->dims[3];
  return *channels > 0 && *rows > 0 && *columns > 0;
}

gint
gst_nn_find_table (const GstNnDecodeInput *in, gint64 rows, gint64 columns)
{
  gint64 n, c;
  for (guint i = 0; i < in->tensors->len; i++)
    if (gst_nn_is_table (gst_nn_shape_at (in, i), &n, &c) && c == columns &&
        (rows == 0 || n == rows))
      return (gint)i;
  return -1;
}

gboolean
gst_nn_is_called (const GstNnDecodeInput *in, guint index, const gchar *part)
{
  g_autofree gchar *name = NULL;
  if (in->names == NULL || g_strv_length ((gchar **)in->names) <= index)
    return FALSE;
  name = g_ascii_strdown (in->names[index], -1);
  return strstr (name, part) != NULL;
}

gint64
gst_nn_best_class (const gfloat *scores, gint64 n, gint64 stride)
{
  gint64 best = 0;
  gfloat top = -INFINITY;
  for (gint64 k = 0; k < n; k++)
    if (scores[k * stride] > top) {
      top = scores[k * stride];
      best = k;
    }
  return best;
}

gdouble
gst_nn_sigmoid (gdouble logit)
{
  return 1 / (1 + exp (-logit));
}

gboolean
gst_nn_are_shares (const gfloat *values, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (values[i] < 0 || values[i] > 1)
      return FALSE;
  return TRUE;
}

gdouble
gst_nn_softmax_sum (const gfloat *logits, gint64 n, gdouble *top)
{
  gdouble sum = 0;
  *top = (gdouble)logits[gst_nn_best_class (logits, n, 1)];
  for (gint64 i = 0; i < n; i++)
    sum += exp ((gdouble)logits[i] - *top);
  return sum;
}

gint64
gst_nn_grid_cells (gint width, gint height, gint stride)
{
  return (gint64)((width + stride - 1) / stride) * ((height + stride - 1) / stride);
}

gint64
gst_nn_count_cells (gint width, gint height)
{
  gint64 n = 0;
  for (gint s = 8; s <= 32; s *= 2)
    n += gst_nn_grid_cells (width, height, s);
  return n;
}

/* Expected value of a softmax over distances. */
static gdouble
expected_distance (const gfloat *bins)
{
  gdouble top = (gdouble)bins[gst_nn_best_class (bins, GST_NN_N_BINS, 1)], sum = 0, weighted = 0;
  for (gint i = 0; i < GST_NN_N_BINS; i++) {
    gdouble e = exp ((gdouble)bins[i] - top);
    sum += e;
    weighted += e * i;
  }
  return weighted / sum;
}

/* Li et al., arXiv:2006.04388. */
GstNnDetection *
gst_nn_add_distances (GArray *objects, gdouble x, gdouble y, gint stride, const gfloat *bins,
                      gdouble score, gint class_id)
{
  gdouble d[4];
  for (gint e = 0; e < 4; e++)
    d[e] = expected_distance (bins + e * GST_NN_N_BINS) * stride;
  return gst_nn_add_object (objects, x - d[0], y - d[1], d[0] + d[2], d[1] + d[3], score, class_id);
}
