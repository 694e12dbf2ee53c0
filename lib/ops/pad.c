/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pad: 1 and 2 (attributes), 11, 13 (inputs), 18 (axes), 19 (wrap). Negative pads crop. */
#include "ops-private.h"

#include <string.h>

static gboolean
spread_pads (const gint64 *given, guint n, const gint64 *axes, guint n_axes, gint rank,
             gint64 *pads, GError **error)
{
  guint half = n_axes ? n_axes : (guint)rank;
  if (n != 2 * half)
    FAIL (MODEL, "pads: expected %u values, got %u", 2 * half, n);
  memset (pads, 0, 2 * AXON_MAX_RANK * sizeof *pads);
  for (guint i = 0; i < half; i++) {
    gint axis = (gint)i;
    if (n_axes && !axon_check_axis (axes[i], rank, &axis, error))
      return FALSE;
    pads[axis] = given[i];
    pads[axis + rank] = given[i + half];
  }
  for (gint i = 0; i < 2 * rank; i++)
    if (pads[i] > G_MAXINT32 || pads[i] < -G_MAXINT32)
      FAIL (MODEL, "pad %" G_GINT64_FORMAT " is out of range", pads[i]);
  return TRUE;
}

static gboolean
get_pads (const AxonNode *node, const AxonTypeInfo *in, gint rank, gint64 *pads, gboolean *known,
          GError **error)
{
  gint64 given[2 * AXON_MAX_RANK], axes[AXON_MAX_RANK];
  guint n = 0, n_axes = 0;
  *known = TRUE;
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES)) {
    const gint64 *attr = axon_node_get_ints (
        node, axon_node_has_form (node, AXON_FORM_PADDINGS) ? "paddings" : "pads", &n);
    n = MIN (n, 2 * AXON_MAX_RANK);
    memcpy (given, attr, n * sizeof *attr);
  } else if (!axon_const_ints (&in[1], given, 2 * AXON_MAX_RANK, &n) ||
             (axon_is_given (node, in, 3) &&
              !axon_const_ints (&in[3], axes, AXON_MAX_RANK, &n_axes))) {
    *known = FALSE;
    return TRUE;
  }
  return spread_pads (given, n, axes, n_axes, rank, pads, error);
}

static gboolean
infer_pad (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 pads[2 * AXON_MAX_RANK];
  const gchar *mode = axon_node_get_string (node, "mode");
  gboolean known;
  axon_infer_same (node, in, out, error);
  if (!g_str_equal (mode, "constant") && !g_str_equal (mode, "reflect") &&
      !g_str_equal (mode, "edge") &&
      (!g_str_equal (mode, "wrap") || axon_node_has_form (node, AXON_FORM_NO_WRAP)))
    FAIL (MODEL, "mode \"%s\": expected constant, reflect, edge or, from opset 19, wrap", mode);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!get_pads (node, in, in[0].shape.rank, pads, &known, error))
    return FALSE;
  for (gint d = 0; d < in[0].shape.rank; d++) {
    gint64 dim = in[0].shape.dims[d], before = known ? pads[d] : 0;
    gint64 after = known ? pads[d + in[0].shape.rank] : 0;
    out[0].shape.dims[d] = !known || dim < 0 ? -1 : dim + before + after;
    if (known && dim >= 0 && out[0].shape.dims[d] < 0)
      FAIL (MODEL, "pads crop more than dimension %d has", d);
    if (known && dim >= 0 && g_str_equal (mode, "reflect") && MAX (before, after) >= MAX (dim, 1))
      FAIL (MODEL, "reflect needs pads below dimension %d (%" G_GINT64_FORMAT ")", d, dim);
    if (known && dim == 0 && !g_str_equal (mode, "constant") && out[0].shape.dims[d] > 0)
      FAIL (MODEL, "dimension %d is empty", d);
  }
  return TRUE;
}

/* Source index of @i in a dimension of @n, or -1 for the pad value. */
static gint64
source_index (gint64 i, gint64 n, gchar mode)
{
  if (i >= 0 && i < n)
    return i;
  if (mode == 'e')
    return i < 0 ? 0 : n - 1;
  if (mode == 'w')
    return (i % n + n) % n;
  if (mode == 'r')
    return i < 0 ? -i : 2 * (n - 1) - i;
  return -1;
}

static gboolean
eval_pad (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]), *y = axon_tensor_get_shape (out[0]);
  AxonTypeInfo infos[4] = { 0 };
  gint64 pads[2 * AXON_MAX_RANK], strides[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  gchar mode = axon_node_get_string (node, "mode")[0];
  AxonDType dtype = axon_tensor_get_dtype (in[0]);
  gsize n = axon_tensor_get_numel (out[0]), size = axon_dtype_get_size (dtype);
  guint8 *dst = axon_tensor_get_data (out[0]), value[16] = { 0 };
  gboolean known;
  axon_infos_of (node, in, infos);
  if (!get_pads (node, infos, x->rank, pads, &known, error))
    return FALSE;
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    axon_dtype_store (dtype, value, 0, axon_node_get_float (node, "value"));
  else if (node->n_inputs > 2 && in[2] != NULL)
    memcpy (value, axon_tensor_get_data (in[2]), size);
  axon_row_strides (x, strides);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gint64 at = 0;
    for (gint d = 0; at >= 0 && d < x->rank; d++) {
      gint64 s = source_index (index[d] - pads[d], x->dims[d], mode);
      at = s < 0 ? -1 : at + s * strides[d];
    }
    memcpy (dst + i * size,
            at < 0 ? value : (guint8 *)axon_tensor_get_data (in[0]) + (gsize)at * size, size);
    for (gint d = y->rank - 1; d >= 0 && ++index[d] == y->dims[d]; d--)
      index[d] = 0;
  }
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "Pad",
      .since = 1,
      .until = 1,
      .form = AXON_FORM_ATTRIBUTES | AXON_FORM_PADDINGS | AXON_FORM_NO_WRAP,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("mode", "constant"), REQUIRED ("paddings", AXON_ATTR_INTS),
                      ATTR_F ("value", 0)),
      .infer = infer_pad,
      .eval = eval_pad,
  },
  {
      .name = "Pad",
      .since = 2,
      .until = 10,
      .form = AXON_FORM_ATTRIBUTES | AXON_FORM_NO_WRAP,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("mode", "constant"), REQUIRED ("pads", AXON_ATTR_INTS),
                      ATTR_F ("value", 0)),
      .infer = infer_pad,
      .eval = eval_pad,
  },
  {
      .name = "Pad",
      .since = 11,
      .until = 17,
      .form = AXON_FORM_NO_WRAP,
      .inputs = { 2, 3 },
      .operands = ".lx",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("mode", "constant")),
      .infer = infer_pad,
      .eval = eval_pad,
  },
  {
      .name = "Pad",
      .since = 18,
      .inputs = { 2, 4 },
      .operands = ".lxn",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("mode", "constant")),
      .infer = infer_pad,
      .eval = eval_pad,
  },
};

DEFINE_FAMILY (pad, rows)
