/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of 8-bit numbers: whatever the form in which a model has them (QLinear operators,
 * operators between DequantizeLinear and QuantizeLinear, ConvInteger and MatMulInteger, the chain
 * that dynamic quantisation writes), the sums are the exact ones, rounded once. Expected values are
 * computed here from exact sums; the reference kernels must agree with them, too. */
#include "quantised.h"

#include <math.h>
#include <string.h>

#define S1 .stride = { 1, 1 }
#define S2 .stride = { 2, 2 }
#define PAD(a, b) .pad = { a, b }

/* Channels 1, 3, 5, 8, 16, 17, 24, 33, 64 against the blocks of kernels; extents 1, 5, 7, 13. */
static const Product products[] = {
  { "Conv", { 4, { 1, 1, 5, 5 } }, { 4, { 1, 1, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 3, 13, 13 } }, { 4, { 16, 3, 3, 3 } }, 1, S2, 1, PAD (1, 1) },
  { "Conv", { 4, { 2, 3, 7, 7 } }, { 4, { 5, 3, 3, 3 } }, 1, S1, 1, PAD (0, 1) },
  { "Conv", { 4, { 1, 5, 7, 7 } }, { 4, { 8, 5, 1, 1 } }, 1, S1, 1 },
  { "Conv", { 4, { 1, 8, 13, 13 } }, { 4, { 17, 8, 3, 3 } }, 1, S1, 2, PAD (2, 2) },
  { "Conv", { 4, { 1, 16, 7, 7 } }, { 4, { 33, 16, 1, 1 } }, 1, S1, 1 },
  { "Conv", { 4, { 2, 17, 5, 5 } }, { 4, { 24, 17, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 24, 13, 13 } }, { 4, { 64, 24, 1, 1 } }, 1, S2, 1 },
  { "Conv", { 4, { 1, 33, 7, 7 } }, { 4, { 3, 33, 3, 3 } }, 1, S1, 1, PAD (2, 1) },
  { "Conv", { 4, { 1, 64, 5, 5 } }, { 4, { 64, 64, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 2, 64, 1, 1 } }, { 4, { 17, 64, 1, 1 } }, 1, S1, 1 },
  { "Conv", { 4, { 1, 200, 3, 3 } }, { 4, { 5, 200, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 16, 1, 1 } }, { 4, { 16, 16, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 3, 13, 5 } }, { 4, { 24, 3, 5, 5 } }, 1, S2, 1, .auto_pad = "SAME_UPPER" },
  { "Conv",
    { 4, { 1, 8, 7, 13 } },
    { 4, { 8, 8, 2, 2 } },
    1,
    { 2, 1 },
    1,
    .auto_pad = "SAME_LOWER" },
  { "Conv", { 4, { 1, 5, 13, 7 } }, { 4, { 1, 5, 3, 5 } }, 1, { 1, 2 }, 1, .auto_pad = "VALID" },
  { "Conv", { 3, { 2, 16, 13 } }, { 3, { 24, 16, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 3, { 1, 17, 13 } }, { 3, { 17, 1, 5 } }, 17, S2, 1, PAD (2, 2) },
  { "Conv", { 5, { 1, 3, 5, 7, 5 } }, { 5, { 8, 3, 3, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 16, 7, 7 } }, { 4, { 24, 8, 3, 3 } }, 2, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 2, 33, 5, 5 } }, { 4, { 33, 11, 1, 1 } }, 3, S1, 1 },
  { "Conv", { 4, { 1, 24, 7, 7 } }, { 4, { 64, 3, 3, 3 } }, 8, S2, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 3, 7, 7 } }, { 4, { 3, 1, 3, 3 } }, 3, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 2, 8, 13, 13 } }, { 4, { 8, 1, 3, 3 } }, 8, S2, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 17, 13, 7 } }, { 4, { 17, 1, 5, 5 } }, 17, S1, 1, PAD (2, 2) },
  { "Conv", { 4, { 1, 24, 7, 7 } }, { 4, { 48, 1, 3, 3 } }, 24, S1, 1, PAD (1, 0) },
  { "Conv", { 4, { 1, 33, 5, 5 } }, { 4, { 33, 1, 3, 3 } }, 33, S1, 2, PAD (2, 2) },
  { "Conv", { 4, { 1, 64, 13, 13 } }, { 4, { 64, 1, 3, 3 } }, 64, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 16, 13, 13 } }, { 4, { 16, 1, 3, 3 } }, 16, S2, 1, .auto_pad = "SAME_UPPER" },
  { "Conv", { 4, { 1, 5, 7, 7 } }, { 4, { 15, 1, 1, 1 } }, 5, S1, 1 },
  { "Conv", { 4, { 1, 64, 5, 5 } }, { 4, { 64, 1, 7, 7 } }, 64, S1, 1, PAD (3, 3) },
  /* wide rows, of which some tiles or blocks become results together, some are left */
  { "Conv", { 4, { 1, 8, 3, 61 } }, { 4, { 17, 8, 3, 3 } }, 1, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 24, 4, 75 } }, { 4, { 24, 1, 3, 3 } }, 24, S1, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 17, 5, 151 } }, { 4, { 17, 1, 3, 3 } }, 17, S2, 1, PAD (1, 1) },
  { "Conv", { 4, { 1, 3, 4, 141 } }, { 4, { 3, 1, 5, 5 } }, 3, S1, 1, PAD (2, 2) },
  /* volumes whose pictures are frames, or rows */
  { "Conv", { 5, { 2, 24, 3, 7, 6 } }, { 5, { 24, 1, 1, 3, 3 } }, 24, S1, 1 },
  { "Conv", { 5, { 2, 17, 6, 4, 3 } }, { 5, { 17, 1, 3, 1, 1 } }, 17, S1, 2 },
  /* more padding than source */
  { "Conv", { 4, { 1, 64, 7, 8 } }, { 4, { 64, 1, 3, 3 } }, 64, S2, 1, PAD (0, 17) },
  { "Conv", { 4, { 1, 64, 7, 16 } }, { 4, { 64, 1, 3, 3 } }, 64, S2, 1, PAD (0, 33) },
  { "ConvTranspose", { 4, { 1, 1, 5, 5 } }, { 4, { 1, 1, 2, 2 } }, 1, S2, 1 },
  { "ConvTranspose", { 4, { 1, 8, 7, 5 } }, { 4, { 8, 5, 4, 4 } }, 1, S2, 1, PAD (1, 1) },
  { "ConvTranspose",
    { 4, { 2, 16, 5, 5 } },
    { 4, { 16, 3, 3, 3 } },
    1,
    S2,
    1,
    PAD (1, 1),
    .more = 1 },
  { "ConvTranspose", { 4, { 1, 8, 7, 5 } }, { 4, { 8, 3, 2, 2 } }, 2, S2, 1 },
  { "ConvTranspose", { 4, { 1, 24, 5, 5 } }, { 4, { 24, 1, 4, 4 } }, 24, S2, 1, PAD (1, 1) },
  { "ConvTranspose", { 4, { 1, 17, 5, 7 } }, { 4, { 17, 33, 3, 3 } }, 1, S1, 2, PAD (0, 1) },
  { "ConvTranspose",
    { 4, { 1, 3, 7, 7 } },
    { 4, { 3, 8, 3, 3 } },
    1,
    S2,
    1,
    .auto_pad = "SAME_UPPER" },
  { "ConvTranspose", { 3, { 1, 3, 13 } }, { 3, { 3, 8, 3 } }, 1, S2, 1 },
  { "MatMul", { 2, { 1, 1 } }, { 2, { 1, 1 } } },
  { "MatMul", { 2, { 5, 3 } }, { 2, { 3, 8 } } },
  { "MatMul", { 2, { 1, 64 } }, { 2, { 64, 33 } } },
  { "MatMul", { 2, { 13, 33 } }, { 2, { 33, 17 } } },
  { "MatMul", { 2, { 64, 64 } }, { 2, { 64, 64 } } },
  { "MatMul", { 2, { 1, 512 } }, { 2, { 512, 10 } } },
  { "MatMul", { 3, { 2, 7, 24 } }, { 2, { 24, 16 } } },
  { "MatMul", { 3, { 2, 5, 16 } }, { 3, { 2, 16, 5 } } },
  { "MatMul", { 4, { 2, 1, 5, 8 } }, { 3, { 3, 8, 7 } } },
  { "MatMul", { 1, { 24 } }, { 2, { 24, 5 } } },
  { "MatMul", { 2, { 7, 16 } }, { 1, { 16 } } },
  { "Gemm", { 2, { 5, 3 } }, { 2, { 3, 8 } } },
  { "Gemm", { 2, { 1, 64 } }, { 2, { 10, 64 } }, .trans_b = 1 },
  { "Gemm", { 2, { 13, 33 } }, { 2, { 17, 33 } }, .trans_b = 1 },
  { "Gemm", { 2, { 33, 5 } }, { 2, { 33, 24 } }, .trans_a = 1 },
  { "Gemm", { 2, { 16, 7 } }, { 2, { 5, 16 } }, .trans_a = 1, .trans_b = 1 },
};

