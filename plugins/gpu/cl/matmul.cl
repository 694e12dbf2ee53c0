/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products: an item makes TILE rows by 8 columns; lines with a number in marks are repeated for
 * each. b is row-major. The product is scaled by alpha, and c, scaled by beta, is added. */
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel void @NAME@(__global const int *P, int p, int n, __global const @T@ *a,
                     __global const @T@ *b, __global const @T@ *c, __global @TY@ *restrict y, int has_c@MORE@)
{
  PARAMS(GpuProductParams);
  int rows = q->rows, columns = q->columns, depth = q->depth;
  int row_step = q->a_row, depth_step = q->a_depth;
  int batches = q->batches;
  int j = get_global_id(0) * 8, i = get_global_id(1) * @TILE@, z = get_global_id(2), rest = z;
  if (get_global_id(0) >= n)
    return;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q->size[d];
    rest /= q->size[d];
    a += at * q->a_step[d];
    b += at * q->b_step[d];
  }
  @C@ sum[@TILE@][8];
  if (j + 8 <= columns) {
    int r@t@ = min(i + @t@, rows - 1) * row_step;
    @C@8 s@t@ = 0;
    for (int k = 0; k < depth; k++) {
      @C@8 v = LD8_@N@(b, (size_t)k * columns + j);
      int o = k * depth_step;
      s@t@ = MAC(v, (@C@8)(LD_@N@(a, r@t@ + o)), s@t@);
    }
    vstore8(s@t@, 0, sum[@t@]);
  } else {
    for (int r = 0; r < @TILE@; r++)
      for (int s = 0; s < 8; s++) {
        int row = min(i + r, rows - 1), column = min(j + s, columns - 1);
        sum[r][s] = 0;
        for (int k = 0; k < depth; k++)
          sum[r][s] = MAC((@C@)LD_@N@(a, row * row_step + k * depth_step),
                          (@C@)LD_@N@(b, (size_t)k * columns + column), sum[r][s]);
      }
  }
  for (int r = 0; r < @TILE@ && i + r < rows; r++)
    for (int s = 0; s < 8 && j + s < columns; s++) {
      @C@ v = sum[r][s] * (@C@)@ALPHA@;
      if (has_c)
        v += (@C@)@BETA@ * LD_@N@(c, (i + r) * q->c_row + (j + s) * q->c_column);
      PUT((z * rows + i + r) * columns + j + s, 0, v);
    }
}
#undef PUT
#undef MAC
