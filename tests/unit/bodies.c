/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sequences, optionals, and operators that run bodies: each place and each number on both sides of
 * its limits. Negative numbers stand for "left out" where none is said. */
#include "axontest.h"

#include <string.h>

#define NONE G_MININT64

static const gchar *const devices[] = { "TEMPLATE", "CPU" };

static AxonValue *
scalar_i64 (TestModel *t, gint64 value)
{
  AxonShape scalar = { 0 };
  g_autoptr (AxonTensor) list = axon_tensor_new_i64 (&value, 1);
  g_autoptr (AxonTensor) tensor = axon_tensor_reshape (list, &scalar);
  return value == NONE ? NULL : axon_model_add_constant (t->model, NULL, tensor);
}

static AxonValue *
numbers (TestModel *t, const gchar *name, gint64 n)
{
  return test_model_input (t, name, AXON_DTYPE_F32, &AXON_SHAPE (n));
}

/* Of the one input 1, 2, 3 ...; NULL: the error says @says. */
static void
expect (TestModel *t, AxonValue *output, gint64 n, const gchar *says, const gdouble *expected,
        gint64 n_expected)
{
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, &AXON_SHAPE (n), NULL);
  g_autoptr (AxonModel) model = test_model_read_back (test_model_finish (t, output));
  for (gint64 i = 0; i < n; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)(i + 1);
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonTensor) y = test_try_run (model, devices[d], NULL, x, &error);
    if (says != NULL) {
      g_assert_nonnull (error);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, says));
      continue;
    }
    g_assert_no_error (error);
    g_assert_cmpuint (axon_tensor_get_numel (y), ==, n_expected);
    for (gint64 i = 0; i < n_expected; i++)
      g_assert_cmpfloat (axon_tensor_get_value (y, (gsize)i), ==, expected[i]);
  }
}

/* A sequence of the single numbers of an input of @n. */
static AxonValue *
items_of (TestModel *t, gint64 n)
{
  AxonValue *x = numbers (t, "x", n);
  return test_model_node (t, "SplitToSequence", 1, x)->outputs[0];
}

static AxonValue *
joined (TestModel *t, AxonValue *sequence)
{
  AxonNode *n = test_model_node (t, "ConcatFromSequence", 1, sequence);
  axon_node_set_int (n, "axis", 0);
  return n->outputs[0];
}

static void
an_item_is_inserted_before_the_position (void)
{
  static const struct {
    gint64 position;
    gdouble expected[4];
    const gchar *says;
  } cases[] = {
    { NONE, { 1, 2, 3, 9 } },
    { 0, { 9, 1, 2, 3 } },
    { 2, { 1, 2, 9, 3 } },
    { 3, { 1, 2, 3, 9 } },
    { -1, { 1, 2, 9, 3 } },
    { -3, { 9, 1, 2, 3 } },
    { 4, { 0 }, "index 4 is outside" },
    { -4, { 0 }, "index -4 is outside" },
  };
  static const gfloat nine = 9;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (
        &t, "SequenceInsert", cases[i].position == NONE ? 2 : 3, items_of (&t, 3),
        test_model_constant (&t, &AXON_SHAPE (1), &nine), scalar_i64 (&t, cases[i].position));
    expect (&t, joined (&t, n->outputs[0]), 3, cases[i].says, cases[i].expected, 4);
  }
}

static void
the_item_at_the_position_is_erased (void)
{
  static const struct {
    gint64 position;
    gdouble expected[2];
    const gchar *says;
  } cases[] = {
    { NONE, { 1, 2 } },
    { 0, { 2, 3 } },
    { 1, { 1, 3 } },
    { 2, { 1, 2 } },
    { -1, { 1, 2 } },
    { -3, { 2, 3 } },
    { 3, { 0 }, "index 3 is outside" },
    { -4, { 0 }, "index -4 is outside" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, "SequenceErase", cases[i].position == NONE ? 1 : 2,
                                   items_of (&t, 3), scalar_i64 (&t, cases[i].position));
    expect (&t, joined (&t, n->outputs[0]), 3, cases[i].says, cases[i].expected, 2);
  }
}

