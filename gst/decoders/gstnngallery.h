/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Named vectors that embeddings are compared with. Never changes; any thread. */
#pragma once

#include <glib.h>

typedef struct _GstNnGallery GstNnGallery;

/* A text file with a line for each vector: its name, then its numbers, separated by commas; several
 * lines may have one name. Empty lines and those that begin with # say nothing. */
GstNnGallery *gst_nn_gallery_load (const gchar *path, GError **error);
void gst_nn_gallery_free (GstNnGallery *gallery);
/* Numbers in a vector. */
gsize gst_nn_gallery_get_length (const GstNnGallery *gallery);
/* The name of what is most like @unit, a vector of length 1; its cosine and its line. */
const gchar *gst_nn_gallery_match (const GstNnGallery *gallery, const gfloat *unit, gdouble *cosine,
                                   guint *index);
/* To the length 1; FALSE: it has none, or one that is no number. */
gboolean gst_nn_normalize (const gfloat *vector, gsize n, gfloat *unit);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnGallery, gst_nn_gallery_free)
