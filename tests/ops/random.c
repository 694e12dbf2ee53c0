/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random graphs over random operators, shapes and types: CPU gives what the reference gives. The
 * rows judge what fits: a node that they refuse is not added. A graph that fails is shrunk to the
 * nodes that make it fail, and written as .onnx. */
#include "axontest.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define N_GRAPHS 200
#define MOST_NODES 12
#define MOST_ELEMENTS 4096
#define TOLERANCE 1e-4

typedef struct {
  TestModel t;
  GRand *rand;
  GPtrArray *made; /* AxonValue */
} Maker;

static gint
below (Maker *m, gint n)
{
  return g_rand_int_range (m->rand, 0, n);
}

static AxonValue *
pick (Maker *m)
{
  return m->made->pdata[below (m, (gint)m->made->len)];
}

/* One of @a's type and, if there is one, of its shape; else @a. */
static AxonValue *
fellow (Maker *m, AxonValue *a)
{
  AxonValue *found = a;
  for (guint i = 0; i < m->made->len; i++) {
    AxonValue *b = m->made->pdata[i];
    if (b->type.dtype == a->type.dtype && (below (m, 3) == 0 || b->type.shape.rank == 1))
      found = b;
  }
  return found;
}

static gint64
some_axis (Maker *m, const AxonValue *a)
{
  gint rank = a->type.shape.rank;
  return rank == 0 ? 0 : below (m, 2 * rank) - rank;
}

static AxonNode *
make_unary (Maker *m, AxonValue *a)
{
  static const gchar *const ops[] = {
    "Abs",
    "BitwiseNot",
    "Ceil",
    "Clip",
    "Elu",
    "Erf",
    "Exp",
    "Flatten",
    "Floor",
    "Gelu",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "IsNaN",
    "LeakyRelu",
    "LogSoftmax",
    "Mish",
    "Neg",
    "Not",
    "Relu",
    "Round",
    "Selu",
    "Shape",
    "Sigmoid",
    "Sign",
    "Size",
    "Softmax",
    "Softplus",
    "Softsign",
    "Squeeze",
    "Tanh",
    "Transpose",
  };
  return test_model_node (&m->t, ops[below (m, G_N_ELEMENTS (ops))], 1, a);
}

/* Of a small angle: rounding, which the order of a sum decides, is a small part of a large one, but
 * all that its sine depends on. */
static AxonNode *
make_wave (Maker *m, AxonValue *a)
{
  AxonNode *small = test_model_node (&m->t, "Softsign", 1, a);
  if (!axon_node_check (small, NULL) || !axon_model_infer_node (m->t.model, small, NULL))
    return small;
  g_ptr_array_add (m->made, small->outputs[0]);
  return test_model_node (&m->t, below (m, 2) ? "Cos" : "Sin", 1, small->outputs[0]);
}

static AxonNode *
make_pair (Maker *m, AxonValue *a)
{
  static const gchar *const ops[] = { "Add",   "Sub", "Mul", "Max", "Min",        "MatMul",
                                      "PRelu", "And", "Or",  "Xor", "BitwiseAnd", "BitwiseXor" };
  return test_model_node (&m->t, ops[below (m, G_N_ELEMENTS (ops))], 2, a, fellow (m, a));
}

static AxonNode *
make_choice (Maker *m, AxonValue *a)
{
  static const gchar *const ops[] = { "Less", "Greater", "GreaterOrEqual", "LessOrEqual", "Equal" };
  AxonValue *b = fellow (m, a);
  AxonNode *c = test_model_node (&m->t, ops[below (m, G_N_ELEMENTS (ops))], 2, a, b);
  if (!axon_node_check (c, NULL) || !axon_model_infer_node (m->t.model, c, NULL) ||
      below (m, 2) == 0)
    return c;
  g_ptr_array_add (m->made, c->outputs[0]);
  return test_model_node (&m->t, "Where", 3, c->outputs[0], b, a);
}

