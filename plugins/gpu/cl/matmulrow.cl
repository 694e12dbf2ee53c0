/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of few rows: a group makes TILE rows by 64 columns. Each of its SLICES takes every
 * SLICES-th step of the depth, and their sums are added at the end. Lines with a number in marks are
 * repeated for each row. */
#define MAC(a, b, c) @MAC@
#define PUT(i, c, v) @PUT@
@FUSED@
__kernel __attribute__((reqd_work_group_size(64 * @SLICES@, 1, 1)))
void @NAME@(__global const int *P, int p, int n, __global const @T@ *a, __global const @T@ *b,
            __global const @T@ *c, __global @TY@ *restrict y, int has_c@MORE@)
{
  __local @C@ parts[@SLICES@ * 64];
  PARAMS(GpuProductParams);
  int rows = q->rows, columns = q->columns, depth = q->depth, depth_step = q->a_depth;
  int l = get_local_id(0) % 64, slice = get_local_id(0) / 64;
  int batches = q->batches, z = get_global_id(2), rest = z;
  int i = get_global_id(1) * @TILE@, j = get_group_id(0) * 64 + l;
  for (int d = batches - 1; d >= 0; d--) {
    int at = rest % q->size[d];
    rest /= q->size[d];
    a += at * q->a_step[d];
    b += at * q->b_step[d];
  }
  b += min(j, columns - 1);
  int r@t@ = min(i + @t@, rows - 1) * q->a_row;
  @C@ s@t@ = 0;
#pragma unroll 8
  for (int k = slice; k < depth; k += @SLICES@) {
    @C@ v = LD_@N@(b, (size_t)k * columns);
    s@t@ = MAC(v, (@C@)LD_@N@(a, r@t@ + k * depth_step), s@t@);
  }
  @C@ sums[@TILE@];
  sums[@t@] = s@t@;
  ADD_SLICES(@SLICES@, @TILE@, parts, sums)
  for (int t = slice; t < @TILE@ && i + t < rows && j < columns; t += @SLICES@) {
    @C@ v = sums[t] * (@C@)@ALPHA@;
    if (has_c)
      v += (@C@)@BETA@ * LD_@N@(c, (i + t) * q->c_row + j * q->c_column);
    PUT((z * rows + i + t) * columns + j, 0, v);
  }
}
#undef PUT
#undef MAC
