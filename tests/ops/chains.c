/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of elementwise operators, which CPU computes in one node: as the reference does, whatever is
 * broadcast and however the input lies. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-4
#define N_CHAINS 150
#define DISABLE "AXON_CPU_DISABLE_PASSES"

typedef struct {
  TestModel t;
  GRand *rand;
  GPtrArray *made; /* AxonValue, of one shape */
  AxonShape shape;
} Maker;

static gint
below (Maker *m, gint n)
{
  return g_rand_int_range (m->rand, 0, n);
}

static AxonValue *
any (Maker *m)
{
  return m->made->pdata[below (m, (gint)m->made->len)];
}

/* A constant that is broadcast to the shape: some dimensions are 1, or left out in front. */
static AxonValue *
constant (Maker *m)
{
  gint lead = below (m, 2) ? below (m, m->shape.rank + 1) : 0;
  AxonShape s = { .rank = m->shape.rank - lead };
  for (gint d = 0; d < s.rank; d++)
    s.dims[d] = below (m, 2) ? 1 : m->shape.dims[d + lead];
  return test_model_random (&m->t, &s, g_rand_int (m->rand));
}

/* The same, known only when it runs. */
static AxonValue *
reduction (Maker *m)
{
  gint64 axes[] = { below (m, m->shape.rank), below (m, m->shape.rank) };
  AxonValue *which = test_model_ints (&m->t, axes, axes[0] == axes[1] ? 1 : 2);
  AxonNode *n = test_model_node (&m->t, "ReduceMax", 2, any (m), which);
  if (!axon_model_infer_node (m->t.model, n, NULL))
    g_assert_not_reached ();
  return n->outputs[0];
}

static AxonValue *
operand (Maker *m)
{
  gint kind = below (m, 4);
  return kind == 0 ? constant (m) : kind == 1 ? reduction (m) : any (m);
}

static AxonNode *
unary (Maker *m)
{
  static const gchar *const ops[] = { "Abs",       "Ceil",     "Elu",  "Exp",      "HardSigmoid",
                                      "HardSwish", "Neg",      "Relu", "Sigmoid",  "Sign",
                                      "Softplus",  "Softsign", "Tanh", "Softsign", "LeakyRelu",
                                      "Mish",      "Erf" };
  static const gfloat exponents[] = { 2, 3, -1, 0.5f };
  AxonShape scalar = { 0 };
  gint which = below (m, G_N_ELEMENTS (ops) + 2);
  if (which < (gint)G_N_ELEMENTS (ops))
    return test_model_node (&m->t, ops[which], 1, any (m));
  if (which == G_N_ELEMENTS (ops))
    return test_model_node (&m->t, "Pow", 2, any (m),
                            test_model_constant (&m->t, &scalar, &exponents[below (m, 2)]));
  return test_model_node (&m->t, "Clip", 3, any (m),
                          test_model_constant (&m->t, &scalar, &(gfloat){ -0.5f }),
                          test_model_constant (&m->t, &scalar, &(gfloat){ 0.75f }));
}

static AxonNode *
pair (Maker *m)
{
  static const gchar *const ops[] = { "Add", "Sub", "Mul", "Max", "Min", "Sum" };
  AxonValue *a = any (m), *b = operand (m), *swap = a;
  if (below (m, 5) == 0)
    return test_model_node (&m->t, "PRelu", 2, a, b);
  if (below (m, 3) == 0) {
    a = b;
    b = swap;
  }
  return test_model_node (&m->t, ops[below (m, G_N_ELEMENTS (ops))], 2, a, b);
}

/* Numbers that grow are brought back. */
static void
add_node (Maker *m)
{
  AxonNode *n = below (m, 2) ? pair (m) : unary (m);
  if (!axon_model_infer_node (m->t.model, n, NULL))
    g_assert_not_reached ();
  if (below (m, 4) == 0) {
    n = test_model_node (&m->t, "Tanh", 1, n->outputs[0]);
    if (!axon_model_infer_node (m->t.model, n, NULL))
      g_assert_not_reached ();
  }
  g_ptr_array_add (m->made, n->outputs[0]);
}

