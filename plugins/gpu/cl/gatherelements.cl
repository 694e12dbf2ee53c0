/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GatherElements: numbers are rank, axis, size of the axis, sizes of y, steps in x. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @I@ *index, __global @S@ *y, __global int *status, int code)
{
  int i = get_global_id(0), rest = i, from = 0;
  __global const int *q = P + p;
  int rank = q[0], axis = q[1], size = q[2];
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
    int at = rest % q[3 + d];
    rest /= q[3 + d];
    from += (d == axis ? (int)k : at) * q[3 + rank + d];
  }
  y[i] = x[from];
}
