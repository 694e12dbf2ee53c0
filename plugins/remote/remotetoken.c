/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remotetoken.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <string.h>

void
remote_token_clear (RemoteToken *token)
{
  g_clear_pointer (&token->text, g_free);
}

gboolean
remote_token_read (RemoteToken *token, const gchar *file, GError **error)
{
  g_autofree gchar *text = NULL;
  if (!g_file_get_contents (file, &text, NULL, error))
    return FALSE;
  text[strcspn (text, "\r\n")] = '\0';
  g_strstrip (text);
  for (const gchar *c = text; *c != '\0'; c++)
    if (!g_ascii_isgraph (*c))
      *text = '\0';
  if (*text == '\0') {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s: its first line is no bearer's token"), file);
    return FALSE;
  }
  g_free (token->text);
  token->text = g_steal_pointer (&text);
  return TRUE;
}

gboolean
remote_token_renew (RemoteToken *token, const gchar *file, guint number)
{
  g_autofree gchar *old = g_strdup (token->text);
  if (token->number == number && remote_token_read (token, file, NULL) &&
      !g_str_equal (old, token->text))
    token->number++;
  return token->number != number;
}
