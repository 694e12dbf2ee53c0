/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnndecoder.h"
#include "gstnnlists.h"

#include <math.h>

#define DECLARE(name) extern const GstNnDecoder gst_nn_decoder_##name;
GST_NN_DECODERS (DECLARE)

#define ROW(name) &gst_nn_decoder_##name,
static const GstNnDecoder *const decoders[] = { GST_NN_DECODERS (ROW) };

const GstNnDecoder *
gst_nn_decoder_find (const gchar *name)
{
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

gboolean
gst_nn_is_table (const AxonShape *shape, gint64 *rows, gint64 *columns)
{
  gint rank = shape->rank;
  if (rank < 2 || axon_shape_get_numel (shape) != shape->dims[rank - 2] * shape->dims[rank - 1])
    return FALSE;
  *rows = shape->dims[rank - 2];
  *columns = shape->dims[rank - 1];
  return TRUE;
}

gint64
gst_nn_best_class (const gfloat *scores, gint64 n, gint64 stride)
{
  gint64 best = 0;
  for (gint64 k = 1; k < n; k++)
    if (scores[k * stride] > scores[best * stride])
      best = k;
  return best;
}

gint64
gst_nn_count_cells (gint width, gint height)
{
  gint64 n = 0;
  for (gint s = 8; s <= 32; s *= 2)
    n += (gint64)((width + s - 1) / s) * ((height + s - 1) / s);
  return n;
}

GstNnDetection *
gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width, gdouble height,
                   gdouble score, gint class_id)
{
  GstNnDetection object = {
    .x = x, .y = y, .width = width, .height = height, .score = score, .class_id = class_id
  };
  if (!isfinite (x) || !isfinite (y) || !(width > 0) || !(height > 0) ||
      !isfinite (width + height) || !isfinite (score))
    return NULL;
  g_array_append_val (objects, object);
  return &g_array_index (objects, GstNnDetection, objects->len - 1);
}

static gint
compare_score (gconstpointer a, gconstpointer b)
{
  gdouble x = ((const GstNnDetection *)a)->score, y = ((const GstNnDetection *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

static gdouble
overlap (const GstNnDetection *a, const GstNnDetection *b)
{
  gdouble w = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble h = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h / (a->width * a->height + b->width * b->height - w * h);
}

void
gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects)
{
  guint kept = 0;
  g_array_sort (objects, compare_score);
  for (guint i = 0; i < objects->len && kept < max_objects; i++) {
    GstNnDetection candidate = g_array_index (objects, GstNnDetection, i);
    gboolean keep = TRUE;
    for (guint k = 0; keep && k < kept; k++) {
      const GstNnDetection *o = &g_array_index (objects, GstNnDetection, k);
      keep = o->class_id != candidate.class_id || overlap (o, &candidate) <= iou_threshold;
    }
    if (keep)
      g_array_index (objects, GstNnDetection, kept++) = candidate;
  }
  g_array_set_size (objects, kept);
}