static void
check (QuantisedModel *b, const Product *p, const Quantised *q, AxonNode *last, const gchar *device,
       const AxonTensor *expected, const gchar *form)
{
  g_autoptr (AxonModel) model = test_model_finish (&b->t, last->outputs[0]);
  g_autofree gchar *shapes = product_text (p);
  g_autofree gchar *what = g_strdup_printf ("%s (%s%s): %s", form, shapes,
                                            b->n_inputs > 1 ? ", weights an input" : "", q->text);
  if (device == NULL) {
    quantised_check (model, "TEMPLATE", b->inputs, b->n_inputs, expected, 0, what);
    device = test_device ();
  }
  quantised_check (model, device, b->inputs, b->n_inputs, expected, 0, what);
}

static void
check_qlinear (const Product *p, const Quantised *q, const AxonTensor *sums,
               gboolean weights_are_input)
{
  gboolean conv = g_str_equal (p->op, "Conv"), gemm = g_str_equal (p->op, "Gemm");
  g_autoptr (AxonTensor) expected = product_expected (p, q, sums, NULL);
  const gchar *op = conv ? "QLinearConv" : gemm ? "QGemm" : "QLinearMatMul";
  QuantisedModel b;
  quantised_begin (&b, q, weights_are_input);
  if (gemm) {
    AxonValue *bias = b.v[BIAS];
    memmove (b.v + Y_SCALE + 1, b.v + Y_SCALE, 2 * sizeof *b.v);
    b.v[Y_SCALE] = bias;
  }
  check (&b, p, q,
         product_node (&b.t, p, gemm ? AXON_DOMAIN_MICROSOFT : NULL, op, b.v,
                       gemm                 ? 9
                       : conv && q->t[BIAS] ? 9
                                            : 8),
         NULL, expected, op);
}

