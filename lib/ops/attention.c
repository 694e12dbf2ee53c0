/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Attention (23, 24, 25): Vaswani et al. 2017, with grouped heads (Ainslie et al. 2023), a cache of
 * keys and values, masks, and sliding windows. RotaryEmbedding (23): Su et al. 2021. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* [batch, heads, length, size], whatever the rank of the input is. */
typedef struct {
  gint64 batch, heads, length, size;
  gboolean flat; /* the input is [batch, length, heads * size] */
} Heads;

static gboolean
read_heads (const AxonNode *node, const AxonShape *x, const gchar *count, Heads *h, GError **error)
{
  gint64 n = axon_node_find_attr (node, count) ? axon_node_get_int (node, count) : 0;
  if (x->rank != 3 && x->rank != 4)
    FAIL (MODEL, "expected rank 3 or 4, got %d", x->rank);
  if (x->rank == 4) {
    *h = (Heads){ x->dims[0], x->dims[1], x->dims[2], x->dims[3], FALSE };
    return TRUE;
  }
  if (n < 1 || (x->dims[2] >= 0 && x->dims[2] % n != 0))
    FAIL (MODEL, "%s %" G_GINT64_FORMAT " does not divide %" G_GINT64_FORMAT, count, n, x->dims[2]);
  *h = (Heads){ x->dims[0], n, x->dims[1], x->dims[2] < 0 ? -1 : x->dims[2] / n, TRUE };
  return TRUE;
}

static const gdouble *
row_of (const Heads *h, const gdouble *x, gint64 b, gint64 head, gint64 i)
{
  return x +
         (h->flat ? (b * h->length + i) * h->heads + head : (b * h->heads + head) * h->length + i) *
             h->size;
}

typedef struct {
  Heads q, k, v;
  gint64 past, total; /* keys in the cache, and with the new ones */
} Sizes;

static gboolean
differ (gint64 a, gint64 b)
{
  return a >= 0 && b >= 0 && a != b;
}

/* The cache: [batch, heads, past, size] of what is to be behind it. */
static gboolean
check_past (const AxonTypeInfo *in, guint index, const Heads *h, gint64 past, GError **error)
{
  const AxonShape *shape = &in[index].shape;
  const gint64 wanted[] = { h->batch, h->heads, past, h->size };
  if (!axon_check_rank (in, index, 4, 4, error))
    return FALSE;
  for (gint d = 0; d < shape->rank; d++)
    if (differ (shape->dims[d], wanted[d]))
      FAIL (MODEL,
            "the cache in input %u has %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT
            " in dimension %d",
            index, shape->dims[d], wanted[d], d);
  return TRUE;
}

static gboolean
read_past (const AxonNode *node, const AxonTypeInfo *in, Sizes *s, GError **error)
{
  if (axon_is_given (node, in, 4) != axon_is_given (node, in, 5))
    FAIL (MODEL, "past_key and past_value come together");
  if (!axon_is_given (node, in, 4))
    return TRUE;
  s->past = in[4].shape.rank == 4 ? in[4].shape.dims[2] : -1;
  return check_past (in, 4, &s->k, s->past, error) && check_past (in, 5, &s->v, s->past, error);
}

static gboolean
read_sizes (const AxonNode *node, const AxonTypeInfo *in, Sizes *s, GError **error)
{
  *s = (Sizes){ .past = 0 };
  if (!read_heads (node, &in[0].shape, "q_num_heads", &s->q, error) ||
      !read_heads (node, &in[1].shape, "kv_num_heads", &s->k, error) ||
      !read_heads (node, &in[2].shape, "kv_num_heads", &s->v, error))
    return FALSE;
  if (!read_past (node, in, s, error))
    return FALSE;
  s->total = s->past < 0 || s->k.length < 0 ? -1 : s->past + s->k.length;
  if (differ (s->q.batch, s->k.batch) || differ (s->q.batch, s->v.batch))
    FAIL (MODEL, "Q, K and V differ in their batch");
  if (differ (s->k.heads, s->v.heads))
    FAIL (MODEL, "K and V differ in their heads");
  if (differ (s->k.size, s->q.size))
    FAIL (MODEL, "Q has heads of %" G_GINT64_FORMAT ", K of %" G_GINT64_FORMAT, s->q.size,
          s->k.size);
  if (s->q.heads >= 0 && s->k.heads >= 0 && (s->k.heads == 0 || s->q.heads % s->k.heads != 0))
    FAIL (MODEL, "%" G_GINT64_FORMAT " heads of Q do not share %" G_GINT64_FORMAT " of K evenly",
          s->q.heads, s->k.heads);
  if (differ (s->k.length, s->v.length))
    FAIL (MODEL, "K and V differ in length");
  return TRUE;
}

