/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A bearer's token from a file, which somebody else renews. In one thread. */
#pragma once

#include <glib.h>

typedef struct {
  gchar *text;  /* NULL: none */
  guint number; /* one more for each that the file had */
} RemoteToken;

void remote_token_clear (RemoteToken *token);
/* The first line of @file; FALSE with @error where that is none. */
gboolean remote_token_read (RemoteToken *token, const gchar *file, GError **error);
/* TRUE if there is another token than that of @number, here already or in @file. */
gboolean remote_token_renew (RemoteToken *token, const gchar *file, guint number);
