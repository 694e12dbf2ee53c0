/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CPU's kernels that move elements from place to place, against the reference. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 2e-5

static gint64
numel (const AxonShape *shape)
{
  return axon_shape_get_numel (shape);
}

/* Indices from -@n to @n - 1, as type @dtype; @late: they are computed from @x. */
static AxonValue *
indices_of (TestModel *t, AxonValue *x, const AxonShape *shape, gint64 n, AxonDType dtype,
            gboolean late)
{
  gint64 count = numel (shape);
  g_autofree gfloat *values = g_new (gfloat, (gsize)count + 1);
  const gfloat zero = 0;
  AxonShape scalar = { 0 };
  AxonValue *v;
  AxonNode *node;
  for (gint64 i = 0; i < count; i++)
    values[i] = (gfloat)((i * 7 + i * i % 5) % (2 * n) - n);
  v = test_model_constant (t, shape, values);
  if (late) {
    node = test_model_node (t, "ReduceSum", 1, x);
    axon_node_set_int (node, "keepdims", 0);
    node = test_model_node (t, "Mul", 2, node->outputs[0], test_model_constant (t, &scalar, &zero));
    v = test_model_node (t, "Add", 2, v, node->outputs[0])->outputs[0];
  }
  node = test_model_node (t, "Cast", 1, v);
  axon_node_set_int (node, "to", dtype);
  return node->outputs[0];
}

static const struct {
  const gchar *op;
  AxonShape x, at;
  gint64 axis, n;
} gathers[] = {
  { "Gather", { 3, { 2, 5, 7 } }, { 1, { 4 } }, 0, 2 },
  { "Gather", { 3, { 2, 5, 7 } }, { 2, { 3, 4 } }, 1, 5 },
  { "Gather", { 3, { 2, 5, 7 } }, { 1, { 300 } }, -1, 7 },
  { "Gather", { 4, { 2, 5, 3, 4 } }, { 1, { 1 } }, 1, 5 },
  { "Gather", { 4, { 2, 5, 3, 4 } }, { 0, { 0 } }, 2, 3 },
  { "GatherElements", { 3, { 2, 5, 7 } }, { 3, { 2, 5, 9 } }, 2, 7 },
  { "GatherElements", { 3, { 2, 5, 7 } }, { 3, { 2, 8, 6 } }, 1, 5 },
  { "GatherElements", { 3, { 3, 5, 7 } }, { 3, { 33, 4, 7 } }, 0, 3 },
  { "GatherElements", { 1, { 50 } }, { 1, { 500 } }, 0, 50 },
  { "GatherND", { 3, { 4, 4, 7 } }, { 2, { 5, 2 } }, 0, 4 },
  { "GatherND", { 3, { 4, 4, 4 } }, { 3, { 5, 6, 3 } }, 0, 4 },
  { "GatherND", { 3, { 2, 5, 7 } }, { 3, { 2, 3, 1 } }, 1, 5 },
};

/* Elements of 1, 2, 4 and 8 bytes. */
static const AxonDType moved_types[] = { AXON_DTYPE_U8, AXON_DTYPE_F16, AXON_DTYPE_F32,
                                         AXON_DTYPE_I64 };

/* Which every type can be cast to. */
static AxonTensor *
whole_numbers (const AxonShape *shape, guint32 seed)
{
  AxonTensor *tensor = test_random (shape, seed);
  gfloat *v = axon_tensor_get_data (tensor);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    v[i] = floorf (fabsf (v[i]) * 100);
  return tensor;
}

static AxonValue *
cast (TestModel *t, AxonValue *x, AxonDType dtype)
{
  AxonNode *n = test_model_node (t, "Cast", 1, x);
  axon_node_set_int (n, "to", dtype);
  return n->outputs[0];
}

