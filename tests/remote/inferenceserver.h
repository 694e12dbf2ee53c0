/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A server of the Open Inference Protocol for tests: HTTP written by hand over sockets, so that it
 * can be wrong in every way. A thread for each connection. */
#pragma once

#include <axon/axon.h>
#include <gio/gio.h>

typedef enum {
  BEHAVE,
  CUT_ANSWER,       /* closes the connection in the middle of it */
  TRUNCATE_TENSOR,  /* less bytes of a tensor than it says */
  ANSWER_GARBAGE,   /* no HTTP */
  ANSWER_NO_JSON,   /* HTTP around something else */
  ANSWER_DEEP_JSON, /* a million brackets */
  OTHER_SHAPE,      /* outputs of another shape */
  OTHER_TYPE,
  NO_OUTPUTS,
  HUGE_LENGTH,      /* Content-Length of 10 GB */
  HUGE_JSON_LENGTH, /* Inference-Header-Content-Length of 10 GB */
  ENDLESS_HEADER,   /* until the client closes */
  ENDLESS_BODY,     /* chunks without end */
  HANG,             /* says nothing */
  BUSY_ONCE,        /* 503, then behaves */
  FAIL,             /* 500 with an error */
  REDIRECT,
} Mischief;

typedef struct {
  const gchar *address;         /* NULL: 127.0.0.1 */
  guint16 port;                 /* 0: any */
  const gchar *extensions;      /* as JSON: "\"binary_tensor_data\"" */
  const gchar *token;           /* NULL: nobody has to say one */
  GTlsCertificate *certificate; /* NULL: plain */
  gboolean wants_certificate;   /* of the client */
  const gchar *device;          /* that runs the model; NULL: TEMPLATE */
  gboolean lists_no_ports;      /* as MLServer does */
  const gchar *recording;       /* path of what a server said, instead of a model; NULL: none */
} InferenceServerOptions;

typedef struct _InferenceServer InferenceServer;

/* @model: NULL where a recording answers. */
InferenceServer *inference_server_new (AxonModel *model, const InferenceServerOptions *options);
void inference_server_free (InferenceServer *server); /* connections are cut */
gchar *inference_server_url (InferenceServer *server);
guint16 inference_server_port (InferenceServer *server);
/* Of inferences alone; descriptions are always told. */
void inference_server_set_mischief (InferenceServer *server, Mischief mischief);
/* What descriptions are told instead of the model's; NULL: its own. */
void inference_server_set_description (InferenceServer *server, const gchar *json);
void inference_server_set_token (InferenceServer *server, const gchar *token);
guint inference_server_get_n_inferences (InferenceServer *server);
guint inference_server_get_n_connections (InferenceServer *server);
/* Headers of the last inference. */
gchar *inference_server_dup_headers (InferenceServer *server);
gsize inference_server_get_n_sent (InferenceServer *server);
