/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnninferwidth.h"

#include <math.h>

/* What the model leaves free is -1. */
static gboolean
read_shape (const GstNnInferModel *m, AxonPictureShape *picture)
{
  return axon_picture_shape_init (picture, axon_model_get_input_shape (m->model, 0),
                                  m->description->color, NULL);
}

gboolean
gst_nn_infer_width_is_free (const GstNnInferModel *m)
{
  AxonPictureShape picture;
  return m->description->max_width > 0 && axon_model_get_n_inputs (m->model) == 1 &&
         read_shape (m, &picture) && picture.width < 0;
}

AxonModel *
gst_nn_infer_width_build (const GstNnInferModel *m, GError **error)
{
  g_autoptr (AxonModel) graph = axon_model_clone (m->model);
  AxonPictureShape picture;
  AxonShape shape;
  read_shape (m, &picture);
  shape = picture.channels_last ? AXON_SHAPE (1, m->input_height, -1, picture.channels)
                                : AXON_SHAPE (1, picture.channels, m->input_height, -1);
  return axon_model_reshape (graph, 0, &shape, error) ? g_steal_pointer (&graph) : NULL;
}

gint
gst_nn_infer_width_choose (const GstNnInferModel *m, gdouble width, gdouble height)
{
  gint most = MAX (m->description->max_width, m->input_width), octave = 4;
  gdouble wanted = height > 0 ? ceil (m->input_height * width / height) : most;
  gint rounded;
  if (!(wanted < most))
    return most;
  while (octave * 2 <= wanted)
    octave *= 2;
  rounded = (gint)ceil (wanted / (octave / 4)) * (octave / 4);
  return CLAMP (rounded, m->input_width, most);
}

static AxonInferRequest *
new_step (const GstNnInferModel *m, gint width, GError **error)
{
  g_autoptr (AxonPreprocess) pp = gst_nn_preprocess_new (m->description);
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) step = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  AxonPictureShape picture;
  read_shape (m, &picture);
  axon_preprocess_set_size (pp, width, m->input_height);
  axon_preprocess_set_dtype (pp, axon_model_get_input_dtype (m->model, 0));
  axon_preprocess_set_layout (pp, picture.channels_last ? "nhwc" : "nchw");
  step = axon_preprocess_build (pp, NULL, 0, error);
  if (step != NULL) /* pictures are made here, wherever the network runs */
    compiled = axon_core_compile_model (
        core, step, axon_core_has_device (core, "CPU", NULL) ? "CPU" : m->device, NULL, NULL, NULL,
        NULL, error);
  return compiled ? axon_compiled_model_create_infer_request (compiled) : NULL;
}

static AxonInferRequest *
get_step (const GstNnInferModel *m, gint width, GError **error)
{
  AxonInferRequest *step = g_hash_table_lookup (m->steps, GINT_TO_POINTER (width));
  if (step != NULL)
    return step;
  step = new_step (m, width, error);
  if (step != NULL)
    g_hash_table_insert (m->steps, GINT_TO_POINTER (width), step);
  return step;
}

gboolean
gst_nn_infer_width_bind (GstNnSlot *slot, GError **error)
{
  const GstNnInferModel *m = slot->model;
  AxonImageInfo *info = &slot->frame.info;
  g_autoptr (AxonTensor) picture = NULL;
  AxonInferRequest *step;
  slot->width = gst_nn_infer_width_choose (m, info->crop_width, info->crop_height);
  step = get_step (m, slot->width, error);
  if (step == NULL || !gst_nn_frame_bind_region (&slot->frame, info, step, 0, error) ||
      !axon_infer_request_infer (step, error))
    return FALSE;
  picture = axon_infer_request_get_output_tensor (step, 0);
  return axon_infer_request_set_input_tensor (slot->request, 0, picture, error);
}
