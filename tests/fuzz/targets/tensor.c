/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tensors of files: the first byte says which kind, the others are the file. */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  static const struct {
    const gchar *ending;
    AxonDType kind;
  } kinds[] = { { ".npy", AXON_DTYPE_UNDEFINED },
                { ".pb", AXON_DTYPE_UNDEFINED },
                { ".pb", AXON_DTYPE_SEQUENCE },
                { ".pb", AXON_DTYPE_OPTIONAL } };
  FuzzBytes bytes = { data, n };
  guint kind = fuzz_byte (&bytes) % G_N_ELEMENTS (kinds);
  gchar *path = fuzz_open (bytes.data, bytes.n, kinds[kind].ending);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) tensor =
      axon_core_read_tensor (axon_core_get_default (), path, kinds[kind].kind, &error);
  fuzz_check (tensor != NULL, error);
  if (tensor != NULL && axon_tensor_get_numel (tensor) > 0 &&
      kinds[kind].kind == AXON_DTYPE_UNDEFINED &&
      axon_tensor_get_dtype (tensor) != AXON_DTYPE_STRING)
    axon_tensor_get_value (tensor, axon_tensor_get_numel (tensor) - 1);
  fuzz_close (path);
  return 0;
}
