/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NonMaxSuppression (10, 11): the boxes that stay, class by class, best score first. A heap says
 * which is the next best: mostly the limit is reached long before all are in order. */
#include "ops-private.h"

#include <math.h>

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

/* fmin () and fmax (), inline */
static inline gdouble
lesser (gdouble a, gdouble b)
{
  return a < b || isnan (b) ? a : b;
}

static inline gdouble
greater (gdouble a, gdouble b)
{
  return a > b || isnan (b) ? a : b;
}

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
  gdouble h = lesser (a->y2, b->y2) - greater (a->y1, b->y1);
  gdouble w = lesser (a->x2, b->x2) - greater (a->x1, b->x1), both, all;
  if (!(h > 0 && w > 0))
    return 0;
  both = h * w;
  all = (a->y2 - a->y1) * (a->x2 - a->x1) + (b->y2 - b->y1) * (b->x2 - b->x1) - both;
  return all > 0 ? both / all : 0;
}

typedef struct {
  gdouble score;
  gint64 box;
} Candidate;

/* Equal scores: the lower index first. */
static inline gboolean
is_better (Candidate a, Candidate b)
{
  return a.score > b.score || (a.score == b.score && a.box < b.box);
}

/* Moves heap[at] below all that are better. */
static void
sift_down (Candidate *heap, gint64 n, gint64 at)
{
  Candidate moved = heap[at];
  for (gint64 child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && is_better (heap[child + 1], heap[child]))
      child++;
    if (!is_better (heap[child], moved))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

typedef struct {
  gint64 n, limit;
  gdouble iou, score;
  gboolean has_score;
} NmsRules;

/* Memory for the boxes of one class. */
typedef struct {
  Candidate *heap;
  Box *kept;
} Scratch;

/* The candidates of a class as a heap, the best on top. */
static gint64
find_candidates (const NmsRules *rules, const gdouble *scores, Candidate *heap)
{
  gint64 n = 0;
  for (gint64 i = 0; i < rules->n; i++)
    if (!isnan (scores[i]) && (!rules->has_score || scores[i] > rules->score))
      heap[n++] = (Candidate){ scores[i], i };
  for (gint64 i = n / 2; i-- > 0;)
    sift_down (heap, n, i);
  return n;
}

/* Appends what stays of one class to @result. */
static void
suppress (const NmsRules *rules, const Box *boxes, const gdouble *scores, gint64 batch,
          gint64 class, Scratch *scratch, GArray *result)
{
  Candidate *heap = scratch->heap;
  gint64 n = find_candidates (rules, scores, heap), n_kept = 0;
  while (n > 0 && n_kept < rules->limit) {
    const Box *box = &boxes[heap[0].box];
    gint64 row[] = { batch, class, heap[0].box };
    gboolean stays = TRUE;
    heap[0] = heap[--n];
    sift_down (heap, n, 0);
    for (gint64 k = 0; stays && k < n_kept; k++)
      stays = overlap (box, &scratch->kept[k]) <= rules->iou;
    if (!stays)
      continue;
    scratch->kept[n_kept++] = *box;
    g_array_append_vals (result, row, 3);
  }
}

static gboolean
nms_rules (const AxonNode *node, AxonTensor *const *in, NmsRules *rules, GError **error)
{
  AxonTensor *limit = axon_operand (node, in, 2), *iou = axon_operand (node, in, 3);
  AxonTensor *score = axon_operand (node, in, 4);
  if (!axon_check_scalar (limit, 2, error) || !axon_check_scalar (iou, 3, error) ||
      !axon_check_scalar (score, 4, error))
    return FALSE;
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
  AXON_AUTO_SCRATCH gdouble *boxes = axon_load_doubles (in[0], error),
                            *scores = axon_load_doubles (in[1], error);
  if (*error != NULL)
    return FALSE;
  AXON_AUTO_SCRATCH Box *corners = NULL, *kept = NULL;
  AXON_AUTO_SCRATCH Candidate *heap = NULL;
  g_autoptr (AxonTensor) flat = NULL;
  NmsRules rules;
  AxonShape shape;
  if (!nms_rules (node, in, &rules, error))
    return FALSE;
  corners = axon_scratch_new ((gsize)rules.n + 1, sizeof *corners, error);
  kept = axon_scratch_new ((gsize)rules.n + 1, sizeof *kept, error);
  heap = axon_scratch_new ((gsize)rules.n + 1, sizeof *heap, error);
  if (*error != NULL)
    return FALSE;
  for (gint64 b = 0; b < batches && WANTED (b); b++) {
    for (gint64 i = 0; i < rules.n; i++)
      corners[i] = read_box (boxes + (b * rules.n + i) * 4, centre);
    for (gint64 c = 0; c < classes && !axon_work_is_cancelled (); c++)
      suppress (&rules, corners, scores + (b * classes + c) * rules.n, b, c,
                &(Scratch){ heap, kept }, result);
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
      .operands = "..LFF",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_I ("center_point_box", 0)),
      .infer = infer_nms,
      .run = run_nms,
  },
};

DEFINE_FAMILY (nonmaxsuppression, rows)
