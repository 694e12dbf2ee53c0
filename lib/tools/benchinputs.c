/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs for any model. Which sizes a graph takes cannot be read from it: they are tried. */
#include "bench-private.h"

#include <string.h>

#define LARGEST_INPUT (64 << 20)
#define LARGEST_COMBINED (2 << 20) /* there are thousands of them */
#define LONGEST_SEARCH (30 * G_USEC_PER_SEC)

/* Of pictures, then of rows of words or samples; where there is no picture, the other way round. */
static const gint64 picture_sizes[] = { 224, 320, 640, 256, 416, 512, 384, 192, 128, 112, 96, 64 };
static const gint64 row_sizes[] = { 128, 64, 256, 512, 1024, 16000, 32, 16, 8, 4, 2, 1 };
/* Where one size for all does not fit: any of these in any place. */
static const gint64 any_sizes[] = { 1,   3,   2,   4,   16,  32,  48,  64,  80,   84,  85,
                                    128, 224, 256, 320, 512, 640, 768, 100, 1000, 8400 };
static const gint ranks[] = { 4, 2, 3, 1, 0, 5 };

/* BLANK: as ONES, but floats as they are, for the attempt that only asks about sizes. */
typedef enum { USUAL, ONES, ZEROS, N_FILLS, BLANK } Fill;

typedef struct {
  guint input;
  gint dim;
} FreeDim;

typedef struct {
  AxonCompiledModel *compiled;
  AxonInferRequest *request;
  guint n;
  const AxonShape *patterns; /* as the model or the caller says */
  AxonShape *shapes;         /* of the attempt at hand */
  GArray *free;              /* FreeDim */
  gint64 largest;            /* elements of an input */
  gint64 deadline;
  BenchInputs *found;
  GError *failure; /* of the first attempt */
} Search;

static void
clear_input (gpointer data)
{
  g_clear_pointer (&((BenchInput *)data)->tensor, axon_tensor_unref);
}

void
bench_inputs_free (BenchInputs *inputs)
{
  g_array_unref (inputs->inputs);
  g_free (inputs);
}

static BenchInputs *
inputs_new (void)
{
  BenchInputs *inputs = g_new0 (BenchInputs, 1);
  inputs->inputs = g_array_new (FALSE, TRUE, sizeof (BenchInput));
  g_array_set_clear_func (inputs->inputs, clear_input);
  return inputs;
}

#define FLOATS 0 /* the first row */

/* The ranges of usual values. Integers are mostly numbers of words and places, and small ones are
 * in everybody's range; masks and lengths say that everything counts. */
static const struct {
  AxonDTypeMask types;
  gdouble from, to;
  const gchar *text;
} ranges[] = {
  { AXON_DTYPES_FLOAT | AXON_DTYPES_F8, -1, 1, N_ ("random from -1 to 1") },
  { AXON_DTYPE_BIT (AXON_DTYPE_BOOL), 0, 2, N_ ("random, true or false") },
  { AXON_DTYPE_BIT (AXON_DTYPE_U8), 0, 256, N_ ("random from 0 to 255") },
  { AXON_DTYPE_BIT (AXON_DTYPE_I8), -128, 128, N_ ("random from -128 to 127") },
  { AXON_DTYPES_PACKED, 0, 2, N_ ("random, 0 or 1") },
  { G_MAXUINT32, 0, 100, N_ ("random from 0 to 99") },
};

static AxonTensor *
strings (const AxonShape *shape, GError **error)
{
  gsize n = (gsize)axon_shape_get_numel (shape);
  g_autofree const gchar **words = g_new (const gchar *, n + 1);
  for (gsize i = 0; i < n; i++)
    words[i] = "word";
  words[n] = NULL;
  return axon_tensor_new_strings (shape, words, n, error);
}

/* Of sequences and optionals nobody says what is in them: they are empty. */
static AxonTensor *
new_tensor (AxonDType dtype, const AxonShape *shape, GError **error)
{
  switch (dtype) {
  case AXON_DTYPE_STRING:
    return strings (shape, error);
  case AXON_DTYPE_SEQUENCE:
    return axon_tensor_new_sequence (NULL, 0);
  case AXON_DTYPE_OPTIONAL:
    return axon_tensor_new_optional (NULL);
  default:
    return axon_tensor_new (dtype, shape, error);
  }
}

static gboolean
is_mask (const gchar *name)
{
  g_autofree gchar *lower = g_ascii_strdown (name, -1);
  return strstr (lower, "mask") != NULL || strstr (lower, "len") != NULL;
}

static gdouble
make_value (guint row, Fill fill)
{
  if (fill != USUAL)
    return fill != ZEROS;
  return row == FLOATS ? g_random_double_range (ranges[row].from, ranges[row].to)
                       : g_random_int_range ((gint)ranges[row].from, (gint)ranges[row].to);
}

