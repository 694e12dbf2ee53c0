/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shapes: values, no state, any thread. */
#include <axon/axonshape.h>
#include <axon/axonerror.h>

#include "config.h"
#include <glib/gi18n-lib.h>

G_DEFINE_BOXED_TYPE (AxonShape, axon_shape, axon_shape_copy, axon_shape_free)

/**
 * axon_shape_copy:
 * @shape: a shape
 *
 * Returns: (transfer full): a copy
 *
 * Since: 1.0
 */
AxonShape *
axon_shape_copy (const AxonShape *shape)
{
  return g_memdup2 (shape, sizeof *shape);
}

/**
 * axon_shape_free:
 * @shape: (transfer full): a shape from axon_shape_copy()
 *
 * Since: 1.0
 */
void
axon_shape_free (AxonShape *shape)
{
  g_free (shape);
}

/**
 * axon_shape_is_static:
 * @shape: a shape
 *
 * Returns: %TRUE if rank and every dimension are known
 *
 * Since: 1.0
 */
gboolean
axon_shape_is_static (const AxonShape *shape)
{
  for (gint i = 0; i < shape->rank; i++)
    if (shape->dims[i] < 0)
      return FALSE;
  return shape->rank >= 0;
}

/**
 * axon_shape_equal:
 * @a: a shape
 * @b: a shape
 *
 * Returns: %TRUE if rank and dimensions are the same; an unknown dimension equals only an unknown
 * one
 *
 * Since: 1.0
 */
gboolean
axon_shape_equal (const AxonShape *a, const AxonShape *b)
{
  if (a->rank != b->rank)
    return FALSE;
  for (gint i = 0; i < a->rank; i++)
    if (a->dims[i] != b->dims[i])
      return FALSE;
  return TRUE;
}

/**
 * axon_shape_accepts:
 * @pattern: a shape that may have unknown parts
 * @shape: a shape
 *
 * Returns: %TRUE if @shape agrees with every known part of @pattern
 *
 * Since: 1.0
 */
gboolean
axon_shape_accepts (const AxonShape *pattern, const AxonShape *shape)
{
  if (pattern->rank < 0)
    return TRUE;
  if (pattern->rank != shape->rank)
    return FALSE;
  for (gint i = 0; i < pattern->rank; i++)
    if (pattern->dims[i] >= 0 && pattern->dims[i] != shape->dims[i])
      return FALSE;
  return TRUE;
}

/**
 * axon_shape_get_numel:
 * @shape: a shape
 *
 * Returns: the number of elements; -1 if a part is unknown or the product, without zeros, overflows
 *
 * Since: 1.0
 */
gint64
axon_shape_get_numel (const AxonShape *shape)
{
  gint64 n = 1;
  gboolean is_empty = FALSE;
  if (!axon_shape_is_static (shape))
    return -1;
  /* dimensions of what is empty are multiplied, too, wherever strides are computed */
  for (gint i = 0; i < shape->rank; i++) {
    is_empty |= shape->dims[i] == 0;
    if (__builtin_mul_overflow (n, MAX (shape->dims[i], 1), &n))
      return -1;
  }
  return is_empty ? 0 : n;
}

/**
 * axon_shape_to_string:
 * @shape: a shape
 *
 * Returns: (transfer full): text such as `[1,3,?,224]`; `[...]` where the rank is unknown
 *
 * Since: 1.0
 */
gchar *
axon_shape_to_string (const AxonShape *shape)
{
  g_autoptr (GString) s = g_string_new ("[");
  if (shape->rank < 0)
    g_string_append (s, "...");
  for (gint i = 0; i < shape->rank; i++) {
    if (i > 0)
      g_string_append_c (s, ',');
    if (shape->dims[i] < 0)
      g_string_append_c (s, '?');
    else
      g_string_append_printf (s, "%" G_GINT64_FORMAT, shape->dims[i]);
  }
  g_string_append_c (s, ']');
  return g_string_free (g_steal_pointer (&s), FALSE);
}

/**
 * axon_shape_from_string:
 * @text: dimensions separated by `,` or `x`, brackets optional, `?` or `-1` for unknown
 * @shape: (out caller-allocates): the shape
 * @error: return location
 *
 * Returns: %TRUE on success; %AXON_ERROR_ARGUMENT otherwise
 *
 * Since: 1.0
 */
gboolean
axon_shape_from_string (const gchar *text, AxonShape *shape, GError **error)
{
  g_autofree gchar *body = g_strdup (text);
  g_auto (GStrv) parts = NULL;
  g_strstrip (body);
  if (body[0] == '[')
    memmove (body, body + 1, strlen (body));
  if (g_str_has_suffix (body, "]"))
    body[strlen (body) - 1] = '\0';
  parts = g_strsplit_set (body, ",x", -1);
  *shape = (AxonShape){ 0 };
  for (guint i = 0; parts[i] != NULL; i++) {
    gint64 dim = -1;
    const gchar *p = g_strstrip (parts[i]);
    if (shape->rank == AXON_MAX_RANK ||
        (!g_str_equal (p, "?") && !g_str_equal (p, "-1") &&
         !g_ascii_string_to_signed (p, 10, 0, G_MAXINT32, &dim, NULL))) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("shape \"%s\": \"%s\" is no dimension (expected up to %d numbers or \"?\", "
                      "such as 1,3,224,224)"),
                   text, p, AXON_MAX_RANK);
      return FALSE;
    }
    shape->dims[shape->rank++] = dim;
  }
  return TRUE;
}

/**
 * axon_shape_broadcast:
 * @a: a shape
 * @b: a shape
 * @out: (out caller-allocates): the result
 *
 * Multidirectional broadcasting as in ONNX and NumPy. An unknown dimension against a known one
 * above 1 gives the known one.
 *
 * Returns: %FALSE if the shapes cannot be broadcast
 *
 * Since: 1.0
 */
gboolean
axon_shape_broadcast (const AxonShape *a, const AxonShape *b, AxonShape *out)
{
  AxonShape r = AXON_SHAPE_UNKNOWN;
  if (a->rank < 0 || b->rank < 0) {
    *out = r;
    return TRUE;
  }
  r.rank = MAX (a->rank, b->rank);
  for (gint i = 0; i < r.rank; i++) {
    gint ia = i - (r.rank - a->rank), ib = i - (r.rank - b->rank);
    gint64 da = ia < 0 ? 1 : a->dims[ia], db = ib < 0 ? 1 : b->dims[ib];
    if (da == db || db == 1)
      r.dims[i] = da;
    else if (da == 1)
      r.dims[i] = db;
    else if (da < 0 || db < 0)
      r.dims[i] = MAX (da, db);
    else
      return FALSE;
  }
  *out = r;
  return TRUE;
}

/**
 * axon_shape_is_tail:
 * @shape: a shape
 * @of: the shape that it is broadcast to
 * @axis: a dimension of @of, not negative; the rank of @of: none
 *
 * Says whether an operand that is broadcast is the same elements again at every place of the
 * dimensions before @axis, and has one for each element of those from there on.
 *
 * Returns: %TRUE if @shape has the dimensions of @of from @axis on, and ones before them
 *
 * Since: 1.0
 */
gboolean
axon_shape_is_tail (const AxonShape *shape, const AxonShape *of, gint axis)
{
  gint ahead = of->rank - shape->rank;
  if (shape->rank < 0 || of->rank < 0 || ahead < 0)
    return FALSE;
  for (gint d = 0; d < of->rank; d++)
    if ((d < ahead ? 1 : shape->dims[d - ahead]) != (d < axis ? 1 : of->dims[d]))
      return FALSE;
  return TRUE;
}
