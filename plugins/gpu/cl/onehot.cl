/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OneHot: indices outside of -depth .. depth-1 give a line of off values. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @I@ *index,
                     __global const @V@ *values, __global @V@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuOneHotParams);
  int depth = q->depth, inner = q->inner;
  if (i >= n)
    return;
  long k = (long)LD_@N@(index, i / inner / depth * inner + i % inner);
  k = k < 0 ? k + depth : k;
  y[i] = values[k == i / inner % depth ? 1 : 0];
}
