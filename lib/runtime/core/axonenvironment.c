/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the environment says of cores that no program configures: the shared one, and that of the
 * ONNXIFI library. Programs with raised privileges ignore it. */
#include <axon/axoncore.h>

#include <stdlib.h>

static gboolean
load_registry (AxonCore *core, GError **error)
{
  const gchar *path = secure_getenv ("AXON_REGISTRY");
  return path == NULL || *path == '\0' || axon_core_register_plugins (core, path, error);
}

/* Never from the current directory. */
static gboolean
load_extensions (AxonCore *core, GError **error)
{
  const gchar *paths = secure_getenv ("AXON_EXTENSIONS");
  g_auto (GStrv) list = g_strsplit (paths ? paths : "", G_SEARCHPATH_SEPARATOR_S, -1);
  for (guint i = 0; list[i] != NULL; i++)
    if (g_path_is_absolute (list[i]) && !axon_core_add_extension (core, list[i], NULL, error))
      return FALSE;
  return TRUE;
}

/**
 * axon_core_load_environment:
 * @core: a core
 * @error: return location
 *
 * Registers the plugins of file `AXON_REGISTRY` and loads the extensions of `AXON_EXTENSIONS`
 * (absolute paths, separated by colons). Cores of axon_core_get_default() have it done; in programs
 * with raised privileges nothing is.
 *
 * Returns: %TRUE on success, also where neither is set
 *
 * Since: 1.0
 */
gboolean
axon_core_load_environment (AxonCore *core, GError **error)
{
  return load_registry (core, error) && load_extensions (core, error);
}
