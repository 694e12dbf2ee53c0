/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the command-line tools. */
#pragma once

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>

/* Exit statuses, which the man pages tell. */
enum { TOOL_DONE, TOOL_FAILED, TOOL_USAGE };

void tool_init (void);
/* Both print and free @error. */
int tool_fail (GError *error);
int tool_misused (GError *error);
/* How the tool is called, on standard error. */
int tool_show_usage (GOptionContext *context);
/* "KEY=VALUE" strings as a floating a{sv}, or NULL with an error. */
GVariant *tool_parse_config (gchar **pairs, GError **error);
/* --extension, for the entries of a tool */
gboolean tool_add_extension (const gchar *name, const gchar *value, gpointer data, GError **error);
#define TOOL_EXTENSION_ENTRY                                                                       \
  {                                                                                                \
    "extension", 'x', G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, tool_add_extension,           \
        N_ ("Library of operators and kernels to load"), "FILE.so"                                 \
  }
/* Shows a progress line on a terminal; the line goes with 1, or before the next output. */
void tool_progress (gdouble fraction, const gchar *stage, gpointer user_data);
void tool_progress_clear (void);

#define TOOL_JSON_ENTRY(where)                                                                     \
  {                                                                                                \
    "json", 'j', 0, G_OPTION_ARG_NONE, where, N_ ("Print JSON"), NULL                              \
  }
/* An object of members; print it at last. */
JsonBuilder *tool_json_new (void);
void tool_json_text (JsonBuilder *b, const gchar *name, const gchar *value); /* NULL: null */
void tool_json_number (JsonBuilder *b, const gchar *name, gdouble value);
void tool_json_whole (JsonBuilder *b, const gchar *name, gint64 value);
void tool_json_truth (JsonBuilder *b, const gchar *name, gboolean value);
/* Name, type and shape of a tensor; free dimensions are -1, an unknown shape is null. */
void tool_json_port (JsonBuilder *b, const gchar *name, AxonDType type, const AxonShape *shape);
/* Members that are lists; nothing where @b is NULL, as the next. */
void tool_json_begin_list (JsonBuilder *b, const gchar *name);
void tool_json_end_list (JsonBuilder *b);
void tool_json_strings (JsonBuilder *b, const gchar *name, gchar **strings);
/* Closes the object and prints it, unless it is empty, for an error came. @b: NULL: nothing */
void tool_json_finish (JsonBuilder *b);
