/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pad. */
__kernel void @NAME@(__global const int *P, int p, int n, __global const @S@ *x,
                     __global const @S@ *value, __global @S@ *y, int has_value, int bits)
{
  int i = get_global_id(0), rest = i, from = 0;
  PARAMS(GpuPadParams);
  int rank = q->rank, mode = q->mode;
  bool inside = true;
  if (i >= n)
    return;
  for (int d = rank - 1; d >= 0; d--) {
    __global const GpuPadAxis *a = &q->axis[d];
    int k = rest % a->size - a->start, size = a->x_size;
    rest /= a->size;
    if (mode == 1)
      k = clamp(k, 0, size - 1);
    else if (mode == 3)
      k = ((k % size) + size) % size;
    else if (mode == 2 && size > 1)
      for (; k < 0 || k >= size; k = k < 0 ? -k : 2 * (size - 1) - k)
        ;
    inside = inside && k >= 0 && k < size;
    from += k * a->x_step;
  }
  y[i] = inside ? x[from] : has_value ? value[0] : (@S@)bits;
}
