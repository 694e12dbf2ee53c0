/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model looks like from outside: `inputs` and `outputs` are NAME:DIMS, separated by spaces,
 * in order; `*` at the end: and any more. NAME may have wildcards. DIMS are separated by commas: a
 * number, `*`, or a count of cells of the grids at strides 8, 16 and 32 (`cells`, `3cells`).
 * `operators`: NAME (at least one), NAME:N (that many), !NAME (none). */
#include "fingerprint.h"

#include <axon/plugin/axongraph.h>
#include <axon/plugin/axonop.h>

#include <string.h>

/* -1: the size is free. */
static gint64
count_cells (AxonModel *model)
{
  const AxonShape *s = model->inputs->len > 0
                           ? &((AxonValue *)g_ptr_array_index (model->inputs, 0))->type.shape
                           : NULL;
  gint64 n = 0;
  if (s == NULL || s->rank != 4 || s->dims[2] < 1 || s->dims[3] < 1 || s->dims[2] > 16384 ||
      s->dims[3] > 16384)
    return -1;
  for (gint64 stride = 8; stride <= 32; stride *= 2)
    n += (s->dims[2] / stride) * (s->dims[3] / stride);
  return n;
}

static gboolean
dim_fits (const gchar *pattern, gint64 dim, AxonModel *model)
{
  gint64 n;
  if (g_str_equal (pattern, "*"))
    return TRUE;
  if (g_str_equal (pattern, "cells"))
    return dim > 0 && dim == count_cells (model);
  if (g_str_equal (pattern, "3cells"))
    return dim > 0 && dim == 3 * count_cells (model);
  return g_ascii_string_to_signed (pattern, 10, 0, G_MAXINT32, &n, NULL) && n == dim;
}

static gboolean
port_fits (const gchar *pattern, const AxonValue *value, AxonModel *model)
{
  const gchar *colon = strrchr (pattern, ':');
  g_autofree gchar *name =
      colon ? g_strndup (pattern, (gsize)(colon - pattern)) : g_strdup (pattern);
  g_auto (GStrv) dims = g_strsplit (colon ? colon + 1 : "", ",", -1);
  const AxonShape *s = &value->type.shape;
  if (!g_pattern_match_simple (name, value->name))
    return FALSE;
  if (g_strcmp0 (dims[0], "...") == 0)
    return TRUE;
  if (s->rank != (gint)g_strv_length (dims))
    return FALSE;
  for (gint i = 0; i < s->rank; i++)
    if (!dim_fits (dims[i], s->dims[i], model))
      return FALSE;
  return TRUE;
}

static gboolean
ports_fit (const gchar *patterns, const GPtrArray *values, AxonModel *model)
{
  g_auto (GStrv) each = g_strsplit (patterns, " ", -1);
  guint i;
  for (i = 0; each[i] != NULL && !g_str_equal (each[i], "*"); i++)
    if (i >= values->len || !port_fits (each[i], g_ptr_array_index (values, i), model))
      return FALSE;
  return each[i] != NULL || i == values->len;
}

static guint
count_operators (const gchar *name, AxonModel *model)
{
  guint n = 0;
  for (guint i = 0; i < model->nodes->len; i++)
    n += g_str_equal (((const AxonNode *)g_ptr_array_index (model->nodes, i))->op->name, name);
  return n;
}

static gboolean
operators_fit (const gchar *patterns, AxonModel *model)
{
  g_auto (GStrv) each = g_strsplit (patterns, " ", -1);
  for (guint i = 0; each[i] != NULL; i++) {
    gchar *colon = strchr (each[i], ':');
    guint n, wanted = 0;
    if (each[i][0] == '!') {
      if (count_operators (each[i] + 1, model) > 0)
        return FALSE;
      continue;
    }
    if (colon != NULL) {
      wanted = (guint)g_ascii_strtoull (colon + 1, NULL, 10);
      *colon = '\0';
    }
    n = count_operators (each[i], model);
    if (colon != NULL ? n != wanted : n == 0)
      return FALSE;
  }
  return TRUE;
}

gboolean
axon_fingerprint_fits (GKeyFile *table, const gchar *row, AxonModel *model)
{
  g_autofree gchar *inputs = g_key_file_get_string (table, row, "inputs", NULL);
  g_autofree gchar *outputs = g_key_file_get_string (table, row, "outputs", NULL);
  g_autofree gchar *operators = g_key_file_get_string (table, row, "operators", NULL);
  return inputs != NULL && outputs != NULL && ports_fit (inputs, model->inputs, model) &&
         ports_fit (outputs, model->outputs, model) &&
         (operators == NULL || operators_fit (operators, model));
}
