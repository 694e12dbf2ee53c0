/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Loads the module with libsoup 3, once, unless the process has libsoup 2: the library would abort
 * it. */
#include "remotetransport.h"

#include "config.h"
#include <axon/axon.h>
#include <dlfcn.h>
#include <glib/gi18n-lib.h>
#include <gmodule.h>
#include <link.h>
#include <string.h>

static int
find_soup2 (struct dl_phdr_info *info, G_GNUC_UNUSED size_t size, void *user_data)
{
  const gchar *name = info->dlpi_name ? info->dlpi_name : "";
  if (strstr (name, "libsoup-2.4.so") == NULL)
    return 0;
  *(gchar **)user_data = g_strdup (name);
  return 1;
}

static const RemoteTransport *
load_module (GError **error)
{
  Dl_info here = { 0 };
  g_autofree gchar *folder = NULL;
  g_autofree gchar *path = NULL;
  GModule *module;
  const RemoteTransport *transport;
  dladdr ((gconstpointer)remote_transport_load, &here);
  folder = g_path_get_dirname (here.dli_fname);
  path = g_build_filename (folder, REMOTE_MODULE, NULL);
  module = g_module_open (path, G_MODULE_BIND_LOCAL);
  if (module == NULL || !g_module_symbol (module, "remote_transport", (gpointer *)&transport) ||
      transport->version != REMOTE_TRANSPORT_VERSION) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("its part with libsoup 3 cannot be loaded: %s"),
                 module ? _ ("it belongs to another version of the device") : g_module_error ());
    g_clear_pointer (&module, g_module_close);
    return NULL;
  }
  g_module_make_resident (module);
  return transport;
}

const RemoteTransport *
remote_transport_load (GError **error)
{
  static GMutex lock;
  static const RemoteTransport *loaded; /* lock */
  g_autofree gchar *soup2 = NULL;
  const RemoteTransport *transport;
  g_mutex_lock (&lock);
  if (loaded == NULL && dl_iterate_phdr (find_soup2, &soup2) != 0)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_DEVICE,
        _ ("it needs libsoup 3, and this process has libsoup 2 already (%s): both "
           "in one process end it; have what loaded it use libsoup 3, too, or run the model "
           "in another process"),
        soup2);
  else if (loaded == NULL)
    loaded = load_module (error);
  transport = loaded;
  g_mutex_unlock (&lock);
  return transport;
}
