/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of 8-bit numbers that end in floats: the chain that dynamic quantisation writes, and the
 * operators that ONNX Runtime makes of it. */
#include "quantised.h"

#include <math.h>
#include <string.h>

#define TO_F32 1 /* TensorProto.DataType */
#define FLOAT_TOLERANCE 2e-6

static const gchar *const activations[] = { NULL,    "Relu",      "Sigmoid",
                                            "Swish", "LeakyRelu", "HardSwish" };

static AxonValue *
activated (QuantisedModel *b, AxonValue *y, const gchar *activation)
{
  if (activation == NULL)
    return y;
  if (g_str_equal (activation, "Swish"))
    return test_model_node (&b->t, "Mul", 2, y,
                            test_model_node (&b->t, "Sigmoid", 1, y)->outputs[0])
        ->outputs[0];
  return test_model_node (&b->t, activation, 1, y)->outputs[0];
}

/* One value for each output channel, shaped so that it is broadcast over the result. */
static AxonValue *
along_channels (QuantisedModel *b, const Product *p, AxonTensor *values)
{
  gint64 n = (gint64)axon_tensor_get_numel (values);
  AxonShape shape = { .rank = g_str_equal (p->op, "Conv") && n > 1 ? p->x.rank - 1 : n > 1 };
  for (gint d = 0; d < shape.rank; d++)
    shape.dims[d] = d == 0 ? n : 1;
  return test_model_constant (&b->t, &shape, axon_tensor_get_data (values));
}

static AxonTensor *
float_bias (GRand *rand, const Product *p)
{
  AxonShape shape =
      AXON_SHAPE (g_str_equal (p->op, "Conv") ? p->w.dims[0] : p->w.dims[p->w.rank - 1]);
  return test_random (&shape, g_rand_int (rand));
}

/* What quantize_dynamic of ONNX Runtime writes in place of a product. */
static AxonModel *
dynamic_chain (QuantisedModel *b, const Product *p, const Quantised *q, AxonTensor *bias,
               const gchar *activation)
{
  AxonValue *x = test_model_input (&b->t, "floats", AXON_DTYPE_F32, &p->x), *scale, *y;
  AxonNode *quantize = test_model_node_of (&b->t, NULL, "DynamicQuantizeLinear", &x, 1, 3);
  AxonValue *in[] = { quantize->outputs[0], b->v[W], quantize->outputs[2], b->v[W_ZERO] };
  AxonNode *n = product_node (&b->t, p, NULL,
                              g_str_equal (p->op, "Conv") ? "ConvInteger" : "MatMulInteger", in, 4);
  n = test_model_node (&b->t, "Cast", 1, n->outputs[0]);
  axon_node_set_int (n, "to", TO_F32);
  scale =
      test_model_node (&b->t, "Mul", 2, quantize->outputs[1], along_channels (b, p, q->t[W_SCALE]))
          ->outputs[0];
  y = test_model_node (&b->t, "Mul", 2, n->outputs[0], scale)->outputs[0];
  if (bias != NULL)
    y = test_model_node (&b->t, "Add", 2, y, along_channels (b, p, bias))->outputs[0];
  return test_model_finish (&b->t, activated (b, y, activation));
}

/* The integers of @q as floats whose range gives them back, with all scales powers of two. */
static AxonTensor *
exact_floats (Quantised *q)
{
  AxonTensor *x = axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (q->t[X]), NULL);
  guint8 *integers = axon_tensor_get_data (q->t[X]);
  gsize n = axon_tensor_get_numel (x);
  integers[0] = 0;
  integers[n - 1] = 255;
  for (gsize i = 0; i < n; i++)
    ((gfloat *)axon_tensor_get_data (x))[i] =
        (gfloat)(integers[i] - axon_tensor_get_value (q->t[X_ZERO], 0)) / 64;
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[W_SCALE]); i++)
    ((gfloat *)axon_tensor_get_data (q->t[W_SCALE]))[i] = i % 2 ? 0.25f : 0.0625f;
  return x;
}

static void
constants_only (QuantisedModel *b, const Quantised *q)
{
  *b = (QuantisedModel){ .t = test_model_new (14) };
  b->v[W] = axon_model_add_constant (b->t.model, NULL, q->t[W]);
  b->v[W_ZERO] = axon_model_add_constant (b->t.model, NULL, q->t[W_ZERO]);
}

/* Scales are powers of two: each result tells its sum, bit for bit. */
void
sums_of_dynamic_chains_are_exact (gconstpointer data)
{
  const Product *p = data;
  g_autoptr (GRand) rand = quantised_rand (p, 1);
  for (guint i = 0; i < 2 * N_DATA; i++) {
    g_auto (Quantised) q;
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (AxonTensor) bias = g_rand_boolean (rand) ? float_bias (rand, p) : NULL;
    g_autoptr (AxonModel) model = NULL;
    g_autofree gchar *shapes = product_text (p);
    g_autofree gchar *what = NULL;
    QuantisedModel b;
    quantised_draw (&q, rand, p, AXON_DTYPE_U8, quantised_types[i & 1], (DataKind)(i / 2));
    x = exact_floats (&q);
    constants_only (&b, &q);
    model = dynamic_chain (&b, p, &q, bias, NULL);
    what = g_strdup_printf ("dynamic chain%s (%s): %s", bias ? " with bias" : "", shapes, q.text);
    quantised_compare (model, &x, 1, 0, what);
  }
}

