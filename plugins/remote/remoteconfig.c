/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the configuration to a client. */
#include "remotemodel.h"
#include "remoteregion.h"

#include "config.h"
#include <axon/axon-remote.h>
#include <glib/gi18n-lib.h>
#include <string.h>

static gchar *
file_or_null (const AxonConfig *config, const gchar *key)
{
  const gchar *path = axon_config_get_string (config, key);
  return *path ? g_strdup (path) : NULL;
}

/* The URL without a slash at its end; NULL with @error. */
static gchar *
read_url (const AxonConfig *config, GError **error)
{
  const gchar *text = axon_config_get_string (config, AXON_REMOTE_URL);
  g_autoptr (GUri) uri = g_uri_parse (text, G_URI_FLAGS_NONE, NULL);
  const gchar *scheme = uri ? g_uri_get_scheme (uri) : "";
  const gchar *host = uri ? g_uri_get_host (uri) : NULL;
  gchar *url;
  if (host == NULL || *host == '\0' || g_uri_get_userinfo (uri) || g_uri_get_query (uri) ||
      g_uri_get_fragment (uri) ||
      (!g_str_equal (scheme, "http") && !g_str_equal (scheme, "https"))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("device REMOTE: URL is \"%s\": expected a server's, such as https://host:8000 "
                    "(config=\"config,URL=https://host:8000\")"),
                 text);
    return NULL;
  }
  url = g_strdup (text);
  while (g_str_has_suffix (url, "/"))
    url[strlen (url) - 1] = '\0';
  return url;
}

/* Who reads a token on its way has it. */
static gboolean
check_secrets (const RemoteAccess *access, GError **error)
{
  if (access->token_file == NULL || g_str_has_prefix (access->address.url, "https:") ||
      remote_is_local (access->address.url))
    return TRUE;
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_ARGUMENT,
      _ ("device REMOTE: %s: a token (TOKEN_FILE) is sent by https only, or to this machine"),
      access->address.url);
  return FALSE;
}

RemoteClient *
remote_client_for (const AxonConfig *config, GError **error)
{
  g_autoptr (RemoteAccess) access = g_new0 (RemoteAccess, 1);
  access->address.url = read_url (config, error);
  if (access->address.url == NULL)
    return NULL;
  access->address.connections = (guint)axon_config_get_int (config, AXON_REMOTE_CONNECTIONS);
  access->address.ca_file = file_or_null (config, AXON_REMOTE_CA_FILE);
  access->address.certificate_file = file_or_null (config, AXON_REMOTE_CERTIFICATE_FILE);
  access->address.key_file = file_or_null (config, AXON_REMOTE_KEY_FILE);
  access->token_file = file_or_null (config, AXON_REMOTE_TOKEN_FILE);
  access->timeout = (guint)axon_config_get_int (config, AXON_REMOTE_TIMEOUT);
  access->retries = (guint)axon_config_get_int (config, AXON_REMOTE_RETRIES);
  return check_secrets (access, error) ? remote_client_new (g_steal_pointer (&access), error)
                                       : NULL;
}

RemoteServer *
remote_server_for (RemoteClient *client, const AxonConfig *config, const gchar *name,
                   GCancellable *cancellable, GError **error)
{
  const gchar *given = axon_config_get_string (config, AXON_REMOTE_MODEL);
  if (*given == '\0' && (name == NULL || *name == '\0')) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("device REMOTE: %s: which model? Set REMOTE_MODEL"),
                 remote_client_get_url (client));
    return NULL;
  }
  return remote_server_ask (client, *given ? given : name,
                            axon_config_get_string (config, AXON_REMOTE_VERSION), cancellable,
                            error);
}
