/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "drawn.h"

#include <math.h>

#define TOLERANCE 1e-4

gint
drawn_below (Drawn *d, gint n)
{
  return g_rand_int_range (d->rand, 0, n);
}

/* What a value must be to be worked on: known, and not large. */
static gboolean
is_usable (const Drawn *d, const AxonValue *value)
{
  return axon_shape_is_static (&value->type.shape) &&
         axon_shape_get_numel (&value->type.shape) <= d->most_elements &&
         value->type.shape.rank <= 5;
}

AxonValue *
drawn_keep (Drawn *d, AxonNode *n)
{
  if (axon_node_check (n, NULL) && axon_model_infer_node (d->t.model, n, NULL) &&
      is_usable (d, n->outputs[0]))
    return n->outputs[0];
  axon_model_remove_node (d->t.model, n);
  return NULL;
}

AxonValue *
drawn_pick (Drawn *d)
{
  guint last = d->made->len - 1;
  return d->made->pdata[drawn_below (d, 4) ? last : (guint)drawn_below (d, (gint)last + 1)];
}

AxonValue *
drawn_weights (Drawn *d, const AxonShape *shape, gint64 sums)
{
  g_autoptr (AxonTensor) w = test_random (shape, g_rand_int (d->rand));
  gfloat scale = sqrtf (3.0f / (gfloat)MAX (sums, 1));
  for (gsize i = 0; i < axon_tensor_get_numel (w); i++)
    ((gfloat *)axon_tensor_get_data (w))[i] *= scale;
  return axon_model_add_constant (d->t.model, NULL, w);
}

AxonValue *
drawn_reshape (Drawn *d, AxonValue *x, const gint64 *dims, guint rank)
{
  return drawn_keep (d,
                     test_model_node (&d->t, "Reshape", 2, x, test_model_ints (&d->t, dims, rank)));
}

AxonValue *
drawn_transpose (Drawn *d, AxonValue *x, const gint64 *perm, guint rank)
{
  AxonNode *n = test_model_node (&d->t, "Transpose", 1, x);
  axon_node_set_ints (n, "perm", perm, rank);
  return drawn_keep (d, n);
}

void
drawn_add (Drawn *d, const DrawnMaker *makers, gint n)
{
  for (guint tries = 0; tries < 50; tries++) {
    AxonValue *y = makers[drawn_below (d, n)](d, drawn_pick (d));
    if (y == NULL || axon_shape_get_numel (&y->type.shape) == 0)
      continue;
    g_ptr_array_add (d->made, y);
    return;
  }
}

AxonModel *
drawn_model (const DrawnKind *kind, guint32 seed, gint n, AxonTensor **x)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) made = g_ptr_array_new ();
  Drawn d = { test_model_new (20), rand, made, kind->most_elements };
  AxonShape shape = { 0 };
  kind->draw_shape (&d, &shape);
  g_ptr_array_add (made, test_model_input (&d.t, "x", AXON_DTYPE_F32, &shape));
  for (gint i = 0; i < n; i++)
    kind->add (&d);
  if (kind->end != NULL)
    kind->end (&d);
  *x = test_random (&shape, seed);
  return test_model_finish (&d.t, made->pdata[made->len - 1]);
}

static gboolean
has_nan (const AxonTensor *tensor)
{
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    if (isnan (axon_tensor_get_value (tensor, i)))
      return TRUE;
  return FALSE;
}

/* Steps (Ceil, Cast, comparisons) make a jump of a rounding error: a graph is not compared where
 * moving the input a little moves the reference as much. Nor where the result is no number. */
static gboolean
is_steady (AxonModel *model, AxonTensor *x)
{
  g_autoptr (AxonTensor) moved = axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (x), NULL);
  g_autoptr (AxonTensor) a = test_run (model, "TEMPLATE", NULL, x);
  if (has_nan (a))
    return FALSE;
  for (gint sign = -1; sign < 2; sign += 2) {
    g_autoptr (AxonTensor) b = NULL;
    gdouble moves;
    for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
      ((gfloat *)axon_tensor_get_data (moved))[i] =
          (gfloat)axon_tensor_get_value (x, i) * (1 + (gfloat)sign * (i % 2 ? 2e-6f : -2e-6f));
    b = test_run (model, "TEMPLATE", NULL, moved);
    moves = test_largest_difference (a, b);
    if (!(moves < 1e-3))
      return FALSE;
  }
  return TRUE;
}

