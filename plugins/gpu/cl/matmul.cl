/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products: an item makes 4 rows by 8 columns. b is row-major. Numbers: rows, columns, depth, steps of
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
  int j = get_global_id(0) * 8, i = get_global_id(1) * 4, z = get_global_id(2), rest = z;
  if (get_global_id(0) >= n)
    return;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q[10 + 3 * d];
    rest /= q[10 + 3 * d];
    a += at * q[11 + 3 * d];
    b += at * q[12 + 3 * d];
  }
  int r1 = min(i + 1, rows - 1), r2 = min(i + 2, rows - 1), r3 = min(i + 3, rows - 1);
  @C@ sum[4][8];
  if (j + 8 <= columns) {
    @C@8 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int k = 0; k < depth; k++) {
      @C@8 v = LD8_@N@(b, (size_t)k * columns + j);
      int o = k * depth_step;
      s0 = MAC(v, (@C@8)(LD_@N@(a, i * row_step + o)), s0);
      s1 = MAC(v, (@C@8)(LD_@N@(a, r1 * row_step + o)), s1);
      s2 = MAC(v, (@C@8)(LD_@N@(a, r2 * row_step + o)), s2);
      s3 = MAC(v, (@C@8)(LD_@N@(a, r3 * row_step + o)), s3);
    }
    vstore8(s0, 0, sum[0]);
    vstore8(s1, 0, sum[1]);
    vstore8(s2, 0, sum[2]);
    vstore8(s3, 0, sum[3]);
  } else {
    for (int r = 0; r < 4; r++)
      for (int s = 0; s < 8; s++) {
        int row = min(i + r, rows - 1), column = min(j + s, columns - 1);
        sum[r][s] = 0;
        for (int k = 0; k < depth; k++)
          sum[r][s] = MAC((@C@)LD_@N@(a, row * row_step + k * depth_step),
                          (@C@)LD_@N@(b, (size_t)k * columns + column), sum[r][s]);
      }
  }
  for (int r = 0; r < 4 && i + r < rows; r++)
    for (int s = 0; s < 8 && j + s < columns; s++) {
      @C@ v = sum[r][s] * (@C@)@ALPHA@;
      if (has_c)
        v += (@C@)@BETA@ * LD_@N@(c, (i + r) * q[7] + (j + s) * q[8]);
      PUT((z * rows + i + r) * columns + j + s, 0, v);
    }
}
#undef PUT
#undef MAC
