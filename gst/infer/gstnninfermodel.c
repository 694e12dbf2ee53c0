/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "infer/gstnninfermodel.h"
#include "infer/gstnninfershare.h"
#include "infer/gstnninferwidth.h"

#include "caps/gstnncaps.h"
#include "elements/gstnnelement.h"
#include "frame/gstnnframe.h"
#include "infer/gstnnload.h"

GstNnInferModel *
gst_nn_infer_model_new (void)
{
  GstNnInferModel *m = g_new0 (GstNnInferModel, 1);
  g_atomic_ref_count_init (&m->ref_count);
  return m;
}

GstNnInferModel *
gst_nn_infer_model_ref (GstNnInferModel *m)
{
  g_atomic_ref_count_inc (&m->ref_count);
  return m;
}

void
gst_nn_infer_model_unref (GstNnInferModel *m)
{
  if (!g_atomic_ref_count_dec (&m->ref_count))
    return;
  g_free (m->path);
  g_free (m->device);
  g_free (m->extensions);
  g_clear_pointer (&m->config, gst_structure_free);
  gst_nn_model_props_clear (&m->props);
  g_clear_object (&m->model);
  g_clear_pointer (&m->description, gst_nn_description_unref);
  g_clear_object (&m->graph);
  g_clear_object (&m->compiled);
  g_clear_pointer (&m->steps, g_hash_table_unref);
  g_clear_pointer (&m->share, gst_nn_infer_share_unref);
  g_free (m->instance_id);
  g_free (m);
}

static gboolean
read_model (GstNnInferModel *m, GError **error)
{
  if (m->path == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("no model is set: give the path of an ONNX file, model=FILE.onnx"));
    return FALSE;
  }
  if (!gst_nn_load_extensions (m->extensions, error) ||
      !axon_core_has_device (axon_core_get_default (), m->device, error))
    return FALSE;
  m->model = gst_nn_load_model (m->path, error);
  if (m->model == NULL)
    return FALSE;
  m->description = gst_nn_model_props_describe (&m->props, m->path, m->model, error);
  return m->description != NULL;
}

gboolean
gst_nn_infer_model_open (GstNnInferModel *m, GError **error)
{
  return m->instance_id != NULL ? gst_nn_infer_share_open (m, read_model, error)
                                : read_model (m, error);
}

/* The model's input for frames of that size: what it fixes itself, else what its description says,
 * else what suits the frame. Its first input may be no picture: preparing it says so. */
static void
choose_size (GstNnInferModel *m, gint width, gint height)
{
  AxonPictureShape picture;
  if (!axon_picture_shape_init (&picture, axon_model_get_input_shape (m->model, 0),
                                m->description->color, NULL))
    return;
  m->input_width = picture.width >= 0 ? picture.width
                   : m->description->width
                       ? m->description->width
                       : gst_nn_frame_choose_size (width, height, picture.height);
  m->input_height = picture.height >= 0 ? picture.height
                    : m->description->height
                        ? m->description->height
                        : gst_nn_frame_choose_size (height, width, picture.width);
}

static AxonModel *
build_video (const GstNnInferModel *m, GError **error)
{
  g_autoptr (AxonPreprocess) pp = NULL;
  if (m->steps != NULL)
    return gst_nn_infer_width_build (m, error);
  pp = gst_nn_preprocess_new (m->description);
  if (gst_nn_infer_model_needs_caps (m, TRUE))
    axon_preprocess_set_size (pp, m->input_width, m->input_height);
  return axon_preprocess_build (pp, m->model, 0, error);
}

/* What another element built for the same can be built. */
static gboolean
prepare_video (GstNnInferModel *m, const GstCaps *caps, GError **error)
{
  GstVideoInfo info;
  gst_video_info_init (&info);
  if (caps != NULL && !gst_video_info_from_caps (&info, caps)) {
    g_autofree gchar *text = gst_caps_to_string (caps);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("the caps are no video: %s"), text);
    return FALSE;
  }
  choose_size (m, GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info));
  if (gst_nn_infer_width_is_free (m))
    m->steps = g_hash_table_new_full (NULL, NULL, NULL, g_object_unref);
  if (m->share != NULL && gst_nn_infer_share_is_known (m))
    return TRUE;
  m->graph = build_video (m, error);
  if (m->graph != NULL && m->share != NULL)
    gst_nn_infer_share_know (m);
  return m->graph != NULL;
}

AxonModel *
gst_nn_infer_model_ref_graph (const GstNnInferModel *m, GError **error)
{
  return m->graph ? g_object_ref (m->graph) : build_video (m, error);
}

void
gst_nn_infer_model_forget_graph (GstNnInferModel *m)
{
  if (m->is_video)
    g_clear_object (&m->graph);
}

