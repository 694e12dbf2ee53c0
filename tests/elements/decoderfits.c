/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoders say that outputs fit them, of the shapes of published models and of shapes beside
 * those: what they say now differs from decoderfits.txt where somebody has looked at it, only. */
#include "decoders.h"

#include <string.h>

typedef struct {
  AxonShape shapes[DECODED_TENSORS];
  guint n;
} Shapes;

/* The same zeros for all outputs: nobody writes into them. */
static AxonTensor *
share_zeros (const AxonShape *shape)
{
  static GBytes *zeros;
  gsize n = (gsize)axon_shape_get_numel (shape) * sizeof (gfloat);
  g_autoptr (GBytes) part = NULL;
  if (zeros == NULL || g_bytes_get_size (zeros) < n) {
    g_clear_pointer (&zeros, g_bytes_unref);
    zeros = g_bytes_new_take (g_malloc0 (n), n);
  }
  part = g_bytes_new_from_bytes (zeros, 0, n);
  return axon_tensor_new_from_bytes (AXON_DTYPE_F32, shape, part, NULL);
}

/* A column for each variant, a row for each decoder. */
typedef struct {
  const DecodedModel *model;
  gchar **names;
  GString **rows;
  guint n_names;
} Table;

static void
add_variant (Table *t, const DecodedModel *m, const Shapes *s)
{
  g_auto (Decoded) d = { 0 };
  decoded_load_with (&d, m, s->shapes, s->n, share_zeros);
  for (guint i = 0; i < t->n_names; i++)
    g_string_append_c (t->rows[i], gst_nn_decoder_find (t->names[i])->fits (&d.in) ? '#' : '.');
}

/* Dimension @d of output @i one more, one less or 1. */
static void
change_dimension (Table *t, const Shapes *s, guint i, gint d)
{
  gint64 n = s->shapes[i].dims[d];
  const gint64 values[] = { n + 1, n - 1, 1 };
  for (guint k = 0; k < G_N_ELEMENTS (values); k++) {
    Shapes other = *s;
    if (values[k] < 0 || values[k] == n)
      continue;
    other.shapes[i].dims[d] = values[k];
    add_variant (t, t->model, &other);
  }
}

static void
change_rank (Table *t, const Shapes *s, guint i)
{
  Shapes other = *s;
  AxonShape *shape = &other.shapes[i];
  memmove (&shape->dims[1], &s->shapes[i].dims[0], (gsize)s->shapes[i].rank * sizeof (gint64));
  shape->dims[0] = 1;
  shape->rank++;
  add_variant (t, t->model, &other);
  *shape = s->shapes[i];
  shape->dims[shape->rank++] = 1;
  add_variant (t, t->model, &other);
  *shape = s->shapes[i];
  shape->rank--;
  memmove (&shape->dims[0], &s->shapes[i].dims[1], (gsize)shape->rank * sizeof (gint64));
  if (shape->rank > 0)
    add_variant (t, t->model, &other);
}

static void
change_number (Table *t, const Shapes *s)
{
  Shapes other = *s;
  for (guint i = 0; i < s->n; i++)
    other.shapes[i] = s->shapes[s->n - 1 - i];
  if (s->n > 1)
    add_variant (t, t->model, &other);
  other = *s;
  other.n--;
  if (other.n > 0)
    add_variant (t, t->model, &other);
  other = *s;
  if (other.n < DECODED_TENSORS && t->model->names == NULL)
    other.shapes[other.n++] = s->shapes[0];
  add_variant (t, t->model, &other);
}

static void
change_model (Table *t, const Shapes *s)
{
  DecodedModel other = *t->model;
  other.n_labels = other.n_labels == 0 ? 3 : 0;
  add_variant (t, &other, s);
  other = *t->model;
  other.width += 32;
  add_variant (t, &other, s);
  other = *t->model;
  other.names = NULL;
  if (t->model->names != NULL)
    add_variant (t, &other, s);
}

/* As it is; otherwise described, by labels, width and names; each dimension of each output one
 * more, one less and 1, an output with a dimension more in front, behind, and one less; outputs in
 * another order, one less and one more. */
static void
add_variants (Table *t, const Shapes *s)
{
  add_variant (t, t->model, s);
  change_model (t, s);
  for (guint i = 0; i < s->n; i++) {
    for (gint d = 0; d < s->shapes[i].rank; d++)
      change_dimension (t, s, i, d);
    change_rank (t, s, i);
  }
  change_number (t, s);
}

static void
list_around (GString *text, const DecodedModel *m, gchar **names)
{
  Table t = { m, names, NULL, g_strv_length (names) };
  Shapes s;
  s.n = decoded_parse_shapes (m->shapes, s.shapes);
  t.rows = g_new (GString *, t.n_names);
  for (guint i = 0; i < t.n_names; i++)
    t.rows[i] = g_string_new (NULL);
  add_variants (&t, &s);
  g_string_append_printf (text, "%s, %dx%d, %u labels%s%s\n", m->shapes, m->width, m->height,
                          m->n_labels, m->names ? ", " : "", m->names ? m->names : "");
  for (guint i = 0; i < t.n_names; i++) {
    if (strchr (t.rows[i]->str, '#') != NULL)
      g_string_append_printf (text, "%18s %s\n", names[i], t.rows[i]->str);
    g_string_free (t.rows[i], TRUE);
  }
  g_free (t.rows);
}

static void
outputs_fit_the_decoders_that_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; i < n_decoded_models; i++)
    list_around (text, &decoded_models[i], names);
  test_assert_approved ("elements/decoderfits.txt", text->str);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/decoderfits/outputs_fit_the_decoders_that_somebody_has_looked_at",
                   outputs_fit_the_decoders_that_somebody_has_looked_at);
  return g_test_run ();
}