/* Not f16: CPU computes that in f32, and a comparison after it tells them apart. */
static AxonNode *
make_cast (Maker *m, AxonValue *a)
{
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_F32, AXON_DTYPE_F64,
                                     AXON_DTYPE_I16, AXON_DTYPE_I32, AXON_DTYPE_I64,
                                     AXON_DTYPE_U8,  AXON_DTYPE_I8,  AXON_DTYPE_BOOL };
  AxonNode *n = test_model_node (&m->t, "Cast", 1, a);
  axon_node_set_int (n, "to", types[below (m, G_N_ELEMENTS (types))]);
  return n;
}

static AxonNode *
make_reduction (Maker *m, AxonValue *a)
{
  static const gchar *const ops[] = { "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                      "ReduceL1",   "ReduceL2",  "ReduceProd" };
  gint64 axes[] = { some_axis (m, a), some_axis (m, a) };
  AxonNode *n = test_model_node (&m->t, ops[below (m, G_N_ELEMENTS (ops))], 2, a,
                                 test_model_ints (&m->t, axes, (guint)below (m, 3)));
  axon_node_set_int (n, "keepdims", below (m, 2));
  return n;
}

static AxonNode *
make_index (Maker *m, AxonValue *a)
{
  AxonNode *n = test_model_node (&m->t, below (m, 2) ? "ArgMax" : "ArgMin", 1, a);
  axon_node_set_int (n, "axis", some_axis (m, a));
  axon_node_set_int (n, "keepdims", below (m, 2));
  return n;
}

static AxonNode *
make_transpose (Maker *m, AxonValue *a)
{
  gint64 perm[AXON_MAX_RANK];
  gint rank = a->type.shape.rank;
  AxonNode *n = test_model_node (&m->t, "Transpose", 1, a);
  for (gint i = 0; i < rank; i++)
    perm[i] = i;
  for (gint i = rank - 1; i > 0; i--) {
    gint j = below (m, i + 1);
    gint64 swapped = perm[i];
    perm[i] = perm[j];
    perm[j] = swapped;
  }
  axon_node_set_ints (n, "perm", perm, (guint)rank);
  return n;
}

static AxonNode *
make_slice (Maker *m, AxonValue *a)
{
  gint64 start = below (m, 9) - 4, end = below (m, 13) - 6, axis = some_axis (m, a);
  gint64 step = below (m, 2) ? 1 : below (m, 2) ? -1 : below (m, 7) - 3;
  return test_model_node (&m->t, "Slice", 5, a, test_model_ints (&m->t, &start, 1),
                          test_model_ints (&m->t, &end, 1), test_model_ints (&m->t, &axis, 1),
                          test_model_ints (&m->t, &step, 1));
}

static AxonNode *
make_pad (Maker *m, AxonValue *a)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect", "wrap" };
  gint64 pads[2 * AXON_MAX_RANK];
  AxonNode *n;
  for (gint i = 0; i < 2 * a->type.shape.rank; i++)
    pads[i] = below (m, 3);
  n = test_model_node (&m->t, "Pad", 2, a,
                       test_model_ints (&m->t, pads, 2 * (guint)a->type.shape.rank));
  axon_node_set_string (n, "mode", modes[below (m, G_N_ELEMENTS (modes))]);
  return n;
}

static AxonNode *
make_concat (Maker *m, AxonValue *a)
{
  AxonNode *n = test_model_node (&m->t, "Concat", 3, a, fellow (m, a), a);
  axon_node_set_int (n, "axis", some_axis (m, a));
  return n;
}

static AxonNode *
make_gather (Maker *m, AxonValue *a)
{
  gint64 axis = some_axis (m, a), indices[3];
  gint rank = a->type.shape.rank;
  gint dim = rank ? (gint)a->type.shape.dims[(axis + rank) % rank] : 0;
  AxonNode *n;
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    indices[i] = dim ? below (m, 2 * dim) - dim : 0;
  n = test_model_node (&m->t, "Gather", 2, a,
                       test_model_ints (&m->t, indices, dim ? G_N_ELEMENTS (indices) : 0));
  axon_node_set_int (n, "axis", axis);
  return n;
}

