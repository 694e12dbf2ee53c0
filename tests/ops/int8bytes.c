/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* 8-bit tensors between products: sums, products by elements, concatenation, activations, means,
 * and the steps from floats and back. Bit for bit what the reference kernels give, over every value
 * or pair of values. */
#include "quantised.h"

#include <math.h>

typedef struct {
  AxonValue *data, *scale, *zero;
} Operand;

/* Scales whose quotients are powers of two make ties; the second row leaves the range, the last
 * fills a part of it. */
static const gfloat scales[][3] = { { 0.5f, 0.25f, 1 },
                                    { 0.037f, 0.021f, 0.0043f },
                                    { 0.0117f, 0.0391f, 0.0502f },
                                    { 0.02f, 0.02f, 0.3f } };

static Operand
operand (QuantisedModel *b, GRand *rand, AxonTensor *data, gdouble scale)
{
  AxonDType dtype = axon_tensor_get_dtype (data);
  g_autofree gchar *name = g_strdup_printf ("x%u", b->n_inputs);
  g_autoptr (AxonTensor) s = quantised_scalar (AXON_DTYPE_F32, scale);
  g_autoptr (AxonTensor) z = quantised_scalar (dtype, quantised_zero (rand, dtype));
  b->inputs[b->n_inputs++] = data;
  return (Operand){ test_model_input (&b->t, name, dtype, axon_tensor_get_shape (data)),
                    axon_model_add_constant (b->t.model, NULL, s),
                    axon_model_add_constant (b->t.model, NULL, z) };
}

static Operand
result (QuantisedModel *b, GRand *rand, AxonDType dtype, gdouble scale)
{
  g_autoptr (AxonTensor) s = quantised_scalar (AXON_DTYPE_F32, scale);
  g_autoptr (AxonTensor) z = quantised_scalar (dtype, quantised_zero (rand, dtype));
  return (Operand){ NULL, axon_model_add_constant (b->t.model, NULL, s),
                    axon_model_add_constant (b->t.model, NULL, z) };
}

static AxonValue *
floats (QuantisedModel *b, const Operand *x)
{
  return test_model_node (&b->t, "DequantizeLinear", 3, x->data, x->scale, x->zero)->outputs[0];
}

static void
compare (QuantisedModel *b, AxonNode *last, gdouble units, const gchar *format, ...)
{
  g_autoptr (AxonModel) model = test_model_finish (&b->t, last->outputs[0]);
  g_autofree gchar *what = NULL;
  va_list args;
  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  quantised_compare (model, b->inputs, b->n_inputs, units, what);
}

