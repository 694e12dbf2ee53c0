/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that applications and users give: a device expression, then lines KEY=VALUE of its
 * configuration, VALUE as GVariant's text or as it stands. */
#include "fuzz.h"

#include <string.h>

static void
set_property (const gchar *device, gchar *line)
{
  AxonCore *core = axon_core_get_default ();
  gchar *equals = strchr (line, '=');
  g_autoptr (GVariant) value = NULL;
  g_autoptr (GVariant) before = NULL;
  g_autoptr (GError) error = NULL;
  if (equals == NULL)
    return;
  *equals = '\0';
  value = g_variant_parse (NULL, equals + 1, NULL, NULL, NULL);
  if (value == NULL)
    value = g_variant_ref_sink (g_variant_new_string (equals + 1));
  before = axon_core_get_property (core, device, line, &error);
  fuzz_check (before != NULL, error);
  g_clear_error (&error);
  /* of a core that lasts: folders are not made, threads and plugins not added */
  if (before != NULL && !g_str_has_prefix (line, "CACHE") && strstr (line, "THREADS") == NULL &&
      strstr (line, "STREAMS") == NULL && axon_core_set_property (core, device, line, value, NULL))
    axon_core_set_property (core, device, line, before, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  FuzzBytes bytes = { data, n };
  g_autofree gchar *device = fuzz_line (&bytes);
  g_autoptr (GError) error = NULL;
  gboolean has;
  if (!g_utf8_validate (device, -1, NULL) ||
      !g_utf8_validate ((const gchar *)bytes.data, (gssize)bytes.n, NULL))
    return 0;
  has = axon_core_has_device (axon_core_get_default (), device, &error);
  fuzz_check (has, error);
  while (bytes.n > 0) {
    g_autofree gchar *line = fuzz_line (&bytes);
    set_property (device, line);
  }
  return 0;
}
