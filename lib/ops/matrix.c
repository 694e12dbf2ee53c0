/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators over the last two dimensions: Det (11), Trilu (14), EyeLike (9), Einsum (12). */
#include "ops-private.h"

#include <math.h>
#include <string.h>

static gboolean
infer_det (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
           GError **error)
{
  const AxonShape *x = &in[0].shape;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  if (x->rank < 2)
    return TRUE;
  if (x->dims[x->rank - 1] >= 0 && x->dims[x->rank - 2] >= 0 &&
      x->dims[x->rank - 1] != x->dims[x->rank - 2])
    FAIL (MODEL, "the matrices are not square");
  out[0].shape = *x;
  out[0].shape.rank -= 2;
  return TRUE;
}

/* Gauss with row pivots; destroys @a. */
static gdouble
determinant (gdouble *a, gint64 n)
{
  gdouble det = 1;
  for (gint64 c = 0; c < n; c++) {
    gint64 pivot = c;
    for (gint64 r = c + 1; r < n; r++)
      if (fabs (a[r * n + c]) > fabs (a[pivot * n + c]))
        pivot = r;
    if (a[pivot * n + c] == 0)
      return 0;
    for (gint64 k = 0; pivot != c && k < n; k++) {
      gdouble t = a[c * n + k];
      a[c * n + k] = a[pivot * n + k];
      a[pivot * n + k] = t;
    }
    det *= pivot != c ? -a[c * n + c] : a[c * n + c];
    for (gint64 r = c + 1; r < n; r++) {
      gdouble factor = a[r * n + c] / a[c * n + c];
      for (gint64 k = c; k < n; k++)
        a[r * n + k] -= factor * a[c * n + k];
    }
  }
  return det;
}

static gboolean
eval_det (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
          GError **error)
{
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 n = axon_tensor_get_dim (in[0], (guint)axon_tensor_get_shape (in[0])->rank - 1);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    y[i] = determinant (x + (gint64)i * n * n, n);
  axon_store_doubles (out[0], y);
  return TRUE;
}

static gboolean
infer_trilu (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  return axon_check_rank (in, 0, 2, AXON_MAX_RANK, error) && axon_infer_same (node, in, out, error);
}

static gboolean
eval_trilu (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  gboolean upper = axon_node_get_int (node, "upper") != 0;
  AxonTensor *offset = axon_operand (node, in, 1);
  gint64 k = offset && axon_tensor_get_numel (offset) > 0 ? axon_int_at (offset, 0) : 0;
  guint rank = (guint)axon_tensor_get_shape (in[0])->rank;
  gint64 rows = axon_tensor_get_dim (in[0], rank - 2), cols = axon_tensor_get_dim (in[0], rank - 1);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (in[0]));
  guint8 *y = axon_tensor_get_data (out[0]);
  axon_eval_copy (node, in, out, error);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gint64 r = (gint64)i / cols % rows, c = (gint64)i % cols;
    /* c - r against k; |c - r| is small, k may be anything */
    if (upper ? c - r < k : c - r > k)
      memset (y + i * size, 0, size);
  }
  return TRUE;
}

static gboolean
infer_eye_like (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 dtype = axon_node_get_int (node, "dtype");
  if (!axon_check_rank (in, 0, 2, 2, error))
    return FALSE;
  axon_infer_same (node, in, out, error);
  if (dtype != 0)
    out[0].dtype = (AxonDType)dtype;
  if (!(AXON_DTYPE_BIT (out[0].dtype & 31) & AXON_DTYPES_ALL) || out[0].dtype > 31)
    FAIL_FOR (DTYPE, UNSUPPORTED, "dtype %d", (int)out[0].dtype);
  return TRUE;
}

static gboolean
eval_eye_like (const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in, AxonTensor *const *out,
               G_GNUC_UNUSED GError **error)
{
  gint64 k = axon_node_get_int (node, "k"), cols = axon_tensor_get_dim (out[0], 1);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      (gint64)i % cols - (gint64)i / cols == k);
  return TRUE;
}

/* Einsum: every term is a row of labels; an ellipsis stands for the labels '0', '1', ... counted
 * from the end. */
#define MAX_TERMS 32
#define LABELS 128

typedef struct {
  gchar terms[MAX_TERMS][AXON_MAX_RANK + 1], output[AXON_MAX_RANK + 1];
  guint n_terms;
  gint64 size[LABELS];
} Einsum;