static gboolean
make_input (Search *s, guint index, Fill fill, BenchInput *in, GError **error)
{
  AxonDType dtype = axon_compiled_model_get_input_dtype (s->compiled, index);
  guint row = FLOATS;
  in->chosen = !axon_shape_is_static (&s->patterns[index]);
  in->values = dtype == AXON_DTYPE_STRING ? _ ("words") : _ ("empty");
  in->tensor = new_tensor (dtype, &s->shapes[index], error);
  while (!(ranges[row].types & AXON_DTYPE_BIT (dtype)))
    row++;
  if (in->tensor == NULL || axon_dtype_is_boxed (dtype) || (row == FLOATS && fill == BLANK))
    return in->tensor != NULL;
  if (row == FLOATS)
    fill = USUAL;
  else if (fill == USUAL && is_mask (axon_compiled_model_get_input_name (s->compiled, index)))
    fill = ONES;
  in->values = fill == USUAL ? _ (ranges[row].text) : fill == ZEROS ? "0" : "1";
  for (gsize i = 0; i < axon_tensor_get_numel (in->tensor); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (in->tensor), i, make_value (row, fill));
  return TRUE;
}

/* Runs the model; keeps @inputs if it could. */
static gboolean
attempt (Search *s, BenchInputs *inputs)
{
  GError *error = NULL;
  gint64 begin;
  for (guint i = 0; i < s->n; i++)
    if (!axon_infer_request_set_input_tensor (
            s->request, i, g_array_index (inputs->inputs, BenchInput, i).tensor, &error))
      break;
  begin = g_get_monotonic_time ();
  if (error == NULL && axon_infer_request_infer (s->request, &error)) {
    inputs->first_ms = (gdouble)(g_get_monotonic_time () - begin) / 1000;
    s->found = inputs;
    return TRUE;
  }
  bench_inputs_free (inputs);
  if (s->failure == NULL)
    s->failure = g_steal_pointer (&error);
  g_clear_error (&error);
  return FALSE;
}

static gboolean
attempt_fill (Search *s, Fill fill)
{
  g_autoptr (BenchInputs) inputs = inputs_new ();
  GError *error = NULL;
  g_array_set_size (inputs->inputs, s->n);
  for (guint i = 0; i < s->n && error == NULL; i++)
    make_input (s, i, fill, &g_array_index (inputs->inputs, BenchInput, i), &error);
  if (error == NULL)
    return attempt (s, g_steal_pointer (&inputs));
  if (s->failure == NULL)
    s->failure = g_steal_pointer (&error);
  g_clear_error (&error);
  return FALSE;
}

/* The sizes at hand, with other integers where the usual ones fail. */
static gboolean
attempt_sizes (Search *s)
{
  gboolean whole = FALSE;
  for (guint i = 0; i < s->n; i++) {
    whole = whole || !axon_dtype_is_float (axon_compiled_model_get_input_dtype (s->compiled, i));
    if (axon_shape_get_numel (&s->shapes[i]) > s->largest)
      return FALSE;
  }
  if (s->free->len > 0 && !attempt_fill (s, BLANK))
    return FALSE;
  g_clear_pointer (&s->found, bench_inputs_free);
  for (Fill fill = USUAL; fill < (whole ? N_FILLS : ONES); fill++)
    if (attempt_fill (s, fill))
      return TRUE;
  return FALSE;
}

/* TRUE if even the number of channels of a picture is free. */
static gboolean
is_open_picture (const AxonShape *pattern)
{
  return pattern->rank == 4 && pattern->dims[1] < 0 && pattern->dims[2] < 0 && pattern->dims[3] < 0;
}

/* Batches of 1, @size for all other free dimensions but channels. */
static gboolean
attempt_size (Search *s, gint64 size)
{
  static const struct {
    gint dim, channels;
  } colours[] = { { 1, 3 }, { 3, 3 }, { 1, 1 }, { 3, 1 } };
  gboolean open = FALSE;
  for (guint i = 0; i < s->n; i++)
    open = open || is_open_picture (&s->patterns[i]);
  for (guint c = 0; c < (open ? G_N_ELEMENTS (colours) : 1); c++) {
    for (guint i = 0; i < s->free->len; i++) {
      const FreeDim *f = &g_array_index (s->free, FreeDim, i);
      AxonShape *shape = &s->shapes[f->input];
      gboolean channel = is_open_picture (&s->patterns[f->input]) && f->dim == colours[c].dim;
      shape->dims[f->dim] = f->dim == 0 && shape->rank > 1 ? 1
                            : channel                      ? colours[c].channels
                                                           : size;
    }
    if (attempt_sizes (s))
      return TRUE;
  }
  return FALSE;
}

/* Every combination, the first places of any_sizes first, until time is over. */
static gboolean
attempt_combinations (Search *s)
{
  g_autofree guint *digits = g_new0 (guint, s->free->len + 1);
  s->largest = LARGEST_COMBINED;
  for (guint limit = 1; limit < G_N_ELEMENTS (any_sizes); limit++) {
    memset (digits, 0, (s->free->len + 1) * sizeof *digits);
    while (digits[s->free->len] == 0 && g_get_monotonic_time () < s->deadline) {
      gboolean fresh = FALSE; /* uses the size that this round adds */
      guint at = 0;
      for (guint i = 0; i < s->free->len; i++) {
        const FreeDim *f = &g_array_index (s->free, FreeDim, i);
        s->shapes[f->input].dims[f->dim] = any_sizes[digits[i]];
        fresh = fresh || digits[i] == limit;
      }
      if (fresh && attempt_sizes (s))
        return TRUE;
      while (at < s->free->len && ++digits[at] > limit)
        digits[at++] = 0;
      digits[s->free->len] = at == s->free->len;
    }
  }
  return FALSE;
}