static AxonShape
some_shape (Maker *m)
{
  static const gint64 sizes[] = { 1, 2, 3, 5, 7, 8, 16, 20, 31, 33, 65 };
  AxonShape s = { .rank = 1 + below (m, 5) };
  gint64 n = 1;
  for (gint d = 0; d < s.rank; d++) {
    s.dims[d] = sizes[below (m, G_N_ELEMENTS (sizes))];
    if (n * s.dims[d] > 40000)
      s.dims[d] = 1;
    n *= s.dims[d];
  }
  if (below (m, 4) == 0 && n < 200) /* long rows */
    s.dims[s.rank - 1] = 200 + below (m, 2000);
  return s;
}

/* Behind a convolution, so that channels lie last, or in blocks. */
static AxonValue *
convolve (Maker *m, AxonValue *x)
{
  AxonShape w = AXON_SHAPE (m->shape.dims[1], m->shape.dims[1], 1, 1);
  AxonNode *n = test_model_node (&m->t, "Conv", 2, x, test_model_random (&m->t, &w, 3));
  axon_node_set_ints (n, "kernel_shape", (gint64[]){ 1, 1 }, 2);
  n = test_model_node (&m->t, "MaxPool", 1, n->outputs[0]);
  axon_node_set_ints (n, "kernel_shape", (gint64[]){ 1, 1 }, 2);
  return n->outputs[0];
}

static AxonModel *
random_chain (guint32 seed, AxonTensor **x)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  Maker m = { test_model_new (18), rand, g_ptr_array_new (), { 0 } };
  gint n;
  AxonValue *in;
  AxonModel *model;
  m.shape = some_shape (&m);
  in = test_model_input (&m.t, "x", AXON_DTYPE_F32, &m.shape);
  if (m.shape.rank == 4 && below (&m, 4) != 0) {
    in = convolve (&m, in);
    g_assert_true (axon_model_infer_shapes (m.t.model, NULL));
  }
  g_ptr_array_add (m.made, in);
  n = 2 + below (&m, 24);
  for (gint i = 0; i < n; i++)
    add_node (&m);
  model = test_model_finish (&m.t, m.made->pdata[m.made->len - 1]);
  *x = test_random (&m.shape, seed);
  g_ptr_array_unref (m.made);
  return model;
}

static void
for_each_seed (guint n, void (*check) (guint seed, AxonModel *model, AxonTensor *x))
{
  const gchar *only = g_getenv ("AXON_TEST_SEED");
  guint first = only ? (guint)g_ascii_strtoull (only, NULL, 10) : 1;
  for (guint seed = first; seed < first + (only ? 1 : n); seed++) {
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonModel) model = random_chain (seed, &x);
    check (seed, model, x);
  }
}

static void
check_agrees (guint seed, AxonModel *model, AxonTensor *x)
{
  g_autofree gchar *difference = test_disagreement (model, x, TOLERANCE);
  if (difference != NULL)
    g_error ("AXON_TEST_SEED=%u: %s", seed, difference);
}

static void
random_chains_agree (void)
{
  for_each_seed (N_CHAINS, check_agrees);
}

/* The operations are the same, and so is every result. */
static void
check_same (guint seed, AxonModel *model, AxonTensor *x)
{
  g_autoptr (AxonTensor) fused = test_run (model, "CPU", NULL, x), apart = NULL;
  g_setenv (DISABLE, "fuse-elementwise", TRUE);
  apart = test_run (model, "CPU", NULL, x);
  g_unsetenv (DISABLE);
  if (test_largest_difference (fused, apart) > 0)
    g_error ("AXON_TEST_SEED=%u: the chain gives something else than its parts", seed);
}

static void
a_chain_gives_what_its_parts_give (void)
{
  for_each_seed (2 * N_CHAINS, check_same);
}

static guint
count_fused (AxonModel *model)
{
  return test_count_nodes (model, AXON_DOMAIN_AXON, "Elementwise");
}

/* x * sigmoid (x) + x * c */
static AxonModel *
plain_chain (const AxonShape *shape)
{
  TestModel t = test_model_new (13);
  AxonShape scalar = { 0 };
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, shape);
  AxonNode *n = test_model_node (&t, "Sigmoid", 1, x), *c;
  n = test_model_node (&t, "Mul", 2, n->outputs[0], x);
  c = test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &(gfloat){ 3 }));
  n = test_model_node (&t, "Add", 2, n->outputs[0], c->outputs[0]);
  return test_model_finish (&t, n->outputs[0]);
}

static void
a_chain_is_one_node (void)
{
  AxonShape s = AXON_SHAPE (3, 50);
  g_autoptr (AxonModel) model = plain_chain (&s);
  g_assert_cmpuint (count_fused (model), ==, 1);
}

