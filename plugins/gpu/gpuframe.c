/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuframe.h"
#include "cl/params.h"

#include <math.h>
#include <string.h>

gsize
gpu_frame_get_size (const GpuFrame *frame)
{
  return sizeof (GpuFrameParams) +
         (gsize)(frame->target.width + frame->target.height) * sizeof (GpuFrameTap);
}

GpuFrameState *
gpu_frame_state_new (const GpuFrame *frame)
{
  GpuFrameState *state = g_new0 (GpuFrameState, 1);
  state->frame = frame;
  state->params = g_malloc0 (gpu_frame_get_size (frame));
  return state;
}

void
gpu_frame_state_free (GpuFrameState *state)
{
  g_free (state->params);
  g_free (state);
}

static void
set_matrix (GpuFrameParams *to, const AxonImageInfo *info)
{
  gdouble kr = (gdouble)info->kr_1e6 / 1e6, kb = (gdouble)info->kb_1e6 / 1e6, kg = 1 - kr - kb;
  gdouble y = info->full_range ? 1 : 255. / 219, c = info->full_range ? 1 : 255. / 224;
  to->luma_scale = (gfloat)y;
  to->luma_offset = (gfloat)(info->full_range ? 0 : -16 * y);
  to->v_to_r = (gfloat)(2 * (1 - kr) * c);
  to->u_to_g = (gfloat)(2 * kb * (1 - kb) / kg * c);
  to->v_to_g = (gfloat)(2 * kr * (1 - kr) / kg * c);
  to->u_to_b = (gfloat)(2 * (1 - kb) * c);
}

static void
set_taps (GpuFrameTap *to, gint n, gint first, gint shown, gdouble start, gdouble step, gint64 size)
{
  for (gint i = 0; i < n; i++) {
    gdouble at = start + (i - first + 0.5) * step - 0.5, base = floor (at);
    gboolean outside = i < first || i >= first + shown;
    to[i] = (GpuFrameTap){
      .first = outside ? -1 : (gint32)CLAMP (base, 0, (gdouble)size - 1),
      .second = (gint32)CLAMP (base + 1, 0, (gdouble)size - 1),
      .weight = (gfloat)(at - base),
    };
  }
}

static void
set_params (GpuFrameState *state)
{
  static const gint32 rgb[] = { 0, 1, 2 }, bgr[] = { 2, 1, 0 }, gray[] = { 0, 0, 0 };
  const AxonImageInfo *info = &state->info;
  const AxonImageTarget *t = &state->frame->target;
  AxonImageFormat format = (AxonImageFormat)info->format;
  GpuFrameParams *to = state->params;
  GpuFrameTap *columns = (GpuFrameTap *)(to + 1), *rows = columns + t->width;
  AxonImageGeometry g;
  axon_image_geometry_init (&g, info, t->fit, t->width, t->height);
  to->kind = format == AXON_IMAGE_FORMAT_NV12 ? 0 : format == AXON_IMAGE_FORMAT_I420 ? 1 : 2;
  to->pixel_bytes = (gint32)axon_image_format_get_pixel_stride (format);
  memcpy (to->color_offset,
          format == AXON_IMAGE_FORMAT_GRAY8                                     ? gray
          : format == AXON_IMAGE_FORMAT_BGR || format == AXON_IMAGE_FORMAT_BGRX ? bgr
                                                                                : rgb,
          sizeof rgb);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++)
    to->stride[p] = (gint32)info->stride[p];
  set_matrix (to, info);
  set_taps (columns, t->width, g.dst_x, g.dst_width, g.x, g.scale_x, info->width);
  set_taps (rows, t->height, g.dst_y, g.dst_height, g.y, g.scale_y, info->height);
}

gboolean
gpu_frame_state_update (GpuFrameState *state, AxonInferRequest *request, gboolean *changed,
                        GError **error)
{
  const GpuFrame *frame = state->frame;
  AxonTensor *t = axon_infer_request_peek_input (request, frame->info);
  gsize n_bytes[AXON_IMAGE_MAX_PLANES];
  AxonImageInfo info;
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++)
    n_bytes[p] = axon_tensor_get_numel (axon_infer_request_peek_input (request, frame->planes[p]));
  if (axon_tensor_is_remote (t) || axon_tensor_get_numel (t) != (gsize)AXON_IMAGE_INFO_NUMEL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 "the description of a frame must be %d numbers in host memory",
                 (gint)AXON_IMAGE_INFO_NUMEL);
    return FALSE;
  }
  memcpy (&info, axon_tensor_get_data (t), sizeof info);
  if (!axon_image_info_check (&info, n_bytes, error))
    return FALSE;
  *changed = !state->known || memcmp (&info, &state->info, sizeof info) != 0;
  if (!*changed)
    return TRUE;
  state->info = info;
  state->known = TRUE;
  set_params (state);
  return TRUE;
}
