/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How records leave: one transport a file. Those that need a library of their own are modules
 * beside the plugin, loaded when a location asks for them: a missing library costs only its
 * transport. */
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#define GST_NN_TRANSPORT_VERSION 1
#define GST_NN_TRANSPORT_SYMBOL "gst_nn_transport"

/* What a user can set of one transport, by name in nnpublish's "options". */
typedef struct {
  const gchar *name;
  GType type;           /* G_TYPE_INT, G_TYPE_UINT64, G_TYPE_BOOLEAN, G_TYPE_STRING */
  const gchar *initial; /* as text; NULL: none */
  const gchar *blurb;
} GstNnTransportOption;

typedef struct {
  const gchar *location;       /* as the user wrote it */
  const gchar *media_type;     /* of a record */
  gboolean append;             /* files: behind what is there */
  const GstStructure *options; /* every option of the transport, with its type */
  GCancellable *cancellable;   /* ends every wait */
  /* From any thread, without a lock: what could not be sent may be tried again now; so many records
   * are lost. */
  void (*ready) (gpointer data);
  void (*lost) (guint n, const gchar *why, gpointer data);
  gpointer data;
} GstNnTransportSettings;

/* A record on its way. */
typedef struct {
  GBytes *bytes;     /* one line without its end */
  GstClockTime time; /* of the element's clock */
} GstNnOutgoing;

/* open() is called when the element starts, the rest by its writer's thread. */
typedef struct {
  guint version;
  const GstNnTransportOption *options; /* the last has no name; or NULL */
  gpointer (*open) (const GstNnTransportSettings *settings, GError **error);
  /* FALSE: not now, it will be tried again; G_IO_ERROR_INVALID_DATA: never, it is lost. */
  gboolean (*send) (gpointer transport, const GstNnOutgoing *record, GError **error);
  /* How many of the last records may still get lost; NULL: none. */
  guint (*unacknowledged) (gpointer transport);
  gboolean (*flush) (gpointer transport, GError **error); /* the stream has ended; or NULL */
  void (*close) (gpointer transport);
} GstNnTransport;

extern const GstNnTransport gst_nn_transport_file, gst_nn_transport_socket;

/* The transport of a location: "SCHEME://...", or a file. NULL with an error that says which
 * package has its library. Stays loaded. */
const GstNnTransport *gst_nn_transport_find (const gchar *location, GError **error);
/* All of its options, as @given says or with their initial values; NULL with an error that names
 * those that there are. */
GstStructure *gst_nn_transport_options (const GstNnTransport *transport, const GstStructure *given,
                                        GError **error);
