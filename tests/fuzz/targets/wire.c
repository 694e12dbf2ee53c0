/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes to a model: read, printed, written. */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GBytes) bytes = g_bytes_new (data, n);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_core_read_model_from_bytes (core, bytes, NULL, &error);
  g_autoptr (GBytes) written = NULL;
  g_autofree gchar *text = NULL;
  fuzz_check (model != NULL, error);
  if (model == NULL)
    return 0;
  text = axon_model_to_text (model);
  g_assert_nonnull (text);
  written = axon_core_write_model_to_bytes (core, model, AXON_WRITE_DEFAULT, &error);
  fuzz_check (written != NULL, error);
  return 0;
}
