/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements from one place to another. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x, __global @S@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuMoveParams);
  int rank = q->rank, from = q->from, to = q->to;
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    int k = i % q->size[d];
    i /= q->size[d];
    from += k * q->x_step[d];
    to += k * q->y_step[d];
  }
  y[to] = x[from];
}
