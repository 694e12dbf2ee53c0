/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnngallery.h"

#include "config.h"
#include <axon/axon.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <math.h>

#define MOST_BYTES (64 << 20)
#define MOST_NUMBERS 16384

struct _GstNnGallery {
  gsize length;
  GPtrArray *names;
  GArray *vectors; /* gfloat, one after the other, each of length 1 */
};

gboolean
gst_nn_normalize (const gfloat *vector, gsize n, gfloat *unit)
{
  gdouble sum = 0;
  for (gsize i = 0; i < n; i++)
    sum += (gdouble)vector[i] * (gdouble)vector[i];
  if (!(sum > 0) || !isfinite (sum))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    unit[i] = (gfloat)((gdouble)vector[i] / sqrt (sum));
  return TRUE;
}

/* The numbers behind the name; their count, 0: one is none. */
static gsize
parse_numbers (gchar **parts, gfloat *out)
{
  gsize n = 0;
  for (; n < MOST_NUMBERS && parts[n] != NULL; n++) {
    gchar *end, *text = g_strstrip (parts[n]);
    out[n] = (gfloat)g_ascii_strtod (text, &end);
    if (end == text || *end != '\0')
      return 0;
  }
  return parts[n] == NULL ? n : 0;
}

static gboolean
add_line (GstNnGallery *g, const gchar *line, gfloat *numbers)
{
  g_auto (GStrv) parts = g_strsplit (line, ",", MOST_NUMBERS + 2);
  gsize n = parts[0] != NULL ? parse_numbers (parts + 1, numbers) : 0;
  if (n == 0 || (g->length > 0 && n != g->length) || !gst_nn_normalize (numbers, n, numbers))
    return FALSE;
  g->length = n;
  g_array_append_vals (g->vectors, numbers, (guint)n);
  g_ptr_array_add (g->names, g_strdup (g_strstrip (parts[0])));
  return TRUE;
}

static gboolean
read_file (const gchar *path, gchar **text, GError **error)
{
  GStatBuf info;
  if (g_stat (path, &info) == 0 && (!S_ISREG (info.st_mode) || info.st_size > MOST_BYTES)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("gallery %s: expected a regular file of at most %d MiB"), path,
                 MOST_BYTES >> 20);
    return FALSE;
  }
  return g_file_get_contents (path, text, NULL, error);
}

GstNnGallery *
gst_nn_gallery_load (const gchar *path, GError **error)
{
  g_autoptr (GstNnGallery) g = g_new0 (GstNnGallery, 1);
  g_autofree gfloat *numbers = g_new (gfloat, MOST_NUMBERS);
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  g->names = g_ptr_array_new_with_free_func (g_free);
  g->vectors = g_array_new (FALSE, FALSE, sizeof (gfloat));
  if (!read_file (path, &text, error))
    return NULL;
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (*g_strstrip (lines[i]) != '\0' && *lines[i] != '#' && !add_line (g, lines[i], numbers)) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("gallery %s, line %u: expected a name and %zu numbers (0: as many as in "
                      "every line) that are not all 0, separated by "
                      "commas"),
                   path, i + 1, g->length);
      return NULL;
    }
  if (g->names->len > 0)
    return g_steal_pointer (&g);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("gallery %s has no vector"), path);
  return NULL;
}

void
gst_nn_gallery_free (GstNnGallery *gallery)
{
  g_ptr_array_unref (gallery->names);
  g_array_unref (gallery->vectors);
  g_free (gallery);
}

gsize
gst_nn_gallery_get_length (const GstNnGallery *gallery)
{
  return gallery->length;
}

const gchar *
gst_nn_gallery_match (const GstNnGallery *gallery, const gfloat *unit, gdouble *cosine,
                      guint *index)
{
  const gfloat *v = (const gfloat *)(gpointer)gallery->vectors->data;
  *cosine = -G_MAXDOUBLE;
  *index = 0;
  for (guint k = 0; k < gallery->names->len; k++, v += gallery->length) {
    gdouble sum = 0;
    for (gsize i = 0; i < gallery->length; i++)
      sum += (gdouble)v[i] * (gdouble)unit[i];
    if (sum > *cosine) {
      *cosine = sum;
      *index = k;
    }
  }
  return g_ptr_array_index (gallery->names, *index);
}
