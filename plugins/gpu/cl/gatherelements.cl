/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GatherElements: sizes are of y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @I@ *index, __global @S@ *y, __global int *status, int code)
{
  int i = get_global_id(0), rest = i, from = 0;
  PARAMS(GpuGatherElementsParams);
  int rank = q->rank, axis = q->axis, size = q->length;
  if (i >= n)
    return;
  long k = index[i];
  k = k < 0 ? k + size : k;
  if (k < 0 || k >= size) {
    status[0] = code;
    y[i] = 0;
    return;
  }
  for (int d = rank - 1; d >= 0; d--) {
    int at = rest % q->size[d];
    rest /= q->size[d];
    from += (d == axis ? (int)k : at) * q->x_step[d];
  }
  y[i] = x[from];
}