static gboolean
infer_attention (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonDType types[] = { in[0].dtype, in[1].dtype, in[2].dtype, in[0].dtype };
  gint64 mode = axon_node_get_int (node, "qk_matmul_output_mode");
  Sizes s;
  if (mode < 0 || mode > 3)
    FAIL (MODEL, "qk_matmul_output_mode %" G_GINT64_FORMAT " is outside [0, 3]", mode);
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].dtype = types[i];
  if (in[0].shape.rank < 0 || in[1].shape.rank < 0 || in[2].shape.rank < 0)
    return TRUE;
  if (!read_sizes (node, in, &s, error))
    return FALSE;
  const AxonShape shapes[] = {
    s.q.flat ? AXON_SHAPE (s.q.batch, s.q.length, s.v.size < 0 ? -1 : s.q.heads * s.v.size)
             : AXON_SHAPE (s.q.batch, s.q.heads, s.q.length, s.v.size),
    AXON_SHAPE (s.k.batch, s.k.heads, s.total, s.k.size),
    AXON_SHAPE (s.v.batch, s.v.heads, s.total, s.v.size),
    AXON_SHAPE (s.q.batch, s.q.heads, s.q.length, s.total),
  };
  for (guint i = 0; i < node->n_outputs; i++)
    out[i].shape = shapes[i];
  return TRUE;
}

/* The cache, then what is new: [batch, heads, total, size]. */
static gdouble *
extend (const Heads *h, AxonTensor *past, AxonTensor *fresh, gint64 n_past, GError **error)
{
  AXON_AUTO_SCRATCH gdouble *old = past ? axon_load_doubles (past, error) : NULL;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (fresh, error);
  gint64 total = n_past + h->length;
  gdouble *all =
      axon_scratch_new ((gsize)(h->batch * h->heads * total * h->size) + 1, sizeof *all, error);
  for (gint64 b = 0; *error == NULL && b < h->batch; b++)
    for (gint64 g = 0; g < h->heads; g++)
      for (gint64 i = 0; i < total; i++)
        memcpy (all + ((b * h->heads + g) * total + i) * h->size,
                i < n_past ? old + ((b * h->heads + g) * n_past + i) * h->size
                           : row_of (h, x, b, g, i - n_past),
                (gsize)h->size * sizeof (gdouble));
  return all;
}

typedef struct {
  const AxonNode *node;
  Sizes s;
  AxonTensor *mask, *nonpad;
  gint64 mask_strides[4];
  gdouble scale, softcap;
  gboolean causal;
  gint64 left, right, mode;
} Attention;

/* What is added to the score of query @i and key @j: the mask, -infinity where it must not look. */
static gdouble
bias_at (const Attention *a, gint64 b, gint64 head, gint64 i, gint64 j)
{
  gint64 frontier = a->s.past, valid = a->nonpad ? axon_int_at (a->nonpad, (gsize)b) : a->s.total;
  gdouble bias = 0;
  if (a->nonpad != NULL && a->s.past == 0)
    frontier = valid - a->s.q.length;
  if (j >= valid || (a->causal && j > i + frontier) ||
      (a->left >= 0 && i + frontier - j > a->left) ||
      (a->right >= 0 && j - i - frontier > a->right))
    return -INFINITY;
  if (a->mask != NULL) {
    gint64 width = axon_tensor_get_dim (a->mask, (guint)axon_tensor_get_shape (a->mask)->rank - 1);
    gint64 at = b * a->mask_strides[0] + head * a->mask_strides[1] + i * a->mask_strides[2];
    if (j >= width && width != 1)
      return -INFINITY;
    bias = axon_tensor_get_value (a->mask, (gsize)(at + j * a->mask_strides[3]));
    if (axon_tensor_get_dtype (a->mask) == AXON_DTYPE_BOOL)
      bias = bias != 0 ? 0 : -INFINITY;
  }
  return bias;
}

/* Scores of one query; @shown gets what qk_matmul_output_mode asks for. A query that may look at
 * nothing gets zeros. */