static void
positions_below_0_count_from_the_end (void)
{
  for (gint64 at = -4; at <= 3; at++) {
    TestModel t = test_model_new (13);
    gdouble expected = (gdouble)(at < 0 ? at + 4 : at + 1);
    AxonNode *n = test_model_node (&t, "SequenceAt", 2, items_of (&t, 3), scalar_i64 (&t, at));
    n->outputs[0]->type.dtype = AXON_DTYPE_F32;
    expect (&t, n->outputs[0], 3, at < -3 || at > 2 ? "is outside" : NULL, &expected, 1);
  }
}

static void
the_length_of_a_sequence_is_the_number_of_its_items (void)
{
  for (gint64 n = 1; n < 4; n++) {
    TestModel t = test_model_new (13);
    gdouble expected = (gdouble)n;
    expect (&t, test_model_node (&t, "SequenceLength", 1, items_of (&t, n))->outputs[0], n, NULL,
            &expected, 1);
  }
}

/* Of the sequence that is made of 5 numbers, the sums of its items. */
static void
a_tensor_is_split_into_parts_of_the_sizes_that_are_given (void)
{
  static const struct {
    gint64 size, sizes[3];
    guint n_sizes;
    const gchar *says;
    gdouble sums[5];
    gint64 n_sums;
  } cases[] = {
    { 2, { 0 }, 0, NULL, { 3, 7, 5 }, 3 },
    { 5, { 0 }, 0, NULL, { 15 }, 1 },
    { 6, { 0 }, 0, NULL, { 15 }, 1 },
    { 0, { 0 }, 0, "size 0 is out of range", { 0 }, 0 },
    { NONE, { 2, 3 }, 2, NULL, { 3, 12 }, 2 },
    { NONE, { 4, 0, 1 }, 3, NULL, { 10, 0, 5 }, 3 },
    { NONE, { 4, 1, 0 }, 3, NULL, { 10, 5, 0 }, 3 },
    { NONE, { 2, 2 }, 2, "do not add up to 5", { 0 }, 0 },
    { NONE, { 2, 4 }, 2, "size 4 is out of range", { 0 }, 0 },
    { NONE, { 6, -1 }, 2, "size 6 is out of range", { 0 }, 0 },
    { NONE, { 2, -1, 4 }, 3, "size -1 is out of range", { 0 }, 0 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (17), body = test_model_new (17);
    AxonValue *sizes = cases[i].n_sizes > 0 ? test_model_ints (&t, cases[i].sizes, cases[i].n_sizes)
                                            : scalar_i64 (&t, cases[i].size);
    AxonValue *parts =
        test_model_node (&t, "SplitToSequence", 2, numbers (&t, "x", 5), sizes)->outputs[0];
    AxonNode *map = test_model_node (&t, "SequenceMap", 1, parts);
    AxonNode *sum = test_model_node (&body, "ReduceSum", 1, numbers (&body, "i", -1));
    axon_node_add_attr (map, "body", AXON_ATTR_GRAPH)->graph =
        test_model_finish (&body, sum->outputs[0]);
    expect (&t, joined (&t, map->outputs[0]), 5, cases[i].says, cases[i].sums, cases[i].n_sums);
  }
}

/* Items of [2] along an axis of their own, in front or behind. */
static void
items_are_joined_along_an_axis_that_is_there_or_new (void)
{
  static const gdouble expected[][4] = { { 1, 2, 3, 4 }, { 1, 3, 2, 4 }, { 1, 3, 2, 4 } };
  static const gint64 axes[] = { 0, 1, -1 };
  for (guint i = 0; i < 3; i++) {
    TestModel t = test_model_new (13);
    AxonValue *items =
        test_model_node (&t, "SplitToSequence", 2, numbers (&t, "x", 4), scalar_i64 (&t, 2))
            ->outputs[0];
    AxonNode *n = test_model_node (&t, "ConcatFromSequence", 1, items);
    axon_node_set_int (n, "axis", axes[i]);
    axon_node_set_int (n, "new_axis", 1);
    expect (&t, n->outputs[0], 4, NULL, expected[i], 4);
  }
}

static void
slices_that_do_not_keep_their_dimension_are_joined_along_a_new_one (void)
{
  static const gdouble expected[] = { 1, 2, 3 };
  for (gint64 keep = 0; keep < 2; keep++) {
    TestModel t = test_model_new (13);
    AxonNode *split = test_model_node (&t, "SplitToSequence", 1, numbers (&t, "x", 3)), *n;
    axon_node_set_int (split, "keepdims", keep);
    n = test_model_node (&t, "ConcatFromSequence", 1, split->outputs[0]);
    axon_node_set_int (n, "axis", 0);
    axon_node_set_int (n, "new_axis", 1 - keep);
    expect (&t, n->outputs[0], 3, NULL, expected, 3);
  }
}

/* Only single slices may lose it. */
static void
parts_of_a_given_size_keep_their_dimension (void)
{
  static const gdouble expected[] = { 1, 2, 3, 4 };
  TestModel t = test_model_new (13);
  AxonNode *split =
      test_model_node (&t, "SplitToSequence", 2, numbers (&t, "x", 4), scalar_i64 (&t, 2));
  axon_node_set_int (split, "keepdims", 0);
  expect (&t, joined (&t, split->outputs[0]), 4, NULL, expected, 4);
}

static void
the_first_item_goes_to_the_place_where_a_sequence_begins (void)
{
  for (gint64 at = 0; at < 3; at++) {
    TestModel t = test_model_new (13);
    AxonValue *none = test_model_node (&t, "SequenceEmpty", 0)->outputs[0];
    AxonNode *n = test_model_node (&t, "SequenceInsert", 3, none, numbers (&t, "x", 2),
                                   scalar_i64 (&t, at == 2 ? -1 : at));
    static const gdouble expected[] = { 1, 2 };
    expect (&t, joined (&t, n->outputs[0]), 2, at == 0 ? NULL : "outside", expected, 2);
  }
}

static void
what_is_no_sequence_or_has_no_items_is_refused (void)
{
  static const gchar *const operators[] = { "SequenceLength", "SequenceErase",
                                            "ConcatFromSequence" };
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++) {
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, operators[i], 1, numbers (&t, "x", 3));
    if (i == 2)
      axon_node_set_int (n, "axis", 0);
    expect (&t, n->outputs[0], 3, "expected a sequence, got f32", NULL, 0);
  }
  TestModel t = test_model_new (13);
  AxonValue *one = items_of (&t, 1);
  expect (&t, joined (&t, test_model_node (&t, "SequenceErase", 1, one)->outputs[0]), 1,
          "the sequence is empty", NULL, 0);
}

