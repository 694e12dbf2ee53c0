/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions of one tap over a Concat of channels of which some are the same at every place:
 * device CPU multiplies these once (passes/splitrepeated.c). */
#include "axontest.h"

#define TOLERANCE 2e-5
#define CHANNELS 24 /* of what is repeated */
#define OUT 13

static const AxonShape shapes[] = { AXON_SHAPE (1, 6, 9), AXON_SHAPE (2, 6, 5, 7),
                                    AXON_SHAPE (1, 6, 3, 4, 2) };

typedef struct {
  TestModel t;
  const AxonShape *shape; /* of the input */
  AxonValue *x, *mean;    /* the mean: of CHANNELS channels */
} Subject;

static AxonNode *
convolve (TestModel *t, AxonValue *x, gint64 channels, gint64 from, gint64 group, guint seed)
{
  AxonShape w = { .rank = x->type.shape.rank, .dims = { channels, from / group, 1, 1, 1 } };
  AxonShape bias = AXON_SHAPE (channels);
  AxonNode *n = test_model_node (t, "Conv", 3, x, test_model_random (t, &w, seed),
                                 test_model_random (t, &bias, seed + 1));
  axon_node_set_int (n, "group", group);
  return n;
}

static Subject
subject_new (gint opset, const AxonShape *shape)
{
  Subject s = { .t = test_model_new (opset), .shape = shape };
  AxonNode *mean;
  s.x = test_model_input (&s.t, "x", AXON_DTYPE_F32, shape);
  mean = test_model_node (&s.t, "GlobalAveragePool", 1, s.x);
  if (!axon_model_infer_node (s.t.model, mean, NULL))
    g_assert_not_reached ();
  s.mean = convolve (&s.t, mean->outputs[0], CHANNELS, 6, 1, 1)->outputs[0];
  return s;
}

static AxonValue *
sizes (Subject *s, gboolean as_repeats)
{
  gint64 dims[] = { s->shape->dims[0], CHANNELS, 1, 1, 1 };
  for (gint d = 2; d < s->shape->rank; d++)
    dims[d] = s->shape->dims[d];
  if (as_repeats)
    dims[0] = dims[1] = 1;
  return test_model_ints (&s->t, dims, (guint)s->shape->rank);
}

static AxonNode *
resize (Subject *s, const gchar *mode, const gchar *where)
{
  AxonNode *n = test_model_node (&s->t, "Resize", 4, s->mean, NULL, NULL, sizes (s, FALSE));
  axon_node_set_string (n, "mode", mode);
  axon_node_set_string (n, "coordinate_transformation_mode", where);
  return n;
}

static AxonValue *
repeat (Subject *s, const gchar *how)
{
  if (g_str_equal (how, "Expand"))
    return test_model_node (&s->t, how, 2, s->mean, sizes (s, FALSE))->outputs[0];
  if (g_str_equal (how, "Tile"))
    return test_model_node (&s->t, how, 2, s->mean, sizes (s, TRUE))->outputs[0];
  if (g_str_equal (how, "Upsample")) {
    gfloat factors[] = { 1, 1, (gfloat)s->shape->dims[2], (gfloat)s->shape->dims[3] };
    AxonShape four = AXON_SHAPE (4);
    return test_model_node (&s->t, how, 2, s->mean, test_model_constant (&s->t, &four, factors))
        ->outputs[0];
  }
  return resize (s, how, "half_pixel")->outputs[0];
}

static AxonValue *
concat (Subject *s, AxonValue *a, AxonValue *b, AxonValue *c, gint64 axis)
{
  AxonNode *n = test_model_node (&s->t, "Concat", 3, a, b, c);
  axon_node_set_int (n, "axis", axis);
  if (!axon_model_infer_shapes (s->t.model, NULL))
    g_assert_not_reached ();
  return n->outputs[0];
}

static gboolean
runs (AxonModel *model, const gchar *op)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  for (guint i = 0; i < runtime->nodes->len; i++)
    if (g_str_equal (((const AxonNode *)runtime->nodes->pdata[i])->op->name, op))
      return TRUE;
  return FALSE;
}

/* Ends the subject; @op is not run any more if it @is_split. */
static void
agree (Subject *s, AxonValue *y, const gchar *op, gboolean is_split)
{
  g_autoptr (AxonTensor) data = test_random (s->shape, 7);
  g_autoptr (AxonModel) model =
      test_model_finish (&s->t, test_model_node (&s->t, "Relu", 1, y)->outputs[0]);
  test_compare_devices (model, data, TOLERANCE);
  g_assert_cmpint (runs (model, op), !=, is_split);
}

static void
channels_that_are_repeated_are_multiplied_once (gconstpointer how)
{
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint place = 0; place < 3; place++) {
      gboolean upsamples = g_str_equal (how, "Upsample");
      const gchar *op = g_ascii_isupper (*(const gchar *)how) ? how : "Resize";
      Subject s = subject_new (upsamples ? 9 : 19, &shapes[i]);
      AxonValue *in[3] = { s.x, s.x, s.x };
      if (upsamples && shapes[i].rank != 4) {
        g_object_unref (s.t.model);
        continue;
      }
      in[place] = repeat (&s, how);
      in[0] = concat (&s, in[0], in[1], in[2], place ? 1 : 1 - shapes[i].rank);
      agree (&s, convolve (&s.t, in[0], OUT, CHANNELS + 12, 1, 3)->outputs[0], op, TRUE);
    }
}

