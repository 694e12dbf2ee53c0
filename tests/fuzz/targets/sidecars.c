/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands beside a model and in it: the first byte says which source the text is. */
#include "descriptions.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  FuzzBytes bytes = { data, n };
  guint kind = fuzz_byte (&bytes) % 8;
  g_autofree gchar *text = g_strndup ((const gchar *)bytes.data, bytes.n);
  Sources sources = { .modelinfo = kind == 7 ? "[axon]\nlabels-file=names.txt\n" : NULL };
  const gchar **const places[] = { &sources.modelinfo, &sources.proc,   &sources.metadata,
                                   &sources.property,  &sources.labels, &sources.nvinfer,
                                   &sources.shared,    &sources.names };
  g_autoptr (GError) error = NULL;
  g_autoptr (GstNnDescription) d = NULL;
  *places[kind] = text;
  d = describe (&sources, &error);
  fuzz_check (d != NULL, error);
  return 0;
}
