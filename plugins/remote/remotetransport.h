/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the device wants of HTTP, and the module that has it from libsoup. The module is loaded only
 * where libsoup 2 is not: both in one process end it. */
#pragma once

#include <gio/gio.h>

typedef struct {
  gchar *url; /* without a slash at its end */
  guint connections;
  gchar *ca_file, *certificate_file, *key_file; /* NULL: none */
} RemoteAddress;

typedef struct {
  guint status;
  gchar *reason;
  gssize json_length; /* of Inference-Header-Content-Length; -1: there is none */
  gint64 retry_after; /* milliseconds that the server asks for; -1: it does not */
  GBytes *body;
} RemoteAnswer;

typedef struct {
  gchar *path;         /* behind the URL */
  GPtrArray *body;     /* GBytes, sent one after the other; NULL: GET */
  gssize json_length;  /* of a body that goes on in bytes; -1: it is JSON alone */
  gboolean gzip;       /* the body is compressed */
  gboolean any_coding; /* the answer may be compressed */
  gboolean repeatable; /* asking twice does no harm */
  gsize most;          /* bytes that the answer may have */
} RemoteQuestion;

/* @answer is NULL where there was none, and @error says why (transfer none). */
typedef void (*RemoteAnswerFunc) (const RemoteAnswer *answer, const GError *error, gpointer data);

#define REMOTE_TRANSPORT_VERSION 1u

/* All in the thread that has the default main context of open's; answers come there, too. */
typedef struct {
  guint version;
  gpointer (*open) (const RemoteAddress *address, GError **error);
  void (*send) (gpointer transport, const RemoteQuestion *question, const gchar *token,
                GCancellable *cancellable, RemoteAnswerFunc func, gpointer data);
  void (*close) (gpointer transport);
} RemoteTransport;

/* NULL with @error, AXON_ERROR_DEVICE, where the process has libsoup 2 or the module is missing. */
const RemoteTransport *remote_transport_load (GError **error);
