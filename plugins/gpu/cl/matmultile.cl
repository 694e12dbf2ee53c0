/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products in local memory: 64 items make 64 rows by 8 * TILE columns, 8 by TILE an item, from 8
 * steps of depth at a time. A group has SLICES times so many items: each slice takes every SLICES-th
 * 8 steps, and their sums are added at the end. What comes next is read while this is multiplied.
 * Lines with a number in marks are repeated for each column of an item. */
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
#define LEFT(k) ((k) < depth ? LD_@N@(a, (k) * depth_step) : 0)
@FUSED@
__kernel __attribute__((reqd_work_group_size(64 * @SLICES@, 1, 1)))
void @NAME@(__global const int *P, int p, int n, __global const @T@ *a, __global const @T@ *b,
            __global const @T@ *c, __global @TY@ *restrict y, int has_c@MORE@)
{
  __local @C@8 left[@SLICES@][8][8];
  __local @C@ right[@SLICES@][8][8 * @TILE@];
  PARAMS(GpuProductParams);
  int rows = q->rows, columns = q->columns, depth = q->depth;
  int row_step = q->a_row, depth_step = q->a_depth;
  int l = get_local_id(0) % 64, slice = get_local_id(0) / 64;
  int batches = q->batches, z = get_global_id(2), rest = z;
  int i = get_global_id(1) * 64, j = get_group_id(0) * 8 * @TILE@;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q->size[d];
    rest /= q->size[d];
    a += at * q->a_step[d];
    b += at * q->b_step[d];
  }
  int first = l / (8 * @TILE@), turns = (depth + 8 * @SLICES@ - 1) / (8 * @SLICES@);
  a += (size_t)min(i + l, rows - 1) * row_step;
  b += min(j + l % (8 * @TILE@), columns - 1);
  @C@8 ahead = 0;
  @C@ b@t@ = 0;
  @C@8 s@t@ = 0;
  for (int turn = 0; turn <= turns; turn++) {
    int k = (turn * @SLICES@ + slice) * 8;
    if (turn < turns) {
      ahead = (@C@8)(LEFT(k), LEFT(k + 1), LEFT(k + 2), LEFT(k + 3), LEFT(k + 4), LEFT(k + 5), LEFT(k + 6), LEFT(k + 7));
      k += first;
      b@t@ = k + @t@ * (8 / @TILE@) < depth ? LD_@N@(b, (size_t)(k + @t@ * (8 / @TILE@)) * columns) : 0;
    }
    if (turn > 0) {
      for (int d = 0; d < 8; d++) {
        @C@8 v = left[slice][d][l / 8];
        s@t@ = MAC(v, (@C@8)(right[slice][d][l % 8 + 8 * @t@]), s@t@);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (turn < turns) {
      __local @C@ *to = (__local @C@ *)left[slice];
      to[l] = ahead.s0;
      to[64 + l] = ahead.s1;
      to[128 + l] = ahead.s2;
      to[192 + l] = ahead.s3;
      to[256 + l] = ahead.s4;
      to[320 + l] = ahead.s5;
      to[384 + l] = ahead.s6;
      to[448 + l] = ahead.s7;
      right[slice][first + @t@ * (8 / @TILE@)][l % (8 * @TILE@)] = b@t@;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  @C@8 sums[@TILE@];
  sums[@t@] = s@t@;
  ADD_SLICES(@SLICES@, @TILE@, (__local @C@8 *)left, sums)
  for (int t = slice; t < @TILE@ && j + l % 8 + 8 * t < columns; t += @SLICES@) {
    @C@ sum[8];
    vstore8(sums[t], 0, sum);
    for (int r = 0; r < 8 && i + l / 8 * 8 + r < rows; r++) {
      int row = i + l / 8 * 8 + r, column = j + l % 8 + 8 * t;
      @C@ v = sum[r] * (@C@)@ALPHA@;
      if (has_c)
        v += (@C@)@BETA@ * LD_@N@(c, row * q->c_row + column * q->c_column);
      PUT((z * rows + row) * columns + column, 0, v);
    }
  }
}
#undef LEFT
#undef PUT
#undef MAC