/* @rank for inputs that leave even that open. */
static void
find_free (Search *s, gint rank)
{
  g_array_set_size (s->free, 0);
  for (guint i = 0; i < s->n; i++) {
    s->shapes[i] = s->patterns[i];
    if (s->patterns[i].rank < 0) {
      s->shapes[i].rank = rank;
      memset (s->shapes[i].dims, 0xff, sizeof s->shapes[i].dims);
    }
    for (gint d = 0; d < s->shapes[i].rank; d++)
      if (s->shapes[i].dims[d] < 0)
        g_array_append_val (s->free, ((FreeDim){ i, d }));
  }
}

static gboolean
attempt_rank (Search *s, gint rank)
{
  const struct {
    const gint64 *sizes;
    guint n;
  } lists[] = { { picture_sizes, G_N_ELEMENTS (picture_sizes) },
                { row_sizes, G_N_ELEMENTS (row_sizes) } };
  gboolean picture = FALSE;
  find_free (s, rank);
  s->largest = s->free->len > 0 ? LARGEST_INPUT : G_MAXINT64; /* what the model asks for is given */
  if (s->free->len == 0)
    return attempt_sizes (s);
  for (guint i = 0; i < s->free->len; i++) {
    const FreeDim *f = &g_array_index (s->free, FreeDim, i);
    picture = picture || (s->shapes[f->input].rank >= 4 && f->dim > 0);
  }
  for (guint k = 0; k < 2; k++)
    for (guint i = 0; i < lists[picture ? k : 1 - k].n; i++)
      if (attempt_size (s, lists[picture ? k : 1 - k].sizes[i]))
        return TRUE;
  return attempt_combinations (s);
}

/* test_data_set_0, if it has what the patterns ask for. */
static gboolean
attempt_data (Search *s, const gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autoptr (BenchInputs) inputs = inputs_new ();
  for (guint i = 0; i < s->n; i++) {
    AxonDType dtype = axon_compiled_model_get_input_dtype (s->compiled, i);
    g_autofree gchar *base = g_strdup_printf ("input_%u.pb", i);
    g_autofree gchar *file = g_build_filename (folder, "test_data_set_0", base, NULL);
    BenchInput in = { NULL, _ ("those of test_data_set_0"), FALSE };
    in.tensor = axon_core_read_tensor (axon_core_get_default (), file, dtype, NULL);
    if (in.tensor == NULL)
      return FALSE;
    in.chosen = !axon_shape_is_static (&s->patterns[i]);
    g_array_append_val (inputs->inputs, in);
    if (axon_tensor_get_dtype (in.tensor) != dtype ||
        !axon_shape_accepts (&s->patterns[i], axon_tensor_get_shape (in.tensor)))
      return FALSE;
  }
  return attempt (s, g_steal_pointer (&inputs));
}

static gboolean
read_patterns (AxonCompiledModel *compiled, gchar **shapes, AxonShape *patterns, GError **error)
{
  for (guint i = 0; i < axon_compiled_model_get_n_inputs (compiled); i++) {
    patterns[i] = *axon_compiled_model_get_input_shape (compiled, i);
    if (shapes != NULL && i < g_strv_length (shapes) &&
        !axon_shape_from_string (shapes[i], &patterns[i], error))
      return FALSE;
  }
  return TRUE;
}

BenchInputs *
bench_inputs_choose (AxonCompiledModel *compiled, AxonInferRequest *request, const gchar *path,
                     gchar **shapes, GError **error)
{
  guint n = axon_compiled_model_get_n_inputs (compiled);
  g_autofree AxonShape *patterns = g_new0 (AxonShape, n + 1);
  g_autofree AxonShape *tried = g_new0 (AxonShape, n + 1);
  g_autoptr (GArray) free_dims = g_array_new (FALSE, FALSE, sizeof (FreeDim));
  gboolean ranked = TRUE;
  Search s = { .compiled = compiled,
               .request = request,
               .n = n,
               .patterns = patterns,
               .shapes = tried,
               .free = free_dims,
               .deadline = g_get_monotonic_time () + LONGEST_SEARCH };
  if (!read_patterns (compiled, shapes, patterns, error))
    return NULL;
  for (guint i = 0; i < n; i++)
    ranked = ranked && patterns[i].rank >= 0;
  if (!attempt_data (&s, path))
    for (guint k = 0; s.found == NULL && k < (ranked ? 1 : G_N_ELEMENTS (ranks)); k++)
      attempt_rank (&s, ranks[k]);
  if (s.found == NULL)
    g_propagate_error (error, s.failure);
  else
    g_clear_error (&s.failure);
  return s.found;
}
