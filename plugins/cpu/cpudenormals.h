/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Denormal numbers are slow; flushing them to zero is a mode of a thread. */
#pragma once

#include <glib.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

typedef guint64 CpuFloatMode;

static inline CpuFloatMode
cpu_float_mode_get (void)
{
#ifdef __SSE2__
  return _mm_getcsr ();
#elif defined(__aarch64__)
  guint64 fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
#else
  return 0;
#endif
}

static inline void
cpu_float_mode_set (CpuFloatMode mode)
{
#ifdef __SSE2__
  _mm_setcsr ((guint)mode);
#elif defined(__aarch64__)
  __asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
  (void)mode;
#endif
}

static inline void
cpu_denormals_set_flushed (gboolean flush)
{
#ifdef __SSE2__
  const CpuFloatMode bits = 0x8040;
#else
  const CpuFloatMode bits = (CpuFloatMode)1 << 24;
#endif
  CpuFloatMode mode = cpu_float_mode_get ();
  cpu_float_mode_set (flush ? mode | bits : mode & ~bits);
}
