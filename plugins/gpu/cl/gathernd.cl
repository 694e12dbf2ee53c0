/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GatherND: sizes and steps are of the indexed axes. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @I@ *index, __global @S@ *y, __global int *status, int code)
{
  int i = get_global_id(0);
  PARAMS(GpuGatherNdParams);
  int length = q->length, slice = q->slice, per_batch = q->per_batch;
  int batch_size = q->batch_size;
  if (i >= n)
    return;
  int tuple = i / slice, from = tuple / per_batch * batch_size + i % slice;
  for (int d = 0; d < length; d++) {
    long k = index[tuple * length + d];
    k = k < 0 ? k + q->size[d] : k;
    if (k < 0 || k >= q->size[d]) {
      status[0] = code;
      y[i] = 0;
      return;
    }
    from += (int)k * q->x_step[d];
  }
  y[i] = x[from];
}
