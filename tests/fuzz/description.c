/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Model descriptions that are wrong: files of the corpus, whole, cut short, and with bytes changed.
 * A description or an error, never a crash, a hang, a CRITICAL. What the file is follows from its
 * name: .modelinfo, .json (model-proc), .metadata (lines of key=value), .nvinfer or .labels. Which
 * bytes is a matter of the file's name, so a finding comes again. Usage: fuzz-description DIRECTORY
 * [CHANGES] */
#include "descriptions.h"

#include <string.h>

static guint n_described, n_refused;

static void
try_text (const gchar *name, const gchar *text)
{
  g_autoptr (GError) error = NULL;
  Sources sources = {
    .modelinfo = g_str_has_suffix (name, ".modelinfo") ? text : NULL,
    .proc = g_str_has_suffix (name, ".json") ? text : NULL,
    .metadata = g_str_has_suffix (name, ".metadata") ? text : NULL,
    .nvinfer = g_str_has_suffix (name, ".nvinfer") ? text : NULL,
    .labels = g_str_has_suffix (name, ".labels") ? text : NULL,
    .names = "cat\ndog\n",
  };
  g_autoptr (GstNnDescription) d = describe (&sources, &error);
  g_assert_true ((d != NULL) != (error != NULL));
  n_described += d != NULL;
  n_refused += d == NULL;
  if (d == NULL)
    return;
  g_assert_cmpuint (d->n_mean, <=, G_N_ELEMENTS (d->mean));
  g_assert_cmpuint (d->n_scale, <=, G_N_ELEMENTS (d->scale));
  g_assert_true (d->pad_value >= 0 && d->pad_value <= 255);
  gst_nn_description_get_label (d, 1000);
}

/* What the syntaxes are made of, and what numbers must not be. */
static const gchar *const words[] = { "[",   "{",    "]",  "\"",  ",",   "=",     "\\",    "-1",
                                      "nan", "null", "[]", "{}",  "\n",  "1e999", "//",    "\xff",
                                      "255", "'",    ":",  "1,2", "0.0", "axon.", "[axon]" };

static guint32
next (guint32 *random)
{
  *random = *random * 1664525u + 1013904223u;
  return *random >> 8;
}

static void
try_changes (const gchar *name, const gchar *text, guint changes)
{
  gsize n = strlen (text);
  guint32 random = g_str_hash (name);
  for (guint i = 0; i < changes; i++) {
    gsize at = next (&random) % (n + 1), skip = next (&random) % 4;
    const gchar *word = words[next (&random) % G_N_ELEMENTS (words)];
    g_autofree gchar *head = g_strndup (text, at);
    g_autofree gchar *changed = g_strconcat (head, word, text + MIN (at + skip, n), NULL);
    try_text (name, i % 3 ? changed : head);
  }
}

int
main (int argc, char **argv)
{
  guint changes = argc > 2 ? (guint)g_ascii_strtoull (argv[2], NULL, 10) : 100;
  g_autoptr (GDir) dir = NULL;
  const gchar *name;
  gst_init (&argc, &argv);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK);
  dir = argc > 1 ? g_dir_open (argv[1], 0, NULL) : NULL;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (argv[1], name, NULL);
    g_autofree gchar *text = NULL;
    if (!g_file_get_contents (path, &text, NULL, NULL))
      continue;
    try_text (name, text);
    try_changes (name, text, changes);
  }
  g_print ("%u descriptions, %u refused\n", n_described, n_refused);
  return n_described > 0 && n_refused > 0 ? 0 : 1;
}