static void
an_optional_has_what_it_was_made_of (void)
{
  static const gdouble expected[] = { 1, 2 }, yes = 1;
  for (guint i = 0; i < 2; i++) {
    TestModel t = test_model_new (18);
    AxonValue *made = test_model_node (&t, "Optional", 1, numbers (&t, "x", 2))->outputs[0];
    if (i == 0)
      expect (&t, test_model_node (&t, "OptionalGetElement", 1, made)->outputs[0], 2, NULL,
              expected, 2);
    else
      expect (&t, test_model_node (&t, "OptionalHasElement", 1, made)->outputs[0], 2, NULL, &yes,
              1);
  }
}

static AxonValue *
truth (TestModel *t, gboolean value)
{
  AxonShape scalar = { 0 };
  g_autoptr (AxonTensor) tensor = axon_tensor_new (AXON_DTYPE_BOOL, &scalar, NULL);
  axon_dtype_store (AXON_DTYPE_BOOL, axon_tensor_get_data (tensor), 0, value);
  return axon_model_add_constant (t->model, NULL, tensor);
}

/* The state is doubled as long as it is below 10; a scan output has what it was. */
static AxonModel *
doubling_body (void)
{
  static const gfloat ten = 10, two = 2;
  AxonShape scalar = { 0 };
  TestModel b = test_model_new (13);
  AxonValue *state, *more, *doubled;
  test_model_input (&b, "turn", AXON_DTYPE_I64, &scalar);
  test_model_input (&b, "go", AXON_DTYPE_BOOL, &scalar);
  state = test_model_input (&b, "state", AXON_DTYPE_F32, &AXON_SHAPE (1));
  doubled =
      test_model_node (&b, "Mul", 2, state, test_model_constant (&b, &scalar, &two))->outputs[0];
  more =
      test_model_node (&b, "Less", 2, doubled, test_model_constant (&b, &scalar, &ten))->outputs[0];
  axon_model_add_output (b.model, more);
  axon_model_add_output (b.model, doubled);
  return test_model_finish (&b, test_model_node (&b, "Identity", 1, state)->outputs[0]);
}

