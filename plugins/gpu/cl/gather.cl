/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather: n = outer * count * inner. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @I@ *index, __global @S@ *y, __global int *status, int code)
{
  int i = get_global_id(0);
  PARAMS(GpuGatherParams);
  int count = q->count, inner = q->inner, size = q->length;
  if (i >= n)
    return;
  long k = index[i / inner % count];
  k = k < 0 ? k + size : k;
  if (k < 0 || k >= size) {
    status[0] = code;
    y[i] = 0;
    return;
  }
  y[i] = x[(i / inner / count * size + (int)k) * inner + i % inner];
}
