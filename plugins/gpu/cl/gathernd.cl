/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GatherND: numbers are length of an index, elements of a slice, slices per batch of y, elements per
 * batch of x, then sizes and steps of the indexed axes. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @I@ *index, __global @S@ *y, __global int *status, int code)
{
  int i = get_global_id(0);
  __global const int *q = P + p;
  int length = q[0], slice = q[1], per_batch = q[2], batch_size = q[3];
  if (i >= n)
    return;
  int tuple = i / slice, from = tuple / per_batch * batch_size + i % slice;
  for (int d = 0; d < length; d++) {
    long k = index[tuple * length + d];
    k = k < 0 ? k + q[4 + d] : k;
    if (k < 0 || k >= q[4 + d]) {
      status[0] = code;
      y[i] = 0;
      return;
    }
    from += (int)k * q[4 + length + d];
  }
  y[i] = x[from];
}