static void
a_loop_ends_by_its_number_or_by_its_condition (void)
{
  static const struct {
    gint64 limit;
    gint go; /* -1: left out */
    gdouble state;
    gint64 turns;
  } cases[] = {
    { NONE, -1, 16, 4 }, { NONE, 1, 16, 4 }, { NONE, 0, 1, 0 }, { 2, -1, 4, 2 },
    { 2, 1, 4, 2 },      { 9, 1, 16, 4 },    { 4, -1, 16, 4 },  { 0, 1, 1, 0 },
    { -1, 1, 1, 0 },     { 2, 0, 1, 0 },     { 1, -1, 2, 1 },
  };
  static const gdouble scanned[] = { 1, 2, 4, 8 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    TestModel t = test_model_new (13);
    AxonValue *in[] = { scalar_i64 (&t, cases[i / 2].limit),
                        cases[i / 2].go < 0 ? NULL : truth (&t, cases[i / 2].go),
                        numbers (&t, "x", 1) };
    AxonNode *loop = test_model_node_of (&t, NULL, "Loop", in, 3, 2);
    axon_node_add_attr (loop, "body", AXON_ATTR_GRAPH)->graph = doubling_body ();
    if (i % 2 == 0)
      expect (&t, loop->outputs[0], 1, NULL, &cases[i / 2].state, 1);
    else
      expect (&t, loop->outputs[1], 1, NULL, scanned, cases[i / 2].turns);
  }
}

static void
states_of_several_types_keep_them (void)
{
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_I64, AXON_DTYPE_U8 };
  TestModel t = test_model_new (13), b = test_model_new (13);
  AxonValue *in[5] = { scalar_i64 (&t, 2), NULL }, *out[3], *go;
  g_autoptr (AxonModel) model = NULL;
  AxonNode *loop;
  test_model_input (&b, "turn", AXON_DTYPE_I64, &(AxonShape){ 0 });
  go = test_model_input (&b, "go", AXON_DTYPE_BOOL, &(AxonShape){ 0 });
  axon_model_add_output (b.model, test_model_node (&b, "Identity", 1, go)->outputs[0]);
  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *name = g_strdup_printf ("state%u", i);
    AxonValue *state = test_model_input (&b, name, types[i], &AXON_SHAPE (1));
    in[2 + i] = test_model_input (&t, name, types[i], &AXON_SHAPE (1));
    out[i] = test_model_node (&b, "Identity", 1, state)->outputs[0];
    axon_model_add_output (b.model, out[i]);
  }
  loop = test_model_node_of (&t, NULL, "Loop", in, 5, 3);
  axon_node_add_attr (loop, "body", AXON_ATTR_GRAPH)->graph = b.model;
  axon_model_add_output (t.model, loop->outputs[0]);
  axon_model_add_output (t.model, loop->outputs[1]);
  model = test_model_finish (&t, loop->outputs[2]);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpint (axon_model_get_output_dtype (model, i), ==, types[i]);
}

