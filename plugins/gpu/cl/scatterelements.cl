/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterElements into a copy: an item walks a line of indices along the axis, so that lines with
 * equal indices are reduced in order. Sizes are of the indices. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @I@ *index,
                     __global const @T@ *updates, __global @T@ *y, __global int *status, int code)
{
  int i = get_global_id(0), from = 0, to = 0;
  PARAMS(GpuScatterElementsParams);
  int rank = q->rank, axis = q->axis, size = q->length;
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    if (d == axis)
      continue;
    int at = i % q->size[d];
    i /= q->size[d];
    from += at * q->index_step[d];
    to += at * q->y_step[d];
  }
  for (int j = 0; j < q->size[axis]; j++) {
    int u = from + j * q->index_step[axis];
    long k = index[u];
    k = k < 0 ? k + size : k;
    if (k < 0 || k >= size) {
      status[0] = code;
      continue;
    }
    int o = to + (int)k * q->y_step[axis];
    @C@ a = LD_@N@(y, o), b = LD_@N@(updates, u);
    ST_@N@(y, o, @REDUCE@);
  }
}