/* Every byte in turn; @step: how often the byte changes. */
static AxonTensor *
every_byte (AxonDType dtype, const AxonShape *shape, gsize step)
{
  AxonTensor *t = axon_tensor_new (dtype, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    ((guint8 *)axon_tensor_get_data (t))[i] = (guint8)(i / step);
  return t;
}

static const struct {
  AxonShape a, b;
  gsize step; /* of a; b changes with every element */
} pairs[] = {
  { { 2, { 256, 256 } }, { 2, { 256, 256 } }, 256 },
  { { 2, { 256, 1 } }, { 2, { 1, 256 } }, 1 },
  { { 4, { 1, 16, 64, 64 } }, { 4, { 1, 16, 1, 1 } }, 16 },
  { { 4, { 2, 17, 5, 7 } }, { 4, { 2, 17, 5, 7 } }, 3 },
  { { 3, { 2, 3, 64 } }, { 0, { 0 } }, 1 },
  { { 1, { 33 } }, { 3, { 5, 1, 33 } }, 7 },
};

static AxonValue *
maybe_clamped (QuantisedModel *b, GRand *rand, AxonValue *y, gfloat scale)
{
  AxonShape one = { 0 };
  gfloat lo = scale * -20.3f, hi = scale * 60.3f;
  switch (g_rand_int_range (rand, 0, 3)) {
  case 0:
    return y;
  case 1:
    return test_model_node (&b->t, "Relu", 1, y)->outputs[0];
  default:
    return test_model_node (&b->t, "Clip", 3, y, test_model_constant (&b->t, &one, &lo),
                            test_model_constant (&b->t, &one, &hi))
        ->outputs[0];
  }
}

static void
compare_pair (guint p, AxonDType dtype, const gfloat *s, const gchar *op, gboolean between,
              GRand *rand)
{
  g_autoptr (AxonTensor) a = every_byte (dtype, &pairs[p].a, pairs[p].step);
  g_autoptr (AxonTensor) c = every_byte (dtype, &pairs[p].b, 1);
  g_autofree gchar *name = g_strconcat ("QLinear", op, NULL);
  QuantisedModel b = { .t = test_model_new (13) };
  Operand l = operand (&b, rand, a, s[0]), r = operand (&b, rand, c, s[1]),
          y = result (&b, rand, dtype, s[2]);
  AxonNode *n;
  if (between) {
    n = test_model_node (&b.t, op, 2, floats (&b, &l), floats (&b, &r));
    n = test_model_node (&b.t, "QuantizeLinear", 3, maybe_clamped (&b, rand, n->outputs[0], s[2]),
                         y.scale, y.zero);
  } else {
    AxonValue *in[] = { l.data, l.scale, l.zero, r.data, r.scale, r.zero, y.scale, y.zero };
    n = test_model_node_of (&b.t, AXON_DOMAIN_MICROSOFT, name, in, 8, 1);
  }
  compare (&b, n, 0, "%s %s of %s, shapes %u", between ? "between floats:" : "QLinear", op,
           axon_dtype_get_name (dtype), p);
}

static void
all_pairs_of_bytes_add_and_multiply_rightly (gconstpointer op)
{
  g_autoptr (GRand) rand = quantised_rand (NULL, g_str_hash (op));
  for (guint p = 0; p < G_N_ELEMENTS (pairs); p++)
    for (guint s = 0; s < G_N_ELEMENTS (scales); s++)
      for (guint k = 0; k < 4; k++)
        compare_pair (p, quantised_types[k & 1], scales[s], op, k >> 1, rand);
}

/* @linear: the operator's name in com.microsoft, or NULL where there is none. */
static const struct {
  const gchar *op, *linear;
} activations[] = { { "Sigmoid", "QLinearSigmoid" },
                    { "LeakyRelu", "QLinearLeakyRelu" },
                    { "Relu", NULL },
                    { "HardSwish", NULL },
                    { "HardSigmoid", NULL },
                    { "Tanh", NULL } };

static void
activations_of_every_byte_agree (void)
{
  static const AxonShape shapes[] = { { 1, { 256 } },
                                      { 4, { 2, 17, 5, 7 } },
                                      { 4, { 1, 64, 2, 2 } } };
  g_autoptr (GRand) rand = quantised_rand (NULL, 10);
  for (guint i = 0;
       i < G_N_ELEMENTS (activations) * 2 * G_N_ELEMENTS (scales) * G_N_ELEMENTS (shapes); i++) {
    guint a = i % G_N_ELEMENTS (activations), k = i / G_N_ELEMENTS (activations);
    const gfloat *s = scales[k / 2 % G_N_ELEMENTS (scales)];
    AxonDType dtype = quantised_types[k & 1];
    g_autoptr (AxonTensor) data = every_byte (dtype, &shapes[k / 2 / G_N_ELEMENTS (scales)], 1);
    for (guint between = activations[a].linear == NULL; between < 2; between++) {
      QuantisedModel b = { .t = test_model_new (14) };
      Operand x = operand (&b, rand, data, s[0]), y = result (&b, rand, dtype, s[2] / 16);
      AxonNode *n;
      if (between) {
        n = test_model_node (&b.t, activations[a].op, 1, floats (&b, &x));
        n = test_model_node (&b.t, "QuantizeLinear", 3, n->outputs[0], y.scale, y.zero);
      } else {
        AxonValue *in[] = { x.data, x.scale, x.zero, y.scale, y.zero };
        n = test_model_node_of (&b.t, AXON_DOMAIN_MICROSOFT, activations[a].linear, in, 5, 1);
      }
      compare (&b, n, 0, "%s of %s", between ? activations[a].op : activations[a].linear,
               axon_dtype_get_name (dtype));
    }
  }
}

/* Of channels that lie last. */
static AxonValue *
every_second_channel (TestModel *t, AxonValue *x)
{
  static const gint64 perm[] = { 0, 3, 1, 2 }, channels = 1, first = 0, step = 2;
  AxonNode *turned = test_model_node (t, "Transpose", 1, x);
  axon_node_set_ints (turned, "perm", perm, 4);
  return test_model_node (t, "Slice", 5, turned->outputs[0], test_model_ints (t, &first, 1),
                          test_model_ints (t, &x->type.shape.dims[3], 1),
                          test_model_ints (t, &channels, 1), test_model_ints (t, &step, 1))
      ->outputs[0];
}

/* The first part has the result's scale, often its zero point, too; in one case it is a view. */
static void
parts_of_other_scales_are_concatenated_rightly (void)
{
  static const struct {
    gint axis;
    AxonShape part[3];
    gboolean apart;
  } cases[] = {
    { 1, { { 4, { 1, 8, 8, 8 } }, { 4, { 1, 17, 8, 8 } }, { 4, { 1, 3, 8, 8 } } } },
    { 1, { { 4, { 1, 8, 8, 48 } }, { 4, { 1, 17, 8, 8 } }, { 4, { 1, 3, 8, 8 } } }, TRUE },
    { 0, { { 2, { 1, 1500 } }, { 2, { 2, 1500 } }, { 2, { 1, 1500 } } } },
    { 0, { { 2, { 3, 64 } }, { 2, { 1, 64 } }, { 2, { 4, 64 } } } },
    { -1, { { 3, { 2, 5, 33 } }, { 3, { 2, 5, 64 } }, { 3, { 2, 5, 1 } } } }
  };
  g_autoptr (GRand) rand = quantised_rand (NULL, 11);
  for (guint i = 0; i < G_N_ELEMENTS (cases) * 2 * 2 * 4; i++) {
    guint c = i % G_N_ELEMENTS (cases), k = i / G_N_ELEMENTS (cases);
    AxonDType dtype = quantised_types[k & 1];
    QuantisedModel b = { .t = test_model_new (13) };
    Operand y = result (&b, rand, dtype, scales[k >> 2][0]), x[3];
    g_autoptr (GPtrArray) data = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
    AxonValue *in[11] = { y.scale, y.zero }, *parts[3];
    AxonNode *n;
    for (guint p = 0; p < 3; p++) {
      g_ptr_array_add (data, every_byte (dtype, &cases[c].part[p], 1));
      x[p] = operand (&b, rand, data->pdata[p], scales[k >> 2][p]);
      if (p == 0 && g_rand_boolean (rand))
        x[p].zero = y.zero;
      if (p == 0 && cases[c].apart)
        x[p].data = every_second_channel (&b.t, x[p].data);
      in[2 + 3 * p] = x[p].data;
      in[3 + 3 * p] = x[p].scale;
      in[4 + 3 * p] = x[p].zero;
      parts[p] = k & 2 ? floats (&b, &x[p]) : NULL;
    }
    n = k & 2 ? test_model_node_of (&b.t, NULL, "Concat", parts, 3, 1)
              : test_model_node_of (&b.t, AXON_DOMAIN_MICROSOFT, "QLinearConcat", in, 11, 1);
    axon_node_set_int (n, "axis", cases[c].axis);
    if (k & 2)
      n = test_model_node (&b.t, "QuantizeLinear", 3, n->outputs[0], y.scale, y.zero);
    compare (&b, n, 0, "%s of %s", k & 2 ? "Concat" : "QLinearConcat", axon_dtype_get_name (dtype));
  }
}

static const struct {
  const gchar *op; /* MaxPool: between floats only */
  AxonShape x;
  gint64 kernel, stride, pad, include_pad;
} pools[] = {
  { "AveragePool", { 4, { 1, 16, 13, 13 } }, 3, 2, 1, 0 },
  { "AveragePool", { 4, { 2, 17, 7, 5 } }, 3, 1, 1, 1 },
  { "AveragePool", { 4, { 1, 3, 13, 7 } }, 2, 2, 0, 0 },
  { "AveragePool", { 4, { 1, 64, 5, 5 } }, 5, 1, 2, 0 },
  { "AveragePool", { 4, { 2, 49, 12, 12 } }, 3, 2, 1, 1 },
  { "AveragePool", { 4, { 1, 300, 4, 9 } }, 2, 1, 0, 0 },
  { "GlobalAveragePool", { 4, { 1, 64, 7, 7 } }, 0, 0, 0, 0 },
  { "GlobalAveragePool", { 4, { 2, 17, 13, 5 } }, 0, 0, 0, 0 },
  { "GlobalAveragePool", { 4, { 1, 1280, 1, 1 } }, 0, 0, 0, 0 },
  { "GlobalAveragePool", { 3, { 1, 33, 5 } }, 0, 0, 0, 0 },
  { "MaxPool", { 4, { 1, 17, 13, 13 } }, 3, 2, 1, 0 },
  { "MaxPool", { 4, { 2, 8, 5, 7 } }, 2, 2, 0, 0 },
};

static void
set_pool (AxonNode *n, guint p)
{
  if (pools[p].kernel == 0)
    return;
  axon_node_set_ints (n, "kernel_shape", (gint64[]){ pools[p].kernel, pools[p].kernel }, 2);
  axon_node_set_ints (n, "strides", (gint64[]){ pools[p].stride, pools[p].stride }, 2);
  axon_node_set_ints (n, "pads",
                      (gint64[]){ pools[p].pad, pools[p].pad, pools[p].pad, pools[p].pad }, 4);
  if (pools[p].include_pad)
    axon_node_set_int (n, "count_include_pad", 1);
}

/* Between floats a mean is one of floats: a tie may fall to either side. */
static void
pools_of_bytes_agree (void)
{
  g_autoptr (GRand) rand = quantised_rand (NULL, 12);
  for (guint i = 0; i < G_N_ELEMENTS (pools) * 2 * G_N_ELEMENTS (scales) * 2; i++) {
    guint p = i % G_N_ELEMENTS (pools), k = i / G_N_ELEMENTS (pools);
    const gfloat *s = scales[k / 2 % G_N_ELEMENTS (scales)];
    AxonDType dtype = quantised_types[k & 1];
    DataKind kind = k / 2 / G_N_ELEMENTS (scales) ? DATA_EXTREMES : DATA_UNIFORM;
    g_autoptr (AxonTensor) data = quantised_fill (rand, dtype, &pools[p].x, kind, 0, 1, 1);
    g_autofree gchar *linear = g_strconcat ("QLinear", pools[p].op, NULL);
    gboolean max = g_str_equal (pools[p].op, "MaxPool");
    for (guint between = max; between < 2; between++) {
      QuantisedModel b = { .t = test_model_new (12) };
      Operand x = operand (&b, rand, data, s[0]), y = result (&b, rand, dtype, s[2]);
      AxonValue *in[] = { x.data, x.scale, x.zero, y.scale, y.zero };
      AxonNode *n = between ? test_model_node (&b.t, pools[p].op, 1, floats (&b, &x))
                            : test_model_node_of (&b.t, AXON_DOMAIN_MICROSOFT, linear, in, 5, 1);
      set_pool (n, p);
      if (between)
        n = test_model_node (&b.t, "QuantizeLinear", 3, n->outputs[0], y.scale, y.zero);
      compare (&b, n, between && !max, "%s of %s", between ? pools[p].op : linear,
               axon_dtype_get_name (dtype));
    }
  }
}

/* Ties, what leaves the range, infinities, and anything. */
static AxonTensor *
hard_floats (GRand *rand, const AxonShape *shape, gfloat scale)
{
  static const gfloat special[] = { INFINITY, -INFINITY, 3e38f,         -3e38f,
                                    1e-40f,   -0.0f,     2147483648.0f, -4e9f };
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++) {
    gint how = g_rand_int_range (rand, 0, 8);
    ((gfloat *)axon_tensor_get_data (t))[i] =
        how == 0  ? special[g_rand_int_range (rand, 0, G_N_ELEMENTS (special))]
        : how < 4 ? (gfloat)(g_rand_int_range (rand, -300, 300) + 0.5) * scale
                  : (gfloat)g_rand_double_range (rand, -300, 300) * scale;
  }
  return t;
}