/* Spells the term at @text into @labels; @dots: dimensions an ellipsis stands for, < 0: unknown. */
static gboolean
spell (const gchar *text, gsize n, gint rank, gint dots, gchar *labels, GError **error)
{
  gint at = 0;
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gboolean ellipsis = text[i] == '.';
    gint count = ellipsis ? dots : 1;
    if (text[i] == ' ')
      continue;
    if (ellipsis ? i + 2 >= n || text[i + 1] != '.' || text[i + 2] != '.'
                 : !g_ascii_isalpha (text[i]))
      FAIL (MODEL, "equation: unexpected \"%c\"", text[i]);
    i += ellipsis ? 2 : 0;
    for (gint k = 0; k < count; k++) {
      if (at == AXON_MAX_RANK)
        FAIL (UNSUPPORTED, "equation: a term of more than %d labels", AXON_MAX_RANK);
      labels[at++] = ellipsis ? (gchar)('0' + AXON_MAX_RANK - count + k) : text[i];
    }
  }
  labels[at] = '\0';
  if (rank >= 0 && at != rank)
    FAIL (MODEL, "equation: a term has %d labels, its input rank %d", at, rank);
  return TRUE;
}

static gint
count_letters (const gchar *text, gsize n)
{
  gint count = 0;
  for (gsize i = 0; i < n && WANTED (i); i++)
    count += g_ascii_isalpha (text[i]) ? 1 : 0;
  return count;
}

/* Without "->": the ellipsis, then every label met once, in alphabetical order. */
static void
implied_output (Einsum *e)
{
  gint at = 0;
  for (gchar label = '0'; label <= 'z'; label++) {
    gint count = 0;
    for (guint t = 0; t < e->n_terms; t++)
      for (const gchar *p = e->terms[t]; *p != '\0'; p++)
        count += *p == label;
    if ((g_ascii_isalpha (label) ? count == 1 : count > 0) && at < AXON_MAX_RANK)
      e->output[at++] = label;
  }
  e->output[at] = '\0';
}

static gboolean
bind_sizes (Einsum *e, guint term, const AxonShape *shape, GError **error)
{
  for (gint d = 0; d < shape->rank; d++) {
    gint64 *size = &e->size[(guchar)e->terms[term][d]], n = shape->dims[d];
    if (n >= 0 && *size >= 0 && *size != 1 && n != 1 && n != *size)
      FAIL (MODEL, "equation: \"%c\" is %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
            e->terms[term][d], *size, n);
    *size = *size == -2 || *size == 1 ? n : *size < 0 && n >= 0 && n != 1 ? n : *size;
  }
  return TRUE;
}

static gboolean
parse_einsum (const AxonNode *node, const AxonTypeInfo *in, Einsum *e, GError **error)
{
  const gchar *equation = axon_node_get_string (node, "equation");
  const gchar *arrow = strstr (equation, "->"), *end = arrow ? arrow : strchr (equation, '\0');
  gint dots = 0;
  *e = (Einsum){ .n_terms = node->n_inputs };
  for (guint i = 0; i < LABELS; i++)
    e->size[i] = -2;
  if (node->n_inputs > MAX_TERMS)
    FAIL (UNSUPPORTED, "more than %d inputs", MAX_TERMS);
  for (guint t = 0; t < node->n_inputs; t++) {
    const gchar *stop = memchr (equation, ',', (gsize)(end - equation));
    gsize n = (gsize)((stop ? stop : end) - equation);
    gint own = MAX (in[t].shape.rank - count_letters (equation, n), 0);
    if ((stop == NULL) != (t + 1 == node->n_inputs))
      FAIL (MODEL, "equation: expected %u terms", node->n_inputs);
    if (!spell (equation, n, in[t].shape.rank, own, e->terms[t], error) ||
        !bind_sizes (e, t, &in[t].shape, error))
      return FALSE;
    if (memchr (equation, '.', n) != NULL)
      dots = MAX (dots, own);
    equation += n + 1;
  }
  if (arrow == NULL) {
    implied_output (e);
    return TRUE;
  }
  if (!spell (arrow + 2, strlen (arrow + 2), -1, dots, e->output, error))
    return FALSE;
  for (const gchar *p = e->output; *p != '\0'; p++)
    if (e->size[(guchar)*p] == -2)
      FAIL (MODEL, "equation: no input has \"%c\"", *p);
  return TRUE;
}

static gboolean
infer_einsum (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  Einsum e;
  out[0].dtype = in[0].dtype;
  for (guint i = 0; i < node->n_inputs; i++)
    if (in[i].shape.rank < 0)
      return TRUE;
  if (!parse_einsum (node, in, &e, error))
    return FALSE;
  out[0].shape = (AxonShape){ .rank = (gint)strlen (e.output) };
  for (gint d = 0; d < out[0].shape.rank; d++)
    out[0].shape.dims[d] = e.size[(guchar)e.output[d]];
  return TRUE;
}