static void
elements_are_gathered_from_the_places_that_indices_name (void)
{
  for (guint i = 0; i < 4 * 2 * 2 * G_N_ELEMENTS (gathers); i++) {
    guint k = i / 16;
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &gathers[k].x);
    AxonNode *n = test_model_node (&t, gathers[k].op, 2, cast (&t, x, moved_types[i % 4]),
                                   indices_of (&t, x, &gathers[k].at, gathers[k].n,
                                               i & 4 ? AXON_DTYPE_I32 : AXON_DTYPE_I64, i & 8));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = whole_numbers (&gathers[k].x, i);
    axon_node_set_int (n, g_str_equal (gathers[k].op, "GatherND") ? "batch_dims" : "axis",
                       gathers[k].axis);
    model = test_model_finish (&t, cast (&t, n->outputs[0], AXON_DTYPE_F32));
    test_compare_devices (model, input, 0);
  }
}

/* The part of a tensor that lies channels last is a view of it. */
static void
one_index_takes_a_part_of_what_was_transposed (void)
{
  AxonShape shape = AXON_SHAPE (2, 4, 5, 3), scalar = { 0 };
  g_autoptr (AxonTensor) input = test_random (&shape, 3);
  for (gint axis = 0; axis < 4; axis++) {
    TestModel t = test_model_new (13);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
    AxonNode *n = test_model_node (&t, "Transpose", 1, x);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
    n = test_model_node (&t, "Gather", 2, n->outputs[0],
                         indices_of (&t, x, &scalar, 1, AXON_DTYPE_I64, FALSE));
    axon_node_set_int (n, "axis", axis);
    model = test_model_finish (&t, test_model_node (&t, "Relu", 1, n->outputs[0])->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static const struct {
  const gchar *op;
  AxonShape x, at, u;
  gint64 axis, n;
} scatters[] = {
  { "ScatterElements", { 3, { 2, 5, 7 } }, { 3, { 2, 5, 9 } }, { 3, { 2, 5, 9 } }, 2, 7 },
  { "ScatterElements", { 3, { 2, 5, 7 } }, { 3, { 1, 8, 6 } }, { 3, { 1, 8, 6 } }, 1, 5 },
  { "ScatterElements", { 3, { 3, 5, 7 } }, { 3, { 6, 4, 7 } }, { 3, { 6, 4, 7 } }, -3, 3 },
  { "ScatterND", { 3, { 4, 4, 7 } }, { 2, { 5, 2 } }, { 2, { 5, 7 } }, 0, 4 },
  { "ScatterND", { 3, { 4, 4, 4 } }, { 3, { 5, 6, 3 } }, { 2, { 5, 6 } }, 0, 4 },
  { "ScatterND", { 3, { 4, 5, 200 } }, { 2, { 9, 1 } }, { 3, { 9, 5, 200 } }, 0, 4 },
};

static void
updates_are_scattered_in_order (void)
{
  static const gchar *const reductions[] = { "none", "add", "mul", "max", "min" };
  for (guint i = 0; i < G_N_ELEMENTS (reductions) * G_N_ELEMENTS (scatters); i++) {
    guint k = i / G_N_ELEMENTS (reductions);
    TestModel t = test_model_new (18);
    g_autofree gfloat *updates = g_new (gfloat, (gsize)numel (&scatters[k].u));
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &scatters[k].x);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&scatters[k].x, i);
    AxonNode *n;
    for (gint64 e = 0; e < numel (&scatters[k].u); e++)
      updates[e] = e % 11 == 3 ? NAN : e % 13 == 5 ? INFINITY : (gfloat)e * 0.25f - 3;
    n = test_model_node (&t, scatters[k].op, 3, x,
                         indices_of (&t, x, &scatters[k].at, scatters[k].n, AXON_DTYPE_I64, TRUE),
                         test_model_constant (&t, &scatters[k].u, updates));
    if (g_str_equal (scatters[k].op, "ScatterElements"))
      axon_node_set_int (n, "axis", scatters[k].axis);
    axon_node_set_string (n, "reduction", reductions[i % G_N_ELEMENTS (reductions)]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* The reference's words, whoever finds it. */
static void
an_index_outside_of_its_dimension_is_refused (gconstpointer op)
{
  AxonShape shape = AXON_SHAPE (3, 3), at = AXON_SHAPE (2, 1);
  gboolean scatters_it = g_str_has_prefix (op, "Scatter");
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  AxonValue *where = indices_of (&t, x, &at, 100, AXON_DTYPE_I64, TRUE);
  AxonShape u = g_str_equal (op, "ScatterND") ? AXON_SHAPE (2, 3) : at;
  AxonNode *n = test_model_node (&t, op, scatters_it ? 3 : 2, x, where,
                                 scatters_it ? test_model_random (&t, &u, 1) : NULL);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&shape, 5);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y = test_try_run (model, test_device (), NULL, input, &error);
  g_assert_null (y);
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MODEL);
  g_assert_nonnull (strstr (error->message, "index -100 is outside dimension 3"));
}

static const struct {
  AxonShape x;
  gint64 pads[8];
} padded[] = {
  { { 4, { 1, 3, 5, 7 } }, { 0, 0, 1, 2, 0, 0, 3, 1 } },
  { { 4, { 2, 33, 4, 4 } }, { 0, 0, 1, 1, 0, 0, 1, 1 } },
  { { 4, { 2, 3, 4, 5 } }, { 1, 2, 0, 0, 1, 0, 0, 0 } },
  { { 4, { 2, 8, 4, 5 } }, { 0, 0, -1, 1, 0, 0, 2, -2 } },
  { { 4, { 1, 1, 9, 9 } }, { 0, 0, 0, 4, 0, 0, 0, 4 } },
};

/* As it comes, and as a transposed tensor lies. */
static AxonValue *
maybe_transposed (TestModel *t, const AxonShape *shape, AxonShape *given, gboolean transposed)
{
  AxonNode *n;
  *given = *shape;
  if (!transposed)
    return test_model_input (t, "x", AXON_DTYPE_F32, given);
  *given = AXON_SHAPE (shape->dims[0], shape->dims[2], shape->dims[3], shape->dims[1]);
  n = test_model_node (t, "Transpose", 1, test_model_input (t, "x", AXON_DTYPE_F32, given));
  axon_node_set_ints (n, "perm", (gint64[]){ 0, 3, 1, 2 }, 4);
  return test_model_node (t, "Relu", 1, n->outputs[0])->outputs[0];
}

static void
tensors_are_padded_in_every_mode (void)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect", "wrap" };
  static const AxonShape scalar = { 0 };
  static const gfloat value = 2.5f;
  for (guint i = 0; i < 4 * 2 * 2 * G_N_ELEMENTS (padded); i++) {
    TestModel t = test_model_new (19);
    AxonShape given;
    AxonValue *x = maybe_transposed (&t, &padded[i / 16].x, &given, i & 4);
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&given, i);
    AxonNode *n =
        test_model_node (&t, "Pad", i & 8 ? 3 : 2, x, test_model_ints (&t, padded[i / 16].pads, 8),
                         i & 8 ? test_model_constant (&t, &scalar, &value) : NULL);
    axon_node_set_string (n, "mode", modes[i % 4]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

static const struct {
  const gchar *op;
  AxonShape x;
  gint64 n, values[4];
} repeated[] = {
  { "Tile", { 4, { 1, 3, 5, 7 } }, 4, { 2, 1, 3, 1 } },
  { "Tile", { 4, { 2, 33, 5, 7 } }, 4, { 1, 1, 2, 2 } },
  { "Tile", { 4, { 2, 8, 5, 1 } }, 4, { 1, 2, 1, 100 } },
  { "Expand", { 4, { 1, 8, 1, 7 } }, 4, { 2, 8, 5, 7 } },
  { "Expand", { 4, { 2, 1, 5, 1 } }, 4, { 2, 9, 1, 33 } },
  { "Expand", { 2, { 3, 1 } }, 4, { 2, 4, 3, 5 } },
  { "Expand", { 1, { 1 } }, 2, { 40, 50 } },
};

static void
tensors_are_repeated (void)
{
  for (guint i = 0; i < 2 * 4 * G_N_ELEMENTS (repeated); i++) {
    guint k = i / 8;
    TestModel t = test_model_new (13);
    AxonShape given;
    AxonValue *x = maybe_transposed (&t, &repeated[k].x, &given, i & 4 && repeated[k].x.rank == 4);
    AxonNode *n = test_model_node (&t, repeated[k].op, 2, cast (&t, x, moved_types[i % 4]),
                                   test_model_ints (&t, repeated[k].values, (guint)repeated[k].n));
    g_autoptr (AxonModel) model = test_model_finish (&t, cast (&t, n->outputs[0], AXON_DTYPE_F32));
    g_autoptr (AxonTensor) input = whole_numbers (&given, i);
    test_compare_devices (model, input, 0);
  }
}

static void
slices_walk_backwards (void)
{
  static const gint64 start[][2] = { { -1, 2 }, { 100, 4 }, { 1, -2 } };
  static const gint64 end[][2] = { { -100, 6 }, { 0, 0 }, { -100, -100 } };
  static const gint64 axes[][2] = { { 1, 2 }, { 3, -2 }, { 1, 3 } };
  static const gint64 steps[][2] = { { -1, 1 }, { -2, -1 }, { -1, -3 } };
  AxonShape shape = AXON_SHAPE (2, 3, 6, 9);
  for (guint i = 0; i < 4 * 2 * G_N_ELEMENTS (start); i++) {
    guint k = i / 8;
    TestModel t = test_model_new (13);
    AxonShape given;
    AxonValue *x = maybe_transposed (&t, &shape, &given, i & 4);
    AxonNode *n =
        test_model_node (&t, "Slice", 5, cast (&t, x, moved_types[i % 4]),
                         test_model_ints (&t, start[k], 2), test_model_ints (&t, end[k], 2),
                         test_model_ints (&t, axes[k], 2), test_model_ints (&t, steps[k], 2));
    g_autoptr (AxonModel) model = test_model_finish (&t, cast (&t, n->outputs[0], AXON_DTYPE_F32));
    g_autoptr (AxonTensor) input = whole_numbers (&given, i);
    test_compare_devices (model, input, 0);
  }
}

static AxonNode *
reshape (TestModel *t, AxonValue *x, const gint64 *dims, guint n)
{
  return test_model_node (t, "Reshape", 2, x, test_model_ints (t, dims, n));
}

/* Groups of channels become channels of groups, in both layouts and in elements of 1 to 8 bytes. */
static void
channels_are_shuffled (void)
{
  static const gint64 groups[] = { 1, 2, 3, 4, 5, 8 };
  for (guint i = 0; i < 8 * G_N_ELEMENTS (groups); i++) {
    gint64 g = groups[i / 8], c = 7 * g;
    AxonShape shape = AXON_SHAPE (2, c, 3, 5), given;
    TestModel t = test_model_new (13);
    AxonValue *x = maybe_transposed (&t, &shape, &given, i & 4);
    AxonNode *n =
        reshape (&t, cast (&t, x, moved_types[i % 4]), (gint64[]){ 2, g, c / g, 3, 5 }, 5);
    g_autoptr (AxonTensor) input = whole_numbers (&given, i);
    g_autoptr (AxonModel) model = NULL;
    n = test_model_node (&t, "Transpose", 1, n->outputs[0]);
    axon_node_set_ints (n, "perm", (gint64[]){ 0, 2, 1, 3, 4 }, 5);
    n = reshape (&t, n->outputs[0], (gint64[]){ 2, c, 3, 5 }, 4);
    model = test_model_finish (&t, cast (&t, n->outputs[0], AXON_DTYPE_F32));
    test_compare_devices (model, input, 0);
  }
}

static const struct {
  gint64 dims[6];
  guint n;
} forms[] = {
  { { 2, 12, 30 }, 3 },         { { 2, 3, 4, 30 }, 4 },      { { 24, 5, 6 }, 3 },
  { { 1, 2, 12, 5, 1, 6 }, 6 }, { { 2, 2, 6, 5, 2, 3 }, 6 }, { { 720 }, 1 },
  { { 2, 60, 6 }, 3 },          { { 4, 6, 30 }, 3 },         { { 2, 12, 5, 6 }, 4 },
};

static void
what_was_transposed_gets_another_shape (void)
{
  AxonShape shape = AXON_SHAPE (2, 12, 5, 6);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (forms); i++) {
    TestModel t = test_model_new (13);
    AxonShape given;
    AxonValue *x = maybe_transposed (&t, &shape, &given, TRUE);
    AxonNode *n = reshape (&t, x, forms[i / 2].dims, forms[i / 2].n);
    g_autoptr (AxonTensor) input = test_random (&given, i);
    g_autoptr (AxonModel) model = NULL;
    if (i & 1) /* a step that takes it as it lies */
      n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

/* Every half; and floats of all sizes, those between two halves, and what is no number. */
static void
halves_become_floats (void)
{
  AxonShape shape = AXON_SHAPE (65536);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F16, &shape);
  g_autoptr (AxonModel) model = test_model_finish (&t, cast (&t, x, AXON_DTYPE_F32));
  g_autoptr (AxonTensor) input = axon_tensor_new (AXON_DTYPE_F16, &shape, NULL);
  for (gint i = 0; i < 65536; i++)
    ((guint16 *)axon_tensor_get_data (input))[i] = (guint16)i;
  test_compare_devices (model, input, 0);
}

static void
floats_become_halves (void)
{
  AxonShape shape = AXON_SHAPE (4099);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shape);
  g_autoptr (AxonModel) model = test_model_finish (&t, cast (&t, x, AXON_DTYPE_F16));
  g_autofree gfloat *values = g_new (gfloat, 4099);
  g_autoptr (AxonTensor) input = NULL;
  for (gint i = 0; i < 4099; i++)
    values[i] = ldexpf ((gfloat)(i % 64 * 67 + 2048) / 4096, i / 64 - 40) * (i & 1 ? -1 : 1);
  values[0] = NAN;
  values[7] = INFINITY;
  values[9] = -INFINITY;
  input = test_tensor (&shape, values);
  test_compare_devices (model, input, 0);
}

#define ADD(name) g_test_add_func ("/places/" #name, name)
#define ADD_EACH(list, name)                                                                       \
  for (guint i = 0; i < G_N_ELEMENTS (list); i++) {                                                \
    g_autofree gchar *path = g_strconcat ("/places/" #name "/", list[i], NULL);                    \
    g_test_add_data_func (path, list[i], name);                                                    \
  }

int
main (int argc, char **argv)
{
  static const gchar *const indexed[] = { "Gather", "GatherElements", "GatherND", "ScatterElements",
                                          "ScatterND" };
  g_test_init (&argc, &argv, NULL);
  ADD (elements_are_gathered_from_the_places_that_indices_name);
  ADD (one_index_takes_a_part_of_what_was_transposed);
  ADD (updates_are_scattered_in_order);
  ADD (tensors_are_padded_in_every_mode);
  ADD (tensors_are_repeated);
  ADD (slices_walk_backwards);
  ADD (channels_are_shuffled);
  ADD (what_was_transposed_gets_another_shape);
  ADD (halves_become_floats);
  ADD (floats_become_halves);
  ADD_EACH (indexed, an_index_outside_of_its_dimension_is_refused);
  return g_test_run ();
}
