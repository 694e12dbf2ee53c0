/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How sources fill a description. A source is a row in sources.c; each has a file of its own. */
#pragma once

#include "config.h"
#include <glib/gi18n-lib.h>
#include <gst/nn/gstnndescription.h>

#define GST_CAT_DEFAULT gst_nn_description_get_category ()
GstDebugCategory *gst_nn_description_get_category (void);

/* Who says something. */
typedef struct {
  const gchar *name;      /* for people: a path, or what it is */
  const gchar *directory; /* that relative paths start from; NULL: the process's */
  gboolean names_files;   /* what comes with a model file's own bytes does not */
} GstNnSpeaker;

/* The first who says a field wins: later ones are not even checked. Errors name the key; the caller
 * adds who spoke. */
gboolean gst_nn_description_say (GstNnDescription *d, const GstNnSpeaker *speaker, const gchar *key,
                                 const gchar *value, GError **error);
/* Takes @labels over. */
void gst_nn_description_say_labels (GstNnDescription *d, const GstNnSpeaker *speaker,
                                    gchar **labels);

/* The sources: TRUE if they are absent, too. */
gboolean gst_nn_load_modelinfo (GstNnDescription *d, const gchar *model_path, AxonModel *model,
                                GError **error);
gboolean gst_nn_load_model_proc (GstNnDescription *d, const gchar *model_path, AxonModel *model,
                                 GError **error);
gboolean gst_nn_load_metadata (GstNnDescription *d, const gchar *model_path, AxonModel *model,
                               GError **error);

/* A whole regular file of a size that a description may have, ended by a 0. */
gchar *gst_nn_read_small_file (const gchar *path, gsize *n, GError **error);