/* One scale, or one for each place along axis 1; with a zero point, or without. */
static AxonNode *
quantizer (QuantisedModel *b, GRand *rand, const gchar *op, AxonValue *x, AxonDType dtype, gint64 n,
           gfloat scale)
{
  AxonShape shape = { .rank = n > 1, .dims = { n } };
  g_autoptr (AxonTensor) s = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  g_autoptr (AxonTensor) z = axon_tensor_new (dtype, &shape, NULL);
  gboolean has_zero = dtype == AXON_DTYPE_I8 || g_rand_int_range (rand, 0, 4) > 0;
  AxonNode *node;
  for (gsize i = 0; i < axon_tensor_get_numel (s); i++) {
    ((gfloat *)axon_tensor_get_data (s))[i] =
        i % 3 == 0 ? scale : scale * (gfloat)g_rand_double_range (rand, 0.5, 2);
    axon_dtype_store (dtype, axon_tensor_get_data (z), i,
                      dtype == AXON_DTYPE_I32 ? 0 : quantised_zero (rand, dtype));
  }
  node = test_model_node (&b->t, op, has_zero ? 3 : 2, x,
                          axon_model_add_constant (b->t.model, NULL, s),
                          has_zero ? axon_model_add_constant (b->t.model, NULL, z) : NULL);
  axon_node_set_int (node, "axis", 1);
  return node;
}

