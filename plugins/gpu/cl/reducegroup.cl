/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* As reduce.cl, by a group for each element of y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *x, __global @T@ *y)
{
  int i = get_group_id(0), l = get_local_id(0), rest = i, base = 0;
  PARAMS(GpuReduceParams);
  int kept = q->kept, reduced = q->reduced, count = q->count;
  __local @A@ part[64];
  const int m = 0;
  for (int d = kept - 1; d >= 0; d--) {
    base += rest % q->kept_size[d] * q->kept_step[d];
    rest /= q->kept_size[d];
  }
  @A@ a = @INIT@;
  for (int j = l; j < count; j += 64) {
    int o = base, t = j;
    for (int d = reduced - 1; d >= 0; d--) {
      o += t % q->reduced_size[d] * q->reduced_step[d];
      t /= q->reduced_size[d];
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
