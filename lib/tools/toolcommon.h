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
/* Shows a progress line on a terminal. */
void tool_progress (gdouble fraction, const gchar *stage, gpointer user_data);
