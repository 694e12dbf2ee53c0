/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matrix products of device CPU, with what is fused into them, against the reference. */
#include "axontest.h"

#include <math.h>

#define TOLERANCE 2e-5

static const struct {
  AxonShape a, b;
} products[] = {
  { { 2, { 3, 7 } }, { 2, { 7, 5 } } },
  { { 1, { 7 } }, { 2, { 7, 5 } } },
  { { 2, { 3, 7 } }, { 1, { 7 } } },
  { { 1, { 7 } }, { 1, { 7 } } },
  { { 3, { 4, 3, 7 } }, { 1, { 7 } } },
  { { 1, { 7 } }, { 3, { 4, 7, 5 } } },
  { { 3, { 4, 3, 7 } }, { 2, { 7, 33 } } },
  { { 2, { 3, 7 } }, { 3, { 4, 7, 5 } } },
  { { 4, { 2, 4, 3, 7 } }, { 3, { 4, 7, 5 } } },
  { { 4, { 2, 4, 3, 7 } }, { 4, { 2, 1, 7, 1 } } },
  { { 2, { 1, 64 } }, { 2, { 64, 100 } } },
};

/* Nothing, or what follows a product: an activation. */
static const gchar *const activations[] = { NULL, "Relu", "Sigmoid", "Tanh", "LeakyRelu" };

