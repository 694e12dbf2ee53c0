/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterElements into a copy: an item walks a line of indices along the axis, so that lines with
 * equal indices are reduced in order. Numbers: rank, axis, size of the axis in y, sizes of the
 * indices, steps of the indices, steps in y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @I@ *index,
                     __global const @T@ *updates, __global @T@ *y, __global int *status, int code)
{
  int i = get_global_id(0), from = 0, to = 0;
  __global const int *q = P + p;
  int rank = q[0], axis = q[1], size = q[2];
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    if (d == axis)
      continue;
    int at = i % q[3 + d];
    i /= q[3 + d];
    from += at * q[3 + rank + d];
    to += at * q[3 + 2 * rank + d];
  }
  for (int j = 0; j < q[3 + axis]; j++) {
    int u = from + j * q[3 + rank + axis];
    long k = index[u];
    k = k < 0 ? k + size : k;
    if (k < 0 || k >= size) {
      status[0] = code;
      continue;
    }
    int o = to + (int)k * q[3 + 2 * rank + axis];
    @C@ a = LD_@N@(y, o), b = LD_@N@(updates, u);
    ST_@N@(y, o, @REDUCE@);
  }
}
