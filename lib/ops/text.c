/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings: Cast to and from them, StringNormalizer (10), TfIdfVectorizer (9), StringConcat (20),
 * StringSplit (20), RegexFullMatch (20; GRegex instead of RE2). Text is UTF-8. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* As NumPy prints: the shortest text that reads back as the same number. */
static gchar *
number_to_string (AxonDType dtype, gconstpointer data, gsize i)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
  gdouble v = axon_dtype_load (dtype, data, i);
  if (!axon_dtype_is_float (dtype))
    return g_strdup_printf ("%" G_GINT64_FORMAT, axon_dtype_load_int (dtype, data, i));
  if (isnan (v) || isinf (v))
    return g_strdup (isnan (v) ? "NaN" : v > 0 ? "INF" : "-INF");
  for (gint digits = 1; digits <= 17; digits++) {
    gchar format[8];
    gdouble back;
    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (buffer, sizeof buffer, format, v);
    back = g_ascii_strtod (buffer, NULL);
    if (dtype == AXON_DTYPE_F64 ? back == v : (gfloat)back == (gfloat)v)
      break;
  }
  if (strpbrk (buffer, ".e") == NULL)
    g_strlcat (buffer, ".0", sizeof buffer);
  return g_strdup (buffer);
}

void
axon_cast_to_strings (AxonTensor *from, AxonTensor *to)
{
  gchar **y = axon_tensor_get_data (to);
  for (gsize i = 0; i < axon_tensor_get_numel (from) && WANTED (i); i++)
    y[i] = number_to_string (axon_tensor_get_dtype (from), axon_tensor_get_data (from), i);
}

gboolean
axon_cast_from_strings (AxonTensor *from, AxonTensor *to, GError **error)
{
  for (gsize i = 0; i < axon_tensor_get_numel (from) && WANTED (i); i++) {
    const gchar *text = axon_tensor_get_string (from, i);
    gchar *end;
    gdouble v = g_ascii_strtod (text, &end);
    if (end == text || *end != '\0')
      FAIL (ARGUMENT, "\"%.40s\" is no number", text);
    axon_dtype_store (axon_tensor_get_dtype (to), axon_tensor_get_data (to), i, v);
  }
  return TRUE;
}

static gboolean
infer_normalizer (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                  GError **error)
{
  const AxonShape *x = &in[0].shape;
  out[0].dtype = AXON_DTYPE_STRING;
  if (!axon_check_rank (in, 0, 1, 2, error))
    return FALSE;
  if (x->rank == 2 && x->dims[0] > 1)
    FAIL (MODEL, "expected [C] or [1, C], got %" G_GINT64_FORMAT " rows", x->dims[0]);
  out[0].shape = x->rank == 2 ? AXON_SHAPE (1, -1) : AXON_SHAPE (-1);
  return TRUE;
}

