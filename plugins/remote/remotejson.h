/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON from strangers, and what they say where they refuse. */
#pragma once

#include "remotetransport.h"

#include <json-glib/json-glib.h>

/* An object; NULL with @error where the bytes are none, or nest deeper than any that is meant. */
JsonParser *remote_json_parse (gconstpointer data, gsize n, GError **error);
/* A member; NULL where it is missing or of another kind. */
const gchar *remote_json_string (JsonObject *object, const gchar *name);
JsonArray *remote_json_array (JsonObject *object, const gchar *name);
JsonObject *remote_json_object (JsonObject *object, const gchar *name);
/* A whole number; -1 where it is missing or none. */
gint64 remote_json_int (JsonObject *object, const gchar *name);
/* @text in quotes (transfer full). */
gchar *remote_json_quote (const gchar *text);

/* Text of a server, short and printable (transfer full). */
gchar *remote_excerpt (const gchar *text, gsize n);
/* Status and words of an answer (transfer full). */
gchar *remote_answer_describe (const RemoteAnswer *answer);