void
dynamic_chains_with_activations_agree (gconstpointer data)
{
  const Product *p = data;
  g_autoptr (GRand) rand = quantised_rand (p, 2);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (activations); i++) {
    g_auto (Quantised) q;
    g_autoptr (AxonTensor) x = test_random (&p->x, g_rand_int (rand));
    g_autoptr (AxonTensor) bias = g_rand_int_range (rand, 0, 4) ? float_bias (rand, p) : NULL;
    g_autoptr (AxonModel) model = NULL;
    g_autofree gchar *difference = NULL;
    QuantisedModel b;
    quantised_draw (&q, rand, p, AXON_DTYPE_U8, quantised_types[i & 1], DATA_UNIFORM);
    constants_only (&b, &q);
    model = dynamic_chain (&b, p, &q, bias, activations[i / 2]);
    difference = test_disagreement (model, x, FLOAT_TOLERANCE);
    if (difference == NULL)
      continue;
    g_test_message ("dynamic chain, %s: %s: %s",
                    activations[i / 2] ? activations[i / 2] : "no activation", q.text, difference);
    g_test_fail ();
  }
}

/* QGemm without Y_scale; MatMulIntegerToFloat: A, B, A_scale, B_scale, A_zero, B_zero, bias. */
static void
check_float_result (const Product *p, const Quantised *q, AxonTensor *bias)
{
  gboolean gemm = g_str_equal (p->op, "Gemm");
  const gchar *op = gemm ? "QGemm" : "MatMulIntegerToFloat";
  QuantisedModel b;
  quantised_begin (&b, q, FALSE);
  AxonValue *of_gemm[] = { b.v[X],       b.v[X_SCALE], b.v[X_ZERO], b.v[W],
                           b.v[W_SCALE], b.v[W_ZERO],  b.v[BIAS] };
  AxonValue *of_matmul[] = { b.v[X],
                             b.v[W],
                             b.v[X_SCALE],
                             b.v[W_SCALE],
                             b.v[X_ZERO],
                             b.v[W_ZERO],
                             bias ? along_channels (&b, p, bias) : NULL };
  AxonNode *n = product_node (&b.t, p, AXON_DOMAIN_MICROSOFT, op, gemm ? of_gemm : of_matmul, 7);
  g_autoptr (AxonModel) model = test_model_finish (&b.t, n->outputs[0]);
  g_autofree gchar *difference = test_disagreement (model, q->t[X], FLOAT_TOLERANCE);
  if (difference != NULL) {
    g_test_message ("%s: %s: %s", op, q->text, difference);
    g_test_fail ();
  }
}

/* DynamicQuantizeMatMul: A as floats, B, B_scale, B_zero, bias. */
static void
check_dynamic_product (const Product *p, Quantised *q, AxonTensor *bias)
{
  g_autoptr (AxonTensor) x = exact_floats (q);
  g_autoptr (AxonModel) model = NULL;
  g_autofree gchar *what = g_strdup_printf ("DynamicQuantizeMatMul: %s", q->text);
  AxonNode *n;
  QuantisedModel b;
  constants_only (&b, q);
  AxonValue *in[] = { test_model_input (&b.t, "floats", AXON_DTYPE_F32, &p->x), b.v[W],
                      axon_model_add_constant (b.t.model, NULL, q->t[W_SCALE]), b.v[W_ZERO],
                      bias ? along_channels (&b, p, bias) : NULL };
  n = product_node (&b.t, p, AXON_DOMAIN_MICROSOFT, "DynamicQuantizeMatMul", in, 5);
  model = test_model_finish (&b.t, n->outputs[0]);
  quantised_compare (model, &x, 1, 0, what);
}

void
products_that_end_in_floats_agree (gconstpointer data)
{
  const Product *p = data;
  g_autoptr (GRand) rand = quantised_rand (p, 3);
  for (guint i = 0; i < 4 * N_DATA; i++) {
    g_auto (Quantised) q;
    g_autoptr (AxonTensor) bias =
        p->w.rank > 1 && g_rand_boolean (rand) ? float_bias (rand, p) : NULL;
    quantised_draw (&q, rand, p, quantised_types[i & 1], quantised_types[i >> 1 & 1],
                    (DataKind)(i / 4));
    check_float_result (p, &q, bias);
    if (g_str_equal (p->op, "MatMul") && quantised_types[i & 1] == AXON_DTYPE_U8)
      check_dynamic_product (p, &q, bias);
  }
}