static gboolean
tensors_fit (const GstNnInferModel *m, const GstCaps *caps, GError **error)
{
  guint n = axon_model_get_n_inputs (m->model);
  g_autofree AxonDType *types = g_new (AxonDType, n + 1);
  g_autofree AxonShape *shapes = g_new (AxonShape, n + 1);
  for (guint i = 0; i < n; i++) {
    types[i] = axon_model_get_input_dtype (m->model, i);
    shapes[i] = *axon_model_get_input_shape (m->model, i);
  }
  return gst_nn_tensor_caps_match (caps, n, types, shapes, error);
}

/* What the model leaves free, from caps that fit it; their leading 1s may be missing. */
static AxonShape
fill_shape (const AxonShape *model, const AxonShape *caps)
{
  AxonShape shape = *model;
  for (gint i = 0; i < shape.rank; i++) {
    gint k = caps->rank - shape.rank + i;
    if (shape.dims[i] < 0)
      shape.dims[i] = k >= 0 ? caps->dims[k] : 1;
  }
  return shape;
}

static gboolean
fix_shapes (GstNnInferModel *m, const GstCaps *caps, GError **error)
{
  g_autoptr (GArray) types = g_array_new (FALSE, FALSE, sizeof (AxonDType));
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  if (!tensors_fit (m, caps, error) || !gst_nn_tensor_caps_parse (caps, types, shapes, error))
    return FALSE;
  for (guint i = 0; i < shapes->len; i++) {
    AxonShape shape = fill_shape (axon_model_get_input_shape (m->graph, i),
                                  &g_array_index (shapes, AxonShape, i));
    if (!axon_model_reshape (m->graph, i, &shape, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
prepare_tensors (GstNnInferModel *m, const GstCaps *caps, GError **error)
{
  m->graph = axon_model_clone (m->model);
  return caps == NULL || fix_shapes (m, caps, error);
}

GstNnInferModel *
gst_nn_infer_model_prepare (const GstNnInferModel *opened, const GstNnStream *stream,
                            GError **error)
{
  g_autoptr (GstNnInferModel) m = gst_nn_infer_model_new ();
  m->path = g_strdup (opened->path);
  m->device = g_strdup (opened->device);
  m->device_is_set = opened->device_is_set;
  m->nireq = opened->nireq;
  m->max_memory = opened->max_memory;
  m->inference_timeout = opened->inference_timeout;
  m->config = opened->config ? gst_structure_copy (opened->config) : NULL;
  m->model = g_object_ref (opened->model);
  m->description = gst_nn_description_ref (opened->description);
  m->share = opened->share ? gst_nn_infer_share_ref (opened->share) : NULL;
  m->is_video = stream->is_video;
  m->goal = gst_nn_infer_model_choose_goal (m, stream->is_live);
  if (!(m->is_video ? prepare_video : prepare_tensors) (m, stream->caps, error))
    return NULL;
  return g_steal_pointer (&m);
}

gboolean
gst_nn_infer_model_is_alike (const GstNnInferModel *a, const GstNnInferModel *b)
{
  if (a->is_video != b->is_video || a->goal != b->goal || a->input_width != b->input_width ||
      a->input_height != b->input_height)
    return FALSE;
  for (guint i = 0; !a->is_video && i < axon_model_get_n_inputs (a->graph); i++)
    if (!axon_shape_equal (axon_model_get_input_shape (a->graph, i),
                           axon_model_get_input_shape (b->graph, i)))
      return FALSE;
  return TRUE;
}

/* Of video a batch that is left free is one picture. */
gboolean
gst_nn_infer_model_needs_caps (const GstNnInferModel *m, gboolean is_video)
{
  for (guint k = 0; k < (is_video ? 1 : axon_model_get_n_inputs (m->model)); k++) {
    const AxonShape *s = axon_model_get_input_shape (m->model, k);
    for (gint i = is_video; i < s->rank; i++)
      if (s->dims[i] < 0)
        return TRUE;
  }
  return FALSE;
}

gboolean
gst_nn_infer_model_is_imported (const GstNnInferModel *m)
{
  return !m->is_video && gst_nn_is_compiled_file (m->path);
}

GstCaps *
gst_nn_infer_model_get_caps (const GstNnInferModel *m, gboolean outputs)
{
  AxonModel *model = !m->is_video && m->graph ? m->graph : m->model;
  guint n = outputs ? axon_model_get_n_outputs (model) : axon_model_get_n_inputs (model);
  g_autofree AxonDType *types = g_new (AxonDType, n + 1);
  g_autofree AxonShape *shapes = g_new (AxonShape, n + 1);
  for (guint i = 0; i < n; i++) {
    types[i] =
        outputs ? axon_model_get_output_dtype (model, i) : axon_model_get_input_dtype (model, i);
    shapes[i] =
        outputs ? *axon_model_get_output_shape (model, i) : *axon_model_get_input_shape (model, i);
  }
  return gst_nn_tensor_caps_new (n, types, shapes);
}