/* Strides of a term over the loop: output labels first, then the summed ones. */
static void
term_strides (const Einsum *e, guint term, const AxonShape *shape, const gchar *loop, gint64 *out)
{
  gint64 own[AXON_MAX_RANK];
  axon_row_strides (shape, own);
  for (gsize l = 0; loop[l] != '\0'; l++) {
    out[l] = 0;
    for (gint d = 0; d < shape->rank; d++)
      if (e->terms[term][d] == loop[l] && shape->dims[d] != 1)
        out[l] += own[d];
  }
}

typedef struct {
  const Einsum *e;
  gchar loop[LABELS + 1];
  gsize n_out, n_loop;
  gint64 strides[MAX_TERMS][LABELS];
  gdouble *x[MAX_TERMS];
} Contraction;

/* The sum over labels from @level on of the product of all terms at @at. */
static gdouble
contract (const Contraction *c, gsize level, const gint64 *at)
{
  gint64 next[MAX_TERMS];
  gdouble sum = 0, product = 1;
  gboolean asks = level + 1 < c->n_loop; /* the innermost one has no time to */
  if (level == c->n_loop) {
    for (guint t = 0; t < c->e->n_terms; t++)
      product *= c->x[t][at[t]];
    return product;
  }
  memcpy (next, at, sizeof next);
  for (gint64 i = 0; i < c->e->size[(guchar)c->loop[level]]; i++) {
    if (asks && axon_work_is_cancelled ())
      return sum;
    sum += contract (c, level + 1, next);
    for (guint t = 0; t < c->e->n_terms; t++)
      next[t] += c->strides[t][level];
  }
  return sum;
}

static gboolean
eval_einsum (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  g_autofree AxonTypeInfo *infos = g_new0 (AxonTypeInfo, node->n_inputs);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  g_autofree Contraction *c = g_new0 (Contraction, 1);
  gint64 index[AXON_MAX_RANK] = { 0 };
  Einsum e;
  axon_infos_of (node, in, infos);
  if (!parse_einsum (node, infos, &e, error))
    return FALSE;
  c->e = &e;
  c->n_out = c->n_loop = strlen (e.output);
  memcpy (c->loop, e.output, c->n_out);
  for (guint t = 0; t < e.n_terms; t++)
    for (const gchar *p = e.terms[t]; *p != '\0'; p++)
      if (strchr (c->loop, *p) == NULL)
        c->loop[c->n_loop++] = *p;
  for (guint t = 0; t < e.n_terms; t++) {
    c->x[t] = axon_load_doubles (in[t], error);
    term_strides (&e, t, axon_tensor_get_shape (in[t]), c->loop, c->strides[t]);
  }
  for (gsize i = 0; *error == NULL && i < axon_tensor_get_numel (out[0]); i++) {
    if (axon_work_is_cancelled ())
      break;
    gint64 at[MAX_TERMS] = { 0 };
    for (guint t = 0; t < e.n_terms; t++)
      for (gsize l = 0; l < c->n_out; l++)
        at[t] += index[l] * c->strides[t][l];
    y[i] = contract (c, c->n_out, at);
    axon_next_index (index, axon_tensor_get_shape (out[0]));
  }
  for (guint t = 0; t < e.n_terms; t++)
    axon_scratch_free (c->x[t]);
  if (*error == NULL)
    axon_store_doubles (out[0], y);
  return *error == NULL;
}

static const AxonOp rows[] = {
  {
      .name = "Det",
      .since = 11,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .infer = infer_det,
      .eval = eval_det,
  },
  {
      .name = "Trilu",
      .since = 14,
      .inputs = { 1, 2 },
      .operands = ".L",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("upper", 1)),
      .infer = infer_trilu,
      .eval = eval_trilu,
  },
  {
      .name = "EyeLike",
      .since = 9,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_ALL,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("dtype", 0), ATTR_I ("k", 0)),
      .infer = infer_eye_like,
      .eval = eval_eye_like,
  },
  {
      .name = "Einsum",
      .since = 12,
      .inputs = { 1, AXON_VARIADIC },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_NUMERIC,
      .same_type_inputs = AXON_VARIADIC,
      .attrs = ATTRS (REQUIRED ("equation", AXON_ATTR_STRING)),
      .infer = infer_einsum,
      .eval = eval_einsum,
  },
};

DEFINE_FAMILY (matrix, rows)