static AxonNode *
make_reshape (Maker *m, AxonValue *a)
{
  gint64 to[] = { 0, -1 }, one = below (m, 2) ? 0 : -1;
  if (below (m, 2))
    return test_model_node (&m->t, "Unsqueeze", 2, a, test_model_ints (&m->t, &one, 1));
  to[0] = a->type.shape.rank > 1 ? 0 : 1;
  return test_model_node (&m->t, "Reshape", 2, a,
                          test_model_ints (&m->t, to + below (m, 2), 1 + (guint)below (m, 2) / 2));
}

/* Convolution and pooling; the rows refuse what is no image. */
static AxonNode *
make_window (Maker *m, AxonValue *a)
{
  static const gchar *const pools[] = { "MaxPool", "AveragePool" };
  gint64 kernel[] = { 1 + below (m, 3), 1 + below (m, 3) }, strides[] = { 1, 1 + below (m, 2) };
  AxonShape w =
      AXON_SHAPE (4, a->type.shape.rank == 4 ? a->type.shape.dims[1] : 1, kernel[0], kernel[1]);
  AxonNode *n = below (m, 2) && axon_shape_get_numel (&w) > 0
                    ? test_model_node (&m->t, "Conv", 2, a, test_model_random (&m->t, &w, 9))
                    : test_model_node (&m->t, pools[below (m, 2)], 1, a);
  axon_node_set_ints (n, "kernel_shape", kernel, 2);
  axon_node_set_ints (n, "strides", strides, 2);
  if (below (m, 2))
    axon_node_set_string (n, "auto_pad", "SAME_UPPER");
  return n;
}

static AxonNode *(*const makers[]) (Maker *m, AxonValue *a) = {
  make_unary,  make_unary,   make_unary,     make_wave,  make_pair,   make_pair,
  make_choice, make_cast,    make_reduction, make_index, make_slice,  make_concat,
  make_gather, make_reshape, make_transpose, make_pad,   make_window,
};

/* What a value must be to be worked on: known, and not large. */
static gboolean
is_usable (const AxonValue *value)
{
  return axon_shape_is_static (&value->type.shape) &&
         axon_shape_get_numel (&value->type.shape) <= MOST_ELEMENTS && value->type.shape.rank <= 5;
}

static void
add_node (Maker *m)
{
  for (guint tries = 0; tries < 50; tries++) {
    AxonNode *n = makers[below (m, G_N_ELEMENTS (makers))](m, pick (m));
    if (axon_node_check (n, NULL) && axon_model_infer_node (m->t.model, n, NULL) &&
        is_usable (n->outputs[0])) {
      g_ptr_array_add (m->made, n->outputs[0]);
      return;
    }
    axon_model_remove_node (m->t.model, n);
  }
}

/* The graph of @seed, its first @n nodes. */
static AxonModel *
random_graph (guint32 seed, gint n, AxonTensor **x)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  Maker m = { test_model_new (20), rand, g_ptr_array_new () };
  AxonShape shape = { .rank = below (&m, 5) };
  AxonModel *model;
  for (gint i = 0; i < shape.rank; i++)
    shape.dims[i] = below (&m, 40) == 0 ? 0 : 1 + below (&m, i == shape.rank - 1 ? 20 : 6);
  g_ptr_array_add (m.made, test_model_input (&m.t, "x", AXON_DTYPE_F32, &shape));
  for (gint i = 0; i < n; i++)
    add_node (&m);
  model = test_model_finish (&m.t, m.made->pdata[m.made->len - 1]);
  *x = test_random (&shape, seed);
  g_ptr_array_unref (m.made);
  return model;
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

typedef gchar *(*Fails) (AxonModel *model, AxonTensor *x); /* why, or NULL */