static void
floats_become_bytes_and_bytes_floats_rightly (void)
{
  static const AxonShape shapes[] = {
    { 4, { 2, 17, 13, 5 } }, { 4, { 1, 64, 7, 7 } }, { 2, { 5, 33 } }, { 3, { 1, 3, 1 } }
  };
  static const AxonDType from[] = { AXON_DTYPE_U8, AXON_DTYPE_I8, AXON_DTYPE_I32 };
  g_autoptr (GRand) rand = quantised_rand (NULL, 13);
  for (guint i = 0; i < G_N_ELEMENTS (shapes) * 2 * G_N_ELEMENTS (scales) * 3; i++) {
    const AxonShape *shape = &shapes[i % 4];
    guint k = i / 4;
    gfloat scale = scales[k / 2 % 4][0];
    gint64 n = k & 1 ? shape->dims[1] : 1;
    AxonDType dtype = from[k / 8];
    QuantisedModel b = { .t = test_model_new (13) };
    g_autoptr (AxonTensor) ints = axon_tensor_new (dtype, shape, NULL);
    g_autoptr (AxonTensor) reals = hard_floats (rand, shape, scale);
    b.inputs[b.n_inputs++] = ints;
    for (gsize e = 0; e < axon_tensor_get_n_bytes (ints); e++)
      ((guint8 *)axon_tensor_get_data (ints))[e] = (guint8)g_rand_int (rand);
    compare (&b,
             quantizer (&b, rand, "DequantizeLinear", test_model_input (&b.t, "x", dtype, shape),
                        dtype, n, scale),
             0, "DequantizeLinear of %s", axon_dtype_get_name (dtype));
    if (dtype == AXON_DTYPE_I32)
      continue;
    b = (QuantisedModel){ .t = test_model_new (13), .inputs = { reals }, .n_inputs = 1 };
    compare (&b,
             quantizer (&b, rand, "QuantizeLinear",
                        test_model_input (&b.t, "x", AXON_DTYPE_F32, shape), dtype, n, scale),
             0, "QuantizeLinear to %s", axon_dtype_get_name (dtype));
  }
}

