/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterND into a copy: an item walks all indices for one element of the slices, so that equal ones
 * are reduced in order. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @I@ *index,
                     __global const @T@ *updates, __global @T@ *y, __global int *status, int code)
{
  int i = get_global_id(0);
  PARAMS(GpuScatterNdParams);
  int length = q->length, tuples = q->tuples;
  if (i >= n)
    return;
  for (int t = 0; t < tuples; t++) {
    int o = i;
    bool inside = true;
    for (int d = 0; d < length; d++) {
      long k = index[t * length + d];
      k = k < 0 ? k + q->size[d] : k;
      inside = inside && k >= 0 && k < q->size[d];
      o += (int)k * q->y_step[d];
    }
    if (!inside) {
      status[0] = code;
      continue;
    }
    @C@ a = LD_@N@(y, o), b = LD_@N@(updates, t * n + i);
    ST_@N@(y, o, @REDUCE@);
  }
}
