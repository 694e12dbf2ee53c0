/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor: an item makes all channels of one element of the frame F. */
inline float3 @NAME@_fetch(__global const GpuFrameParams *f, __global const uchar *a,
                           __global const uchar *b, __global const uchar *c, int x, int y)
{
  __global const uchar *p = a + (size_t)y * f->stride[0] + x * f->pixel_bytes;
  if (f->kind == 0) {
    __global const uchar *uv = b + (size_t)(y / 2) * f->stride[1] + x / 2 * 2;
    return (float3)(p[0], uv[0], uv[1]);
  }
  if (f->kind == 1)
    return (float3)(p[0], b[(size_t)(y / 2) * f->stride[1] + x / 2],
                    c[(size_t)(y / 2) * f->stride[2] + x / 2]);
  return (float3)(p[f->color_offset[0]], p[f->color_offset[1]], p[f->color_offset[2]]);
}

__kernel void @NAME@(__global const int *P, int p, int n, __global const int *F,
                     __global const uchar *a, __global const uchar *b, __global const uchar *c,
                     __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuImageParams);
  __global const GpuFrameParams *f = (__global const GpuFrameParams *)F;
  int width = q->width, height = q->height, channels = q->channels;
  if (i >= n)
    return;
  int column = i % width, row = i / width;
  __global const GpuFrameTap *tx = (__global const GpuFrameTap *)(f + 1) + column;
  __global const GpuFrameTap *ty = (__global const GpuFrameTap *)(f + 1) + width + row;
  float3 v = (float3)(q->bars);
  if (tx->first >= 0 && ty->first >= 0) {
    float fx = tx->weight, fy = ty->weight;
    float3 top = @NAME@_fetch(f, a, b, c, tx->first, ty->first) * (1 - fx) +
                 @NAME@_fetch(f, a, b, c, tx->second, ty->first) * fx;
    float3 bottom = @NAME@_fetch(f, a, b, c, tx->first, ty->second) * (1 - fx) +
                    @NAME@_fetch(f, a, b, c, tx->second, ty->second) * fx;
    v = top * (1 - fy) + bottom * fy;
    if (f->kind < 2) {
      float l = v.x * f->luma_scale + f->luma_offset, u = v.y - 128, w = v.z - 128;
      v = (float3)(l + f->v_to_r * w, l - f->u_to_g * u - f->v_to_g * w,
                   l + f->u_to_b * u);
    }
    v = clamp(v, 0.0f, 255.0f);
    if (channels == 1)
      v.x = 0.299f * v.x + 0.587f * v.y + 0.114f * v.z;
    else if (q->blue_first)
      v = v.zyx;
  }
  float all[3] = { v.x, v.y, v.z };
  for (int k = 0; k < channels; k++) {
    float value = (all[k] - q->mean[k]) * q->scale[k];
    ST_@N@(y, q->channels_last ? i * channels + k : k * width * height + i, @VALUE@);
  }
}