static void
a_pass_can_be_disabled (void)
{
  AxonShape s = AXON_SHAPE (3, 50);
  g_autoptr (AxonModel) model = plain_chain (&s);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_setenv (DISABLE, "fuse-elementwise,fuse-activation", TRUE);
  g_assert_cmpuint (count_fused (model), ==, 0);
  g_setenv (DISABLE, "fuse-elementwize", TRUE);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_unsetenv (DISABLE);
}

static void
what_is_no_number_or_infinite_agrees (void)
{
  static const gfloat values[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 1e30f, -1e30f, 1 };
  AxonShape s = AXON_SHAPE (G_N_ELEMENTS (values));
  g_autoptr (AxonTensor) x = test_tensor (&s, values);
  g_autoptr (AxonModel) model = plain_chain (&s);
  test_compare_devices (model, x, TOLERANCE);
}

/* Of as many and of one; oneDNN gives the number that there is. */
static void
of_a_number_and_none_neither_is_the_larger (void)
{
  static const gfloat a[] = { NAN, 1, NAN, -3, 2, NAN, 5 }, b[] = { 2, NAN, NAN, 4, -2, 0, 5 };
  AxonShape s = AXON_SHAPE (G_N_ELEMENTS (a)), one = AXON_SHAPE (1);
  g_autoptr (AxonTensor) input = test_tensor (&s, a);
  for (guint i = 0; i < 2 * 2 * 2; i++) {
    TestModel t = test_model_new (13);
    AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F32, &s),
                        test_model_constant (&t, i & 1 ? &one : &s, b) };
    AxonNode *n =
        test_model_node (&t, i & 2 ? "Max" : "Min", 2, in[(i >> 2) & 1], in[1 - ((i >> 2) & 1)]);
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    test_compare_devices (model, input, 0);
  }
}

/* A value that something else needs, or that the caller gets, is made. */
static void
a_value_with_other_users_stays (void)
{
  AxonShape s = AXON_SHAPE (4, 9), scalar = { 0 };
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
  AxonNode *a =
      test_model_node (&t, "Mul", 2, x, test_model_constant (&t, &scalar, &(gfloat){ 3 }));
  AxonNode *b = test_model_node (&t, "Softmax", 1, a->outputs[0]);
  AxonNode *c = test_model_node (&t, "Tanh", 1, a->outputs[0]);
  AxonNode *d = test_model_node (&t, "Add", 2, b->outputs[0], c->outputs[0]);
  g_autoptr (AxonModel) model = test_model_finish (&t, d->outputs[0]);
  g_autoptr (AxonTensor) input = test_random (&s, 1);
  g_assert_cmpuint (count_fused (model), ==, 1);
  test_compare_devices (model, input, TOLERANCE);
}

/* Behind a pool, so that no convolution takes it. */
static void
a_batch_normalisation_joins_a_chain (void)
{
  for (gint64 c = 1; c <= 33; c += 8) {
    TestModel t = test_model_new (15);
    AxonShape s = AXON_SHAPE (2, c, 5, 7), channels = AXON_SHAPE (c);
    AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s);
    AxonNode *n = test_model_node (&t, "MaxPool", 1, x);
    AxonNode *variance = test_model_node (&t, "Exp", 1, test_model_random (&t, &channels, 4));
    g_autoptr (AxonModel) model = NULL;
    g_autoptr (AxonTensor) input = test_random (&s, 5);
    axon_node_set_ints (n, "kernel_shape", (gint64[]){ 2, 2 }, 2);
    n = test_model_node (&t, "BatchNormalization", 5, n->outputs[0],
                         test_model_random (&t, &channels, 1), test_model_random (&t, &channels, 2),
                         test_model_random (&t, &channels, 3), variance->outputs[0]);
    n = test_model_node (&t, "Relu", 1, n->outputs[0]);
    model = test_model_finish (&t, n->outputs[0]);
    g_assert_cmpuint (count_fused (model), ==, 1);
    test_compare_devices (model, input, TOLERANCE);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/chains/" #name, name)
  ADD (random_chains_agree);
  ADD (a_chain_gives_what_its_parts_give);
  ADD (a_chain_is_one_node);
  ADD (a_pass_can_be_disabled);
  ADD (what_is_no_number_or_infinite_agrees);
  ADD (of_a_number_and_none_neither_is_the_larger);
  ADD (a_batch_normalisation_joins_a_chain);
  ADD (a_value_with_other_users_stays);
  return g_test_run ();
}
