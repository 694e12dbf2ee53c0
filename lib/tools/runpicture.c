/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures as inputs: gdk-pixbuf decodes, device TEMPLATE's image kernel resizes and normalises. */
#include "run-private.h"

#ifdef HAVE_PIXBUF
#include <gdk-pixbuf/gdk-pixbuf.h>

static gboolean
bind_frame (AxonInferRequest *request, GdkPixbuf *pixbuf, GError **error)
{
  AxonImageInfo info = { .format = gdk_pixbuf_get_has_alpha (pixbuf) ? AXON_IMAGE_FORMAT_RGBX
                                                                     : AXON_IMAGE_FORMAT_RGB,
                         .width = gdk_pixbuf_get_width (pixbuf),
                         .height = gdk_pixbuf_get_height (pixbuf),
                         .stride = { gdk_pixbuf_get_rowstride (pixbuf) } };
  AxonShape shape = { .rank = 1, .dims = { AXON_IMAGE_INFO_NUMEL } };
  g_autoptr (GBytes) info_bytes = g_bytes_new (&info, sizeof info);
  g_autoptr (GBytes) pixels = gdk_pixbuf_read_pixel_bytes (pixbuf);
  g_autoptr (GBytes) none = g_bytes_new_static ("", 1);
  g_autoptr (AxonTensor) info_tensor =
      axon_tensor_new_from_bytes (AXON_DTYPE_I64, &shape, info_bytes, error);
  gboolean ok =
      info_tensor != NULL && axon_infer_request_set_input_tensor (request, 0, info_tensor, error);
  for (guint p = 0; ok && p < AXON_IMAGE_MAX_PLANES; p++) {
    GBytes *bytes = p == 0 ? pixels : none;
    shape.dims[0] = (gint64)g_bytes_get_size (bytes);
    g_autoptr (AxonTensor) plane = axon_tensor_new_from_bytes (AXON_DTYPE_U8, &shape, bytes, error);
    ok = plane != NULL && axon_infer_request_set_input_tensor (request, 1 + p, plane, error);
  }
  return ok;
}

AxonTensor *
run_load_picture (AxonModel *model, guint index, const gchar *path, AxonPreprocess *preprocess,
                  GError **error)
{
  g_autoptr (GdkPixbuf) pixbuf = gdk_pixbuf_new_from_file (path, error);
  g_autoptr (AxonModel) whole = NULL, alone = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  const AxonShape *shape = axon_model_get_input_shape (model, index);
  gboolean nhwc;
  if (pixbuf == NULL)
    return NULL;
  /* Building over the model checks that the input is a picture. */
  whole = axon_preprocess_build (preprocess, model, index, error);
  if (whole == NULL)
    return NULL;
  nhwc = shape->dims[3] == 3 || shape->dims[3] == 1;
  axon_preprocess_set_layout (preprocess, nhwc ? "nhwc" : "nchw");
  if (shape->dims[nhwc ? 2 : 3] > 0)
    axon_preprocess_set_size (preprocess, (gint)shape->dims[nhwc ? 2 : 3],
                              (gint)shape->dims[nhwc ? 1 : 2]);
  axon_preprocess_set_dtype (preprocess, axon_model_get_input_dtype (model, index));
  alone = axon_preprocess_build (preprocess, NULL, 0, error);
  compiled = alone ? axon_core_compile_model (axon_core_get_default (), alone, "TEMPLATE", NULL,
                                              NULL, NULL, NULL, error)
                   : NULL;
  if (compiled == NULL)
    return NULL;
  request = axon_compiled_model_create_infer_request (compiled);
  if (!bind_frame (request, pixbuf, error) || !axon_infer_request_infer (request, error))
    return NULL;
  return axon_infer_request_get_output_tensor (request, 0);
}
#else
AxonTensor *
run_load_picture (G_GNUC_UNUSED AxonModel *model, G_GNUC_UNUSED guint index, const gchar *path,
                  G_GNUC_UNUSED AxonPreprocess *preprocess, GError **error)
{
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
      _ ("%s: this axon-run was built without gdk-pixbuf and reads no pictures; give a .npy "
         "or .pb file"),
      path);
  return NULL;
}
#endif
