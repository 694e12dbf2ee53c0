/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntensors.h"

#include <math.h>
#include <string.h>

void
gst_nn_buffer_append_tensor (GstBuffer *buffer, AxonTensor *tensor)
{
  gsize n = axon_tensor_get_n_bytes (tensor);
  gst_buffer_append_memory (buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY,
                                                            axon_tensor_get_data (tensor), n, 0, n,
                                                            axon_tensor_ref (tensor),
                                                            (GDestroyNotify)axon_tensor_unref));
}

GstNnTensorStatistics
gst_nn_tensor_statistics (const AxonTensor *tensor)
{
  GstNnTensorStatistics st = { G_MAXDOUBLE, -G_MAXDOUBLE, 0, 0 };
  gsize n = axon_tensor_get_numel (tensor), numbers = 0;
  for (gsize i = 0; i < n; i++) {
    gdouble v = axon_tensor_get_value (tensor, i);
    if (isnan (v)) {
      st.n_nan++;
      continue;
    }
    st.min = MIN (st.min, v);
    st.max = MAX (st.max, v);
    st.mean += v;
    numbers++;
  }
  if (numbers == 0)
    st.min = st.max = 0;
  else
    st.mean /= (gdouble)numbers;
  return st;
}

/* Tensor @index of a buffer whose memories are tensors; NULL where its size is wrong. */
static AxonTensor *
copy_memory (GstBuffer *buffer, guint index, AxonDType dtype, const AxonShape *shape)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (dtype, shape, NULL);
  GstMemory *memory =
      index < gst_buffer_n_memory (buffer) ? gst_buffer_peek_memory (buffer, index) : NULL;
  GstMapInfo map;
  gboolean fits;
  if (tensor == NULL || memory == NULL || !gst_memory_map (memory, &map, GST_MAP_READ))
    return NULL;
  fits = map.size == axon_tensor_get_n_bytes (tensor);
  if (fits)
    memcpy (axon_tensor_get_data (tensor), map.data, map.size);
  gst_memory_unmap (memory, &map);
  return fits ? g_steal_pointer (&tensor) : NULL;
}

GPtrArray *
gst_nn_buffer_get_tensors (GstBuffer *buffer, const GArray *types, const GArray *shapes,
                           gchar ***names)
{
  GPtrArray *tensors = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (buffer);
  g_autoptr (GStrvBuilder) list = g_strv_builder_new ();
  if (meta != NULL && meta->tensors->len > 0) {
    for (guint i = 0; i < meta->tensors->len; i++)
      g_ptr_array_add (tensors, axon_tensor_ref (g_ptr_array_index (meta->tensors, i)));
    *names = g_strdupv (meta->names);
    return tensors;
  }
  for (guint i = 0; i < types->len; i++) {
    AxonTensor *tensor = copy_memory (buffer, i, g_array_index (types, AxonDType, i),
                                      &g_array_index (shapes, AxonShape, i));
    g_autofree gchar *name = g_strdup_printf ("tensor%u", i);
    if (tensor == NULL)
      continue;
    g_ptr_array_add (tensors, tensor);
    g_strv_builder_add (list, name);
  }
  *names = g_strv_builder_end (list);
  return tensors;
}
