/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where values lie in buffers, in the text of kernels: a buffer of the arena holds many, and parts
 * of buffers as OpenCL has them (clCreateSubBuffer) cost: NVIDIA's driver waits for all that
 * overlap. */
#include "gpuplan.h"

/* "__global float *restrict y" gets ", ulong y_begins" behind it; the parameters of the plan do
 * not. */
static gboolean
place_parameter (const GMatchInfo *match, GString *result, gpointer user_data)
{
  g_autofree gchar *all = g_match_info_fetch (match, 0);
  g_autofree gchar *type = g_match_info_fetch (match, 1);
  g_autofree gchar *constant = g_match_info_fetch (match, 2);
  g_autofree gchar *name = g_match_info_fetch (match, 3);
  g_string_append (result, all);
  if (g_str_equal (name, "P"))
    return FALSE;
  g_string_append_printf (result, ", ulong %s_begins", name);
  g_string_append_printf (user_data, "\n  %s = (%s)((__global %schar *)%s + %s_begins);", name,
                          type, constant, name, name);
  return FALSE;
}

static gboolean
place_header (const GMatchInfo *match, GString *result, gpointer user_data)
{
  const GRegex *parameter = user_data;
  g_autofree gchar *header = g_match_info_fetch (match, 0);
  g_autofree gchar *placed = NULL;
  GString *begins = g_string_new (NULL);
  placed = g_regex_replace_eval (parameter, header, -1, 0, 0, place_parameter, begins, NULL);
  g_string_append (result, placed);
  g_string_append (result, begins->str);
  g_string_free (begins, TRUE);
  return FALSE;
}

gchar *
gpu_text_place_buffers (const gchar *text)
{
  static GRegex *header, *parameter;
  static gsize made;
  if (g_once_init_enter (&made)) {
    header = g_regex_new ("\\b__kernel\\b[^{]*\\{", G_REGEX_OPTIMIZE, 0, NULL);
    parameter = g_regex_new ("(__global\\s+(const\\s+|)[^,()*]*\\*)\\s*(?:restrict\\s+)?(\\w+)",
                             G_REGEX_OPTIMIZE, 0, NULL);
    g_once_init_leave (&made, 1);
  }
  return g_regex_replace_eval (header, text, -1, 0, 0, place_header, parameter, NULL);
}