/* Attributes are bytes: a word that is not UTF-8 is none of @text, which is. */
static gboolean
is_stop_word (const AxonAttr *words, const gchar *text, gboolean case_sensitive)
{
  g_autofree gchar *folded = g_utf8_casefold (text, -1);
  for (guint i = 0; words != NULL && i < words->n; i++) {
    g_autofree gchar *word = g_utf8_validate (words->strings[i], -1, NULL)
                                 ? g_utf8_casefold (words->strings[i], -1)
                                 : NULL;
    if (g_strcmp0 (case_sensitive ? words->strings[i] : word, case_sensitive ? text : folded) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Nothing left is one empty string. */
static gboolean
run_normalizer (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  const gchar *change = axon_node_get_string (node, "case_change_action");
  gboolean case_sensitive = axon_node_get_int (node, "is_case_sensitive") != 0;
  const AxonAttr *words = axon_node_find_attr (node, "stopwords");
  g_autoptr (GPtrArray) kept = g_ptr_array_new_with_free_func (g_free);
  gint rank = axon_tensor_get_shape (in[0])->rank;
  AxonShape shape;
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    const gchar *text = axon_tensor_get_string (in[0], i);
    if (!g_utf8_validate (text, -1, NULL))
      FAIL (ARGUMENT, "string %" G_GSIZE_FORMAT " is not UTF-8", i);
    if (!is_stop_word (words, text, case_sensitive))
      g_ptr_array_add (kept, g_str_equal (change, "LOWER")   ? g_utf8_strdown (text, -1)
                             : g_str_equal (change, "UPPER") ? g_utf8_strup (text, -1)
                                                             : g_strdup (text));
  }
  if (kept->len == 0)
    g_ptr_array_add (kept, g_strdup (""));
  shape = rank == 2 ? AXON_SHAPE (1, kept->len) : AXON_SHAPE (kept->len);
  out[0] = axon_tensor_new_strings (&shape, (const gchar *const *)kept->pdata, kept->len, error);
  return out[0] != NULL;
}

/* TfIdfVectorizer: counts the n-grams of a pool in sequences of integers or strings. */
typedef struct {
  const gint64 *starts, *indexes, *ints; /* of the pool */
  gchar **strings;
  guint n_starts, n_indexes, n_pool;
  gint64 min, max, skips, n_out;
} Grams;

static gboolean
read_grams (const AxonNode *node, Grams *g, GError **error)
{
  const AxonAttr *strings = axon_node_find_attr (node, "pool_strings");
  g->starts = axon_node_get_ints (node, "ngram_counts", &g->n_starts);
  g->indexes = axon_node_get_ints (node, "ngram_indexes", &g->n_indexes);
  g->ints = axon_node_get_ints (node, "pool_int64s", &g->n_pool);
  g->strings = strings ? strings->strings : NULL;
  if (strings != NULL)
    g->n_pool = strings->n;
  g->min = axon_node_get_int (node, "min_gram_length");
  g->max = axon_node_get_int (node, "max_gram_length");
  g->skips = axon_node_get_int (node, "max_skip_count");
  g->n_out = 0;
  if (g->min < 1 || g->max < g->min || g->max > G_MAXINT16 || g->skips < 0 || g->skips > G_MAXINT16)
    FAIL (MODEL, "gram lengths or max_skip_count are out of range");
  for (guint i = 0; i < g->n_starts; i++)
    if (g->starts[i] < 0 || g->starts[i] > g->n_pool || (i > 0 && g->starts[i] < g->starts[i - 1]))
      FAIL (MODEL, "ngram_counts[%u] is outside the pool", i);
  for (guint i = 0; i < g->n_indexes; i++) {
    if (g->indexes[i] < 0 || g->indexes[i] > G_MAXINT32)
      FAIL (MODEL, "ngram_indexes[%u] is out of range", i);
    g->n_out = MAX (g->n_out, g->indexes[i] + 1);
  }
  return TRUE;
}

static gboolean
infer_tfidf (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonAttr *weights = axon_node_find_attr (node, "weights");
  Grams g;
  if (!axon_check_rank (in, 0, 1, 2, error) || !read_grams (node, &g, error))
    return FALSE;
  if (weights != NULL && weights->n != g.n_indexes)
    FAIL (MODEL, "expected %u weights, got %u", g.n_indexes, weights->n);
  out[0].dtype = AXON_DTYPE_F32;
  if (in[0].shape.rank >= 0)
    out[0].shape =
        in[0].shape.rank == 2 ? AXON_SHAPE (in[0].shape.dims[0], g.n_out) : AXON_SHAPE (g.n_out);
  return TRUE;
}

static gboolean
same_item (const Grams *g, const AxonTensor *x, gint64 at, gint64 pool)
{
  if (axon_tensor_get_dtype (x) == AXON_DTYPE_STRING)
    return g->strings != NULL &&
           g_str_equal (axon_tensor_get_string (x, (gsize)at), g->strings[pool]);
  return g->ints != NULL && axon_int_at (x, (gsize)at) == g->ints[pool];
}

/* Adds to @counts what starts at @at with items @step apart. Grams of n lie in the pool from
 * starts[n - 1] to the next start, and the index of the k-th gram of all is indexes[k]. */
static void
count_grams (const Grams *g, const AxonTensor *x, gint64 at, gint64 left, gint64 n, gint64 step,
             gdouble *counts)
{
  gint64 first = 0, begin, end;
  if ((guint)n > g->n_starts || (n - 1) * step >= left)
    return;
  begin = g->starts[n - 1];
  end = (guint)n < g->n_starts ? g->starts[n] : g->n_pool;
  for (gint64 k = 1; k < n; k++)
    first += (g->starts[k] - g->starts[k - 1]) / k;
  for (gint64 k = 0; begin + (k + 1) * n <= end && first + k < g->n_indexes; k++) {
    gint64 i = 0;
    while (i < n && same_item (g, x, at + i * step, begin + k * n + i))
      i++;
    if (i == n)
      counts[g->indexes[first + k]]++;
  }
}

static gboolean
eval_tfidf (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *x = axon_tensor_get_shape (in[0]);
  gint64 rows = x->rank == 2 ? x->dims[0] : 1, n = x->rank == 2 ? x->dims[1] : x->dims[0];
  const gchar *mode = axon_node_get_string (node, "mode");
  guint n_weights;
  const gfloat *weights = axon_node_get_floats (node, "weights", &n_weights);
  Grams g;
  if (!read_grams (node, &g, error))
    return FALSE;
  AXON_AUTO_SCRATCH gdouble *counts =
      axon_scratch_new0 ((gsize)(rows * g.n_out) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  for (gint64 r = 0; r < rows; r++)
    for (gint64 length = g.min; length <= MIN (g.max, g.n_starts); length++) {
      gint64 steps = length > 1 ? MIN (g.skips + 1, (n - 1) / (length - 1)) : 1;
      for (gint64 step = 1; step <= steps; step++)
        for (gint64 i = 0; i < n && WANTED (i); i++)
          count_grams (&g, in[0], r * n + i, n - i, length, step, counts + r * g.n_out);
    }
  for (guint k = 0; !g_str_equal (mode, "TF") && k < g.n_indexes; k++)
    for (gint64 r = 0; r < rows; r++) {
      gdouble *count = &counts[r * g.n_out + g.indexes[k]];
      gdouble weight = weights ? (gdouble)weights[k] : 1;
      *count = (g_str_equal (mode, "IDF") ? (*count > 0) : *count) * weight;
    }
  axon_store_doubles (out[0], counts);
  return TRUE;
}

static gboolean
eval_concat_strings (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in,
                     AxonTensor *const *out, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (out[0]);
  gint64 strides[2][AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  gchar **y = axon_tensor_get_data (out[0]);
  for (guint k = 0; k < 2; k++)
    axon_broadcast_strides (axon_tensor_get_shape (in[k]), shape, strides[k]);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++) {
    gint64 at[2] = { 0 };
    for (guint k = 0; k < 2; k++)
      for (gint d = 0; d < shape->rank; d++)
        at[k] += index[d] * strides[k][d];
    y[i] = g_strconcat (axon_tensor_get_string (in[0], (gsize)at[0]),
                        axon_tensor_get_string (in[1], (gsize)at[1]), NULL);
    axon_next_index (index, shape);
  }
  return TRUE;
}

static gboolean
infer_split (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
             GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = i == 0 ? AXON_DTYPE_STRING : AXON_DTYPE_I64;
    out[i].shape = in[0].shape;
  }
  if (in[0].shape.rank + 1 > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %d", in[0].shape.rank + 1);
  if (in[0].shape.rank >= 0)
    out[0].shape.dims[out[0].shape.rank++] = -1;
  return TRUE;
}

/* Bytes of the white space that @text begins with; 0 where it begins with none. */
static gsize
space_length (const gchar *text)
{
  gunichar c = g_utf8_get_char_validated (text, -1);
  return c == '\v' || g_unichar_isspace (c) ? (gsize)g_unichar_to_utf8 (c, NULL) : 0;
}

/* At runs of white space, none at the ends, into @limit parts at most (0: any); what is not UTF-8
 * is no white space. */
static gchar **
split_at_spaces (const gchar *text, guint limit)
{
  GPtrArray *parts = g_ptr_array_new ();
  const gchar *begin = NULL, *end = text;
  while (*text != '\0') {
    gsize space = space_length (text);
    if (space > 0 && begin != NULL && parts->len + 1 != limit) {
      g_ptr_array_add (parts, g_strndup (begin, (gsize)(end - begin)));
      begin = NULL;
    }
    if (space == 0) {
      begin = begin != NULL ? begin : text;
      end = text + 1;
    }
    text += MAX (space, 1);
  }
  if (begin != NULL)
    g_ptr_array_add (parts, g_strndup (begin, (gsize)(end - begin)));
  g_ptr_array_add (parts, NULL);
  return (gchar **)g_ptr_array_free (parts, FALSE);
}

static gchar **
split_text (const gchar *text, const gchar *delimiter, gint64 max)
{
  gint limit = max < 0 || max >= G_MAXINT32 ? 0 : (gint)max + 1;
  return *delimiter != '\0' ? g_strsplit (text, delimiter, limit)
                            : split_at_spaces (text, (guint)limit);
}

static gboolean
run_split (const AxonNode *node, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  const gchar *delimiter = axon_node_get_string (node, "delimiter");
  gint64 max = axon_node_find_attr (node, "maxsplit") ? axon_node_get_int (node, "maxsplit") : -1;
  g_autoptr (GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  AxonShape shape = *axon_tensor_get_shape (in[0]);
  gsize longest = 0, n = axon_tensor_get_numel (in[0]);
  for (gsize i = 0; i < n && WANTED (i); i++) {
    gchar **parts = split_text (axon_tensor_get_string (in[0], i), delimiter ? delimiter : "", max);
    longest = MAX (longest, g_strv_length (parts));
    g_ptr_array_add (all, parts);
  }
  if (node->n_outputs > 1 && node->outputs[1] != NULL) {
    out[1] = axon_tensor_new (AXON_DTYPE_I64, &shape, error);
    if (out[1] == NULL)
      return FALSE;
    for (gsize i = 0; i < all->len; i++)
      ((gint64 *)axon_tensor_get_data (out[1]))[i] = g_strv_length (all->pdata[i]);
  }
  shape.dims[shape.rank++] = (gint64)longest;
  out[0] = axon_tensor_new (AXON_DTYPE_STRING, &shape, error);
  for (gsize i = 0; out[0] != NULL && i < all->len; i++)
    for (gsize k = 0; ((gchar **)all->pdata[i])[k] != NULL; k++)
      axon_tensor_set_string (out[0], i * longest + k, ((gchar **)all->pdata[i])[k]);
  return out[0] != NULL;
}

static gboolean
infer_match (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const gchar *pattern = axon_node_get_string (node, "pattern");
  g_autoptr (GRegex) regex = g_regex_new (pattern ? pattern : "", 0, 0, NULL);
  if (regex == NULL)
    FAIL (MODEL, "pattern \"%s\" is no regular expression", pattern);
  axon_infer_same (node, in, out, error);
  out[0].dtype = AXON_DTYPE_BOOL;
  return TRUE;
}

static gboolean
eval_match (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  g_autofree gchar *whole = g_strdup_printf ("^(?:%s)$", axon_node_get_string (node, "pattern"));
  g_autoptr (GRegex) regex = g_regex_new (whole, G_REGEX_DOLLAR_ENDONLY, 0, error);
  guint8 *y = axon_tensor_get_data (out[0]);
  for (gsize i = 0; regex != NULL && i < axon_tensor_get_numel (in[0]); i++) {
    const gchar *text = axon_tensor_get_string (in[0], i);
    y[i] = g_utf8_validate (text, -1, NULL) && g_regex_match (regex, text, 0, NULL);
  }
  return regex != NULL;
}

#define S AXON_DTYPE_BIT (AXON_DTYPE_STRING)

static const AxonOp rows[] = {
  {
      .name = "StringNormalizer",
      .since = 10,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = S,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("case_change_action", "NONE"), ATTR_I ("is_case_sensitive", 0),
                      ATTR_S ("locale", ""), ATTR ("stopwords", AXON_ATTR_STRINGS)),
      .infer = infer_normalizer,
      .run = run_normalizer,
  },
  {
      .name = "TfIdfVectorizer",
      .since = 9,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = S | AXON_DTYPE_BIT (AXON_DTYPE_I32) | AXON_DTYPE_BIT (AXON_DTYPE_I64),
      .same_type_inputs = 1,
      .attrs = ATTRS (
          REQUIRED ("max_gram_length", AXON_ATTR_INT), REQUIRED ("max_skip_count", AXON_ATTR_INT),
          REQUIRED ("min_gram_length", AXON_ATTR_INT), REQUIRED ("mode", AXON_ATTR_STRING),
          REQUIRED ("ngram_counts", AXON_ATTR_INTS), REQUIRED ("ngram_indexes", AXON_ATTR_INTS),
          ATTR_INTS ("pool_int64s"), ATTR ("pool_strings", AXON_ATTR_STRINGS),
          ATTR_FLOATS ("weights")),
      .infer = infer_tfidf,
      .eval = eval_tfidf,
  },
  {
      .name = "StringConcat",
      .since = 20,
      .inputs = { 2, 2 },
      .outputs = { 1, 1 },
      .types = S,
      .same_type_inputs = 2,
      .infer = axon_infer_broadcast,
      .eval = eval_concat_strings,
      .flags = AXON_OP_MAKES_ELEMENTS,
  },
  {
      .name = "StringSplit",
      .since = 20,
      .inputs = { 1, 1 },
      .outputs = { 1, 2 },
      .types = S,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("delimiter", ""), ATTR ("maxsplit", AXON_ATTR_INT)),
      .infer = infer_split,
      .run = run_split,
  },
  {
      .name = "RegexFullMatch",
      .since = 20,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = S,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_S ("pattern", "")),
      .infer = infer_match,
      .eval = eval_match,
  },
};

DEFINE_FAMILY (text, rows)
