/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that pick elements by value: NonZero, Compress, Unique. Shapes follow from data: they
 * make their outputs themselves. */
#include "ops-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static gboolean
infer_nonzero (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
               G_GNUC_UNUSED GError **error)
{
  out[0].dtype = AXON_DTYPE_I64;
  if (in[0].shape.rank >= 0)
    out[0].shape = AXON_SHAPE (in[0].shape.rank, -1);
  return TRUE;
}

static gboolean
run_nonzero (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor **out,
             GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint64 index[AXON_MAX_RANK] = { 0 }, n = 0, at = 0;
  AxonShape shape;
  gint64 *y;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++)
    n += axon_tensor_get_value (in[0], i) != 0;
  shape = AXON_SHAPE (x->rank, n);
  out[0] = axon_tensor_new (AXON_DTYPE_I64, &shape, error);
  if (out[0] == NULL)
    return FALSE;
  y = axon_tensor_get_data (out[0]);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    if (axon_tensor_get_value (in[0], i) != 0) {
      for (gint d = 0; d < x->rank; d++)
        y[d * n + at] = index[d];
      at++;
    }
    axon_next_index (index, x);
  }
  return TRUE;
}

static gboolean
infer_compress (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint axis;
  out[0].dtype = in[0].dtype;
  out[0].shape = AXON_SHAPE (-1);
  if (axon_node_find_attr (node, "axis") == NULL)
    return TRUE;
  out[0].shape = in[0].shape;
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!axon_check_axis (axon_node_get_int (node, "axis"), in[0].shape.rank, &axis, error))
    return FALSE;
  out[0].shape.dims[axis] = -1;
  return TRUE;
}

/* Copies slices @picks (indices along @axis) of @x. */
static AxonTensor *
take_slices (AxonTensor *x, const AxonShape *shape, gint axis, const gint64 *picks, gint64 n,
             GError **error)
{
  AxonShape result = *shape;
  AxonLines lines = axon_lines (shape, axis);
  gsize row = (gsize)lines.inner * axon_dtype_get_size (axon_tensor_get_dtype (x));
  AxonTensor *y;
  result.dims[axis] = n;
  y = axon_tensor_new (axon_tensor_get_dtype (x), &result, error);
  for (gint64 o = 0; y != NULL && row > 0 && o < lines.outer; o++)
    for (gint64 i = 0; i < n; i++)
      memcpy ((guint8 *)axon_tensor_get_data (y) + (gsize)(o * n + i) * row,
              (guint8 *)axon_tensor_get_data (x) + (gsize)(o * lines.n + picks[i]) * row, row);
  return y;
}

static gboolean
run_compress (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (in[0]);
  const guint8 *condition = axon_tensor_get_data (in[1]);
  AXON_AUTO_SCRATCH gint64 *picks = NULL;
  gint64 n = 0, limit;
  gint axis = 0;
  if (axon_node_find_attr (node, "axis") == NULL)
    shape = AXON_SHAPE ((gint64)axon_tensor_get_numel (in[0]));
  else if (!axon_check_axis (axon_node_get_int (node, "axis"), shape.rank, &axis, error))
    return FALSE;
  limit = MIN ((gint64)axon_tensor_get_numel (in[1]), shape.dims[axis]);
  picks = axon_scratch_new ((gsize)limit + 1, sizeof *picks, error);
  if (picks == NULL)
    return FALSE;
  for (gint64 i = 0; i < limit; i++)
    if (condition[i])
      picks[n++] = i;
  out[0] = take_slices (in[0], &shape, axis, picks, n, error);
  return out[0] != NULL;
}

/* Unique: slices along an axis, or elements; compared as numbers, element by element. */
typedef struct {
  AxonDType dtype;
  const guint8 *data;
  AxonLines lines;
} Slices;

static gint
compare_slices (const Slices *s, gint64 a, gint64 b)
{
  for (gint64 o = 0; o < s->lines.outer && WANTED (o); o++)
    for (gint64 i = 0; i < s->lines.inner; i++) {
      gsize at_a = (gsize)((o * s->lines.n + a) * s->lines.inner + i);
      gsize at_b = (gsize)((o * s->lines.n + b) * s->lines.inner + i);
      gdouble x = axon_dtype_load (s->dtype, s->data, at_a);
      gdouble y = axon_dtype_load (s->dtype, s->data, at_b);
      if (x != y && !(isnan (x) && isnan (y)))
        return isnan (x) || x > y ? 1 : -1;
    }
  return 0;
}

static gint
compare_slices_then_index (gconstpointer a, gconstpointer b, gpointer slices)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  gint order = compare_slices (slices, x, y);
  return order ? order : x < y ? -1 : x > y;
}