static void
attend (const Attention *a, gint64 b, gint64 head, gint64 i, const gdouble *q, const gdouble *k,
        gdouble *p, gdouble *shown)
{
  gdouble top = -INFINITY, sum = 0, best = -INFINITY;
  for (gint64 j = 0; j < a->s.total; j++) {
    gdouble bias = bias_at (a, b, head, i, j);
    p[j] = 0;
    for (gint64 d = 0; d < a->s.q.size; d++)
      p[j] += q[d] * k[j * a->s.q.size + d];
    p[j] *= a->scale;
    if (a->mode == 0 && shown != NULL)
      shown[j] = p[j];
    if (a->softcap > 0)
      p[j] = tanh (p[j] / a->softcap) * a->softcap;
    if (a->mode == 1 && shown != NULL)
      shown[j] = p[j];
    p[j] += bias;
    if (a->mode == 2 && shown != NULL)
      shown[j] = p[j];
    top = fmax (top, p[j]);
    best = fmax (best, bias);
  }
  for (gint64 j = 0; j < a->s.total; j++) {
    p[j] = isinf (best) && best < 0 ? 0 : exp (p[j] - top);
    sum += p[j];
  }
  for (gint64 j = 0; j < a->s.total; j++) {
    p[j] = sum > 0 ? p[j] / sum : 0;
    if (a->mode == 3 && shown != NULL)
      shown[j] = p[j];
  }
}

static gboolean
read_attention (const AxonNode *node, AxonTensor *const *in, Attention *a, GError **error)
{
  g_autofree AxonTypeInfo *infos = g_new0 (AxonTypeInfo, node->n_inputs + 1);
  gboolean scaled = axon_node_find_attr (node, "scale") != NULL;
  axon_infos_of (node, in, infos);
  *a = (Attention){ .node = node,
                    .mask = axon_operand (node, in, 3),
                    .nonpad = axon_operand (node, in, 6),
                    .softcap = axon_node_get_float (node, "softcap"),
                    .causal = axon_node_get_int (node, "is_causal") != 0,
                    .mode = axon_node_get_int (node, "qk_matmul_output_mode"),
                    .left = axon_node_get_int (node, "left_window_size"),
                    .right = axon_node_get_int (node, "right_window_size") };
  if (!read_sizes (node, infos, &a->s, error))
    return FALSE;
  a->scale = scaled ? axon_node_get_float (node, "scale") : 1 / sqrt ((gdouble)a->s.q.size);
  if (a->nonpad != NULL && (gint64)axon_tensor_get_numel (a->nonpad) != a->s.q.batch)
    FAIL (MODEL, "nonpad_kv_seqlen: expected %" G_GINT64_FORMAT " values", a->s.q.batch);
  if (a->mask != NULL) {
    const AxonShape *m = axon_tensor_get_shape (a->mask);
    AxonShape full = AXON_SHAPE (a->s.q.batch, a->s.q.heads, a->s.q.length,
                                 m->rank > 0 ? m->dims[m->rank - 1] : 1);
    AxonShape both;
    if (m->rank < 1 || m->rank > 4 || !axon_shape_broadcast (m, &full, &both) ||
        !axon_shape_equal (&both, &full))
      FAIL (MODEL, "the mask cannot be broadcast to batch, heads, queries and keys");
    axon_broadcast_strides (m, &full, a->mask_strides);
  }
  return TRUE;
}

