/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random graphs over random operators, shapes and types. The rows judge what fits: a node that they
 * refuse is not added. */
#include "drawn.h"

#include <glib/gstdio.h>
#include <string.h>

#define N_GRAPHS 200
#define MOST_NODES 12

static AxonValue *
pick (Drawn *d)
{
  return d->made->pdata[drawn_below (d, (gint)d->made->len)];
}

/* One of @a's type and, if there is one, of its shape; else @a. */
static AxonValue *
fellow (Drawn *d, AxonValue *a)
{
  AxonValue *found = a;
  for (guint i = 0; i < d->made->len; i++) {
    AxonValue *b = d->made->pdata[i];
    if (b->type.dtype == a->type.dtype && (drawn_below (d, 3) == 0 || b->type.shape.rank == 1))
      found = b;
  }
  return found;
}

static gint64
some_axis (Drawn *d, const AxonValue *a)
{
  gint rank = a->type.shape.rank;
  return rank == 0 ? 0 : drawn_below (d, 2 * rank) - rank;
}

static AxonNode *
make_unary (Drawn *d, AxonValue *a)
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
  return test_model_node (&d->t, ops[drawn_below (d, G_N_ELEMENTS (ops))], 1, a);
}

/* Of a small angle: rounding, which the order of a sum decides, is a small part of a large one, but
 * all that its sine depends on. */
static AxonNode *
make_wave (Drawn *d, AxonValue *a)
{
  AxonNode *small = test_model_node (&d->t, "Softsign", 1, a);
  if (!axon_node_check (small, NULL) || !axon_model_infer_node (d->t.model, small, NULL))
    return small;
  g_ptr_array_add (d->made, small->outputs[0]);
  return test_model_node (&d->t, drawn_below (d, 2) ? "Cos" : "Sin", 1, small->outputs[0]);
}

static AxonNode *
make_pair (Drawn *d, AxonValue *a)
{
  static const gchar *const ops[] = { "Add",   "Sub", "Mul", "Max", "Min",        "MatMul",
                                      "PRelu", "And", "Or",  "Xor", "BitwiseAnd", "BitwiseXor" };
  return test_model_node (&d->t, ops[drawn_below (d, G_N_ELEMENTS (ops))], 2, a, fellow (d, a));
}

static AxonNode *
make_choice (Drawn *d, AxonValue *a)
{
  static const gchar *const ops[] = { "Less", "Greater", "GreaterOrEqual", "LessOrEqual", "Equal" };
  AxonValue *b = fellow (d, a);
  AxonNode *c = test_model_node (&d->t, ops[drawn_below (d, G_N_ELEMENTS (ops))], 2, a, b);
  if (!axon_node_check (c, NULL) || !axon_model_infer_node (d->t.model, c, NULL) ||
      drawn_below (d, 2) == 0)
    return c;
  g_ptr_array_add (d->made, c->outputs[0]);
  return test_model_node (&d->t, "Where", 3, c->outputs[0], b, a);
}

/* Not f16: CPU computes that in f32, and a comparison after it tells them apart. */
static AxonNode *
make_cast (Drawn *d, AxonValue *a)
{
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_F32, AXON_DTYPE_F64,
                                     AXON_DTYPE_I16, AXON_DTYPE_I32, AXON_DTYPE_I64,
                                     AXON_DTYPE_U8,  AXON_DTYPE_I8,  AXON_DTYPE_BOOL };
  AxonNode *n = test_model_node (&d->t, "Cast", 1, a);
  axon_node_set_int (n, "to", types[drawn_below (d, G_N_ELEMENTS (types))]);
  return n;
}

static AxonNode *
make_reduction (Drawn *d, AxonValue *a)
{
  static const gchar *const ops[] = { "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin",
                                      "ReduceL1",   "ReduceL2",  "ReduceProd" };
  gint64 axes[] = { some_axis (d, a), some_axis (d, a) };
  AxonNode *n = test_model_node (&d->t, ops[drawn_below (d, G_N_ELEMENTS (ops))], 2, a,
                                 test_model_ints (&d->t, axes, (guint)drawn_below (d, 3)));
  axon_node_set_int (n, "keepdims", drawn_below (d, 2));
  return n;
}

static AxonNode *
make_index (Drawn *d, AxonValue *a)
{
  AxonNode *n = test_model_node (&d->t, drawn_below (d, 2) ? "ArgMax" : "ArgMin", 1, a);
  axon_node_set_int (n, "axis", some_axis (d, a));
  axon_node_set_int (n, "keepdims", drawn_below (d, 2));
  return n;
}

static AxonNode *
make_transpose (Drawn *d, AxonValue *a)
{
  gint64 perm[AXON_MAX_RANK];
  gint rank = a->type.shape.rank;
  AxonNode *n = test_model_node (&d->t, "Transpose", 1, a);
  for (gint i = 0; i < rank; i++)
    perm[i] = i;
  for (gint i = rank - 1; i > 0; i--) {
    gint j = drawn_below (d, i + 1);
    gint64 swapped = perm[i];
    perm[i] = perm[j];
    perm[j] = swapped;
  }
  axon_node_set_ints (n, "perm", perm, (guint)rank);
  return n;
}

static AxonNode *
make_slice (Drawn *d, AxonValue *a)
{
  gint64 start = drawn_below (d, 9) - 4, end = drawn_below (d, 13) - 6, axis = some_axis (d, a);
  gint64 step = drawn_below (d, 2) ? 1 : drawn_below (d, 2) ? -1 : drawn_below (d, 7) - 3;
  return test_model_node (&d->t, "Slice", 5, a, test_model_ints (&d->t, &start, 1),
                          test_model_ints (&d->t, &end, 1), test_model_ints (&d->t, &axis, 1),
                          test_model_ints (&d->t, &step, 1));
}

