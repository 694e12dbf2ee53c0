/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands beside a model and in it: the first byte says which source the text is. */
#include "descriptions.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  FuzzBytes bytes = { data, n };
  guint kind = fuzz_byte (&bytes) % 5;
  g_autofree gchar *text = g_strndup ((const gchar *)bytes.data, bytes.n);
  Sources sources = {
    .modelinfo = kind == 0   ? text
                 : kind == 4 ? "[axon]\nlabels-file=names.txt\n"
                             : NULL,
    .proc = kind == 1 ? text : NULL,
    .metadata = kind == 2 ? text : NULL,
    .property = kind == 3 ? text : NULL,
    .names = kind == 4 ? text : NULL,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (GstNnDescription) d = describe (&sources, &error);
  fuzz_check (d != NULL, error);
  return 0;
}