static gboolean
eval_attention (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  Attention a;
  if (!read_attention (node, in, &a, error))
    return FALSE;
  const Sizes *s = &a.s;
  AXON_AUTO_SCRATCH gdouble *q = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *k = extend (&s->k, axon_operand (node, in, 4), in[1], s->past, error);
  AXON_AUTO_SCRATCH gdouble *v = extend (&s->v, axon_operand (node, in, 5), in[2], s->past, error);
  gboolean show = node->n_outputs > 3 && out[3] != NULL;
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new0 (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  AXON_AUTO_SCRATCH gdouble *p = axon_scratch_new ((gsize)s->total + 1, sizeof (gdouble), error);
  AXON_AUTO_SCRATCH gdouble *shown =
      show ? axon_scratch_new (axon_tensor_get_numel (out[3]) + 1, sizeof (gdouble), error) : NULL;
  if (*error != NULL)
    return FALSE;
  Heads result = s->q;
  result.size = s->v.size;
  for (gint64 b = 0; b < s->q.batch; b++)
    for (gint64 h = 0; h < s->q.heads; h++) {
      gint64 shared = b * s->k.heads + h / (s->q.heads / s->k.heads);
      const gdouble *keys = k + shared * s->total * s->k.size;
      const gdouble *values = v + shared * s->total * s->v.size;
      for (gint64 i = 0; i < s->q.length && !axon_work_is_cancelled (); i++) {
        gdouble *row = (gdouble *)row_of (&result, y, b, h, i);
        gint64 at = ((b * s->q.heads + h) * s->q.length + i) * s->total;
        attend (&a, b, h, i, row_of (&s->q, q, b, h, i), keys, p, show ? shown + at : NULL);
        for (gint64 j = 0; j < s->total; j++)
          for (gint64 d = 0; p[j] != 0 && d < s->v.size; d++)
            row[d] += p[j] * values[j * s->v.size + d];
      }
    }
  gdouble *results[] = { y, k, v, shown };
  for (guint i = 0; i < node->n_outputs; i++)
    if (out[i] != NULL)
      axon_store_doubles (out[i], results[i]);
  return TRUE;
}

static gboolean
infer_rotary (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  Heads h;
  gint64 dim = axon_node_get_int (node, "rotary_embedding_dim");
  axon_infer_same (node, in, out, error);
  if (in[0].shape.rank < 0)
    return TRUE;
  if (!read_heads (node, &in[0].shape, "num_heads", &h, error))
    return FALSE;
  if (dim < 0 || dim % 2 != 0 || (h.size >= 0 && (dim > h.size || (dim == 0 && h.size % 2 != 0))))
    FAIL (MODEL, "rotary_embedding_dim %" G_GINT64_FORMAT " is odd or more than a head has", dim);
  return TRUE;
}

static gboolean
eval_rotary (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean interleaved = axon_node_get_int (node, "interleaved") != 0;
  AxonTensor *positions = axon_operand (node, in, 3);
  gint64 half = axon_node_get_int (node, "rotary_embedding_dim") / 2, rows;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error),
                            *c = axon_load_doubles (in[1], error),
                            *s = axon_load_doubles (in[2], error);
  if (*error != NULL)
    return FALSE;
  Heads h;
  if (!read_heads (node, axon_tensor_get_shape (in[0]), "num_heads", &h, error))
    return FALSE;
  half = half ? half : h.size / 2;
  rows = (gint64)axon_tensor_get_numel (in[1]) / MAX (half, 1);
  if (axon_tensor_get_numel (in[2]) != axon_tensor_get_numel (in[1]) || rows * half < 1 ||
      (gint64)axon_tensor_get_numel (in[1]) != rows * half ||
      (positions ? (gint64)axon_tensor_get_numel (positions) : rows) != h.batch * h.length)
    FAIL (MODEL, "the caches need rows of %" G_GINT64_FORMAT ", one for each position", half);
  for (gint64 b = 0; b < h.batch; b++)
    for (gint64 i = 0; i < h.length; i++) {
      gint64 row = b * h.length + i;
      if (positions && !axon_check_index (axon_int_at (positions, (gsize)row), rows, &row, error))
        return FALSE;
      for (gint64 g = 0; g < h.heads; g++) {
        gdouble *v = (gdouble *)row_of (&h, x, b, g, i);
        for (gint64 d = 0; d < half; d++) {
          gdouble *re = v + (interleaved ? 2 * d : d),
                  *im = v + (interleaved ? 2 * d + 1 : d + half);
          gdouble u = *re, w = *im;
          *re = c[row * half + d] * u - s[row * half + d] * w;
          *im = s[row * half + d] * u + c[row * half + d] * w;
        }
      }
    }
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define F AXON_DTYPES_FLOAT

static const AxonOp rows[] = {
  {
      .name = "Attention",
      .since = 23,
      .inputs = { 3, 7 },
      .operands = "..f.xfl",
      .outputs = { 1, 4 },
      .types = F,
      .same_type_inputs = 2,
      .attrs = ATTRS (ATTR_I ("is_causal", 0), ATTR ("kv_num_heads", AXON_ATTR_INT),
                      ATTR ("q_num_heads", AXON_ATTR_INT), ATTR_I ("qk_matmul_output_mode", 0),
                      ATTR ("scale", AXON_ATTR_FLOAT), ATTR_F ("softcap", 0),
                      ATTR ("softmax_precision", AXON_ATTR_INT), ATTR_I ("left_window_size", -1),
                      ATTR_I ("right_window_size", -1)),
      .infer = infer_attention,
      .eval = eval_attention,
  },
  {
      .name = "RotaryEmbedding",
      .since = 23,
      .inputs = { 3, 4 },
      .operands = "...l",
      .outputs = { 1, 1 },
      .types = F,
      .same_type_inputs = 3,
      .attrs = ATTRS (ATTR_I ("interleaved", 0), ATTR ("num_heads", AXON_ATTR_INT),
                      ATTR_I ("rotary_embedding_dim", 0)),
      .infer = infer_rotary,
      .eval = eval_rotary,
  },
};

DEFINE_FAMILY (attention, rows)
