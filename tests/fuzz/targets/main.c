/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A target without libFuzzer: every file of the folders and every file given, once each. A finding
 * stays in the corpus, so it comes again. Usage: fuzz-NAME FOLDER|FILE... */
#include "fuzz.h"

static guint n_inputs;

static void
try_path (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  g_autofree gchar *data = NULL;
  const gchar *name;
  gsize n;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *inner = g_build_filename (path, name, NULL);
    try_path (inner);
  }
  if (dir != NULL || !g_file_get_contents (path, &data, &n, NULL))
    return;
  if (g_getenv ("FUZZ_VERBOSE") != NULL)
    g_printerr ("%s\n", path);
  LLVMFuzzerTestOneInput ((const guint8 *)data, n);
  n_inputs++;
}

int
main (int argc, char **argv)
{
  LLVMFuzzerInitialize (&argc, &argv);
  for (int i = 1; i < argc; i++)
    try_path (argv[i]);
  g_print ("%u inputs\n", n_inputs);
  return n_inputs > 0 ? 0 : 1;
}
