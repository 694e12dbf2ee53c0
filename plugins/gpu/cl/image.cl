/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon.ImageToTensor: an item makes all channels of one element. The frame F: 0 kind (0 NV12, 1 I420, 2
 * packed), 1 bytes of a pixel, 2 to 4 offsets of R, G and B, 5 to 7 strides, 8 to 14 the colour matrix,
 * then of every column its two source columns and the weight of the second, of every row the same; the
 * first is -1 where there is no picture. Numbers: width, height, channels, whether channels come
 * last, whether blue comes first, value of the bars, and per channel mean and scale. */
inline float3 @NAME@_fetch(__global const int *F, __global const uchar *a, __global const uchar *b,
                           __global const uchar *c, int x, int y)
{
  __global const uchar *p = a + (size_t)y * F[5] + x * F[1];
  if (F[0] == 0) {
    __global const uchar *uv = b + (size_t)(y / 2) * F[6] + x / 2 * 2;
    return (float3)(p[0], uv[0], uv[1]);
  }
  if (F[0] == 1)
    return (float3)(p[0], b[(size_t)(y / 2) * F[6] + x / 2], c[(size_t)(y / 2) * F[7] + x / 2]);
  return (float3)(p[F[2]], p[F[3]], p[F[4]]);
}

__kernel void @NAME@(__global const int *P, int p, int n, __global const int *F,
                     __global const uchar *a, __global const uchar *b, __global const uchar *c,
                     __global @T@ *y)
{
  int i = get_global_id(0);
  __global const int *q = P + p;
  int width = q[0], height = q[1], channels = q[2];
  if (i >= n)
    return;
  int column = i % width, row = i / width;
  __global const int *xs = F + 15 + 3 * column, *ys = F + 15 + 3 * width + 3 * row;
  float3 v = (float3)(as_float(q[5]));
  if (xs[0] >= 0 && ys[0] >= 0) {
    float fx = as_float(xs[2]), fy = as_float(ys[2]);
    float3 top = @NAME@_fetch(F, a, b, c, xs[0], ys[0]) * (1 - fx) +
                 @NAME@_fetch(F, a, b, c, xs[1], ys[0]) * fx;
    float3 bottom = @NAME@_fetch(F, a, b, c, xs[0], ys[1]) * (1 - fx) +
                    @NAME@_fetch(F, a, b, c, xs[1], ys[1]) * fx;
    v = top * (1 - fy) + bottom * fy;
    if (F[0] < 2) {
      float l = v.x * as_float(F[8]) + as_float(F[9]), u = v.y - 128, w = v.z - 128;
      v = (float3)(l + as_float(F[10]) * w, l - as_float(F[11]) * u - as_float(F[12]) * w,
                   l + as_float(F[13]) * u);
    }
    v = clamp(v, 0.0f, 255.0f);
    if (channels == 1)
      v.x = 0.299f * v.x + 0.587f * v.y + 0.114f * v.z;
    else if (q[4])
      v = v.zyx;
  }
  float all[3] = { v.x, v.y, v.z };
  for (int k = 0; k < channels; k++) {
    float value = (all[k] - as_float(q[6 + 2 * k])) * as_float(q[7 + 2 * k]);
    ST_@N@(y, q[3] ? i * channels + k : k * width * height + i, @VALUE@);
  }
}
