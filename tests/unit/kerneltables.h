/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tables of kernels, to be tested by themselves: those of levels and, where levels have other
 * widths, two whose instructions are written out in C, so that what a processor lacks is proved. */
#pragma once

#include "../../plugins/cpu/cpufeatures.h"
#include "../../plugins/cpu/vector/cpuvector.h"

#define AVX2 (CPU_FEATURE_AVX2 | CPU_FEATURE_FMA | CPU_FEATURE_F16C | CPU_FEATURE_BMI2)
#define AVX512                                                                                     \
  (AVX2 | CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512DQ | CPU_FEATURE_AVX512VL)

static const struct {
  const gchar *name;
  const CpuVector *vector;
  guint needs;
} tables[] = {
#ifdef __x86_64__
  { "SSE41", &cpu_vector_sse41, CPU_FEATURE_SSE41 },
  { "AVX2", &cpu_vector_avx2, AVX2 },
  { "AVX2_VNNI", &cpu_vector_avx2_vnni, AVX2 | CPU_FEATURE_AVX_VNNI },
  { "AVX512", &cpu_vector_avx512, AVX512 },
  { "AVX512_VNNI", &cpu_vector_avx512_vnni, AVX512 | CPU_FEATURE_AVX512_VNNI },
  { "AVX512_FP16", &cpu_vector_avx512_fp16,
    AVX512 | CPU_FEATURE_AVX512_VNNI | CPU_FEATURE_AVX512_FP16 },
  { "emulated, 32 bytes", &cpu_vector_emulated_32, 0 },
  { "emulated, 64 bytes", &cpu_vector_emulated_64, 0 },
#elif defined(__aarch64__)
  { "NEON", &cpu_vector_neon, CPU_FEATURE_ASIMD },
  { "NEON_DOTPROD", &cpu_vector_neon_dotprod, CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP },
  { "NEON_FP16", &cpu_vector_neon_fp16,
    CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP | CPU_FEATURE_ASIMDHP },
#else
  { "PORTABLE", &cpu_vector_portable, 0 },
#endif
};

/* TRUE where this processor has the instructions of table @i. */
static inline gboolean
table_is_here (gsize i)
{
  return (tables[i].needs & ~(guint)cpu_features_get ()) == 0;
}

/* FALSE for a level that stands on one before it, whose kernels of floats are its own, too. */
static inline gboolean
table_has_floats (gsize i)
{
  for (gsize k = 0; k < i; k++)
    if (tables[k].vector->eltwise == tables[i].vector->eltwise)
      return FALSE;
  return TRUE;
}