/* Its three outputs, of ranges on either side of 0 or on both, of few values and of many. */
static void
dynamic_ranges_are_found_rightly (void)
{
  static const gfloat ranges[][2] = { { -1, 1 },         { 0, 255 }, { -128, 127 },  { 3, 7 },
                                      { -9, -2 },        { 0, 0 },   { -1e-30f, 0 }, { -0.1f, 5 },
                                      { -1e30f, 1e30f }, { 2, 2 } };
  static const AxonShape shapes[] = {
    { 1, { 1 } }, { 2, { 3, 5 } }, { 4, { 1, 3, 32, 33 } }, { 1, { 5000 } }
  };
  g_autoptr (GRand) rand = quantised_rand (NULL, 14);
  for (guint i = 0; i < G_N_ELEMENTS (ranges) * G_N_ELEMENTS (shapes) * 2; i++) {
    const gfloat *range = ranges[i % G_N_ELEMENTS (ranges)];
    const AxonShape *shape = &shapes[i / G_N_ELEMENTS (ranges) % 4];
    g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
    gfloat *v = axon_tensor_get_data (x);
    gsize n = axon_tensor_get_numel (x);
    gboolean ties = i / G_N_ELEMENTS (ranges) / 4 == 1;
    for (gsize e = 0; e < n; e++) {
      gdouble part = ties ? g_rand_int_range (rand, 0, 511) / 510.0 : g_rand_double (rand);
      v[e] = (gfloat)(range[0] + part * ((gdouble)range[1] - range[0]));
    }
    v[g_rand_int_range (rand, 0, (gint)n)] = range[0];
    v[g_rand_int_range (rand, 0, (gint)n)] = range[1];
    for (guint output = 0; output < 3; output++) {
      QuantisedModel b = { .t = test_model_new (13), .inputs = { x }, .n_inputs = 1 };
      AxonValue *in = test_model_input (&b.t, "x", AXON_DTYPE_F32, shape);
      AxonNode *q = test_model_node_of (&b.t, NULL, "DynamicQuantizeLinear", &in, 1, 3);
      g_autoptr (AxonModel) model = test_model_finish (&b.t, q->outputs[output]);
      g_autofree gchar *what = g_strdup_printf ("output %u of %g to %g, %" G_GSIZE_FORMAT " values",
                                                output, (gdouble)range[0], (gdouble)range[1], n);
      quantised_compare (model, &x, 1, 0, what);
    }
  }
}

void
add_byte_tests (void)
{
  g_test_add_data_func ("/int8/all_pairs_of_bytes_add_and_multiply_rightly/Add", "Add",
                        all_pairs_of_bytes_add_and_multiply_rightly);
  g_test_add_data_func ("/int8/all_pairs_of_bytes_add_and_multiply_rightly/Mul", "Mul",
                        all_pairs_of_bytes_add_and_multiply_rightly);
  g_test_add_func ("/int8/activations_of_every_byte_agree", activations_of_every_byte_agree);
  g_test_add_func ("/int8/parts_of_other_scales_are_concatenated_rightly",
                   parts_of_other_scales_are_concatenated_rightly);
  g_test_add_func ("/int8/pools_of_bytes_agree", pools_of_bytes_agree);
  g_test_add_func ("/int8/floats_become_bytes_and_bytes_floats_rightly",
                   floats_become_bytes_and_bytes_floats_rightly);
  g_test_add_func ("/int8/dynamic_ranges_are_found_rightly", dynamic_ranges_are_found_rightly);
}
