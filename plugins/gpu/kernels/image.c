/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor. */
#include "kernels.h"
#include "../gpuframe.h"

static gint32
target_params (GpuPlan *plan, const AxonImageTarget *t)
{
  GpuImageParams params = { .width = t->width,
                            .height = t->height,
                            .channels = t->channels,
                            .channels_last = t->nhwc,
                            .blue_first = t->bgr,
                            .bars = (gfloat)t->pad };
  for (gint c = 0; c < t->channels; c++) {
    params.mean[c] = (gfloat)t->mean[c];
    params.scale[c] = (gfloat)t->scale[c];
  }
  return GPU_PARAMS_OF (plan, params);
}

/* The frame's inputs; FALSE where one is made by another node. */
static gboolean
find_inputs (GpuPlan *plan, const AxonNode *node, GpuFrame *frame)
{
  guint *const indices[] = { &frame->info, &frame->planes[0], &frame->planes[1],
                             &frame->planes[2] };
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++) {
    GpuTensor *t = node->inputs[i]->is_input ? gpu_plan_input (plan, node, i) : NULL;
    if (t == NULL)
      return FALSE;
    t->buffer->any_size = TRUE;
    *indices[i] = t->buffer->index;
  }
  return TRUE;
}

static gboolean
build_image (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  GpuFrame *frame = g_new0 (GpuFrame, 1);
  GpuTensor *numbers, *y;
  g_autofree gchar *value = NULL;
  g_autofree gchar *name = NULL;
  GpuStep *step;
  g_ptr_array_add (plan->frames, frame);
  if (!axon_image_target_init (&frame->target, node, NULL) || !find_inputs (plan, node, frame)) {
    g_ptr_array_remove (plan->frames, frame);
    *why = g_strdup ("the frame is no input of the model");
    return FALSE;
  }
  numbers = gpu_plan_frame_numbers (plan, gpu_frame_get_size ());
  frame->numbers = numbers->buffer;
  y = gpu_plan_output (plan, node, 0);
  value = axon_dtype_is_float (y->dtype) ? g_strdup ("value")
                                         : g_strdup_printf ("convert_%s_sat(floor(value + 0.5f))",
                                                            gpu_type_computed (y->dtype));
  name = gpu_kernel_for (plan, "image", "image", y->dtype, "VALUE", value, NULL);
  step = gpu_plan_step (plan, name, target_params (plan, &frame->target),
                        (gint64)frame->target.width * frame->target.height, 1, 1);
  gpu_step_read (plan, step, numbers);
  for (guint i = 1; i <= AXON_IMAGE_MAX_PLANES; i++)
    gpu_step_read (plan, step, gpu_plan_input (plan, node, i));
  gpu_step_write (plan, step, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .domain = AXON_DOMAIN_AXON, .name = "ImageToTensor", .impl = "image", .build = build_image },
};

GPU_DEFINE_FAMILY (image, rows)
