/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instructions oneDNN uses. It decides when it is first used, and keeps to it. */
#include "dnn-private.h"

/* Each contains those it builds on, as bits; later ones are newer. */
static const struct {
  const gchar *name;
  dnnl_cpu_isa_t isa;
  gboolean has_vnni;
  gboolean channels_last; /* is how its convolutions like their data */
  gboolean has_tiles;
} levels[] = {
  { "SSE41", dnnl_cpu_isa_sse41, FALSE, FALSE },
  { "AVX", dnnl_cpu_isa_avx, FALSE, FALSE },
  { "AVX2", dnnl_cpu_isa_avx2, FALSE, FALSE },
  { "AVX2_VNNI", dnnl_cpu_isa_avx2_vnni, TRUE, FALSE },
  { "AVX512", dnnl_cpu_isa_avx512_core, FALSE, TRUE },
  { "AVX512_VNNI", dnnl_cpu_isa_avx512_core_vnni, TRUE, TRUE },
  { "AVX512_BF16", dnnl_cpu_isa_avx512_core_bf16, TRUE, TRUE },
  { "AVX512_AMX", dnnl_cpu_isa_avx512_core_amx, TRUE, TRUE, TRUE },
};

gboolean
cpu_dnn_set_max_isa (const gchar *name)
{
  for (guint i = 0; name != NULL && i < G_N_ELEMENTS (levels); i++)
    if (g_str_equal (levels[i].name, name))
      return dnnl_set_max_cpu_isa (levels[i].isa) == dnnl_success;
  return name == NULL;
}

#if defined(__x86_64__) || defined(__i386__)

/* G_N_ELEMENTS: none of them */
static guint
find_level (void)
{
  guint effective = (guint)dnnl_get_effective_cpu_isa (), found = G_N_ELEMENTS (levels);
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    if ((effective & (guint)levels[i].isa) == (guint)levels[i].isa)
      found = i;
  return found;
}

#else

static guint
find_level (void)
{
  return G_N_ELEMENTS (levels);
}

#endif

const gchar *
cpu_dnn_get_isa (void)
{
  guint level = find_level ();
  return level < G_N_ELEMENTS (levels) ? levels[level].name : "default";
}

/* Code for no level in particular multiplies as C does. */
gboolean
cpu_dnn_has_exact_int8 (void)
{
  guint level = find_level ();
  return level == G_N_ELEMENTS (levels) || levels[level].has_vnni;
}

gboolean
cpu_dnn_has_tiles (void)
{
  guint level = find_level ();
  return level < G_N_ELEMENTS (levels) && levels[level].has_tiles;
}

gboolean
cpu_dnn_is_channels_last (void)
{
  guint level = find_level ();
  return level < G_N_ELEMENTS (levels) && levels[level].channels_last;
}

gboolean
cpu_dnn_has_kernels (void)
{
  return find_level () < G_N_ELEMENTS (levels);
}

const gchar *
cpu_dnn_get_version (void)
{
  const dnnl_version_t *v = dnnl_version ();
  g_autofree gchar *text = g_strdup_printf ("%d.%d.%d", v->major, v->minor, v->patch);
  return g_intern_string (text);
}