static void
products_agree_with_what_follows_them (void)
{
  for (guint i = 0; i < 2 * 2 * G_N_ELEMENTS (products) * G_N_ELEMENTS (activations); i++) {
    guint k = i / 4 % G_N_ELEMENTS (products);
    const gchar *activation = activations[i / 4 / G_N_ELEMENTS (products)];
    const AxonShape *a = &products[k].a, *b = &products[k].b;
    AxonShape row = AXON_SHAPE (b->rank > 1 ? b->dims[b->rank - 1] : 1);
    TestModel t = test_model_new (14);
    AxonNode *n = test_model_node (&t, "MatMul", 2, test_model_input (&t, "x", AXON_DTYPE_F32, a),
                                   test_model_random (&t, b, 2));
    g_autoptr (AxonTensor) input = test_random (a, i);
    g_autoptr (AxonModel) model = NULL;
    if (i & 1)
      n = i & 2 ? test_model_node (&t, "Add", 2, n->outputs[0], test_model_random (&t, &row, 3))
                : test_model_node (&t, "Add", 2, test_model_random (&t, &row, 3), n->outputs[0]);
    if (activation != NULL)
      n = test_model_node (&t, activation, 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* One row, whole and partial vectors of columns, weights that are summed in parts, many rows. */
static const struct {
  const gchar *op;
  AxonShape a;
  gint64 columns;
} weighted[] = {
  { "MatMul", { 2, { 1, 40 } }, 100 },       { "MatMul", { 3, { 2, 13, 33 } }, 64 },
  { "MatMul", { 4, { 1, 3, 5, 600 } }, 81 }, { "MatMul", { 2, { 300, 24 } }, 17 },
  { "Gemm", { 2, { 1, 70 } }, 33 },          { "Gemm", { 2, { 37, 48 } }, 128 },
  { "Gemm", { 2, { 49, 1200 } }, 144 },
};

static void
products_with_constant_weights_agree (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (weighted) * G_N_ELEMENTS (activations); i++) {
    guint k = i / G_N_ELEMENTS (activations);
    const gchar *activation = activations[i % G_N_ELEMENTS (activations)];
    const AxonShape *a = &weighted[k].a;
    gint64 inner = a->dims[a->rank - 1], columns = weighted[k].columns;
    gboolean gemm = g_str_equal (weighted[k].op, "Gemm");
    AxonShape row = AXON_SHAPE (columns);
    AxonShape b = gemm ? AXON_SHAPE (columns, inner) : AXON_SHAPE (inner, columns);
    TestModel t = test_model_new (14);
    AxonValue *bias = test_model_random (&t, &row, 9);
    AxonNode *n = test_model_node (&t, weighted[k].op, gemm ? 3 : 2,
                                   test_model_input (&t, "x", AXON_DTYPE_F32, a),
                                   test_model_random (&t, &b, 8), gemm ? bias : NULL);
    g_autoptr (AxonTensor) input = test_random (a, 6);
    g_autoptr (AxonModel) model = NULL;
    if (gemm)
      axon_node_set_int (n, "transB", 1);
    else
      n = test_model_node (&t, "Add", 2, n->outputs[0], bias);
    if (activation != NULL)
      n = test_model_node (&t, activation, 1, n->outputs[0]);
    if (activation == NULL) { /* oneDNN's make 0 of what is no number */
      ((gfloat *)axon_tensor_get_data (input))[inner - 1] = NAN;
      ((gfloat *)axon_tensor_get_data (input))[axon_tensor_get_numel (input) - 1] = INFINITY;
    }
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 10 * TOLERANCE);
  }
}

/* One row, a tile and a half, sums that are long, matrices of either side for many of the other. */
static const struct {
  AxonShape a, b;
} computed[] = {
  { { 2, { 1, 40 } }, { 2, { 40, 100 } } },
  { { 4, { 1, 2, 41, 32 } }, { 4, { 1, 2, 32, 41 } } },
  { { 3, { 9, 20, 17 } }, { 3, { 9, 17, 33 } } },
  { { 3, { 1, 33, 700 } }, { 3, { 2, 700, 81 } } },
  { { 4, { 3, 1, 5, 24 } }, { 3, { 4, 24, 16 } } },
  { { 3, { 4, 7, 24 } }, { 2, { 24, 50 } } },
  { { 1, { 24 } }, { 3, { 2, 24, 50 } } },
  { { 3, { 2, 50, 24 } }, { 1, { 24 } } },
};

/* Of random numbers, all moved by what the input says. */
static AxonValue *
moved (TestModel *t, AxonValue *by, const AxonShape *shape, guint seed)
{
  return test_model_node (t, "Add", 2, test_model_random (t, shape, seed), by)->outputs[0];
}

static void
products_of_two_results_agree (void)
{
  for (guint i = 0; i < 2 * G_N_ELEMENTS (computed) * G_N_ELEMENTS (activations); i++) {
    const AxonShape *a = &computed[i / 2 % G_N_ELEMENTS (computed)].a;
    const AxonShape *b = &computed[i / 2 % G_N_ELEMENTS (computed)].b;
    const gchar *activation = activations[i / 2 / G_N_ELEMENTS (computed)];
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, a);
    AxonNode *mean = test_model_node (&t, "ReduceMean", 1, x);
    AxonNode *n = test_model_node (&t, "MatMul", 2, x, moved (&t, mean->outputs[0], b, 2));
    g_autoptr (AxonTensor) input = test_random (a, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (mean, "keepdims", 0);
    if (i & 1) /* what is added first is another product */
      n = test_model_node (
          &t, "Add", 2, n->outputs[0],
          test_model_node (&t, "MatMul", 2, x, test_model_random (&t, b, 5))->outputs[0]);
    if (activation != NULL)
      n = test_model_node (&t, activation, 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 20 * TOLERANCE);
  }
}

/* With and without its own bias, in front of another. */
static void
a_gemm_agrees_with_a_bias_behind_it (void)
{
  AxonShape a = AXON_SHAPE (3, 7), b = AXON_SHAPE (7, 5), transposed = AXON_SHAPE (5, 7),
            row = AXON_SHAPE (5);
  for (guint i = 0; i < 16; i++) {
    TestModel t = test_model_new (14);
    AxonNode *n =
        test_model_node (&t, "Gemm", i & 1 ? 3 : 2, test_model_input (&t, "x", AXON_DTYPE_F32, &a),
                         test_model_random (&t, i & 2 ? &transposed : &b, 2),
                         i & 1 ? test_model_random (&t, &row, 4) : NULL);
    g_autoptr (AxonTensor) input = test_random (&a, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_int (n, "transB", i & 2 ? 1 : 0);
    axon_node_set_float (n, "beta", 0.5);
    axon_node_set_float (n, "alpha", i & 8 ? 2 : 1);
    if (i & 4)
      n = test_model_node (&t, "Add", 2, n->outputs[0], test_model_random (&t, &row, 3));
    n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

static const struct {
  const gchar *equation;
  AxonShape a, b;
} sums[] = {
  { "bhid,bhjd->bhij", { 4, { 2, 3, 4, 5 } }, { 4, { 2, 3, 6, 5 } } },
  { "bqnc,bnchw->bqnhw", { 4, { 2, 3, 2, 4 } }, { 5, { 2, 2, 4, 3, 5 } } },
  { "ij , jk", { 2, { 3, 4 } }, { 2, { 4, 5 } } },
  { "ji,jk->ki", { 2, { 4, 3 } }, { 2, { 4, 5 } } },
  { "i,j->ji", { 1, { 4 } }, { 1, { 5 } } },
  { "i,i->", { 1, { 4 } }, { 1, { 4 } } },
  { "nchw,kc->nkhw", { 4, { 2, 3, 4, 5 } }, { 2, { 7, 3 } } },
  { "ij,ij->ij", { 2, { 3, 4 } }, { 2, { 3, 4 } } },
  { "ij,jk->i", { 2, { 3, 4 } }, { 2, { 4, 5 } } },
  { "ii,ij->ij", { 2, { 3, 3 } }, { 2, { 3, 5 } } },
  { "...ij,...jk->...ik", { 3, { 2, 3, 4 } }, { 3, { 2, 4, 5 } } },
  { "ij,jk->ik", { 2, { 3, 1 } }, { 2, { 4, 5 } } },
};

static void
sums_of_products_agree_by_every_equation (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sums); i++) {
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &sums[i].a);
    AxonNode *n = test_model_node (&t, "Einsum", 2, x, test_model_random (&t, &sums[i].b, i));
    g_autoptr (AxonTensor) input = test_random (&sums[i].a, i);
    g_autoptr (AxonModel) model = NULL;
    axon_node_set_string (n, "equation", sums[i].equation);
    model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, TOLERANCE);
  }
}

