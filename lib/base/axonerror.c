/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The error domain, and near-miss suggestions for messages. */
#include <axon/axonerror.h>

#include "config.h"
#include <glib/gi18n-lib.h>

typedef struct {
  AxonErrorReason reason;
} AxonErrorPrivate;

static void
axon_error_private_init (AxonErrorPrivate *priv)
{
  priv->reason = AXON_REASON_UNKNOWN;
}

static void
axon_error_private_copy (const AxonErrorPrivate *from, AxonErrorPrivate *to)
{
  *to = *from;
}

static void
axon_error_private_clear (G_GNUC_UNUSED AxonErrorPrivate *priv)
{
}

/**
 * axon_error_quark:
 *
 * The domain of the library's errors, #AxonError.
 *
 * Returns: %AXON_ERROR
 *
 * Since: 1.0
 */
G_DEFINE_EXTENDED_ERROR (AxonError, axon_error)

/**
 * axon_error_get_reason:
 * @error: (nullable): an error of any domain
 *
 * Returns: what it is about; %AXON_REASON_UNKNOWN where that was not said
 *
 * Since: 1.0
 */
AxonErrorReason
axon_error_get_reason (const GError *error)
{
  return g_error_matches (error, AXON_ERROR, error ? error->code : 0)
             ? axon_error_get_private (error)->reason
             : AXON_REASON_UNKNOWN;
}

/**
 * axon_error_set_reason: (skip)
 * @error: (nullable): where an error of domain %AXON_ERROR was returned
 * @reason: what it is about; one that was said before stays
 *
 * Since: 1.0
 */
void
axon_error_set_reason (GError **error, AxonErrorReason reason)
{
  if (error != NULL && *error != NULL && (*error)->domain == AXON_ERROR &&
      axon_error_get_private (*error)->reason == AXON_REASON_UNKNOWN)
    axon_error_get_private (*error)->reason = reason;
}

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
 *
 * Since: 1.0
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
  return best ? g_strdup_printf (_ (" (did you mean \"%s\"?)"), best) : g_strdup ("");
}