static gchar *
devices_disagree (AxonModel *model, AxonTensor *x)
{
  return is_steady (model, x) ? test_disagreement (model, x, TOLERANCE) : NULL;
}

/* @model without @node, if it still fails; else NULL. */
static AxonModel *
without_node (AxonModel *model, guint node, AxonTensor *x, DrawnFails fails)
{
  g_autoptr (AxonModel) less = axon_model_clone (model);
  AxonNode *n = less->nodes->pdata[node];
  AxonValue *in = n->n_inputs > 0 ? n->inputs[0] : NULL;
  g_autofree gchar *why = NULL;
  if (in == NULL || in->type.dtype != n->outputs[0]->type.dtype || n->outputs[0]->is_output ||
      !axon_shape_equal (&in->type.shape, &n->outputs[0]->type.shape))
    return NULL;
  axon_model_replace_value (less, n->outputs[0], in);
  if (!axon_pass_remove_dead_code (less, NULL) || !axon_model_sort (less, NULL))
    return NULL;
  why = fails (less, x);
  return why ? g_steal_pointer (&less) : NULL;
}

AxonModel *
drawn_shrink (const DrawnKind *kind, guint32 seed, gint n, DrawnFails fails)
{
  AxonModel *small = NULL;
  g_autoptr (AxonTensor) x = NULL;
  for (gint first = 1; first <= n && small == NULL; first++) {
    g_autoptr (AxonModel) model = NULL;
    g_autofree gchar *why = NULL;
    g_clear_pointer (&x, axon_tensor_unref);
    model = drawn_model (kind, seed, first, &x);
    why = fails (model, x);
    if (why != NULL)
      small = axon_model_clone (model);
  }
  g_assert_nonnull (small);
  axon_pass_remove_dead_code (small, NULL);
  for (guint i = 0; i < small->nodes->len;) {
    AxonModel *less = without_node (small, i, x, fails);
    if (less == NULL) {
      i++;
      continue;
    }
    g_object_unref (small);
    small = less;
    i = 0;
  }
  return small;
}

gchar *
drawn_write (AxonModel *small, guint32 seed)
{
  g_autofree gchar *name = g_strdup_printf ("axon-drawn-%u.onnx", seed);
  g_autoptr (GError) error = NULL;
  gchar *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  axon_core_write_model (axon_core_get_default (), small, path, &error);
  g_assert_no_error (error);
  return path;
}

void
drawn_models_agree (const DrawnKind *kind, guint n_models, gint n)
{
  const gchar *given = g_getenv ("AXON_TEST_SEED");
  guint32 seed = given ? (guint32)g_ascii_strtoull (given, NULL, 10)
                       : (guint32)g_test_rand_int_range (0, G_MAXINT32);
  guint compared = 0;
  g_test_message ("AXON_TEST_SEED=%u repeats this", seed);
  for (guint i = 0; i < n_models; i++) {
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonModel) model = drawn_model (kind, seed + i, n, &x);
    g_autoptr (AxonModel) small = NULL;
    g_autofree gchar *why = NULL;
    g_autofree gchar *path = NULL;
    g_autofree gchar *text = NULL;
    if (!is_steady (model, x))
      continue;
    compared++;
    why = devices_disagree (model, x);
    if (why == NULL)
      continue;
    small = drawn_shrink (kind, seed + i, n, devices_disagree);
    path = drawn_write (small, seed + i);
    text = axon_model_to_text (small);
    g_test_message ("AXON_TEST_SEED=%u: %s\n%s\n%s", seed + i, why, path, text);
    g_test_fail ();
  }
  g_assert_cmpuint (compared, >, n_models / 2);
}