/* Two states that change places in each turn. */
static void
every_state_of_a_loop_goes_on (void)
{
  static const gfloat ten = 10;
  static const gdouble expected[2][2] = { { 1, 10 }, { 10, 1 } };
  for (gint64 i = 0; i < 8; i++) {
    gint64 turns = i / 2;
    AxonShape scalar = { 0 };
    TestModel t = test_model_new (13), b = test_model_new (13);
    AxonValue *in[] = { scalar_i64 (&t, turns), NULL, numbers (&t, "x", 1),
                        test_model_constant (&t, &AXON_SHAPE (1), &ten) };
    AxonNode *loop = test_model_node_of (&t, NULL, "Loop", in, 4, 2);
    AxonValue *go, *first, *second;
    test_model_input (&b, "turn", AXON_DTYPE_I64, &scalar);
    go = test_model_input (&b, "go", AXON_DTYPE_BOOL, &scalar);
    first = numbers (&b, "first", 1);
    second = numbers (&b, "second", 1);
    axon_model_add_output (b.model, test_model_node (&b, "Identity", 1, go)->outputs[0]);
    axon_model_add_output (b.model, test_model_node (&b, "Identity", 1, second)->outputs[0]);
    axon_node_add_attr (loop, "body", AXON_ATTR_GRAPH)->graph =
        test_model_finish (&b, test_model_node (&b, "Identity", 1, first)->outputs[0]);
    expect (&t, loop->outputs[i % 2], 1, NULL, &expected[turns % 2][i % 2], 1);
  }
}

/* A sum of the slices so far; rows or columns of [2, 3], forwards or backwards. */
static AxonModel *
summing_body (gint64 n)
{
  TestModel b = test_model_new (13);
  AxonShape shape = AXON_SHAPE (n);
  AxonValue *state = test_model_input (&b, "state", AXON_DTYPE_F32, &shape), *sum;
  sum =
      test_model_node (&b, "Add", 2, state, test_model_input (&b, "slice", AXON_DTYPE_F32, &shape))
          ->outputs[0];
  axon_model_add_output (b.model, sum);
  return test_model_finish (&b, test_model_node (&b, "Identity", 1, sum)->outputs[0]);
}

static void
slices_are_scanned_along_the_axis_and_in_the_direction_asked_for (void)
{
  static const struct {
    gint64 in_axis, in_reverse, out_axis, out_reverse;
    gdouble expected[6];
  } cases[] = {
    { 0, 0, 0, 0, { 1, 2, 3, 5, 7, 9 } },    { 0, 1, 0, 0, { 4, 5, 6, 5, 7, 9 } },
    { 0, 0, 0, 1, { 5, 7, 9, 1, 2, 3 } },    { 0, 0, 1, 0, { 1, 5, 2, 7, 3, 9 } },
    { 0, 0, -1, 1, { 5, 1, 7, 2, 9, 3 } },   { 1, 0, 0, 0, { 1, 4, 3, 9, 6, 15 } },
    { -1, 1, 0, 0, { 3, 6, 5, 11, 6, 15 } }, { 1, 1, 1, 1, { 6, 5, 3, 15, 11, 6 } },
  };
  static const gfloat zeros[3] = { 0 };
  static const gint64 shape[] = { 2, 3 };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint64 n = cases[i].in_axis == 0 ? 3 : 2;
    TestModel t = test_model_new (13);
    AxonValue *x =
        test_model_node (&t, "Reshape", 2, numbers (&t, "x", 6), test_model_ints (&t, shape, 2))
            ->outputs[0];
    AxonValue *in[] = { test_model_constant (&t, &AXON_SHAPE (n), zeros), x };
    AxonNode *scan = test_model_node_of (&t, NULL, "Scan", in, 2, 2);
    axon_node_set_int (scan, "num_scan_inputs", 1);
    axon_node_set_ints (scan, "scan_input_axes", &cases[i].in_axis, 1);
    axon_node_set_ints (scan, "scan_input_directions", &cases[i].in_reverse, 1);
    axon_node_set_ints (scan, "scan_output_axes", &cases[i].out_axis, 1);
    axon_node_set_ints (scan, "scan_output_directions", &cases[i].out_reverse, 1);
    axon_node_add_attr (scan, "body", AXON_ATTR_GRAPH)->graph = summing_body (n);
    expect (&t, scan->outputs[1], 6, NULL, cases[i].expected, 6);
  }
}