static AxonNode *
make_pad (Drawn *d, AxonValue *a)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect", "wrap" };
  gint64 pads[2 * AXON_MAX_RANK];
  AxonNode *n;
  for (gint i = 0; i < 2 * a->type.shape.rank; i++)
    pads[i] = drawn_below (d, 3);
  n = test_model_node (&d->t, "Pad", 2, a,
                       test_model_ints (&d->t, pads, 2 * (guint)a->type.shape.rank));
  axon_node_set_string (n, "mode", modes[drawn_below (d, G_N_ELEMENTS (modes))]);
  return n;
}

static AxonNode *
make_concat (Drawn *d, AxonValue *a)
{
  AxonNode *n = test_model_node (&d->t, "Concat", 3, a, fellow (d, a), a);
  axon_node_set_int (n, "axis", some_axis (d, a));
  return n;
}

static AxonNode *
make_gather (Drawn *d, AxonValue *a)
{
  gint64 axis = some_axis (d, a), indices[3];
  gint rank = a->type.shape.rank;
  gint dim = rank ? (gint)a->type.shape.dims[(axis + rank) % rank] : 0;
  AxonNode *n;
  for (guint i = 0; i < G_N_ELEMENTS (indices); i++)
    indices[i] = dim ? drawn_below (d, 2 * dim) - dim : 0;
  n = test_model_node (&d->t, "Gather", 2, a,
                       test_model_ints (&d->t, indices, dim ? G_N_ELEMENTS (indices) : 0));
  axon_node_set_int (n, "axis", axis);
  return n;
}

static AxonNode *
make_reshape (Drawn *d, AxonValue *a)
{
  gint64 to[] = { 0, -1 }, one = drawn_below (d, 2) ? 0 : -1;
  if (drawn_below (d, 2))
    return test_model_node (&d->t, "Unsqueeze", 2, a, test_model_ints (&d->t, &one, 1));
  to[0] = a->type.shape.rank > 1 ? 0 : 1;
  return test_model_node (
      &d->t, "Reshape", 2, a,
      test_model_ints (&d->t, to + drawn_below (d, 2), 1 + (guint)drawn_below (d, 2) / 2));
}

/* Convolution and pooling; the rows refuse what is no image. */
static AxonNode *
make_window (Drawn *d, AxonValue *a)
{
  static const gchar *const pools[] = { "MaxPool", "AveragePool" };
  gint64 kernel[] = { 1 + drawn_below (d, 3), 1 + drawn_below (d, 3) },
         strides[] = { 1, 1 + drawn_below (d, 2) };
  AxonShape w =
      AXON_SHAPE (4, a->type.shape.rank == 4 ? a->type.shape.dims[1] : 1, kernel[0], kernel[1]);
  AxonNode *n = drawn_below (d, 2) && axon_shape_get_numel (&w) > 0
                    ? test_model_node (&d->t, "Conv", 2, a, test_model_random (&d->t, &w, 9))
                    : test_model_node (&d->t, pools[drawn_below (d, 2)], 1, a);
  axon_node_set_ints (n, "kernel_shape", kernel, 2);
  axon_node_set_ints (n, "strides", strides, 2);
  if (drawn_below (d, 2))
    axon_node_set_string (n, "auto_pad", "SAME_UPPER");
  return n;
}

static AxonNode *(*const makers[]) (Drawn *d, AxonValue *a) = {
  make_unary,  make_unary,   make_unary,     make_wave,  make_pair,   make_pair,
  make_choice, make_cast,    make_reduction, make_index, make_slice,  make_concat,
  make_gather, make_reshape, make_transpose, make_pad,   make_window,
};

static void
add_node (Drawn *d)
{
  for (guint tries = 0; tries < 50; tries++) {
    AxonValue *y = drawn_keep (d, makers[drawn_below (d, G_N_ELEMENTS (makers))](d, pick (d)));
    if (y != NULL) {
      g_ptr_array_add (d->made, y);
      return;
    }
  }
}

static void
draw_shape (Drawn *d, AxonShape *x)
{
  x->rank = drawn_below (d, 5);
  for (gint i = 0; i < x->rank; i++)
    x->dims[i] = drawn_below (d, 40) == 0 ? 0 : 1 + drawn_below (d, i == x->rank - 1 ? 20 : 6);
}

static const DrawnKind graphs = { 4096, draw_shape, add_node, NULL };

static void
random_graphs_agree (void)
{
  drawn_models_agree (&graphs, N_GRAPHS, MOST_NODES);
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
    g_autoptr (AxonModel) model = drawn_model (&graphs, seed, MOST_NODES, &x);
    g_autofree gchar *why = has_sigmoid (model, x);
    g_autoptr (AxonModel) small = NULL;
    g_autoptr (AxonModel) again = NULL;
    g_autoptr (GError) error = NULL;
    g_autofree gchar *path = NULL;
    g_autofree gchar *still = NULL;
    AxonNode *last;
    if (why == NULL)
      continue;
    small = drawn_shrink (&graphs, seed, MOST_NODES, has_sigmoid);
    last = small->outputs->pdata[0] ? ((AxonValue *)small->outputs->pdata[0])->producer : NULL;
    g_assert_true (last != NULL && axon_node_is (last, "Sigmoid"));
    path = drawn_write (small, seed);
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
