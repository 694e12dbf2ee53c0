/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How sources fill a description. A source is a row in sources.c; each has a file of its own. */
#pragma once

#include "config.h"
#include <axon/axonmodeldescription.h>
#include <glib/gi18n-lib.h>

/* What keys are about: the bits of `said`. */
typedef enum {
  AXON_FIELD_LABELS,
  AXON_FIELD_COLOR,
  AXON_FIELD_RESIZE,
  AXON_FIELD_CROP_FRACTION,
  AXON_FIELD_PAD_VALUE,
  AXON_FIELD_MEAN,
  AXON_FIELD_SCALE,
  AXON_FIELD_WIDTH,
  AXON_FIELD_HEIGHT,
  AXON_FIELD_MAX_WIDTH,
  AXON_FIELD_DECODER,
  AXON_FIELD_ANCHORS,
  AXON_FIELD_STRIDES,
  AXON_FIELD_ACTIVATION,
  AXON_FIELD_SKELETON,
  AXON_FIELD_THRESHOLD,
  AXON_FIELD_IOU_THRESHOLD,
  AXON_FIELD_PRESET,
  AXON_N_FIELDS
} AxonField;

/* Who says something. */
typedef struct {
  const gchar *name;      /* for people: a path, or what it is */
  const gchar *directory; /* that files named lie beneath; NULL: they lie anywhere */
  gboolean names_files;   /* what comes with a model file's own bytes does not */
  gboolean guesses;       /* may be wrong, and knows it */
} AxonSpeaker;

#define AXON_SOURCE_GRAPH "graph"

typedef struct {
  const gchar *key;
  AxonField field;
  gboolean (*set) (AxonModelDescription *d, const gchar *text, GError **error);
  gchar *(*get) (const AxonModelDescription *d); /* as text; NULL: another key of the field does */
  gboolean is_file;
  const gchar *blurb;
} AxonDescriptionKey;

/* The table of keys; NULL after the last. */
const AxonDescriptionKey *axon_description_key_at (guint index);
const AxonDescriptionKey *axon_description_key_find (const gchar *key, GError **error);

/* The first who says a field wins: later ones are not even checked. Errors name the key; the caller
 * adds who spoke. */
gboolean axon_model_description_say (AxonModelDescription *d, const AxonSpeaker *speaker,
                                     const gchar *key, const gchar *value, GError **error);
/* Takes @labels over. */
void axon_model_description_say_labels (AxonModelDescription *d, const AxonSpeaker *speaker,
                                        gchar **labels);
/* tensor = (pixel - mean) / scale, for @n channels. */
gboolean axon_model_description_say_numbers (AxonModelDescription *d, const AxonSpeaker *speaker,
                                             const gchar *key, const gdouble *values, guint n,
                                             GError **error);
gboolean axon_model_description_has (const AxonModelDescription *d, AxonField field);

/* A source: TRUE if it is absent, too. */
typedef gboolean (*AxonDescriptionSource) (AxonModelDescription *d, const gchar *model_path,
                                           AxonModel *model, GError **error);
gboolean axon_load_modelinfo (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                              GError **error);
gboolean axon_load_model_proc (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                               GError **error);
gboolean axon_load_deepstream (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                               GError **error);
gboolean axon_load_own_labels (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                               GError **error);
gboolean axon_load_metadata (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                             GError **error);
gboolean axon_load_shared_labels (AxonModelDescription *d, const gchar *model_path,
                                  AxonModel *model, GError **error);
gboolean axon_load_graph (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                          GError **error);
gboolean axon_load_preset (AxonModelDescription *d, const gchar *model_path, AxonModel *model,
                           GError **error);
/* What makers of exporters write into files. */
gboolean axon_say_exporters (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model,
                             GError **error);

/* The row called @name, said by whoever named it. */
gboolean axon_say_preset (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *name,
                          GError **error);
/* The built-in list called @name; NULL with an error that names them all. */
gchar **axon_label_set_dup (const gchar *name, GError **error);

/* A whole regular file of a size that a description may have, ended by a 0. @directory: who names
 * the file is no user, so it lies beneath that folder, without links; NULL: any path. */
gchar *axon_read_small_file (const gchar *directory, const gchar *name, gsize *n, GError **error);
/* The same; *@text is NULL where there is none. */
gboolean axon_read_optional_file (const gchar *path, gchar **text, gsize *n, GError **error);
/* One per line; empty ones at the end are none. */
gchar **axon_split_lines (const gchar *text);
/* @model_path without its last ending, with @ending instead. */
gchar *axon_path_beside (const gchar *model_path, const gchar *ending);