/* Two scan inputs: as many slices each. */
static void
scan_inputs_have_as_many_slices_as_each_other (void)
{
  static const gfloat others[] = { 10, 20, 30 };
  static const gdouble expected[] = { 11, 22, 33 };
  for (gint64 n = 2; n < 4; n++) {
    TestModel t = test_model_new (13), b = test_model_new (13);
    AxonShape scalar = { 0 };
    AxonValue *in[] = { numbers (&t, "x", 3), test_model_constant (&t, &AXON_SHAPE (n), others) };
    AxonNode *scan = test_model_node_of (&t, NULL, "Scan", in, 2, 1);
    AxonValue *a = test_model_input (&b, "a", AXON_DTYPE_F32, &scalar);
    AxonNode *add =
        test_model_node (&b, "Add", 2, a, test_model_input (&b, "b", AXON_DTYPE_F32, &scalar));
    axon_node_set_int (scan, "num_scan_inputs", 2);
    axon_node_add_attr (scan, "body", AXON_ATTR_GRAPH)->graph =
        test_model_finish (&b, add->outputs[0]);
    expect (&t, scan->outputs[0], 3, n == 2 ? "scan inputs of 3 and 2 slices" : NULL, expected, 3);
  }
}

static void
a_scan_has_one_to_all_of_its_inputs_to_scan (void)
{
  static const gfloat zero = 0;
  for (gint64 n = 0; n < 4; n += 3) {
    g_autoptr (GError) error = NULL;
    TestModel t = test_model_new (13);
    g_autoptr (AxonModel) model = t.model;
    AxonValue *in[] = { test_model_constant (&t, &AXON_SHAPE (1), &zero), numbers (&t, "x", 3) };
    AxonNode *scan = test_model_node_of (&t, NULL, "Scan", in, 2, 2);
    axon_node_set_int (scan, "num_scan_inputs", n);
    axon_node_add_attr (scan, "body", AXON_ATTR_GRAPH)->graph = summing_body (1);
    g_assert_false (axon_model_infer_shapes (model, &error));
    g_assert_nonnull (strstr (error->message, n == 0 ? "is 0 of 2" : "is 3 of 2"));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/bodies/" #name, name)
  ADD (an_item_is_inserted_before_the_position);
  ADD (the_item_at_the_position_is_erased);
  ADD (positions_below_0_count_from_the_end);
  ADD (the_length_of_a_sequence_is_the_number_of_its_items);
  ADD (a_tensor_is_split_into_parts_of_the_sizes_that_are_given);
  ADD (items_are_joined_along_an_axis_that_is_there_or_new);
  ADD (slices_that_do_not_keep_their_dimension_are_joined_along_a_new_one);
  ADD (parts_of_a_given_size_keep_their_dimension);
  ADD (the_first_item_goes_to_the_place_where_a_sequence_begins);
  ADD (what_is_no_sequence_or_has_no_items_is_refused);
  ADD (an_optional_has_what_it_was_made_of);
  ADD (a_loop_ends_by_its_number_or_by_its_condition);
  ADD (states_of_several_types_keep_them);
  ADD (every_state_of_a_loop_goes_on);
  ADD (slices_are_scanned_along_the_axis_and_in_the_direction_asked_for);
  ADD (scan_inputs_have_as_many_slices_as_each_other);
  ADD (a_scan_has_one_to_all_of_its_inputs_to_scan);
  return g_test_run ();
}
