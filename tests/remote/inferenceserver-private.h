/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of the tests' server: HTTP, tensors, the protocol, what is wrong on request. */
#pragma once

#include "inferenceserver.h"

#include <json-glib/json-glib.h>

struct _InferenceServer {
  GSocketService *service;
  GMainContext *context; /* in which it accepts */
  gint is_closing;       /* atomic */
  GThread *thread;
  AxonModel *model;
  AxonCompiledModel *compiled;
  InferenceServerOptions options;
  JsonParser *recording; /* NULL: a model answers */
  guint16 port;
  gchar *address;
  gint mischief, n_inferences, n_connections; /* atomic */
  gsize n_sent;                               /* atomic */
  GMutex lock;
  GHashTable *connections;              /* lock: GSocketConnection that are open */
  GHashTable *regions;                  /* lock: name -> key */
  gchar *description, *token, *headers; /* lock */
  GCond idle;
};

/* One request of HTTP, and where its connection is. */
typedef struct {
  InferenceServer *server;
  GDataInputStream *in;
  GOutputStream *out;
  gchar *method, *path;
  GString *headers;
  gsize length, json_length;
  gboolean gzip;
  guint8 *body;
  gsize n_body;
} Exchange;

/* HTTP. FALSE: the connection is at its end. */
gboolean exchange_read (Exchange *x);
gboolean exchange_send_bytes (Exchange *x, gconstpointer data, gsize n);
gboolean exchange_send (Exchange *x, const gchar *status, const gchar *headers, gconstpointer data,
                        gsize n);
gboolean exchange_send_text (Exchange *x, const gchar *status, const gchar *text);
void exchange_clear (Exchange *x);

/* The protocol: answers a request that was read. */
gboolean exchange_answer (Exchange *x);

/* The same as a server that was recorded. */
gboolean exchange_replay (Exchange *x);

/* What is wrong before anything was computed; TRUE in @done: the answer is sent. */
gboolean exchange_misbehave (Exchange *x, Mischief mischief, gboolean *done);

/* Tensors, in JSON, behind it, or in a registered region. */
AxonTensor *exchange_read_tensor (Exchange *x, JsonObject *object, gsize *at);
void exchange_append_tensor (Exchange *x, GString *json, GByteArray *bytes, JsonObject *parameters,
                             AxonTensor *t, Mischief mischief);
void inference_append_port (GString *json, guint i, const gchar *name, AxonDType dtype,
                            const AxonShape *shape);
