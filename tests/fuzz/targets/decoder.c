/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every decoder on outputs of any shape and any values, and the caps of such tensors: one byte for
 * the decoder, one for the number of outputs, of each its rank and dimensions, then f32 values,
 * which begin again where they end. */
#include "decoders/gstnnresults.h"
#include "fuzz.h"

#include <string.h>

#define MAX_ELEMENTS 20000

static AxonTensor *
make_tensor (FuzzBytes *bytes)
{
  AxonShape shape = { .rank = fuzz_byte (bytes) % 6 };
  AxonTensor *tensor;
  for (gint i = 0; i < shape.rank; i++) {
    guint8 b = fuzz_byte (bytes);
    shape.dims[i] = b < 200 ? b : (gint64)(b - 199) * 100;
  }
  if (axon_shape_get_numel (&shape) > MAX_ELEMENTS)
    return NULL;
  tensor = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  if (tensor != NULL)
    memset (axon_tensor_get_data (tensor), 0, axon_tensor_get_n_bytes (tensor));
  return tensor;
}

static void
fill (GPtrArray *tensors, const FuzzBytes *bytes)
{
  for (guint t = 0; bytes->n > 0 && t < tensors->len; t++) {
    guint8 *to = axon_tensor_get_data (g_ptr_array_index (tensors, t));
    gsize n = axon_tensor_get_n_bytes (g_ptr_array_index (tensors, t));
    for (gsize at = 0; at < n; at++)
      to[at] = bytes->data[at % bytes->n];
  }
}

static void
decode (const GstNnDecoder *decoder, const GstNnDecodeInput *in)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (GstNnDetection));
  GstBuffer *buffer = gst_buffer_new ();
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, 320, 240);
  gst_nn_decode_into (meta, decoder, in, 0.5, 100, 0, candidates);
  gst_buffer_unref (buffer);
}

static void
try_decoder (FuzzBytes *bytes)
{
  static const gchar *const labels[] = { "a", "b", "c" };
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  const GstNnDecoder *decoder =
      gst_nn_decoder_find (names[fuzz_byte (bytes) % g_strv_length (names)]);
  guint8 head = fuzz_byte (bytes);
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  GstNnDecodeInput in = { .tensors = tensors,
                          .labels = labels,
                          .n_labels = head & 64 ? 3 : 0,
                          .width = head & 128 ? 64 : 0,
                          .height = head & 128 ? 64 : 0,
                          .threshold = 0.1,
                          .to_frame = { 2, 0, 1, 0, 2, 1 } };
  if (in.n_labels == 0)
    in.labels = NULL;
  for (guint i = 0; i < head % 16u; i++) {
    AxonTensor *tensor = make_tensor (bytes);
    if (tensor == NULL)
      return;
    g_ptr_array_add (tensors, tensor);
  }
  fill (tensors, bytes);
  if (tensors->len > 0 && decoder->fits (&in))
    decode (decoder, &in);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  FuzzBytes bytes = { data, n };
  static gsize once;
  if (g_once_init_enter (&once)) {
    gst_init (NULL, NULL);
    g_once_init_leave (&once, 1);
  }
  try_decoder (&bytes);
  return 0;
}
