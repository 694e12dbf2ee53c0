/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decoders.h"

void
decoded_init (Decoded *d, AxonImageFit fit, gint width, gint height, gint frame_width,
              gint frame_height)
{
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_RGB,
                         .width = frame_width,
                         .height = frame_height,
                         .stride = { (gsize)frame_width * 3 } };
  AxonImageGeometry geometry;
  *d = (Decoded){ .in.threshold = 0.5 };
  axon_image_geometry_init (&geometry, &info, fit, 1, width, height);
  gst_nn_decode_input_place (&d->in, &geometry, frame_width, frame_height);
  d->in.tensors = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  d->buffer = gst_buffer_new ();
  d->result = gst_buffer_add_nn_result_meta (d->buffer, frame_width, frame_height);
}

void
decoded_add (Decoded *d, AxonTensor *tensor, const gchar *name)
{
  g_assert_nonnull (tensor);
  g_ptr_array_add (d->in.tensors, tensor);
  if (name == NULL)
    return;
  if (d->names == NULL)
    d->names = g_ptr_array_new_null_terminated (4, g_free, TRUE);
  g_ptr_array_add (d->names, g_strdup (name));
  d->in.names = (const gchar *const *)d->names->pdata;
}

static AxonTensor *
new_output (const gchar *text, gfloat fill)
{
  g_auto (GStrv) dims = g_strsplit (text, "x", -1);
  AxonShape shape = { .rank = (gint)g_strv_length (dims) };
  AxonTensor *t;
  gfloat *v;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = g_ascii_strtoll (dims[i], NULL, 10);
  t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  v = axon_tensor_get_data (t);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    v[i] = fill;
  return t;
}

void
decoded_fill (Decoded *d, const gchar *shapes, const gchar *names, gfloat fill,
              const DecodedSpan *spans, guint n_spans)
{
  g_auto (GStrv) each = g_strsplit (shapes, " ", -1);
  g_auto (GStrv) called = names ? g_strsplit (names, " ", -1) : NULL;
  for (guint i = 0; each[i] != NULL; i++)
    decoded_add (d, new_output (each[i], fill), called ? called[i] : NULL);
  for (const DecodedSpan *s = spans; s < spans + n_spans; s++) {
    gfloat *v = axon_tensor_get_data (g_ptr_array_index (d->in.tensors, s->tensor));
    for (guint k = 0; k < s->times * s->n; k++)
      v[s->at + k * s->step] = s->values[k % s->n];
  }
}

void
decoded_set_labels (Decoded *d, gchar **labels)
{
  d->in.labels = (const gchar *const *)labels;
  d->in.n_labels = g_strv_length (labels);
}

void
decoded_run (Decoded *d, const GstNnDecoder *decoder, gdouble iou_threshold, guint most)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (GstNnDetection));
  gint width = d->result->width, height = d->result->height;
  gst_buffer_unref (d->buffer);
  d->buffer = gst_buffer_new ();
  d->result = gst_buffer_add_nn_result_meta (d->buffer, width, height);
  g_assert_nonnull (decoder);
  g_assert_true (decoder->fits (&d->in));
  gst_nn_decode_into (d->result, decoder, &d->in, iou_threshold, most, 0, candidates);
}

void
decoded_clear (Decoded *d)
{
  g_clear_pointer (&d->in.tensors, g_ptr_array_unref);
  g_clear_pointer (&d->names, g_ptr_array_unref);
  gst_clear_buffer (&d->buffer);
}
