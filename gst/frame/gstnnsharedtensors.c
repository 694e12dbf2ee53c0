/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnrelation.h"

#include "gstnntensors.h"

#include <gst/analytics/analytics.h>

static const struct {
  AxonDType ours;
  GstTensorDataType theirs;
} types[] = {
  { AXON_DTYPE_F32, GST_TENSOR_DATA_TYPE_FLOAT32 },
  { AXON_DTYPE_F16, GST_TENSOR_DATA_TYPE_FLOAT16 },
  { AXON_DTYPE_F64, GST_TENSOR_DATA_TYPE_FLOAT64 },
  { AXON_DTYPE_BF16, GST_TENSOR_DATA_TYPE_BFLOAT16 },
  { AXON_DTYPE_I8, GST_TENSOR_DATA_TYPE_INT8 },
  { AXON_DTYPE_U8, GST_TENSOR_DATA_TYPE_UINT8 },
  { AXON_DTYPE_I16, GST_TENSOR_DATA_TYPE_INT16 },
  { AXON_DTYPE_U16, GST_TENSOR_DATA_TYPE_UINT16 },
  { AXON_DTYPE_I32, GST_TENSOR_DATA_TYPE_INT32 },
  { AXON_DTYPE_U32, GST_TENSOR_DATA_TYPE_UINT32 },
  { AXON_DTYPE_I64, GST_TENSOR_DATA_TYPE_INT64 },
  { AXON_DTYPE_U64, GST_TENSOR_DATA_TYPE_UINT64 },
};

/* Shares the memory; NULL: there is no such type. */
static GstTensor *
wrap (AxonTensor *tensor, const gchar *name)
{
  const AxonShape *shape = axon_tensor_get_shape (tensor);
  gsize dims[AXON_MAX_RANK];
  for (gint i = 0; i < shape->rank; i++)
    dims[i] = (gsize)shape->dims[i];
  for (guint i = 0; shape->rank > 0 && i < G_N_ELEMENTS (types); i++)
    if (types[i].ours == axon_tensor_get_dtype (tensor)) {
      GstBuffer *data = gst_buffer_new ();
      gst_nn_buffer_append_tensor (data, tensor);
      return gst_tensor_new_simple (g_quark_from_string (name), types[i].theirs, data,
                                    GST_TENSOR_DIM_ORDER_ROW_MAJOR, (gsize)shape->rank, dims);
    }
  return NULL;
}

/* A meta of its own: until 1.26.5 gst_buffer_add_tensor_meta() gives the one that is there, whose
 * tensors another element made. */
static GstTensorMeta *
add_meta (GstBuffer *buffer)
{
  return (GstTensorMeta *)gst_buffer_add_meta (buffer, gst_tensor_meta_get_info (), NULL);
}

void
gst_nn_share_tensors (GstBuffer *buffer, const GstNnTensorMeta *meta)
{
  GstTensor **tensors = g_new (GstTensor *, meta->tensors->len);
  guint n = 0;
  for (guint i = 0; i < meta->tensors->len; i++) {
    tensors[n] = wrap (g_ptr_array_index (meta->tensors, i), meta->names[i]);
    n += tensors[n] != NULL;
  }
  if (n > 0)
    gst_tensor_meta_set (add_meta (buffer), n, tensors);
  else
    g_free (tensors);
}

void
gst_nn_unshare_tensors (GstBuffer *buffer)
{
  GstMeta *meta, *last = NULL;
  gpointer state = NULL;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_TENSOR_META_API_TYPE)))
    last = meta;
  if (last != NULL)
    gst_buffer_remove_meta (buffer, last);
}
