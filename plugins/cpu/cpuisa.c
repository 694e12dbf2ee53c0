/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Levels of instruction sets, the largest last. */
#include "cpuisa.h"

#if defined(__x86_64__)

static gboolean
has_sse41 (void)
{
  return __builtin_cpu_supports ("sse4.1");
}

static gboolean
has_avx2 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("f16c") && __builtin_cpu_supports ("bmi2");
}

static gboolean
has_avx2_vnni (void)
{
  return has_avx2 () && __builtin_cpu_supports ("avxvnni");
}

static gboolean
has_avx512 (void)
{
  return has_avx2 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl");
}

static gboolean
has_avx512_vnni (void)
{
  return has_avx512 () && __builtin_cpu_supports ("avx512vnni");
}

static const CpuIsa levels[] = {
  { "SSE41", &cpu_vector_sse41, has_sse41 },
  { "AVX2", &cpu_vector_avx2, has_avx2 },
  { "AVX2_VNNI", &cpu_vector_avx2_vnni, has_avx2_vnni },
  { "AVX512", &cpu_vector_avx512, has_avx512 },
  { "AVX512_VNNI", &cpu_vector_avx512_vnni, has_avx512_vnni },
};

#else

static gboolean
always (void)
{
  return TRUE;
}

static const CpuIsa levels[] = { { "PORTABLE", &cpu_vector_portable, always } };

#endif

static const CpuIsa *
find (void)
{
  const gchar *wanted = g_getenv ("AXON_CPU_ISA");
  const CpuIsa *best = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (levels[i].available () &&
        (wanted == NULL || best == NULL || !g_str_equal (best->name, wanted)))
      best = &levels[i];
  return best;
}

const CpuIsa *
cpu_isa_get (void)
{
  static gsize once;
  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize)find ());
  return (const CpuIsa *)once;
}
