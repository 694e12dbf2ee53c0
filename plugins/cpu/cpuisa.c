/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row per level that was built, the best last. */
#include "cpuisa.h"
#include "onednn/cpudnn.h"

#include "config.h"
#include <axon/axon-cpu.h>
#include <glib/gi18n-lib.h>

#define ENVIRONMENT "AXON_CPU_ISA"

#if defined(__x86_64__)

#define AVX2                                                                                       \
  (CPU_FEATURE_SSE41 | CPU_FEATURE_AVX2 | CPU_FEATURE_FMA | CPU_FEATURE_F16C | CPU_FEATURE_BMI2)
#define AVX512                                                                                     \
  (AVX2 | CPU_FEATURE_AVX512F | CPU_FEATURE_AVX512BW | CPU_FEATURE_AVX512DQ | CPU_FEATURE_AVX512VL)

static const CpuIsa levels[] = {
#ifdef CPU_HAS_SSE41
  { "SSE41", CPU_FEATURE_SSE41, "SSE41", &cpu_vector_sse41 },
#endif
#ifdef CPU_HAS_AVX2
  { "AVX2", AVX2, "AVX2", &cpu_vector_avx2 },
#endif
#ifdef CPU_HAS_AVX2_VNNI
  { "AVX2_VNNI", AVX2 | CPU_FEATURE_AVX_VNNI, "AVX2_VNNI", &cpu_vector_avx2_vnni },
#endif
#ifdef CPU_HAS_AVX512
  { "AVX512", AVX512, "AVX512", &cpu_vector_avx512 },
#endif
#ifdef CPU_HAS_AVX512_VNNI
  { "AVX512_VNNI", AVX512 | CPU_FEATURE_AVX512_VNNI, "AVX512_VNNI", &cpu_vector_avx512_vnni },
#endif
#ifdef CPU_HAS_AVX512_FP16
  { "AVX512_FP16", AVX512 | CPU_FEATURE_AVX512_VNNI | CPU_FEATURE_AVX512_FP16, "AVX512_BF16",
    &cpu_vector_avx512_fp16 },
#endif
};

#elif defined(__aarch64__)

static const CpuIsa levels[] = {
#ifdef CPU_HAS_NEON
  { "NEON", CPU_FEATURE_ASIMD, NULL, &cpu_vector_neon },
#endif
#ifdef CPU_HAS_NEON_DOTPROD
  { "NEON_DOTPROD", CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP, NULL, &cpu_vector_neon_dotprod },
#endif
#ifdef CPU_HAS_NEON_FP16
  { "NEON_FP16", CPU_FEATURE_ASIMD | CPU_FEATURE_ASIMDDP | CPU_FEATURE_ASIMDHP, NULL,
    &cpu_vector_neon_fp16 },
#endif
};

#else

static const CpuIsa levels[] = { { "PORTABLE", 0, NULL, &cpu_vector_portable } };

#endif

static struct {
  GMutex lock;
  const CpuIsa *asked; /* lock: NULL: all that there is */
  gboolean by_program; /* lock: asked for by the property, which wins over the environment */
  const CpuIsa *used;  /* lock: NULL until the first use */
} state;

static CpuFeatures
lacking (const CpuIsa *level)
{
  return level->needs & ~cpu_features_get ();
}

static const CpuIsa *
find_best (void)
{
  const CpuIsa *best = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (lacking (&levels[i]) == 0)
      best = &levels[i];
  return best;
}

static const CpuIsa *
find_level (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if (g_str_equal (levels[i].name, name))
      return &levels[i];
  return NULL;
}

/* Names of what there is, ending in NULL (free the array alone). */
static const gchar **
list_available (void)
{
  const gchar **names = g_new0 (const gchar *, G_N_ELEMENTS (levels) + 1);
  for (guint i = 0, n = 0; i < G_N_ELEMENTS (levels); i++)
    if (lacking (&levels[i]) == 0)
      names[n++] = levels[i].name;
  return names;
}

/* @name: not NULL, not empty; @what: who asks */
static gboolean
check_level (const gchar *what, const gchar *name, GError **error)
{
  const CpuIsa *level = find_level (name);
  g_autofree const gchar **names = list_available ();
  g_autofree gchar *list = g_strjoinv (", ", (gchar **)names);
  g_autofree gchar *near = level ? NULL : axon_nearest_name (name, names);
  g_autofree gchar *lacks = level ? cpu_features_to_string (lacking (level)) : NULL;
  if (level != NULL && *lacks == '\0')
    return TRUE;
  if (level != NULL)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_ARGUMENT,
        _ ("%s \"%s\": the processor lacks %s; expected one of %s, or nothing for all it has"),
        what, name, lacks, list);
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s \"%s\": expected one of %s, or nothing for all the processor has%s"), what,
                 name, list, near ? near : "");
  return FALSE;
}

gboolean
cpu_isa_init (GError **error)
{
  const gchar *name = g_getenv (ENVIRONMENT);
  gboolean is_given = name != NULL && *name != '\0';
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&state.lock);
  if (find_best () == NULL) {
    g_autofree gchar *needs = cpu_features_to_string (levels[0].needs);
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("the processor lacks %s, the least needed"), needs);
    return FALSE;
  }
  if (state.by_program || state.used != NULL)
    return TRUE;
  if (is_given && !check_level (ENVIRONMENT, name, error))
    return FALSE;
  state.asked = is_given ? find_level (name) : NULL;
  return TRUE;
}

gboolean
cpu_isa_set (const gchar *name, GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&state.lock);
  const CpuIsa *level = *name != '\0' ? find_level (name) : NULL;
  if (*name != '\0' && !check_level (AXON_CPU_ISA, name, error))
    return FALSE;
  if (state.used != NULL && level != state.asked) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s \"%s\": too late, this process uses %s already; set it before the "
                    "first compile, import or query, or start with %s"),
                 AXON_CPU_ISA, name, state.used->name, ENVIRONMENT);
    return FALSE;
  }
  state.asked = level;
  state.by_program = TRUE;
  return TRUE;
}

const gchar *
cpu_isa_get_asked (void)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&state.lock);
  return state.asked ? state.asked->name : "";
}

/* lock held */
static const CpuIsa *
choose (void)
{
  return state.asked ? state.asked : find_best ();
}

gboolean
cpu_isa_use (GError **error)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&state.lock);
  if (state.used != NULL)
    return TRUE;
  if (state.asked != NULL && state.asked->dnn != NULL && !cpu_dnn_set_max_isa (state.asked->dnn)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("%s \"%s\": oneDNN cannot be kept to it: something else in this process "
                    "uses it already, or it was built without such a limit"),
                 AXON_CPU_ISA, state.asked->name);
    return FALSE;
  }
  state.used = choose ();
  return TRUE;
}

GVariant *
cpu_isa_list (void)
{
  g_autofree const gchar **names = list_available ();
  return g_variant_new_strv (names, -1);
}

const CpuIsa *
cpu_isa_get (void)
{
  G_GNUC_UNUSED g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&state.lock);
  return state.used ? state.used : choose ();
}
