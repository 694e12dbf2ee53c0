/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the processor has and the system keeps when threads change, of what a level may need. */
#pragma once

#include <glib.h>

typedef enum {
  CPU_FEATURE_SSE41 = 1 << 0,
  CPU_FEATURE_AVX2 = 1 << 1,
  CPU_FEATURE_FMA = 1 << 2,
  CPU_FEATURE_F16C = 1 << 3,
  CPU_FEATURE_BMI2 = 1 << 4,
  CPU_FEATURE_AVX_VNNI = 1 << 5,
  CPU_FEATURE_AVX512F = 1 << 6,
  CPU_FEATURE_AVX512BW = 1 << 7,
  CPU_FEATURE_AVX512DQ = 1 << 8,
  CPU_FEATURE_AVX512VL = 1 << 9,
  CPU_FEATURE_AVX512_VNNI = 1 << 10,
  CPU_FEATURE_AVX512_FP16 = 1 << 11,
  CPU_FEATURE_ASIMD = 1 << 12,
  CPU_FEATURE_ASIMDDP = 1 << 13,
  CPU_FEATURE_ASIMDHP = 1 << 14,
} CpuFeatures;

/* All bits that the processor has. */
CpuFeatures cpu_features_get (void);

/* Names of bits, as /proc/cpuinfo spells them, separated by spaces (transfer full). */
gchar *cpu_features_to_string (CpuFeatures features);
