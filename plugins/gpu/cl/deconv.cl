/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ConvTranspose: an item makes 8 channels of one pixel from all that reach it. The window
 * is of the convolution whose gradient it is: x here has its size of y, and y here its size of x. */
#define LOAD(i) @LOAD@
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x,
                     __global const @W@ *w, __global const @B@ *bias, __global const float *scale,
                     __global @TY@ *restrict y, int has_bias, int x_zero, int y_zero@MORE@)
{
  PARAMS(GpuConvParams);
  __global const GpuWindow *win = &q->window;
  int i = get_global_id(0), z = get_global_id(2);
  int inputs = q->inputs, outputs = q->outputs, blocks = q->blocks, groups = q->groups;
  int group = get_global_id(1) / blocks, block = get_global_id(1) % blocks;
  int size = win->out[0] * win->out[1] * win->out[2], pixels = win->in[0] * win->in[1] * win->in[2];
  int taps = win->taps[0] * win->taps[1] * win->taps[2], depth = inputs * taps;
  if (i >= n)
    return;
  int ox = i % win->in[2] + win->pad[2], oy = i / win->in[2] % win->in[1] + win->pad[1];
  int oz = i / win->in[2] / win->in[1] + win->pad[0];
  @A@8 sum = 0;
  w += (size_t)(group * blocks + block) * depth * 8;
  x += (size_t)(z * groups + group) * inputs * size;
  for (int t = 0; t < taps; t++) {
    int k = ox - t % win->taps[2] * win->dilation[2];
    int j = oy - t / win->taps[2] % win->taps[1] * win->dilation[1];
    int d = oz - t / win->taps[2] / win->taps[1] * win->dilation[0];
    if (k < 0 || j < 0 || d < 0 || k % win->stride[2] || j % win->stride[1] || d % win->stride[0])
      continue;
    k /= win->stride[2];
    j /= win->stride[1];
    d /= win->stride[0];
    if (k >= win->out[2] || j >= win->out[1] || d >= win->out[0])
      continue;
    for (int c = 0; c < inputs; c++)
      sum = MAC(vload8(c * taps + t, w), LOAD(c * size + (d * win->out[1] + j) * win->out[2] + k), sum);
  }
  @A@ sums[8];
  vstore8(sum, 0, sums);
  int to = (z * groups + group) * outputs * pixels + i;
  for (int o = 0; o < 8 && block * 8 + o < outputs; o++) {
    int channel = block * 8 + o;
    @A@ more = has_bias ? LD_@BN@(bias, group * outputs + channel) : 0;
    PUT(to + channel * pixels, group * outputs + channel, sums[o] + more);
  }
}
#undef LOAD
#undef MAC
#undef PUT
