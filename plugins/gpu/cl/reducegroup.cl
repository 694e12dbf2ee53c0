/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As reduce.cl, by a group for each element of y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_group_id(0), l = get_local_id(0), rest = i, base = 0;
  __global const int *q = P + p;
  int kept = q[0], reduced = q[1], count = q[2];
  __global const int *r = q + 3 + 2 * kept;
  __local @A@ part[64];
  const int m = 0;
  for (int d = kept - 1; d >= 0; d--) {
    base += rest % q[3 + d] * q[3 + kept + d];
    rest /= q[3 + d];
  }
  @A@ a = @INIT@;
  for (int j = l; j < count; j += 64) {
    int o = base, t = j;
    for (int d = reduced - 1; d >= 0; d--) {
      o += t % r[d] * r[reduced + d];
      t /= r[d];
    }
    @A@ v = LD_@N@(x, o);
    a = @ACC@;
  }
  part[l] = a;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (l > 0)
    return;
  for (int j = 1; j < 64; j++) {
    @A@ v = part[j];
    a = @JOIN@;
  }
  ST_@N@(y, i, @FIN@);
}