/* Two ways that are repeated, and others between them. */
static void
several_repeated_inputs_keep_their_weights (void)
{
  Subject s = subject_new (19, &shapes[1]);
  AxonValue *all = concat (&s, repeat (&s, "Expand"), s.x, repeat (&s, "Tile"), 1);
  agree (&s, convolve (&s.t, all, OUT, 2 * CHANNELS + 6, 1, 3)->outputs[0], "Tile", TRUE);
}

/* What the plan of @model runs. */
static GVariant *
dup_steps (AxonModel *model)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, "CPU");
  return axon_model_dup_nodes (runtime);
}

/* Symptom: in a profile of DeepLab the convolution behind its pyramid ran at 0.6 % of the roofline,
 * and the one before it at 250 %, for one of the two nodes of one name was counted with that. */
static void
both_nodes_that_a_convolution_became_say_what_runs_them (void)
{
  Subject s = subject_new (19, &shapes[1]);
  AxonValue *all = concat (&s, repeat (&s, "Expand"), s.x, s.x, 1);
  AxonNode *conv = convolve (&s.t, all, OUT, CHANNELS + 12, 1, 3);
  g_autofree gchar *name = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GVariant) steps = NULL;
  gdouble operations = 0;
  guint n = 0;
  name = g_strdup (conv->name);
  model = test_model_finish (&s.t, conv->outputs[0]);
  steps = dup_steps (model);
  for (gsize i = 0; i < g_variant_n_children (steps); i++) {
    g_autoptr (GVariant) row = g_variant_get_child_value (steps, i);
    const gchar *type, *what = "", *called = "";
    gdouble some = 0;
    g_variant_lookup (row, "name", "&s", &called);
    g_variant_lookup (row, "type", "&s", &what);
    if (!g_str_equal (called, name) || !g_str_equal (what, "Conv"))
      continue;
    g_assert_true (g_variant_lookup (row, "exec-type", "&s", &type));
    g_assert_true (g_variant_lookup (row, "operations", "d", &some));
    operations += some;
    n++;
  }
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpfloat (operations, >=, 2.0 * 2 * OUT * (5 * 7 * 12 + CHANNELS));
}

typedef enum { GROUPS, STRIDES, SHARED, ALL, ROWS, CUBIC, EXTRAPOLATED, N_OTHERS } Other;

static AxonValue *
repeat_otherwise (Subject *s, Other other)
{
  AxonNode *n;
  if (other != CUBIC && other != EXTRAPOLATED)
    return repeat (s, "Expand");
  n = resize (s, other == CUBIC ? "cubic" : "linear",
              other == CUBIC ? "half_pixel" : "tf_crop_and_resize");
  if (other == EXTRAPOLATED) {
    static const gfloat region[] = { 0, 0, -1, -1, 1, 1, 2, 2 };
    axon_node_set_input (n, 1, test_model_constant (&s->t, &AXON_SHAPE (8), region));
    axon_node_set_float (n, "extrapolation_value", 3);
  }
  return n->outputs[0];
}

static void
other_convolutions_are_left_alone (void)
{
  for (Other other = 0; other < N_OTHERS; other++) {
    static const gint64 strides[] = { 2, 1 };
    Subject s = subject_new (19, &shapes[1]);
    AxonValue *repeated = repeat_otherwise (&s, other), *y;
    AxonValue *second = other == ALL ? repeated : s.x;
    AxonValue *all = other == ROWS ? concat (&s, repeated, repeated, repeat (&s, "Tile"), 2)
                                   : concat (&s, repeated, second, second, 1);
    gint64 group = other == GROUPS ? 2 : 1;
    AxonNode *conv = convolve (&s.t, all, OUT * group, all->type.shape.dims[1], group, 3);
    if (other == STRIDES)
      axon_node_set_ints (conv, "strides", strides, 2);
    y = conv->outputs[0];
    if (other == SHARED) {
      AxonNode *mean = test_model_node (&s.t, "ReduceMax", 1, all);
      y = test_model_node (&s.t, "Add", 2, y, mean->outputs[0])->outputs[0];
    }
    agree (&s, y, other == CUBIC || other == EXTRAPOLATED ? "Resize" : "Concat", FALSE);
  }
}

int
main (int argc, char **argv)
{
  static const gchar *const ways[] = { "Expand", "Tile", "nearest", "linear", "Upsample" };
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++) {
    g_autofree gchar *path = g_strconcat ("/repeated/", ways[i], NULL);
    g_test_add_data_func (path, ways[i], channels_that_are_repeated_are_multiplied_once);
  }
  g_test_add_func ("/repeated/several_repeated_inputs_keep_their_weights",
                   several_repeated_inputs_keep_their_weights);
  g_test_add_func ("/repeated/both_nodes_that_a_convolution_became_say_what_runs_them",
                   both_nodes_that_a_convolution_became_say_what_runs_them);
  g_test_add_func ("/repeated/other_convolutions_are_left_alone",
                   other_convolutions_are_left_alone);
  return g_test_run ();
}