static AxonValue *
dequantize (QuantisedModel *b, AxonValue *x, AxonValue *scale, AxonValue *zero, gint axis)
{
  AxonNode *n = test_model_node (&b->t, "DequantizeLinear", zero ? 3 : 2, x, scale, zero);
  axon_node_set_int (n, "axis", axis);
  return n->outputs[0];
}

/* As quantisers write it: i32, of scale x_scale * w_scale. */
static AxonValue *
dequantized_bias (QuantisedModel *b, const Product *p, const Quantised *q)
{
  gsize n = axon_tensor_get_numel (q->t[BIAS]), n_w = axon_tensor_get_numel (q->t[W_SCALE]);
  AxonShape shape = AXON_SHAPE ((gint64)n), one = { 0 };
  g_autofree gfloat *scales = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    scales[i] = (gfloat)axon_tensor_get_value (q->t[X_SCALE], 0) *
                (gfloat)axon_tensor_get_value (q->t[W_SCALE], i % n_w);
  return dequantize (b, b->v[BIAS],
                     test_model_constant (&b->t, n_w > 1 || p->group > 1 ? &shape : &one, scales),
                     NULL, 0);
}

static AxonValue *
clamped (QuantisedModel *b, AxonValue *y, const Clamp *clamp)
{
  AxonShape scalar = { 0 };
  if (clamp->op == NULL)
    return y;
  if (g_str_equal (clamp->op, "Relu"))
    return test_model_node (&b->t, "Relu", 1, y)->outputs[0];
  return test_model_node (&b->t, "Clip", 3, y, test_model_constant (&b->t, &scalar, &clamp->lo),
                          test_model_constant (&b->t, &scalar, &clamp->hi))
      ->outputs[0];
}

