/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An item reduces what belongs to one element of y. Numbers: kept rank, reduced rank, count, kept
 * sizes and steps, reduced sizes and steps. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_global_id(0), rest = i, base = 0;
  __global const int *q = P + p;
  int kept = q[0], reduced = q[1], count = q[2];
  __global const int *r = q + 3 + 2 * kept;
  if (i >= n)
    return;
  for (int d = kept - 1; d >= 0; d--) {
    base += rest % q[3 + d] * q[3 + kept + d];
    rest /= q[3 + d];
  }
  @A@ m = @SHIFT@, a = @INIT@;
  for (int pass = @FIRST@; pass < 2; pass++) {
    for (int j = 0; j < count; j++) {
      int o = base, t = j;
      for (int d = reduced - 1; d >= 0; d--) {
        o += t % r[d] * r[reduced + d];
        t /= r[d];
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
