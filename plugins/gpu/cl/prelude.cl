/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifdef cl_khr_integer_dot_product
#pragma OPENCL EXTENSION cl_khr_integer_dot_product : enable
#endif
/* What the kernel was given, by the names of params.h. */
#define PARAMS(type) __global const type *q = (__global const type *)(P + p)
/* Element types: LD and ST are how one is read and written; half and bfloat16 are computed as float. */
/* 8-bit results hang on ties: what is not said to be one operation is two. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define LD_f64(p, i) ((p)[i])
#define ST_f64(p, i, v) ((p)[i] = (v))
#endif
#define LD_f32(p, i) ((p)[i])
#define ST_f32(p, i, v) ((p)[i] = (v))
#define LD_f16(p, i) vload_half((i), (p))
#define ST_f16(p, i, v) vstore_half_rte((v), (i), (p))
#define LD_bf16(p, i) as_float((uint)(p)[i] << 16)
#define ST_bf16(p, i, v) ((p)[i] = to_bf16(v))
#define LD_i8(p, i) ((p)[i])
#define ST_i8(p, i, v) ((p)[i] = (v))
#define LD_u8(p, i) ((p)[i])
#define ST_u8(p, i, v) ((p)[i] = (v))
#define LD_i16(p, i) ((p)[i])
#define ST_i16(p, i, v) ((p)[i] = (v))
#define LD_u16(p, i) ((p)[i])
#define ST_u16(p, i, v) ((p)[i] = (v))
#define LD_i32(p, i) ((p)[i])
#define ST_i32(p, i, v) ((p)[i] = (v))
#define LD_u32(p, i) ((p)[i])
#define ST_u32(p, i, v) ((p)[i] = (v))
#define LD_i64(p, i) ((p)[i])
#define ST_i64(p, i, v) ((p)[i] = (v))
#define LD_u64(p, i) ((p)[i])
#define ST_u64(p, i, v) ((p)[i] = (v))
#define LD_bool(p, i) ((p)[i])
#define ST_bool(p, i, v) ((p)[i] = (v))

/* Eight elements in a row, of types that are multiplied. */
#define LD8_f32(p, i) vload8(0, (p) + (i))
#define LD8_f64(p, i) vload8(0, (p) + (i))
#define LD8_f16(p, i) vload_half8(0, (p) + (i))
#define LD8_bf16(p, i) as_float8(convert_uint8(vload8(0, (p) + (i))) << 16)
#define LD8_i32(p, i) vload8(0, (p) + (i))
#define LD8_u32(p, i) vload8(0, (p) + (i))
#define LD8_i64(p, i) vload8(0, (p) + (i))
#define LD8_u64(p, i) vload8(0, (p) + (i))

#define LARGER(a, b) (isnan(a) ? (a) : isnan(b) ? (b) : fmax((a), (b)))
#define SMALLER(a, b) (isnan(a) ? (a) : isnan(b) ? (b) : fmin((a), (b)))
#define LOWER(x, l) ((x) < (l) ? (l) : (x))
#define UPPER(x, h) ((x) > (h) ? (h) : (x))
/* The remainder with the divisor's sign; 0 of division by 0. */
#define WHOLE_MOD(a, b) ((b) == 0 ? 0 : ((a) % (b) != 0 && ((a) % (b) < 0) != ((b) < 0)) ? (a) % (b) + (b) : (a) % (b))
#define REAL_MOD(a, b) \
  (fmod((a), (b)) == 0 ? copysign(fmod((a), (b)), (b)) : (fmod((a), (b)) < 0) == ((b) < 0) ? fmod((a), (b)) : fmod((a), (b)) + (b))
#define ROUND_f16(x) round_f16(x)
#define ROUND_bf16(x) as_float((uint)to_bf16(x) << 16)

inline ushort to_bf16(float v)
{
  uint u = as_uint(v);
  return isnan(v) ? (ushort)0x7fc0 : (ushort)((u + 0x7fff + ((u >> 16) & 1)) >> 16);
}

inline float round_f16(float v)
{
  ushort h[1];
  vstore_half_rte(v, 0, (half *)h);
  return vload_half(0, (half *)h);
}

/* Half to even, of numbers below 2^22: rint is a call on some devices. */
inline int nearest(float v)
{
  return as_int(v + 12582912.0f) - as_int(12582912.0f);
}

/* What the slices of a group, of 64 items each, have summed is added: slice s has the sums t then
 * that are s modulo their number. In parts lies a sum of each item. */
#define ADD_SLICES(slices, count, parts, sums)                         \
  for (int t = 0; t < (count) && (slices) > 1; t++) {                  \
    (parts)[slice * 64 + l] = (sums)[t];                               \
    barrier(CLK_LOCAL_MEM_FENCE);                                      \
    if (t % (slices) == slice)                                         \
      for (int other = 1; other < (slices); other++)                   \
        (sums)[t] += (parts)[(slice + other) % (slices) * 64 + l];     \
    barrier(CLK_LOCAL_MEM_FENCE);                                      \
  }

#ifdef DP4A /* NVIDIA's devices have the instruction, and its driver no name for it */
inline int dp4a(int a, int b, int c)
{
  int d;
  asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
#endif

/* Products of four signed bytes each, eight times. */
inline int8 dot8(uint8 a, uint b, int8 c)
{
#if defined(cl_khr_integer_dot_product)
  return c + (int8)(dot_4x8packed_ss_int(a.s0, b), dot_4x8packed_ss_int(a.s1, b),
                    dot_4x8packed_ss_int(a.s2, b), dot_4x8packed_ss_int(a.s3, b),
                    dot_4x8packed_ss_int(a.s4, b), dot_4x8packed_ss_int(a.s5, b),
                    dot_4x8packed_ss_int(a.s6, b), dot_4x8packed_ss_int(a.s7, b));
#elif defined(DP4A)
  int x = as_int(b);
  int8 w = as_int8(a);
  return (int8)(dp4a(w.s0, x, c.s0), dp4a(w.s1, x, c.s1), dp4a(w.s2, x, c.s2), dp4a(w.s3, x, c.s3),
                dp4a(w.s4, x, c.s4), dp4a(w.s5, x, c.s5), dp4a(w.s6, x, c.s6), dp4a(w.s7, x, c.s7));
#else
  int8 w = as_int8(a);
  int x = as_int(b);
  return c + (w << 24 >> 24) * (x << 24 >> 24) + (w << 16 >> 24) * (x << 16 >> 24) +
         (w << 8 >> 24) * (x << 8 >> 24) + (w >> 24) * (x >> 24);
#endif
}

/* Saturating. */
inline long whole_power(long x, long n)
{
  long y = 1;
  if (n < 0)
    return x == 0 ? LONG_MAX : x == 1 ? 1 : x == -1 ? (n & 1 ? -1 : 1) : 0;
  if (pow(fabs((float)x), (float)n) > 9e18f)
    return x < 0 && (n & 1) ? LONG_MIN : LONG_MAX;
  for (; n > 0; n >>= 1, x *= x)
    y = n & 1 ? y * x : y;
  return y;
}