/* Nothing, Relu, or a Clip that cuts within the range of y. */
static Clamp
draw_clamp (GRand *rand, const Quantised *q)
{
  gfloat scale = (gfloat)axon_tensor_get_value (q->t[Y_SCALE], 0);
  gdouble lo = g_rand_int_range (rand, -300, 100) + 0.3, hi = lo + g_rand_int_range (rand, 20, 300);
  switch (g_rand_int_range (rand, 0, 3)) {
  case 0:
    return (Clamp){ NULL, 0, 0 };
  case 1:
    return (Clamp){ "Relu", 0, 3e38f };
  default:
    return (Clamp){ "Clip", (gfloat)lo * scale, (gfloat)hi * scale };
  }
}

static void
check_between (const Product *p, const Quantised *q, const AxonTensor *sums, GRand *rand)
{
  Clamp clamp = draw_clamp (rand, q);
  g_autoptr (AxonTensor) expected = product_expected (p, q, sums, &clamp);
  gint axis = g_str_equal (p->op, "MatMul")               ? p->w.rank - 1
              : g_str_equal (p->op, "Conv") || p->trans_b ? 0
                                                          : 1;
  g_autofree gchar *form = g_strdup_printf ("DequantizeLinear, %s, %s, QuantizeLinear", p->op,
                                            clamp.op ? clamp.op : "no clamp");
  AxonValue *in[3], *y;
  guint n_in = 2;
  QuantisedModel b;
  quantised_begin (&b, q, FALSE);
  in[0] = dequantize (&b, b.v[X], b.v[X_SCALE], b.v[X_ZERO], 0);
  in[1] = dequantize (&b, b.v[W], b.v[W_SCALE], b.v[W_ZERO], axis);
  if (q->t[BIAS] != NULL)
    in[n_in++] = dequantized_bias (&b, p, q);
  y = clamped (&b, product_node (&b.t, p, NULL, p->op, in, n_in)->outputs[0], &clamp);
  check (&b, p, q, test_model_node (&b.t, "QuantizeLinear", 3, y, b.v[Y_SCALE], b.v[Y_ZERO]),
         test_device (), expected, form);
}

static void
check_integer (const Product *p, const Quantised *q, const AxonTensor *sums,
               gboolean weights_are_input)
{
  const gchar *op = g_str_equal (p->op, "Conv") ? "ConvInteger" : "MatMulInteger";
  g_autoptr (AxonTensor) expected =
      axon_tensor_new (AXON_DTYPE_I32, axon_tensor_get_shape (sums), NULL);
  QuantisedModel b;
  for (gsize i = 0; i < axon_tensor_get_numel (sums); i++)
    ((gint32 *)axon_tensor_get_data (expected))[i] = (gint32)axon_tensor_get_value (sums, i);
  quantised_begin (&b, q, weights_are_input);
  check (&b, p, q,
         product_node (&b.t, p, NULL, op,
                       (AxonValue *[]){ b.v[X], b.v[W], b.v[X_ZERO], b.v[W_ZERO] }, 4),
         NULL, expected, op);
}

static void
products_are_exact (gconstpointer data)
{
  const Product *p = data;
  g_autoptr (GRand) rand = quantised_rand (p, 0);
  gboolean transpose = g_str_equal (p->op, "ConvTranspose");
  for (guint i = 0; i < 4 * N_DATA; i++) {
    gboolean weights_are_input = g_rand_int_range (rand, 0, 8) == 0;
    g_auto (Quantised) q;
    g_autoptr (AxonTensor) sums = NULL;
    quantised_draw (&q, rand, p, quantised_types[i & 1], quantised_types[i >> 1 & 1],
                    (DataKind)(i / 4));
    sums = product_sums (p, &q);
    if (!transpose)
      check_qlinear (p, &q, sums, weights_are_input);
    check_between (p, &q, sums, rand);
    if (!transpose && !g_str_equal (p->op, "Gemm"))
      check_integer (p, &q, sums, weights_are_input);
  }
}

