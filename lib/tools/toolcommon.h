/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the command-line tools. */
#pragma once

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>

void tool_init (void);
int tool_fail (GError *error);
/* "KEY=VALUE" strings as a floating a{sv}, or NULL with an error. */
GVariant *tool_parse_config (gchar **pairs, GError **error);
/* --extension, for the entries of a tool */
gboolean tool_add_extension (const gchar *name, const gchar *value, gpointer data, GError **error);
#define TOOL_EXTENSION_ENTRY                                                                       \
  {                                                                                                \
    "extension", 'x', G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, tool_add_extension,           \
        N_ ("Library of operators and kernels to load"), "FILE.so"                                 \
  }
/* Shows a progress line on a terminal. */
void tool_progress (gdouble fraction, const gchar *stage, gpointer user_data);
