/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuframe.h"
#include "cl/params.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

gsize
gpu_frame_get_size (void)
{
  return sizeof (GpuFrameParams);
}

GpuFrameState *
gpu_frame_state_new (const GpuFrame *frame)
{
  GpuFrameState *state = g_new0 (GpuFrameState, 1);
  state->frame = frame;
  state->params = g_new0 (GpuFrameParams, 1);
  return state;
}

void
gpu_frame_state_free (GpuFrameState *state)
{
  g_free (state->params);
  g_free (state);
}

static void
set_colors (GpuFrameParams *to, const AxonImageInfo *info)
{
  AxonImageColors c;
  axon_image_colors_init (&c, info);
  to->unit = (gfloat)c.unit;
  to->center = (gfloat)c.center;
  to->luma_scale = (gfloat)c.luma_scale;
  to->luma_offset = (gfloat)c.luma_offset;
  to->v_to_r = (gfloat)c.v_to_r;
  to->u_to_g = (gfloat)c.u_to_g;
  to->v_to_g = (gfloat)c.v_to_g;
  to->u_to_b = (gfloat)c.u_to_b;
}

static void
set_format (GpuFrameParams *to, const AxonImageFormatInfo *f, const gint64 *stride)
{
  to->kind = (gint32)f->kind;
  to->sample_bytes = (gint32)f->sample_bytes;
  to->big_endian = f->big_endian;
  for (guint i = 0; i < G_N_ELEMENTS (f->component); i++) {
    const AxonImageComponent *c = &f->component[i];
    to->component[i] = (GpuFrameComponent){ .plane = c->plane,
                                            .stride = (gint32)stride[c->plane],
                                            .offset = c->offset,
                                            .step = c->step,
                                            .shift_x = c->shift_x,
                                            .shift_y = c->shift_y };
  }
}

static GpuFixed
to_fixed (gdouble v)
{
  gdouble whole = floor (v);
  return (GpuFixed){ (gint32)whole, (gint32)(guint32)ldexp (v - whole, 32) };
}

static void
set_params (GpuFrameState *state)
{
  const AxonImageTarget *t = &state->frame->target;
  GpuFrameParams *to = state->params;
  AxonImageSampling s;
  axon_image_sampling_init (&s, &state->info, t);
  set_format (to, s.format, state->info.stride);
  set_colors (to, &state->info);
  for (guint i = 0; i < 2; i++) {
    to->first[i] = s.first[i];
    to->last[i] = s.last[i];
    to->origin[i] = to_fixed (s.origin[i]);
    to->column_step[i] = to_fixed (s.column_step[i]);
    to->row_step[i] = to_fixed (s.row_step[i]);
  }
  to->left = s.geometry.dst_x;
  to->top = s.geometry.dst_y;
  to->columns = s.geometry.dst_width;
  to->rows = s.geometry.dst_height;
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
                 _ ("the description of a frame must be %d numbers in host memory"),
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
