/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain, and near-miss suggestions for messages. */
#include "axonerror.h"

G_DEFINE_QUARK (axon - error - quark, axon_error)

static guint
edit_distance (const gchar *a, const gchar *b)
{
  gsize la = strlen (a), lb = strlen (b);
  g_autofree guint *row = g_new (guint, lb + 1);
  for (gsize j = 0; j <= lb; j++)
    row[j] = (guint)j;
  for (gsize i = 1; i <= la; i++) {
    guint diagonal = row[0];
    row[0] = (guint)i;
    for (gsize j = 1; j <= lb; j++) {
      guint cost = g_ascii_tolower (a[i - 1]) != g_ascii_tolower (b[j - 1]);
      guint best = MIN (MIN (row[j] + 1, row[j - 1] + 1), diagonal + cost);
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[lb];
}

/**
 * axon_nearest_name: (skip)
 * @name: what was written
 * @names: (array zero-terminated=1): what exists
 *
 * Returns: (transfer full): ` (did you mean "X"?)` for the nearest name, or an empty string
 */
gchar *
axon_nearest_name (const gchar *name, const gchar *const *names)
{
  const gchar *best = NULL;
  guint best_distance = MAX (2, (guint)(strlen (name) / 3)) + 1;
  if (strlen (name) > 256)
    return g_strdup ("");
  for (; *names != NULL; names++) {
    guint d = edit_distance (name, *names);
    if (d < best_distance) {
      best_distance = d;
      best = *names;
    }
  }
  return best ? g_strdup_printf (" (did you mean \"%s\"?)", best) : g_strdup ("");
}