/* Points, and how they are moved: by a matrix that was made of them, or one that is known; of some
 * frames and heads, or with one matrix for all of them. */
static const struct {
  AxonShape points, weights;
  gboolean known, used; /* used: the product is, not only turned */
} point_sets[] = {
  { { 3, { 1, 3, 200 } }, { 2, { 200, 3 } }, FALSE, FALSE },
  { { 4, { 2, 4, 5, 60 } }, { 2, { 60, 7 } }, FALSE, FALSE },
  { { 3, { 4, 3, 50 } }, { 4, { 2, 1, 50, 3 } }, FALSE, FALSE },
  { { 2, { 6, 90 } }, { 2, { 90, 6 } }, FALSE, FALSE },
  { { 3, { 2, 3, 200 } }, { 2, { 200, 3 } }, FALSE, TRUE },
  { { 3, { 2, 3, 200 } }, { 2, { 3, 4 } }, TRUE, FALSE },
};

static AxonValue *
turn (TestModel *t, AxonValue *x, gint rank)
{
  gint64 perm[] = { 0, 1, 2, 3 };
  AxonNode *n = test_model_node (t, "Transpose", 1, x);
  perm[rank - 2] = rank - 1;
  perm[rank - 1] = rank - 2;
  axon_node_set_ints (n, "perm", perm, (guint)rank);
  return n->outputs[0];
}

static void
points_are_moved_by_a_small_matrix_as_they_lie (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (point_sets); i++) {
    const AxonShape *points = &point_sets[i].points, *weights = &point_sets[i].weights;
    TestModel t = test_model_new (14);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, points);
    AxonValue *by = test_model_random (&t, weights, i), *y;
    g_autoptr (AxonTensor) input = test_random (points, i);
    g_autoptr (AxonModel) model = NULL, runtime = NULL;
    if (!point_sets[i].known)
      by = test_model_node (&t, "MatMul", 2, x, by)->outputs[0];
    y = test_model_node (&t, "MatMul", 2, turn (&t, x, points->rank), by)->outputs[0];
    x = turn (&t, y, MAX (points->rank, weights->rank));
    if (point_sets[i].used)
      x = test_model_node (&t, "MatMul", 2, x, y)->outputs[0];
    model = test_model_finish (&t, x);
    test_compare_devices (model, input, TOLERANCE);
    runtime = test_runtime_model (model, "CPU");
    for (guint k = 0; !point_sets[i].known && !point_sets[i].used && k < runtime->nodes->len; k++) {
      const AxonNode *n = runtime->nodes->pdata[k];
      const AxonShape *shape = &n->outputs[0]->type.shape;
      if (g_str_equal (n->op->name, "Transpose")) /* of the matrix */
        g_assert_cmpint (shape->dims[shape->rank - 1], <, 10);
    }
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/products/products/products_agree_with_what_follows_them",
                   products_agree_with_what_follows_them);
  g_test_add_func ("/products/products/products_with_constant_weights_agree",
                   products_with_constant_weights_agree);
  g_test_add_func ("/products/products/products_of_two_results_agree",
                   products_of_two_results_agree);
  g_test_add_func ("/products/a_gemm_agrees_with_a_bias_behind_it",
                   a_gemm_agrees_with_a_bias_behind_it);
  g_test_add_func ("/products/sums_of_products_agree_by_every_equation",
                   sums_of_products_agree_by_every_equation);
  g_test_add_func ("/products/points_are_moved_by_a_small_matrix_as_they_lie",
                   points_are_moved_by_a_small_matrix_as_they_lie);
  return g_test_run ();
}