/* @model without @node, if it still fails; else NULL. */
static AxonModel *
without_node (AxonModel *model, guint node, AxonTensor *x, Fails fails)
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

/* The shortest beginning of @seed's graph that fails, less the nodes that it fails without. */
static AxonModel *
shrink (guint32 seed, gint n, Fails fails)
{
  AxonModel *small = NULL;
  g_autoptr (AxonTensor) x = NULL;
  for (gint first = 1; first <= n && small == NULL; first++) {
    g_autoptr (AxonModel) model = NULL;
    g_autofree gchar *why = NULL;
    g_clear_pointer (&x, axon_tensor_unref);
    model = random_graph (seed, first, &x);
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

static gchar *
write_small (AxonModel *small, guint32 seed)
{
  g_autofree gchar *name = g_strdup_printf ("axon-random-%u.onnx", seed);
  g_autoptr (GError) error = NULL;
  gchar *path = g_build_filename (g_get_tmp_dir (), name, NULL);
  axon_core_write_model (axon_core_get_default (), small, path, &error);
  g_assert_no_error (error);
  return path;
}

static void
random_graphs_agree (void)
{
  const gchar *given = g_getenv ("AXON_TEST_SEED");
  guint32 seed = given ? (guint32)g_ascii_strtoull (given, NULL, 10)
                       : (guint32)g_test_rand_int_range (0, G_MAXINT32);
  guint compared = 0;
  g_test_message ("AXON_TEST_SEED=%u repeats this", seed);
  for (guint i = 0; i < N_GRAPHS; i++) {
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonModel) model = random_graph (seed + i, MOST_NODES, &x);
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
    small = shrink (seed + i, MOST_NODES, devices_disagree);
    path = write_small (small, seed + i);
    text = axon_model_to_text (small);
    g_test_message ("AXON_TEST_SEED=%u: %s\n%s\n%s", seed + i, why, path, text);
    g_test_fail ();
  }
  g_assert_cmpuint (compared, >, N_GRAPHS / 2);
}

static gchar *
has_sigmoid (AxonModel *model, G_GNUC_UNUSED AxonTensor *x)
{
  for (guint i = 0; i < model->nodes->len; i++)
    if (axon_node_is (model->nodes->pdata[i], "Sigmoid"))
      return g_strdup ("it has a Sigmoid");
  return NULL;
}

static void
a_failure_shrinks_to_what_makes_it_and_is_written (void)
{
  guint found = 0;
  for (guint32 seed = 1; seed < 300 && found < 5; seed++) {
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonModel) model = random_graph (seed, MOST_NODES, &x);
    g_autofree gchar *why = has_sigmoid (model, x);
    g_autoptr (AxonModel) small = NULL;
    g_autoptr (AxonModel) again = NULL;
    g_autoptr (GError) error = NULL;
    g_autofree gchar *path = NULL;
    g_autofree gchar *still = NULL;
    AxonNode *last;
    if (why == NULL)
      continue;
    small = shrink (seed, MOST_NODES, has_sigmoid);
    last = small->outputs->pdata[0] ? ((AxonValue *)small->outputs->pdata[0])->producer : NULL;
    g_assert_true (last != NULL && axon_node_is (last, "Sigmoid"));
    path = write_small (small, seed);
    again = axon_core_read_model (axon_core_get_default (), path, NULL, &error);
    g_assert_no_error (error);
    still = has_sigmoid (again, x);
    g_assert_nonnull (still);
    g_assert_cmpuint (again->nodes->len, ==, small->nodes->len);
    g_unlink (path);
    found++;
  }
  g_assert_cmpuint (found, ==, 5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/random/graphs_agree", random_graphs_agree);
  g_test_add_func ("/random/a_failure_shrinks_to_what_makes_it_and_is_written",
                   a_failure_shrinks_to_what_makes_it_and_is_written);
  return g_test_run ();
}
