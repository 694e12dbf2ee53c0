/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnncommon.h"

#include <string.h>

void
gst_nn_post_error (GstElement *element, const GError *error)
{
  if (error->domain != AXON_ERROR) {
    GST_ELEMENT_ERROR (element, RESOURCE, FAILED, ("%s", error->message), (NULL));
    return;
  }
  switch ((AxonError)error->code) {
  case AXON_ERROR_ARGUMENT:
    GST_ELEMENT_ERROR (element, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
    break;
  case AXON_ERROR_MODEL:
  case AXON_ERROR_UNSUPPORTED:
    GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("%s", error->message), (NULL));
    break;
  case AXON_ERROR_DEVICE:
    GST_ELEMENT_ERROR (element, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
    break;
  case AXON_ERROR_MEMORY:
    GST_ELEMENT_ERROR (element, RESOURCE, NO_SPACE_LEFT, ("%s", error->message), (NULL));
    break;
  default:
    GST_ELEMENT_ERROR (element, LIBRARY, FAILED, ("%s", error->message), (NULL));
  }
}

static const struct {
  GstVideoFormat video;
  AxonImageFormat image;
} formats[] = {
  { GST_VIDEO_FORMAT_NV12, AXON_IMAGE_FORMAT_NV12 },
  { GST_VIDEO_FORMAT_I420, AXON_IMAGE_FORMAT_I420 },
  { GST_VIDEO_FORMAT_RGB, AXON_IMAGE_FORMAT_RGB },
  { GST_VIDEO_FORMAT_BGR, AXON_IMAGE_FORMAT_BGR },
  { GST_VIDEO_FORMAT_RGBx, AXON_IMAGE_FORMAT_RGBX },
  { GST_VIDEO_FORMAT_RGBA, AXON_IMAGE_FORMAT_RGBX },
  { GST_VIDEO_FORMAT_BGRx, AXON_IMAGE_FORMAT_BGRX },
  { GST_VIDEO_FORMAT_BGRA, AXON_IMAGE_FORMAT_BGRX },
  { GST_VIDEO_FORMAT_GRAY8, AXON_IMAGE_FORMAT_GRAY8 },
};

/* Colorimetry as the caps say; GStreamer fills in its default by size where they do not. */
void
gst_nn_image_info_init (AxonImageInfo *info, const GstVideoInfo *video)
{
  gdouble kr = 0.299, kb = 0.114;
  guint i = 0;
  while (i + 1 < G_N_ELEMENTS (formats) && formats[i].video != GST_VIDEO_INFO_FORMAT (video))
    i++;
  gst_video_color_matrix_get_Kr_Kb (video->colorimetry.matrix, &kr, &kb);
  *info = (AxonImageInfo){ .format = formats[i].image,
                           .width = GST_VIDEO_INFO_WIDTH (video),
                           .height = GST_VIDEO_INFO_HEIGHT (video),
                           .kr_1e6 = (gint64)(kr * 1e6 + 0.5),
                           .kb_1e6 = (gint64)(kb * 1e6 + 0.5),
                           .full_range = video->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255 };
}

static gboolean
bind_bytes (AxonInferRequest *request, guint input, AxonDType dtype, gpointer data, gint64 numel,
            GError **error)
{
  AxonShape shape = { .rank = 1, .dims = { numel } };
  g_autoptr (AxonTensor) tensor = axon_tensor_new_wrapped (
      dtype, &shape, data, (gsize)numel * axon_dtype_get_size (dtype), NULL, NULL, error);
  return tensor != NULL && axon_infer_request_set_input_tensor (request, input, tensor, error);
}

/* The planes are used in place: keep @frame until the request is done, then unmap it. */
gboolean
gst_nn_frame_bind (GstNnFrame *frame, const GstVideoInfo *video, GstBuffer *buffer,
                   AxonInferRequest *request, guint first_input, GError **error)
{
  static guint8 none[1];
  guint n;
  if (!gst_video_frame_map (&frame->frame, video, buffer,
                            GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the frame cannot be mapped: its buffer does not fit the caps"));
    return FALSE;
  }
  frame->mapped = TRUE;
  gst_nn_image_info_init (&frame->info, video);
  n = axon_image_format_get_n_planes ((AxonImageFormat)frame->info.format);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    gint64 rows = p == 0 ? frame->info.height : (frame->info.height + 1) / 2;
    gint64 bytes = 1;
    if (p < n) {
      frame->info.stride[p] = GST_VIDEO_FRAME_PLANE_STRIDE (&frame->frame, p);
      /* The last row ends with its last pixel, not with its stride. */
      bytes = frame->info.stride[p] * (rows - 1) +
              GST_VIDEO_FRAME_COMP_WIDTH (&frame->frame, p == 0 ? 0 : 1) *
                  GST_VIDEO_FRAME_COMP_PSTRIDE (&frame->frame, p == 0 ? 0 : 1);
    }
    if (!bind_bytes (request, first_input + 1 + p, AXON_DTYPE_U8,
                     p < n ? GST_VIDEO_FRAME_PLANE_DATA (&frame->frame, p) : none, bytes, error))
      return FALSE;
  }
  return bind_bytes (request, first_input, AXON_DTYPE_I64, &frame->info, AXON_IMAGE_INFO_NUMEL,
                     error);
}

void
gst_nn_frame_unmap (GstNnFrame *frame)
{
  if (frame->mapped)
    gst_video_frame_unmap (&frame->frame);
  frame->mapped = FALSE;
}

static void
append_dims (GString *s, const AxonShape *shape)
{
  for (gint i = shape->rank - 1; i >= 0; i--)
    g_string_append_printf (s, "%" G_GINT64_FORMAT "%s", shape->dims[i], i > 0 ? ":" : "");
  if (shape->rank == 0)
    g_string_append (s, "1");
}

/* Free dimensions or types that caps have no name for give caps without dimensions. */
GstCaps *
gst_nn_tensor_caps_new (guint n, const AxonDType *types, const AxonShape *shapes)
{
  g_autoptr (GString) dims = g_string_new (NULL);
  g_autoptr (GString) names = g_string_new (NULL);
  GstCaps *caps = gst_caps_from_string (GST_NN_TENSOR_CAPS);
  gst_caps_set_simple (caps, "num_tensors", G_TYPE_INT, (gint)n, NULL);
  for (guint i = 0; i < n; i++) {
    const gchar *name = axon_dtype_get_caps_name (types[i]);
    if (!axon_shape_is_static (&shapes[i]) || name == NULL)
      return caps;
    g_string_append_printf (names, "%s%s", i ? "," : "", name);
    if (i > 0)
      g_string_append_c (dims, ',');
    append_dims (dims, &shapes[i]);
  }
  gst_caps_set_simple (caps, "types", G_TYPE_STRING, names->str, "dimensions", G_TYPE_STRING,
                       dims->str, NULL);
  return caps;
}

static gboolean
parse_dims (const gchar *text, AxonShape *shape)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  guint n = g_strv_length (parts);
  while (n > AXON_MAX_RANK && g_str_equal (parts[n - 1], "1"))
    n--;
  *shape = (AxonShape){ .rank = (gint)n };
  for (guint i = 0; i < n && n <= AXON_MAX_RANK; i++)
    if (!g_ascii_string_to_signed (g_strstrip (parts[i]), 10, 1, G_MAXINT32,
                                   &shape->dims[n - 1 - i], NULL))
      return FALSE;
  return n >= 1 && n <= AXON_MAX_RANK;
}

