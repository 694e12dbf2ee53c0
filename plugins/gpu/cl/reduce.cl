/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An item reduces what belongs to one element of y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0), rest = i, base = 0;
  PARAMS(GpuReduceParams);
  int kept = q->kept, reduced = q->reduced, count = q->count;
  if (i >= n)
    return;
  for (int d = kept - 1; d >= 0; d--) {
    base += rest % q->kept_size[d] * q->kept_step[d];
    rest /= q->kept_size[d];
  }
  @A@ m = @SHIFT@, a = @INIT@;
  for (int pass = @FIRST@; pass < 2; pass++) {
    for (int j = 0; j < count; j++) {
      int o = base, t = j;
      for (int d = reduced - 1; d >= 0; d--) {
        o += t % q->reduced_size[d] * q->reduced_step[d];
        t /= q->reduced_size[d];
      }
      @A@ v = LD_@N@(x, o);
      if (pass == 0)
        m = v > m ? v : m;
      else
        a = @ACC@;
    }
    if (pass == 0 && (m - m) != 0)
      m = 0;
  }
  ST_@N@(y, i, @FIN@);
}
