/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers: rank, mode (0 constant, 1 edge, 2 reflect, 3 wrap), then of each axis its size in y, its
 * size in x, its step in x, and where x begins in y. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @S@ *value, __global @S@ *y, int has_value, int bits)
{
  int i = get_global_id(0), rest = i, from = 0;
  __global const int *q = P + p;
  int rank = q[0], mode = q[1];
  bool inside = true;
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    __global const int *a = q + 2 + 4 * d;
    int k = rest % a[0] - a[3], size = a[1];
    rest /= a[0];
    if (mode == 1)
      k = clamp(k, 0, size - 1);
    else if (mode == 3)
      k = ((k % size) + size) % size;
    else if (mode == 2 && size > 1)
      for (; k < 0 || k >= size; k = k < 0 ? -k : 2 * (size - 1) - k)
        ;
    inside = inside && k >= 0 && k < size;
    from += k * a[2];
  }
  y[i] = inside ? x[from] : has_value ? value[0] : (@S@)bits;
}
