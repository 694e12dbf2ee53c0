/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NonMaxSuppression (10, 11): the boxes that stay, class by class, best score first. */
#include "ops-private.h"

#include <math.h>
#include <stdlib.h>

static gboolean
infer_nms (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
           GError **error)
{
  const AxonShape *boxes = &in[0].shape, *scores = &in[1].shape;
  out[0].dtype = AXON_DTYPE_I64;
  out[0].shape = AXON_SHAPE (-1, 3);
  if (!axon_check_rank (in, 0, 3, 3, error) || !axon_check_rank (in, 1, 3, 3, error))
    return FALSE;
  if (!axon_shape_is_static (boxes) || !axon_shape_is_static (scores))
    return TRUE;
  if (boxes->dims[2] != 4 || boxes->dims[0] != scores->dims[0] || boxes->dims[1] != scores->dims[2])
    FAIL (MODEL, "boxes must be [batch, n, 4] and scores [batch, classes, n]");
  return TRUE;
}

typedef struct {
  gdouble y1, x1, y2, x2;
} Box;

/* Corners in any order, or centre and size. */
static Box
read_box (const gdouble *v, gboolean centre)
{
  if (centre)
    return (Box){ v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2 };
  return (Box){ fmin (v[0], v[2]), fmin (v[1], v[3]), fmax (v[0], v[2]), fmax (v[1], v[3]) };
}

static gdouble
overlap (const Box *a, const Box *b)
{
  gdouble h = fmin (a->y2, b->y2) - fmax (a->y1, b->y1);
  gdouble w = fmin (a->x2, b->x2) - fmax (a->x1, b->x1);
  gdouble both = h > 0 && w > 0 ? h * w : 0;
  gdouble all = (a->y2 - a->y1) * (a->x2 - a->x1) + (b->y2 - b->y1) * (b->x2 - b->x1) - both;
  return all > 0 ? both / all : 0;
}

static gint
compare_scores (gconstpointer a, gconstpointer b, gpointer scores)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
  gdouble u = ((const gdouble *)scores)[x], v = ((const gdouble *)scores)[y];
  return u > v ? -1 : u < v ? 1 : x < y ? -1 : x > y;
}

typedef struct {
  gint64 n, limit;
  gdouble iou, score;
  gboolean has_score;
} NmsRules;

/* Appends what stays of one class to @result. */
static void
suppress (const NmsRules *rules, const Box *boxes, gdouble *scores, gint64 batch, gint64 class,
          GArray *result)
{
  g_autofree gint64 *order = g_new (gint64, (gsize)rules->n + 1);
  g_autofree gint64 *kept = g_new (gint64, (gsize)rules->n + 1);
  gint64 n = 0, n_kept = 0;
  for (gint64 i = 0; i < rules->n; i++)
    if (!isnan (scores[i]) && (!rules->has_score || scores[i] > rules->score))
      order[n++] = i;
  qsort_r (order, (gsize)n, sizeof *order, compare_scores, scores);
  for (gint64 i = 0; i < n && n_kept < rules->limit; i++) {
    gboolean stays = TRUE;
    for (gint64 k = 0; stays && k < n_kept; k++)
      stays = overlap (&boxes[order[i]], &boxes[kept[k]]) <= rules->iou;
    if (!stays)
      continue;
    kept[n_kept++] = order[i];
    gint64 row[] = { batch, class, order[i] };
    g_array_append_vals (result, row, 3);
  }
}

static gboolean
nms_rules (const AxonNode *node, AxonTensor *const *in, NmsRules *rules, GError **error)
{
  AxonTensor *limit = axon_operand (node, in, 2), *iou = axon_operand (node, in, 3);
  AxonTensor *score = axon_operand (node, in, 4);
  AxonTensor *const options[] = { limit, iou, score };
  for (guint i = 0; i < 3; i++)
    if (options[i] != NULL && axon_tensor_get_numel (options[i]) != 1)
      FAIL (MODEL, "input %u: expected one element", i + 2);
  rules->n = axon_tensor_get_dim (in[0], 1);
  rules->limit = limit ? axon_int_at (limit, 0) : 0;
  rules->iou = iou ? axon_tensor_get_value (iou, 0) : 0;
  rules->has_score = score != NULL;
  rules->score = score ? axon_tensor_get_value (score, 0) : 0;
  if (!(rules->iou >= 0 && rules->iou <= 1))
    FAIL (MODEL, "iou_threshold %g is outside [0, 1]", rules->iou);
  if (rules->n > G_MAXINT32)
    FAIL_FOR (SHAPE, UNSUPPORTED, "more than %d boxes", G_MAXINT32);
  return TRUE;
}

static gboolean
run_nms (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  gboolean centre = axon_node_get_int (node, "center_point_box") != 0;
  gint64 batches = axon_tensor_get_dim (in[1], 0), classes = axon_tensor_get_dim (in[1], 1);
  g_autoptr (GArray) result = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autofree gdouble *boxes = axon_load_doubles (in[0]), *scores = axon_load_doubles (in[1]);
  g_autofree Box *corners = NULL;
  g_autoptr (AxonTensor) flat = NULL;
  NmsRules rules;
  AxonShape shape;
  if (!nms_rules (node, in, &rules, error))
    return FALSE;
  corners = g_new (Box, (gsize)rules.n + 1);
  for (gint64 b = 0; b < batches; b++) {
    for (gint64 i = 0; i < rules.n; i++)
      corners[i] = read_box (boxes + (b * rules.n + i) * 4, centre);
    for (gint64 c = 0; c < classes; c++)
      suppress (&rules, corners, scores + (b * classes + c) * rules.n, b, c, result);
  }
  shape = AXON_SHAPE ((gint64)result->len / 3, 3);
  flat = axon_tensor_new_i64 ((const gint64 *)(gpointer)result->data, result->len);
  out[0] = axon_tensor_reshape (flat, &shape);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "NonMaxSuppression",
      .since = 10,
      .inputs = { 2, 5 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_I ("center_point_box", 0)),
      .infer = infer_nms,
      .run = run_nms,
  },
};

DEFINE_FAMILY (nonmaxsuppression, rows)
