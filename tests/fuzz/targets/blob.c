/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled models of others: the container's sizes and digest are mended, so that what stands
 * behind them is reached. The first byte chooses the device. */
#include "fuzz.h"

#include <string.h>
#include <xxhash.h>

#define HEADER 64
#define PAGE 4096

static void
put (guint8 *at, guint64 value)
{
  for (guint i = 0; i < 8; i++)
    at[i] = (guint8)(value >> (8 * i));
}

/* @data: meta's size in two bytes, meta, the data items. */
static GBytes *
make_blob (FuzzBytes *bytes)
{
  gsize meta = (gsize)fuzz_byte (bytes) | (gsize)fuzz_byte (bytes) << 8, at, n;
  XXH128_canonical_t digest;
  guint8 *blob;
  meta = MIN (meta, bytes->n);
  at = (HEADER + meta + PAGE - 1) / PAGE * PAGE;
  n = at + bytes->n - meta;
  blob = g_malloc0 (n);
  memcpy (blob, "AXONBLOB\3", 9);
  put (blob + 16, meta);
  put (blob + 24, at);
  put (blob + 32, n - at);
  if (bytes->n > 0) {
    memcpy (blob + HEADER, bytes->data, meta);
    memcpy (blob + at, bytes->data + meta, bytes->n - meta);
  }
  XXH128_canonicalFromHash (&digest, XXH3_128bits (blob + HEADER, n - HEADER));
  memcpy (blob + 40, digest.digest, sizeof digest.digest);
  return g_bytes_new_take (blob, n);
}

static void
run (AxonCompiledModel *compiled)
{
  g_autoptr (AxonModel) model = axon_compiled_model_get_runtime_model (compiled, NULL);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;
  for (guint i = 0; model != NULL && i < axon_model_get_n_inputs (model); i++) {
    AxonTensor *input = fuzz_input (model, i);
    if (input == NULL)
      return;
    g_ptr_array_add (inputs, input);
  }
  outputs = fuzz_run (compiled, inputs, &error);
  fuzz_check (outputs != NULL, error);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  FuzzBytes bytes = { data, n };
  const gchar *device = fuzz_byte (&bytes) & 1 ? "CPU" : "TEMPLATE";
  g_autoptr (GBytes) blob = make_blob (&bytes);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_import_model (
      axon_core_get_default (), blob, device, NULL, NULL, NULL, NULL, NULL, &error);
  fuzz_check (compiled != NULL, error);
  if (compiled != NULL)
    run (compiled);
  return 0;
}
