/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ReverseSequence. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const long *lengths, __global @S@ *y, __global int *status,
                     int code)
{
  int i = get_global_id(0);
  PARAMS(GpuReverseParams);
  int d1 = q->size[1], inner = q->inner, time_first = q->time_first;
  if (i >= n)
    return;
  int a = i / inner / d1, b = i / inner % d1;
  int t = time_first ? a : b, item = time_first ? b : a;
  long length = lengths[item];
  if (length < 0 || length > (time_first ? q->size[0] : d1)) {
    status[0] = code;
    length = 0;
  }
  if (t < length)
    t = (int)length - 1 - t;
  y[i] = x[((time_first ? t : item) * d1 + (time_first ? item : t)) * inner + i % inner];
}