/* The bias is i32 of @scale, or the floats that these are; rounding it moves a result by a unit. */
static void
compare_with_bias (const Product *p, Quantised *q, gboolean floats, gdouble scale)
{
  g_autoptr (AxonTensor) one = quantised_scalar (AXON_DTYPE_F32, scale);
  g_autoptr (AxonTensor) values =
      axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (q->t[BIAS]), NULL);
  g_autoptr (AxonModel) model = NULL;
  g_autofree gchar *shapes = product_text (p);
  g_autofree gchar *what = g_strdup_printf ("bias %s %.9g (%s): %s",
                                            floats ? "of floats, multiples of" : "of i32, of scale",
                                            scale, shapes, q->text);
  AxonValue *in[3], *y;
  QuantisedModel b;
  quantised_begin (&b, q, FALSE);
  for (gsize i = 0; i < axon_tensor_get_numel (values); i++)
    ((gfloat *)axon_tensor_get_data (values))[i] =
        (gfloat)(axon_tensor_get_value (q->t[BIAS], i) * scale);
  in[0] = dequantize (&b, b.v[X], b.v[X_SCALE], b.v[X_ZERO], 0);
  in[1] = dequantize (&b, b.v[W], b.v[W_SCALE], b.v[W_ZERO], 0);
  in[2] = floats
              ? axon_model_add_constant (b.t.model, NULL, values)
              : dequantize (&b, b.v[BIAS], axon_model_add_constant (b.t.model, NULL, one), NULL, 0);
  y = product_node (&b.t, p, NULL, "Conv", in, 3)->outputs[0];
  y = test_model_node (&b.t, "QuantizeLinear", 3, y, b.v[Y_SCALE], b.v[Y_ZERO])->outputs[0];
  model = test_model_finish (&b.t, y);
  quantised_compare (model, b.inputs, b.n_inputs, 1, what);
}

/* A bias of any scale, or of floats, cannot always be brought to the scale of the sums. */
static void
a_bias_of_any_scale_is_added_rightly (void)
{
  for (const Product *p = products; g_str_equal (p->op, "Conv"); p++)
    for (guint i = 0; i < 4; i++) {
      g_autoptr (GRand) rand = quantised_rand (p, 4 + i);
      g_auto (Quantised) q;
      gdouble scale;
      quantised_draw (&q, rand, p, quantised_types[i & 1], AXON_DTYPE_I8, DATA_EXTREMES);
      if (q.t[BIAS] == NULL)
        continue;
      scale = axon_tensor_get_value (q.t[X_SCALE], 0) * axon_tensor_get_value (q.t[W_SCALE], 0);
      compare_with_bias (p, &q, i >> 1, scale * 1.7);
    }
}

static void
add (const Product *p, const gchar *name, GTestDataFunc func)
{
  g_autofree gchar *text = product_text (p);
  g_autofree gchar *path = g_strdup_printf ("/int8/%s/%s", name, text);
  g_test_add_data_func (path, p, func);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (const Product *p = products; p < products + G_N_ELEMENTS (products); p++) {
    gboolean conv = g_str_equal (p->op, "Conv"), matmul = g_str_equal (p->op, "MatMul");
    add (p, "products_are_exact", products_are_exact);
    if (conv || (matmul && p->w.rank > 1)) {
      add (p, "sums_of_dynamic_chains_are_exact", sums_of_dynamic_chains_are_exact);
      add (p, "dynamic_chains_with_activations_agree", dynamic_chains_with_activations_agree);
    }
    if (matmul || g_str_equal (p->op, "Gemm"))
      add (p, "products_that_end_in_floats_agree", products_that_end_in_floats_agree);
  }
  g_test_add_func ("/int8/a_bias_of_any_scale_is_added_rightly",
                   a_bias_of_any_scale_is_added_rightly);
  add_byte_tests ();
  return g_test_run ();
}
