/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which level is chosen on which processor. The processors are made up, and oneDNN, too: meson
 * wraps cpu_features_get (). What is chosen stays for a process, so every test has its own. */
#include "../../plugins/cpu/cpuisa.h"
#include "../../plugins/cpu/onednn/cpudnn.h"

static CpuFeatures processor;
static const gchar *dnn_isa;
static gboolean dnn_is_busy;

CpuFeatures __wrap_cpu_features_get (void);

CpuFeatures
__wrap_cpu_features_get (void)
{
  return processor;
}

gboolean
cpu_dnn_set_max_isa (const gchar *name)
{
  if (!dnn_is_busy)
    dnn_isa = name;
  return !dnn_is_busy;
}

/* TRUE in the process where the test is to be made; the other one waits for it. */
static gboolean
in_own_process (void)
{
  if (g_test_subprocess ())
    return TRUE;
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
  return FALSE;
}

typedef struct {
  CpuFeatures features;
  const gchar *levels, *best;
} Processor;

static void
check_processors (const Processor *rows, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autoptr (GVariant) list = NULL;
    g_autofree const gchar **names = NULL;
    g_autofree gchar *text = NULL;
    processor = rows[i].features;
    list = g_variant_ref_sink (cpu_isa_list ());
    names = g_variant_get_strv (list, NULL);
    text = g_strjoinv (" ", (gchar **)names);
    g_assert_cmpstr (text, ==, rows[i].levels);
    g_assert_cmpstr (cpu_isa_get ()->name, ==, rows[i].best);
  }
}

#if defined(__x86_64__)

#define NEHALEM CPU_FEATURE_SSE41
#define HASWELL (NEHALEM | CPU_FEATURE_AVX2 | CPU_FEATURE_FMA | CPU_FEATURE_F16C | CPU_FEATURE_BMI2)
#define ALDER_LAKE (HASWELL | CPU_FEATURE_AVX_VNNI)
#define SKYLAKE_X                                                                                  \
  (HASWELL | CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512DQ |                   \
   CPU_FEATURE_AVX512VL)
#define ICE_LAKE (SKYLAKE_X | CPU_FEATURE_AVX512_VNNI)
#define SAPPHIRE_RAPIDS (ICE_LAKE | CPU_FEATURE_AVX_VNNI | CPU_FEATURE_AVX512_FP16)
#define KNIGHTS_LANDING (HASWELL | CPU_FEATURE_AVX512F)
#define VIA_NANO (HASWELL & ~CPU_FEATURE_FMA)

static void
every_processor_has_its_levels_and_uses_the_best (void)
{
  static const Processor rows[] = {
    { NEHALEM, "SSE41", "SSE41" },
    { VIA_NANO, "SSE41", "SSE41" },
    { HASWELL, "SSE41 AVX2", "AVX2" },
    { KNIGHTS_LANDING, "SSE41 AVX2", "AVX2" },
    { ALDER_LAKE, "SSE41 AVX2 AVX2_VNNI", "AVX2_VNNI" },
    { SKYLAKE_X, "SSE41 AVX2 AVX512", "AVX512" },
    { ICE_LAKE, "SSE41 AVX2 AVX512 AVX512_VNNI", "AVX512_VNNI" },
    { SAPPHIRE_RAPIDS, "SSE41 AVX2 AVX2_VNNI AVX512 AVX512_VNNI AVX512_FP16", "AVX512_FP16" },
  };
  check_processors (rows, G_N_ELEMENTS (rows));
}

