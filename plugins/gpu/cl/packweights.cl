/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights [group][output][depth], or transposed ones, as [group][block of 8 outputs][depth][8]. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *w, __global @A@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuPackWeightsParams);
  int outputs = q->outputs, depth = q->depth, taps = q->taps, blocks = (outputs + 7) / 8;
  if (i >= n)
    return;
  int k = i / 8 % depth, block = i / 8 / depth % blocks, group = i / 8 / depth / blocks;
  int o = block * 8 + i % 8;
  @A@ v = 0;
  if (o < outputs)
    v = LD_@N@(w, group * q->group_step + o * q->output_step + k / taps * q->input_step +
                   k % taps * q->tap_step);
  y[i] = v;
}
