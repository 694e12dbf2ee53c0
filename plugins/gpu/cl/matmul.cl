/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products: an item makes 8 rows by 8 columns. b is row-major. Numbers: rows, columns, depth, steps of
 * a along rows and depth, then per batch axis its size and steps in a and b; the product is scaled by
 * alpha, and c, scaled by beta, is added with its steps along rows and columns. */
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *a,
                     __global const @T@ *b, __global const @T@ *c, __global @TY@ *y, int has_c@MORE@)
{
  __global const int *q = P + p;
  int rows = q[0], columns = q[1], depth = q[2], row_step = q[3], depth_step = q[4];
  int batches = q[9];
  int j = get_global_id(0) * 8, i = get_global_id(1) * 8, z = get_global_id(2), rest = z;
  if (get_global_id(0) >= n)
    return;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q[10 + 3 * d];
    rest /= q[10 + 3 * d];
    a += at * q[11 + 3 * d];
    b += at * q[12 + 3 * d];
  }
  @C@ sum[8][8];
  if (j + 8 <= columns) {
    int r0 = min(i + 0, rows - 1) * row_step, r1 = min(i + 1, rows - 1) * row_step, r2 = min(i + 2, rows - 1) * row_step, r3 = min(i + 3, rows - 1) * row_step, r4 = min(i + 4, rows - 1) * row_step, r5 = min(i + 5, rows - 1) * row_step, r6 = min(i + 6, rows - 1) * row_step, r7 = min(i + 7, rows - 1) * row_step;
    @C@8 s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (int k = 0; k < depth; k++) {
      @C@8 v = LD8_@N@(b, (size_t)k * columns + j);
      int o = k * depth_step;
      s0 = MAC(v, (@C@8)(LD_@N@(a, r0 + o)), s0);
      s1 = MAC(v, (@C@8)(LD_@N@(a, r1 + o)), s1);
      s2 = MAC(v, (@C@8)(LD_@N@(a, r2 + o)), s2);
      s3 = MAC(v, (@C@8)(LD_@N@(a, r3 + o)), s3);
      s4 = MAC(v, (@C@8)(LD_@N@(a, r4 + o)), s4);
      s5 = MAC(v, (@C@8)(LD_@N@(a, r5 + o)), s5);
      s6 = MAC(v, (@C@8)(LD_@N@(a, r6 + o)), s6);
      s7 = MAC(v, (@C@8)(LD_@N@(a, r7 + o)), s7);
    }
    vstore8(s0, 0, sum[0]);
    vstore8(s1, 0, sum[1]);
    vstore8(s2, 0, sum[2]);
    vstore8(s3, 0, sum[3]);
    vstore8(s4, 0, sum[4]);
    vstore8(s5, 0, sum[5]);
    vstore8(s6, 0, sum[6]);
    vstore8(s7, 0, sum[7]);
  } else {
    for (int r = 0; r < 8; r++)
      for (int s = 0; s < 8; s++) {
        int row = min(i + r, rows - 1), column = min(j + s, columns - 1);
        sum[r][s] = 0;
        for (int k = 0; k < depth; k++)
          sum[r][s] = MAC((@C@)LD_@N@(a, row * row_step + k * depth_step),
                          (@C@)LD_@N@(b, (size_t)k * columns + column), sum[r][s]);
      }
  }
  for (int r = 0; r < 8 && i + r < rows; r++)
    for (int s = 0; s < 8 && j + s < columns; s++) {
      @C@ v = sum[r][s] * (@C@)@ALPHA@;
      if (has_c)
        v += (@C@)@BETA@ * LD_@N@(c, (i + r) * q[7] + (j + s) * q[8]);
      PUT((z * rows + i + r) * columns + j + s, 0, v);
    }
}
#undef PUT
#undef MAC
