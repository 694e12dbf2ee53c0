/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor: an item makes all channels of one element of the frame F. */
inline float @NAME@_sample(__global const GpuFrameParams *f, __global const GpuFrameComponent *c,
                           __global const uchar *plane, int x, int y)
{
  size_t at = c->offset + (size_t)(x >> c->shift_x) * c->step;
  __global const uchar *p =
      plane + (size_t)(y >> c->shift_y) * c->stride + at * f->sample_bytes;
  if (f->sample_bytes == 1)
    return p[0];
  return (f->big_endian ? p[0] * 256 + p[1] : p[1] * 256 + p[0]) * f->unit;
}

inline float3 @NAME@_fetch(__global const GpuFrameParams *f, __global const uchar *a,
                           __global const uchar *b, __global const uchar *c, int x, int y)
{
  __global const uchar *planes[3] = { a, b, c };
  float v[3];
  for (int k = 0; k < 3; k++)
    v[k] = @NAME@_sample(f, &f->component[k], planes[f->component[k].plane], x, y);
  return (float3)(v[0], v[1], v[2]);
}

inline long @NAME@_fixed(GpuFixed v)
{
  return ((long)v.whole << 32) + (uint)v.fraction;
}

/* Where a column and a row of the picture lie in the frame. */
inline long @NAME@_position(__global const GpuFrameParams *f, int axis, int column, int row)
{
  return @NAME@_fixed(f->origin[axis]) + column * @NAME@_fixed(f->column_step[axis]) +
         row * @NAME@_fixed(f->row_step[axis]);
}

inline float3 @NAME@_rgb(__global const GpuFrameParams *f, float3 v)
{
  float l = v.x * f->luma_scale + f->luma_offset, u = v.y - f->center, w = v.z - f->center;
  if (f->kind == 0)
    v = (float3)(l + f->v_to_r * w, l - f->u_to_g * u - f->v_to_g * w, l + f->u_to_b * u);
  else if (f->kind == 2)
    v = (float3)(l);
  return clamp(v, 0.0f, 255.0f);
}

inline float3 @NAME@_pixel(__global const GpuFrameParams *f, __global const uchar *a,
                           __global const uchar *b, __global const uchar *c, int column, int row)
{
  long px = @NAME@_position(f, 0, column, row), py = @NAME@_position(f, 1, column, row);
  int x0 = clamp((int)(px >> 32), f->first[0], f->last[0]);
  int x1 = clamp((int)(px >> 32) + 1, f->first[0], f->last[0]);
  int y0 = clamp((int)(py >> 32), f->first[1], f->last[1]);
  int y1 = clamp((int)(py >> 32) + 1, f->first[1], f->last[1]);
  float fx = (uint)px * 0x1p-32f, fy = (uint)py * 0x1p-32f;
  float3 top = @NAME@_fetch(f, a, b, c, x0, y0) * (1 - fx) +
               @NAME@_fetch(f, a, b, c, x1, y0) * fx;
  float3 bottom = @NAME@_fetch(f, a, b, c, x0, y1) * (1 - fx) +
                  @NAME@_fetch(f, a, b, c, x1, y1) * fx;
  return @NAME@_rgb(f, top * (1 - fy) + bottom * fy);
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
  int column = i % width - f->left, row = i / width - f->top;
  float3 v = (float3)(q->bars);
  if (column >= 0 && column < f->columns && row >= 0 && row < f->rows) {
    v = @NAME@_pixel(f, a, b, c, column, row);
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
