/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products in local memory: a group of 64 items makes 64 rows by 8 * TILE columns, 8 by TILE an item,
 * from 8 steps of depth at a time. Lines with a number in marks are repeated for each column of an
 * item. */
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void @NAME@(__global const int *P, int p, int n, __global const @T@ *a, __global const @T@ *b,
            __global const @T@ *c, __global @TY@ *restrict y, int has_c@MORE@)
{
  __local @C@ left[8][64];
  __local @C@ right[8][8 * @TILE@];
  PARAMS(GpuProductParams);
  int rows = q->rows, columns = q->columns, depth = q->depth;
  int row_step = q->a_row, depth_step = q->a_depth;
  int batches = q->batches, l = get_local_id(0), z = get_global_id(2), rest = z;
  int i = get_global_id(1) * 64, j = get_group_id(0) * 8 * @TILE@;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q->size[d];
    rest /= q->size[d];
    a += at * q->a_step[d];
    b += at * q->b_step[d];
  }
  a += (size_t)min(i + l, rows - 1) * row_step;
  b += min(j + l % (8 * @TILE@), columns - 1);
  @C@8 s@t@ = 0;
  for (int k = 0; k < depth; k += 8) {
    for (int d = 0; d < 8; d++)
      left[d][l] = k + d < depth ? LD_@N@(a, (k + d) * depth_step) : 0;
    for (int t = 0, d = l / (8 * @TILE@); t < @TILE@; t++, d += 8 / @TILE@)
      right[d][l % (8 * @TILE@)] = k + d < depth ? LD_@N@(b, (size_t)(k + d) * columns) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < 8; d++) {
      @C@8 v = vload8(l / 8, left[d]);
      s@t@ = MAC(v, (@C@8)(right[d][l % 8 + 8 * @t@]), s@t@);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  @C@ sum[@TILE@][8];
  vstore8(s@t@, 0, sum[@t@]);
  for (int r = 0; r < 8 && i + l / 8 * 8 + r < rows; r++)
    for (int t = 0; t < @TILE@ && j + l % 8 + 8 * t < columns; t++) {
      int row = i + l / 8 * 8 + r, column = j + l % 8 + 8 * t;
      @C@ v = sum[t][r] * (@C@)@ALPHA@;
      if (has_c)
        v += (@C@)@BETA@ * LD_@N@(c, row * q->c_row + column * q->c_column);
      PUT((z * rows + row) * columns + column, 0, v);
    }
}
#undef PUT
#undef MAC
