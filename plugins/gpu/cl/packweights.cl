/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights [group][output][depth], or transposed ones, as [group][block of 8 outputs][depth][8].
 * Numbers: outputs per group, depth, taps, steps of group, output, input and tap. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *w, __global @A@ *y)
{
  int i = get_global_id(0);
  __global const int *q = P + p;
  int outputs = q[0], depth = q[1], taps = q[2], blocks = (outputs + 7) / 8;
  if (i >= n)
    return;
  int k = i / 8 % depth, block = i / 8 / depth % blocks, group = i / 8 / depth / blocks;
  int o = block * 8 + i % 8;
  @A@ v = 0;
  if (o < outputs)
    v = LD_@N@(w, group * q[3] + o * q[4] + k / taps * q[5] + k % taps * q[6]);
  y[i] = v;
}
