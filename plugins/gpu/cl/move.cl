/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements from one place to another: numbers are rank, x0, y0, sizes, steps in x, steps in y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x, __global @S@ *y)
{
  int i = get_global_id(0);
  __global const int *q = P + p;
  int rank = q[0], from = q[1], to = q[2];
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    int k = i % q[3 + d];
    i /= q[3 + d];
    from += k * q[3 + rank + d];
    to += k * q[3 + 2 * rank + d];
  }
  y[to] = x[from];
}
