/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Softmax, LogSoftmax, Hardmax: an item does a line. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0);
  PARAMS(GpuLineParams);
  int inner = q->inner, length = q->length;
  if (i >= n)
    return;
  int base = i / inner * length * inner + i % inner, best = 0;
  @C@ most = LD_@N@(x, base), sum = 0;
  for (int j = 1; j < length; j++) {
    @C@ v = LD_@N@(x, base + j * inner);
    best = v > most ? j : best;
    most = v > most ? v : most;
  }
  for (int j = 0; j < length; j++)
    sum += exp(LD_@N@(x, base + j * inner) - most);
  for (int j = 0; j < length; j++) {
    @C@ v = LD_@N@(x, base + j * inner) - most;
    ST_@N@(y, base + j * inner, @RESULT@);
  }
}