gboolean
gst_nn_tensor_caps_parse (const GstCaps *caps, GArray *types, GArray *shapes, GError **error)
{
  const GstStructure *s = gst_caps_get_structure (caps, 0);
  const gchar *dims = gst_structure_get_string (s, "dimensions");
  const gchar *names = gst_structure_get_string (s, "types");
  g_auto (GStrv) d = g_strsplit_set (dims ? dims : "", ",.", -1);
  g_auto (GStrv) t = g_strsplit_set (names ? names : "", ",.", -1);
  guint n = g_strv_length (d);
  for (guint i = 0; n > 0 && n == g_strv_length (t) && i < n; i++) {
    AxonDType type = axon_dtype_from_name (g_strstrip (t[i]));
    AxonShape shape;
    if (type == AXON_DTYPE_UNDEFINED || !parse_dims (d[i], &shape))
      break;
    g_array_append_val (types, type);
    g_array_append_val (shapes, shape);
  }
  if (types->len == n && n > 0)
    return TRUE;
  g_autofree gchar *text = gst_caps_to_string (caps);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("caps %s: expected types and dimensions, such as types=float32, "
                  "dimensions=224:224:3:1"),
               text);
  return FALSE;
}

/* Leading 1s of our shapes are trailing 1s of theirs. */
static gboolean
same_numbers (const AxonShape *want, const AxonShape *got)
{
  gint rank = MAX (want->rank, got->rank);
  for (gint i = 0; i < rank; i++) {
    gint w = i - (rank - want->rank), g = i - (rank - got->rank);
    gint64 a = w < 0 ? 1 : want->dims[w], b = g < 0 ? 1 : got->dims[g];
    if (a >= 0 && a != b)
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_nn_tensor_caps_match (const GstCaps *caps, guint n, const AxonDType *types,
                          const AxonShape *shapes, GError **error)
{
  g_autoptr (GArray) got_types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  g_autoptr (GArray) got_shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  g_autoptr (GstCaps) wanted = gst_nn_tensor_caps_new (n, types, shapes);
  gboolean ok;
  if (!gst_nn_tensor_caps_parse (caps, got_types, got_shapes, error))
    return FALSE;
  ok = got_types->len == n;
  for (guint i = 0; ok && i < n; i++)
    ok = g_array_index (got_types, AxonDType, i) == types[i] &&
         same_numbers (&shapes[i], &g_array_index (got_shapes, AxonShape, i));
  if (!ok) {
    g_autofree gchar *got = gst_caps_to_string (caps);
    g_autofree gchar *want = gst_caps_to_string (wanted);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("the tensors do not fit the model: expected %s, got %s"), want, got);
  }
  return ok;
}

static const struct {
  const gchar *name, *blurb;
} model_props[] = {
  { "labels", N_ ("Names of the classes, separated by commas") },
  { "labels-file", N_ ("File with one class name per line") },
  { "color", N_ ("Channel order that the model wants: rgb, bgr or gray") },
  { "resize", N_ ("How a frame becomes the model's shape: stretch, letterbox, top-left or crop") },
  { "pad-value", N_ ("Pixel value of letterbox bars") },
  { "mean", N_ ("Subtracted from pixel values: one number, or one per channel") },
  { "scale", N_ ("Divisor of pixel values after the mean: one number, or one per channel") },
  { "width", N_ ("Input width where the model leaves it free") },
  { "height", N_ ("Input height where the model leaves it free") },
  { "decoder", N_ ("Decoder of the outputs; see nndecode") },
};

void
gst_nn_model_props_install (GObjectClass *klass)
{
  for (guint i = 0; i < G_N_ELEMENTS (model_props); i++)
    g_object_class_install_property (klass, GST_NN_MODEL_PROP_FIRST + i,
                                     g_param_spec_string (model_props[i].name, model_props[i].name,
                                                          _ (model_props[i].blurb), NULL,
                                                          G_PARAM_READWRITE | G_PARAM_STATIC_NAME |
                                                              G_PARAM_STATIC_NICK |
                                                              GST_PARAM_MUTABLE_READY));
}

void
gst_nn_model_props_init (GstNnModelProps *props)
{
  props->values = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
}

void
gst_nn_model_props_clear (GstNnModelProps *props)
{
  g_clear_pointer (&props->values, g_hash_table_unref);
}

gboolean
gst_nn_model_props_set (GstNnModelProps *props, guint id, const GValue *value)
{
  guint i = id - GST_NN_MODEL_PROP_FIRST;
  if (id < GST_NN_MODEL_PROP_FIRST || i >= G_N_ELEMENTS (model_props))
    return FALSE;
  if (g_value_get_string (value) == NULL)
    g_hash_table_remove (props->values, model_props[i].name);
  else
    g_hash_table_insert (props->values, (gpointer)model_props[i].name, g_value_dup_string (value));
  return TRUE;
}

gboolean
gst_nn_model_props_get (const GstNnModelProps *props, guint id, GValue *value)
{
  guint i = id - GST_NN_MODEL_PROP_FIRST;
  if (id < GST_NN_MODEL_PROP_FIRST || i >= G_N_ELEMENTS (model_props))
    return FALSE;
  g_value_set_string (value, g_hash_table_lookup (props->values, model_props[i].name));
  return TRUE;
}

/* Element properties first, then what lies beside the model and in it. */
GstNnDescription *
gst_nn_model_props_describe (const GstNnModelProps *props, const gchar *path, AxonModel *model,
                             GError **error)
{
  g_autoptr (GstNnDescription) d = gst_nn_description_new ();
  for (guint i = 0; i < G_N_ELEMENTS (model_props); i++) {
    const gchar *text = g_hash_table_lookup (props->values, model_props[i].name);
    if (text != NULL && !gst_nn_description_set (d, model_props[i].name, text, error))
      return NULL;
  }
  if (path != NULL && !gst_nn_description_load (d, path, model, error))
    return NULL;
  if (path == NULL) {
    d->color = d->color ? d->color : g_strdup ("rgb");
    d->resize = (gint)d->resize < 0 ? AXON_IMAGE_FIT_STRETCH : d->resize;
  }
  return g_steal_pointer (&d);
}

AxonPreprocess *
gst_nn_preprocess_new (const GstNnDescription *d)
{
  AxonPreprocess *pp = axon_preprocess_new ();
  axon_preprocess_set_color (pp, d->color);
  axon_preprocess_set_fit (pp, d->resize, d->pad_value);
  axon_preprocess_set_mean (pp, d->mean, d->n_mean);
  axon_preprocess_set_scale (pp, d->scale, d->n_scale);
  axon_preprocess_set_size (pp, d->width, d->height);
  return pp;
}