static gint
compare_ints (gconstpointer a, gconstpointer b, gpointer keys)
{
  gint64 x = ((const gint64 *)keys)[*(const gint64 *)a],
         y = ((const gint64 *)keys)[*(const gint64 *)b];
  return x < y ? -1 : x > y;
}

static gboolean
infer_unique (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (!infer_compress (node, in, out, error))
    return FALSE;
  for (guint i = 1; i < node->n_outputs; i++) {
    out[i].dtype = AXON_DTYPE_I64;
    out[i].shape = AXON_SHAPE (-1);
  }
  return TRUE;
}

/* Groups equal slices: first[g], count[g] and group[i], groups in sorted order. -1: no memory. */
static gint64
group_slices (Slices *s, gint64 *first, gint64 *count, gint64 *group, GError **error)
{
  AXON_AUTO_SCRATCH gint64 *order =
      axon_scratch_new ((gsize)s->lines.n + 1, sizeof (gint64), error);
  gint64 groups = 0;
  if (order == NULL)
    return -1;
  for (gint64 i = 0; i < s->lines.n; i++)
    order[i] = i;
  qsort_r (order, (gsize)s->lines.n, sizeof *order, compare_slices_then_index, s);
  for (gint64 i = 0; i < s->lines.n; i++) {
    if (i == 0 || compare_slices (s, order[i - 1], order[i]) != 0) {
      first[groups] = order[i];
      count[groups++] = 0;
    }
    count[groups - 1]++;
    group[order[i]] = groups - 1;
  }
  return groups;
}

static gboolean
run_unique (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (in[0]);
  gboolean sorted = axon_node_get_int (node, "sorted") != 0;
  Slices s = { axon_tensor_get_dtype (in[0]), axon_tensor_get_data (in[0]), { 0 } };
  gint axis = 0;
  if (axon_node_find_attr (node, "axis") == NULL)
    shape = AXON_SHAPE ((gint64)axon_tensor_get_numel (in[0]));
  else if (!axon_check_axis (axon_node_get_int (node, "axis"), shape.rank, &axis, error))
    return FALSE;
  s.lines = axon_lines (&shape, axis);
  if (s.lines.n > G_MAXINT32)
    FAIL_FOR (SHAPE, UNSUPPORTED, "more than %d elements", G_MAXINT32);
  AXON_AUTO_SCRATCH gint64 *buffers =
      axon_scratch_new ((gsize)s.lines.n * 7 + 1, sizeof (gint64), error);
  if (*error != NULL)
    return FALSE;
  gint64 n = s.lines.n, *first = buffers, *count = buffers + n, *group = buffers + 2 * n;
  gint64 *order = buffers + 3 * n, *place = buffers + 4 * n, *tmp = buffers + 5 * n;
  gint64 groups = group_slices (&s, first, count, group, error);
  if (groups < 0)
    return FALSE;
  for (gint64 g = 0; g < groups; g++)
    order[g] = g;
  if (!sorted) /* by first appearance */
    qsort_r (order, (gsize)groups, sizeof *order, compare_ints, first);
  for (gint64 g = 0; g < groups; g++) {
    place[order[g]] = g;
    tmp[g] = first[order[g]];
    tmp[n + g] = count[order[g]];
  }
  for (gint64 i = 0; i < n; i++)
    group[i] = place[group[i]];
  const struct {
    gint64 *values, n;
  } results[] = { { NULL, 0 }, { tmp, groups }, { group, n }, { tmp + n, groups } };
  out[0] = take_slices (in[0], &shape, axis, tmp, groups, error);
  for (guint i = 1; i < node->n_outputs; i++)
    out[i] = axon_tensor_new_i64 (results[i].values, (gsize)results[i].n);
  return out[0] != NULL;
}

static const AxonOp rows[] = {
  {
      .name = "NonZero",
      .since = 9,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .infer = infer_nonzero,
      .run = run_nonzero,
  },
  {
      .name = "Compress",
      .since = 9,
      .inputs = { 2, 2 },
      .operands = ".z",
      .outputs = { 1, 1 },
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR ("axis", AXON_ATTR_INT)),
      .infer = infer_compress,
      .run = run_compress,
  },
  {
      .name = "Unique",
      .since = 11,
      .inputs = { 1, 1 },
      .outputs = { 1, 4 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR ("axis", AXON_ATTR_INT), ATTR_I ("sorted", 1)),
      .infer = infer_unique,
      .run = run_unique,
  },
};

DEFINE_FAMILY (select, rows)