static void
a_processor_below_sse41_is_refused (void)
{
  g_autoptr (GError) error = NULL;
  processor = 0;
  g_assert_false (cpu_isa_init (&error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_cmpstr (error->message, ==, "the processor lacks sse4_1, the least needed");
}

static void
a_level_that_the_processor_lacks_is_an_error_that_lists_what_there_is (void)
{
  g_autoptr (GError) error = NULL;
  processor = ALDER_LAKE;
  g_assert_false (cpu_isa_set ("AVX512_VNNI", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==,
                   "CPU_ISA \"AVX512_VNNI\": the processor lacks avx512f avx512bw avx512dq "
                   "avx512vl avx512_vnni; expected one of SSE41, AVX2, AVX2_VNNI, or nothing for "
                   "all it has");
  g_clear_error (&error);
  g_setenv ("AXON_CPU_ISA", "AVX512", TRUE);
  g_assert_false (cpu_isa_init (&error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==,
                   "AXON_CPU_ISA \"AVX512\": the processor lacks avx512f avx512bw avx512dq "
                   "avx512vl; expected one of SSE41, AVX2, AVX2_VNNI, or nothing for all it has");
  g_assert_cmpstr (cpu_isa_get_asked (), ==, "");
}

static void
an_unknown_level_is_an_error_that_lists_what_there_is (void)
{
  g_autoptr (GError) error = NULL;
  processor = HASWELL;
  g_assert_false (cpu_isa_set ("AVX3", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_cmpstr (error->message, ==,
                   "CPU_ISA \"AVX3\": expected one of SSE41, AVX2, or nothing for all the "
                   "processor has (did you mean \"AVX2\"?)");
}

static void
what_is_asked_for_limits_onednn_too (void)
{
  static const gchar *const names[] = { "SSE41",  "AVX2",        "AVX2_VNNI",
                                        "AVX512", "AVX512_VNNI", "AVX512_FP16" };
  if (!in_own_process ())
    return;
  processor = SAPPHIRE_RAPIDS;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_assert_true (cpu_isa_set (names[i], NULL));
    g_assert_cmpstr (cpu_isa_get ()->name, ==, names[i]);
    g_assert_cmpstr (dnn_isa, ==, NULL);
  }
  g_assert_true (cpu_isa_set ("AVX2", NULL));
  g_assert_true (cpu_isa_use (NULL));
  g_assert_cmpstr (dnn_isa, ==, "AVX2");
  g_assert_true (cpu_isa_get ()->vector == &cpu_vector_avx2);
}

static void
where_nothing_is_asked_for_onednn_has_no_limit (void)
{
  if (!in_own_process ())
    return;
  processor = SAPPHIRE_RAPIDS;
  dnn_isa = "unset";
  g_setenv ("AXON_CPU_ISA", "", TRUE);
  g_assert_true (cpu_isa_init (NULL) && cpu_isa_use (NULL));
  g_assert_cmpstr (dnn_isa, ==, "unset");
  g_assert_true (cpu_isa_get ()->vector == &cpu_vector_avx512_fp16);
}

static void
a_limit_that_onednn_refuses_is_an_error (void)
{
  g_autoptr (GError) error = NULL;
  if (!in_own_process ())
    return;
  processor = HASWELL;
  dnn_is_busy = TRUE;
  g_assert_true (cpu_isa_set ("SSE41", NULL));
  g_assert_false (cpu_isa_use (&error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_DEVICE);
  g_assert_cmpstr (error->message, ==,
                   "CPU_ISA \"SSE41\": oneDNN cannot be kept to it: something else in this process "
                   "uses it already, or it was built without such a limit");
  g_assert_true (cpu_isa_set ("", NULL));
  g_assert_true (cpu_isa_use (NULL));
}

#elif defined(__aarch64__)

static void
an_arm_has_dot_products_where_the_system_tells_of_them (void)
{
  static const Processor rows[] = {
    { CPU_FEATURE_ASIMD, "NEON", "NEON" },
    { CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP, "NEON NEON_DOTPROD", "NEON_DOTPROD" },
    { CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP | CPU_FEATURE_ASIMDHP, "NEON NEON_DOTPROD NEON_FP16",
      "NEON_FP16" },
  };
  check_processors (rows, G_N_ELEMENTS (rows));
}

static void
onednn_has_no_limit_on_arm (void)
{
  if (!in_own_process ())
    return;
  dnn_isa = "unset";
  processor = CPU_FEATURE_ASIMD;
  g_assert_true (cpu_isa_init (NULL) && cpu_isa_set ("NEON", NULL) && cpu_isa_use (NULL));
  g_assert_cmpstr (dnn_isa, ==, "unset");
  g_assert_cmpstr (cpu_isa_get ()->name, ==, "NEON");
}

#else

static void
the_one_level_is_portable_and_onednn_has_no_limit (void)
{
  g_autoptr (GError) error = NULL;
  if (!in_own_process ())
    return;
  dnn_isa = "unset";
  g_assert_true (cpu_isa_init (NULL) && cpu_isa_set ("PORTABLE", NULL) && cpu_isa_use (NULL));
  g_assert_cmpstr (dnn_isa, ==, "unset");
  g_assert_cmpstr (cpu_isa_get ()->name, ==, "PORTABLE");
  g_assert_false (cpu_isa_set ("SSE41", &error));
  g_assert_cmpstr (error->message, ==,
                   "CPU_ISA \"SSE41\": expected one of PORTABLE, or nothing for all the processor "
                   "has");
}

#endif

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("AXON_CPU_ISA");
#define ADD(name) g_test_add_func ("/cpuisa/" #name, name)
#if defined(__x86_64__)
  ADD (every_processor_has_its_levels_and_uses_the_best);
  ADD (a_processor_below_sse41_is_refused);
  ADD (a_level_that_the_processor_lacks_is_an_error_that_lists_what_there_is);
  ADD (an_unknown_level_is_an_error_that_lists_what_there_is);
  ADD (what_is_asked_for_limits_onednn_too);
  ADD (where_nothing_is_asked_for_onednn_has_no_limit);
  ADD (a_limit_that_onednn_refuses_is_an_error);
#elif defined(__aarch64__)
  ADD (an_arm_has_dot_products_where_the_system_tells_of_them);
  ADD (onednn_has_no_limit_on_arm);
#else
  ADD (the_one_level_is_portable_and_onednn_has_no_limit);
#endif
  return g_test_run ();
}
