/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trilu. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const long *k, __global @S@ *y, int has_k)
{
  int i = get_global_id(0);
  PARAMS(GpuTriluParams);
  int rows = q->rows, columns = q->columns;
  if (i >= n)
    return;
  long diagonal = (long)(i % columns) - i / columns % rows - (has_k ? k[0] : 0);
  y[i] = (q->upper ? diagonal >= 0 : diagonal <= 0) ? x[i] : (@S@)0;
}
