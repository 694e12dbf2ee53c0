/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row per feature: its name, and where the processor or the system tells of it. x86 is asked
 * itself, because __builtin_cpu_supports() knows other names in every compiler. */
#include "cpufeatures.h"

#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#if defined(__x86_64__)

typedef enum { EAX, EBX, ECX, EDX } Register;

/* Registers that the system saves, as XCR0 has them. */
#define NO_STATE 0
#define AVX_STATE 0x06
#define AVX512_STATE 0xe6

static const struct {
  CpuFeatures feature;
  const gchar *name;
  guint leaf, subleaf;
  Register where;
  guint bit, state;
} rows[] = {
  { CPU_FEATURE_SSE41, "sse4_1", 1, 0, ECX, 19, NO_STATE },
  { CPU_FEATURE_AVX2, "avx2", 7, 0, EBX, 5, AVX_STATE },
  { CPU_FEATURE_FMA, "fma", 1, 0, ECX, 12, AVX_STATE },
  { CPU_FEATURE_F16C, "f16c", 1, 0, ECX, 29, AVX_STATE },
  { CPU_FEATURE_BMI2, "bmi2", 7, 0, EBX, 8, NO_STATE },
  { CPU_FEATURE_AVX_VNNI, "avx_vnni", 7, 1, EAX, 4, AVX_STATE },
  { CPU_FEATURE_AVX512F, "avx512f", 7, 0, EBX, 16, AVX512_STATE },
  { CPU_FEATURE_AVX512BW, "avx512bw", 7, 0, EBX, 30, AVX512_STATE },
  { CPU_FEATURE_AVX512DQ, "avx512dq", 7, 0, EBX, 17, AVX512_STATE },
  { CPU_FEATURE_AVX512VL, "avx512vl", 7, 0, EBX, 31, AVX512_STATE },
  { CPU_FEATURE_AVX512_VNNI, "avx512_vnni", 7, 0, ECX, 11, AVX512_STATE },
  { CPU_FEATURE_AVX512_FP16, "avx512_fp16", 7, 0, EDX, 23, AVX512_STATE },
};

#define OSXSAVE_BIT 27 /* of leaf 1, ECX: xgetbv may be used */

static guint
saved_state (void)
{
  guint r[4] = { 0 }, low, high;
  if (!__get_cpuid_count (1, 0, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) || !(r[ECX] >> OSXSAVE_BIT & 1))
    return NO_STATE;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static CpuFeatures
ask_processor (void)
{
  CpuFeatures all = 0;
  guint state = saved_state ();
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    guint r[4] = { 0 };
    if (__get_cpuid_count (rows[i].leaf, rows[i].subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]) &&
        (r[rows[i].where] >> rows[i].bit & 1) && (state & rows[i].state) == rows[i].state)
      all |= rows[i].feature;
  }
  return all;
}

#else

/* Bits of AT_HWCAP (Linux, arch/arm64/include/uapi/asm/hwcap.h). */
static const struct {
  CpuFeatures feature;
  const gchar *name;
  guint bit;
} rows[] = {
  { CPU_FEATURE_ASIMD, "asimd", 1 },
  { CPU_FEATURE_ASIMDDP, "asimddp", 20 },
  { CPU_FEATURE_ASIMDHP, "asimdhp", 10 },
};

static CpuFeatures
ask_processor (void)
{
  CpuFeatures all = 0;
#if defined(__aarch64__)
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (getauxval (AT_HWCAP) >> rows[i].bit & 1)
      all |= rows[i].feature;
#endif
  return all;
}

#endif

/* Asked once: in a virtual machine each cpuid is an exit to its host. */
CpuFeatures
cpu_features_get (void)
{
  static gsize asked; /* and 1, for there may be none */
  if (g_once_init_enter (&asked))
    g_once_init_leave (&asked, (gsize)ask_processor () << 1 | 1);
  return (CpuFeatures)(asked >> 1);
}

gchar *
cpu_features_to_string (CpuFeatures features)
{
  GString *s = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (features & rows[i].feature)
      g_string_append_printf (s, "%s%s", s->len ? " " : "", rows[i].name);
  return g_string_free (s, FALSE);
}
