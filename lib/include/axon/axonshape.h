/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib-object.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

/**
 * AXON_MAX_RANK:
 *
 * The largest rank of a tensor; models with more are refused when they are read.
 *
 * Since: 1.0
 */
#define AXON_MAX_RANK 8

/**
 * AxonShape:
 * @rank: number of dimensions; -1: not even the rank is known
 * @dims: the dimensions, outermost first; -1: unknown
 *
 * The shape of a tensor, held by value.
 *
 * Since: 1.0
 */
typedef struct {
  gint rank;
  gint64 dims[AXON_MAX_RANK];
} AxonShape;

#define AXON_TYPE_SHAPE (axon_shape_get_type ())

AXON_API GType axon_shape_get_type (void) G_GNUC_CONST;
AXON_API AxonShape *axon_shape_copy (const AxonShape *shape);
AXON_API void axon_shape_free (AxonShape *shape);
AXON_API gboolean axon_shape_is_static (const AxonShape *shape);
AXON_API gboolean axon_shape_equal (const AxonShape *a, const AxonShape *b);
AXON_API gboolean axon_shape_accepts (const AxonShape *pattern, const AxonShape *shape);
AXON_API gint64 axon_shape_get_numel (const AxonShape *shape);
AXON_API gchar *axon_shape_to_string (const AxonShape *shape);
AXON_API gboolean axon_shape_from_string (const gchar *text, AxonShape *shape, GError **error);
AXON_API gboolean axon_shape_broadcast (const AxonShape *a, const AxonShape *b, AxonShape *out);
AXON_API gboolean axon_shape_is_tail (const AxonShape *shape, const AxonShape *of, gint axis);

#define AXON_SHAPE_UNKNOWN ((AxonShape){ .rank = -1 })
#define AXON_SHAPE(...)                                                                            \
  ((AxonShape){ .rank = (gint)(sizeof ((gint64[]){ __VA_ARGS__ }) / sizeof (gint64)),              \
                .dims = { __VA_ARGS__ } })

G_END_DECLS
