/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "wholesupport.h"

#include <gst/check/gstharness.h>
#include <string.h>

GstBuffer *
decode (const Setting *s, AxonTensor *const *tensors, guint n)
{
  GstHarness *h = gst_harness_new_parse (s->launch);
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1", s->width, s->height);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, (gsize)(s->width * s->height), NULL);
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_GRAY8,
                         .width = s->width,
                         .height = s->height,
                         .stride = { s->width } };
  GstNnTensorMeta *meta = gst_buffer_add_nn_tensor_meta (buffer);
  gst_buffer_memset (buffer, 0, 0, (gsize)(s->width * s->height));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (meta->tensors, axon_tensor_ref (tensors[i]));
  if (s->names[0] != NULL)
    meta->names = g_strdupv ((gchar **)s->names);
  meta->width = s->width;
  meta->height = s->height;
  axon_image_geometry_init (&meta->geometry, &info, s->fit, 1, s->input_width, s->input_height);
  gst_harness_set_src_caps_str (h, caps);
  buffer = gst_harness_push (h, buffer) == GST_FLOW_OK ? gst_harness_pull (h) : NULL;
  gst_harness_teardown (h);
  return buffer;
}

const GstNnObject *
frame_of (GstBuffer *buffer)
{
  g_assert_nonnull (buffer);
  return gst_nn_result_meta_get_frame (gst_buffer_get_nn_result_meta (buffer));
}

/* A varint of protobuf. */
static guint64
read_varint (const guint8 **p)
{
  guint64 v = 0;
  guint shift = 0;
  do
    v |= (guint64)(**p & 127) << shift;
  while (shift += 7, *(*p)++ & 128);
  return v;
}

AxonTensor *
load (const gchar *relative, gint64 first, gint64 n_rows)
{
  g_autofree gchar *path = test_data (relative), *data = NULL;
  const guint8 *p, *end, *raw = NULL;
  AxonDType dtype = AXON_DTYPE_F32;
  AxonShape shape = { 0 };
  AxonTensor *tensor;
  gsize size;
  if (path == NULL)
    return NULL;
  g_assert_true (g_file_get_contents (path, &data, &size, NULL));
  for (p = (const guint8 *)data, end = p + size; p < end;) {
    guint64 key = read_varint (&p), v = read_varint (&p);
    if (key == (1 << 3))
      shape.dims[shape.rank++] = (gint64)v;
    else if (key == (2 << 3))
      dtype = (AxonDType)v;
    else if (key == (9 << 3 | 2))
      raw = p;
    p += (key & 7) == 2 ? v : 0;
    if (key == (1 << 3 | 2)) /* dims, packed */
      for (const guint8 *q = p - v; q < p;)
        shape.dims[shape.rank++] = (gint64)read_varint (&q);
  }
  shape.dims[0] = n_rows > 0 ? n_rows : shape.dims[0];
  tensor = axon_tensor_new (dtype, &shape, NULL);
  size = axon_tensor_get_n_bytes (tensor);
  memcpy (axon_tensor_get_data (tensor), raw + (gsize)first * size / (gsize)MAX (n_rows, 1), size);
  return tensor;
}

void
assert_attribute (const GstNnObject *o, guint index, const gchar *name, const gchar *value,
                  gint class_id, gdouble score)
{
  const GstNnAttribute *a = gst_nn_object_get_attribute (o, index);
  g_assert_nonnull (a);
  g_assert_cmpstr (gst_nn_attribute_get_name (a), ==, name);
  g_assert_cmpstr (gst_nn_attribute_get_value (a), ==, value);
  g_assert_cmpint (gst_nn_attribute_get_class_id (a), ==, class_id);
  g_assert_cmpfloat_with_epsilon (gst_nn_attribute_get_score (a), score, 1e-4);
}

void
assert_keypoint (const GstNnObject *o, guint index, gdouble x, gdouble y, gdouble score,
                 gdouble tolerance)
{
  gdouble got[3];
  g_assert_true (gst_nn_object_get_keypoint (o, index, &got[0], &got[1], &got[2]));
  g_assert_cmpfloat_with_epsilon (got[0], x, tolerance);
  g_assert_cmpfloat_with_epsilon (got[1], y, tolerance);
  g_assert_cmpfloat_with_epsilon (got[2], score, 1e-3);
}

void
assert_mask (const GstNnMask *mask, GstNnMaskKind kind, guint columns, guint rows,
             const guint8 *values)
{
  g_assert_nonnull (mask);
  g_assert_cmpint (gst_nn_mask_get_kind (mask), ==, kind);
  g_assert_cmpuint (gst_nn_mask_get_columns (mask), ==, columns);
  g_assert_cmpuint (gst_nn_mask_get_rows (mask), ==, rows);
  g_assert_cmpmem (g_bytes_get_data (gst_nn_mask_get_values (mask), NULL), columns * rows, values,
                   columns * rows);
}
