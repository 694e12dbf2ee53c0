/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layouts: one letter per dimension, such as NCHW; `?` is any dimension, `...` any number of them.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

gboolean axon_layout_is_valid (const gchar *layout);
/* The dimension that @letter names in a tensor of @rank; -1: none */
gint axon_layout_find (const gchar *layout, gchar letter, gint rank);
/* Letters for every dimension (free it); NULL where the layout does not fit the rank. */
gchar *axon_layout_expand (const gchar *layout, gint rank);

G_END_DECLS
