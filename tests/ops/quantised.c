/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "quantised.h"

#include <math.h>

const AxonDType quantised_types[2] = { AXON_DTYPE_U8, AXON_DTYPE_I8 };

GRand *
quantised_rand (const Product *p, guint32 test)
{
  g_autofree gchar *text = p ? product_text (p) : NULL;
  static gsize said;
  static guint32 seed;
  if (g_once_init_enter (&said)) {
    const gchar *given = g_getenv ("AXON_TEST_SEED");
    seed = given ? (guint32)g_ascii_strtoull (given, NULL, 10)
                 : (guint32)g_test_rand_int_range (0, G_MAXINT32);
    g_test_message ("AXON_TEST_SEED=%u repeats this", seed);
    g_once_init_leave (&said, 1);
  }
  return g_rand_new_with_seed_array ((guint32[]){ seed, text ? g_str_hash (text) : 0, test }, 3);
}

AxonTensor *
quantised_scalar (AxonDType dtype, gdouble value)
{
  AxonShape shape = { 0 };
  AxonTensor *tensor = axon_tensor_new (dtype, &shape, NULL);
  axon_dtype_store (dtype, axon_tensor_get_data (tensor), 0, value);
  return tensor;
}

static gint
lowest (AxonDType dtype)
{
  return dtype == AXON_DTYPE_I8 ? -128 : 0;
}

static gint
draw (GRand *rand, DataKind kind, gint low, gint zero, gboolean odd_channel)
{
  gint high = low + 255;
  switch (kind) {
  case DATA_PAIRS:
    return odd_channel ? low : high;
  case DATA_LOWEST:
    return low;
  case DATA_EXTREMES:
    return g_rand_boolean (rand) ? low : high;
  case DATA_TIES:
    return CLAMP (zero + g_rand_int_range (rand, -3, 4), low, high);
  default:
    return g_rand_int_range (rand, low, high + 1);
  }
}

/* Element i belongs to channel i / inner % channels. */
AxonTensor *
quantised_fill (GRand *rand, AxonDType dtype, const AxonShape *shape, DataKind kind, gint zero,
                gint64 inner, gint64 channels)
{
  AxonTensor *tensor = axon_tensor_new (dtype, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    axon_dtype_store (
        dtype, axon_tensor_get_data (tensor), i,
        draw (rand, kind, lowest (dtype), zero, (gint64)i / inner % channels % 2 == 1));
  return tensor;
}

gint
quantised_zero (GRand *rand, AxonDType dtype)
{
  static const gint zeros[] = { 0, 255, 128, 127, 77, 1 };
  return lowest (dtype) + zeros[g_rand_int_range (rand, 0, G_N_ELEMENTS (zeros))];
}

static gint
channel_axis (const Product *p)
{
  if (g_str_equal (p->op, "Conv"))
    return 0;
  return g_str_equal (p->op, "Gemm") ? (p->trans_b ? 0 : 1)
                                     : (g_str_equal (p->op, "MatMul") ? p->w.rank - 1 : 1);
}

static gint64
n_channels (const Product *p)
{
  return g_str_equal (p->op, "MatMul") && p->w.rank == 1 ? 1 : p->w.dims[channel_axis (p)];
}

/* One for all, or one for each channel of the weights. */
static AxonTensor *
parameters (GRand *rand, const Product *p, AxonDType dtype, gboolean per_channel)
{
  AxonShape one = { 0 }, channels = AXON_SHAPE (n_channels (p));
  return axon_tensor_new (dtype, per_channel && g_rand_boolean (rand) ? &channels : &one, NULL);
}

static gdouble
value_of (const AxonTensor *t, gsize channel)
{
  gsize n = axon_tensor_get_numel (t);
  return axon_tensor_get_value (t, n > 1 ? channel % n : 0);
}

static void
set (AxonTensor *t, gsize i, gdouble value)
{
  axon_dtype_store (axon_tensor_get_dtype (t), axon_tensor_get_data (t), i, value);
}

static gint64
inner_of (const Product *p)
{
  gint64 inner = 1;
  for (gint d = channel_axis (p) + 1; d < p->w.rank; d++)
    inner *= p->w.dims[d];
  return inner;
}

/* What the sums come to: all products alike, or of any sign. */
static gdouble
reach_of (const Product *p, const Quantised *q, DataKind kind)
{
  gdouble x = 0, w = 0, terms = (gdouble)axon_shape_get_numel (&p->w) / (gdouble)n_channels (p);
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[X]); i++)
    x = fmax (x, fabs (axon_tensor_get_value (q->t[X], i) - value_of (q->t[X_ZERO], 0)));
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[W]); i++)
    w = fmax (w, fabs (axon_tensor_get_value (q->t[W], i) -
                       value_of (q->t[W_ZERO], i / (gsize)inner_of (p))));
  return fmax (x * w, 1) * (kind == DATA_PAIRS || kind == DATA_LOWEST ? terms : sqrt (terms));
}

/* x is the highest less a little, so that the bias takes back what every sum has in common. */
static void
cancel (Quantised *q, GRand *rand, const Product *p)
{
  gdouble high = lowest (axon_tensor_get_dtype (q->t[X])) + 255;
  gsize n = axon_tensor_get_numel (q->t[X]), inner = (gsize)inner_of (p);
  gsize channels = (gsize)n_channels (p), n_bias = axon_tensor_get_numel (q->t[BIAS]);
  g_autofree gdouble *sums = g_new0 (gdouble, channels);
  for (gsize i = 0; i < n; i++)
    set (q->t[X], i, high - (g_rand_int_range (rand, 0, 16) == 0));
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[W]); i++)
    sums[i / inner % channels] +=
        axon_tensor_get_value (q->t[W], i) - value_of (q->t[W_ZERO], i / inner);
  for (gsize i = 0; i < n_bias; i++)
    set (q->t[BIAS], i, -(high - value_of (q->t[X_ZERO], 0)) * sums[i % channels]);
}

static void
draw_bias (Quantised *q, GRand *rand, const Product *p, DataKind kind, gdouble *reach)
{
  AxonShape shape =
      AXON_SHAPE (n_channels (p) * (g_str_equal (p->op, "ConvTranspose") ? p->group : 1));
  gint how = g_rand_int_range (rand, 0, 4);
  if (g_str_equal (p->op, "MatMul") || (how == 0 && kind != DATA_CANCEL))
    return;
  q->t[BIAS] = axon_tensor_new (AXON_DTYPE_I32, &shape, NULL);
  if (kind == DATA_CANCEL) {
    cancel (q, rand, p);
    *reach = 400;
    return;
  }
  if (how == 1)
    *reach = fmax (*reach, 1 << 30);
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[BIAS]); i++)
    set (q->t[BIAS], i, rint (g_rand_double_range (rand, -*reach, *reach)));
}

/* Results that fill the range, or leave it on both sides; with ties where products are powers of 2.
 */
static void
draw_scales (Quantised *q, GRand *rand, DataKind kind, gdouble reach)
{
  gboolean ties = kind == DATA_TIES || kind == DATA_CANCEL;
  gdouble x = ties ? 1 : g_rand_double_range (rand, 0.001, 0.1), w = 0;
  set (q->t[X_SCALE], 0, x);
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[W_SCALE]); i++) {
    gdouble s =
        ties ? 1.0 / (1 << g_rand_int_range (rand, 1, 3)) : g_rand_double_range (rand, 1e-4, 1e-3);
    set (q->t[W_SCALE], i, s);
    w = fmax (w, s);
  }
  set (q->t[Y_SCALE], 0, ties ? 1 : x * w * reach / (g_rand_int_range (rand, 0, 3) ? 150 : 2000));
}

static gchar *
describe (const Quantised *q, DataKind kind)
{
  static const gchar *const kinds[] = {
    "pairs", "lowest", "extremes", "uniform", "ties", "cancel"
  };
  GString *s = g_string_new (kinds[kind]);
  static const struct {
    const gchar *name;
    QuantisedIndex data, zero, scale;
  } parts[] = { { "x", X, X_ZERO, X_SCALE },
                { "w", W, W_ZERO, W_SCALE },
                { "y", Y_ZERO, Y_ZERO, Y_SCALE } };
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    AxonTensor *zero = q->t[parts[i].zero], *scale = q->t[parts[i].scale];
    g_string_append_printf (
        s, ", %s %s zero %g%s scale %.9g%s", parts[i].name,
        axon_dtype_get_name (axon_tensor_get_dtype (q->t[parts[i].data])),
        axon_tensor_get_value (zero, 0), axon_tensor_get_numel (zero) > 1 ? " ..." : "",
        axon_tensor_get_value (scale, 0), axon_tensor_get_numel (scale) > 1 ? " ..." : "");
  }
  if (q->t[BIAS] != NULL)
    g_string_append_printf (s, ", bias %.10g ...", axon_tensor_get_value (q->t[BIAS], 0));
  return g_string_free (s, FALSE);
}

void
quantised_draw (Quantised *q, GRand *rand, const Product *p, AxonDType x, AxonDType w,
                DataKind kind)
{
  AxonDType y =
      g_rand_int_range (rand, 0, 4) ? x : (x == AXON_DTYPE_U8 ? AXON_DTYPE_I8 : AXON_DTYPE_U8);
  DataKind weights = kind == DATA_CANCEL ? DATA_EXTREMES : kind;
  gdouble reach;
  *q = (Quantised){ .text = NULL };
  q->t[X_ZERO] = quantised_scalar (x, quantised_zero (rand, x));
  q->t[Y_ZERO] = quantised_scalar (y, quantised_zero (rand, y));
  q->t[W_ZERO] = parameters (rand, p, w, TRUE);
  /* Symmetric weights are what most models have. */
  for (gsize i = 0; i < axon_tensor_get_numel (q->t[W_ZERO]); i++)
    set (q->t[W_ZERO], i,
         axon_tensor_get_numel (q->t[W_ZERO]) == 1 && g_rand_boolean (rand)
             ? (w == AXON_DTYPE_I8 ? 0 : 128)
             : quantised_zero (rand, w));
  q->t[X] = quantised_fill (rand, x, &p->x, kind, (gint)value_of (q->t[X_ZERO], 0), 1, 1);
  q->t[W] = quantised_fill (rand, w, &p->w, weights, (gint)value_of (q->t[W_ZERO], 0), inner_of (p),
                            n_channels (p));
  q->t[X_SCALE] = quantised_scalar (AXON_DTYPE_F32, 1);
  q->t[Y_SCALE] = quantised_scalar (AXON_DTYPE_F32, 1);
  q->t[W_SCALE] = axon_tensor_new (AXON_DTYPE_F32, axon_tensor_get_shape (q->t[W_ZERO]), NULL);
  reach = reach_of (p, q, kind);
  draw_bias (q, rand, p, kind, &reach);
  draw_scales (q, rand, kind, reach);
  q->text = describe (q, kind);
}

void
quantised_clear (Quantised *q)
{
  for (guint i = 0; i < N_QUANTISED; i++)
    g_clear_pointer (&q->t[i], axon_tensor_unref);
  g_clear_pointer (&q->text, g_free);
}

void
quantised_begin (QuantisedModel *b, const Quantised *q, gboolean weights_are_input)
{
  *b = (QuantisedModel){ .t = test_model_new (13) };
  for (guint i = 0; i < N_QUANTISED; i++) {
    AxonTensor *t = q->t[i];
    if (t == NULL)
      continue;
    if (i != X && !(i == W && weights_are_input)) {
      b->v[i] = axon_model_add_constant (b->t.model, NULL, t);
      continue;
    }
    b->v[i] = test_model_input (&b->t, i == X ? "x" : "w", axon_tensor_get_dtype (t),
                                axon_tensor_get_shape (t));
    b->inputs[b->n_inputs++] = t;
  }
}

gchar *
product_text (const Product *p)
{
  g_autofree gchar *x = axon_shape_to_string (&p->x), *w = axon_shape_to_string (&p->w);
  GString *s = g_string_new (NULL);
  g_string_append_printf (s, "%s %s by %s", p->op, x, w);
  if (p->group > 1)
    g_string_append_printf (s, " group %d", (gint)p->group);
  if (p->stride[0] > 1 || p->stride[1] > 1)
    g_string_append_printf (s, " stride %d %d", (gint)p->stride[0], (gint)p->stride[1]);
  if (p->dilation > 1)
    g_string_append_printf (s, " dilation %d", (gint)p->dilation);
  if (p->pad[0] != 0 || p->pad[1] != 0)
    g_string_append_printf (s, " pad %d %d", (gint)p->pad[0], (gint)p->pad[1]);
  if (p->trans_a || p->trans_b)
    g_string_append_printf (s, "%s%s", p->trans_a ? " transA" : "", p->trans_b ? " transB" : "");
  if (p->auto_pad != NULL)
    g_string_append_printf (s, " %s", p->auto_pad);
  return g_string_free (s, FALSE);
}

static void
set_window (AxonNode *n, const Product *p)
{
  guint rank = (guint)p->x.rank - 2;
  gint64 strides[3], dilations[3], pads[6], more[3];
  for (guint d = 0; d < rank; d++) {
    strides[d] = MAX (p->stride[d + 1 == rank], 1);
    dilations[d] = MAX (p->dilation, 1);
    pads[d] = p->pad[0];
    pads[rank + d] = p->pad[1];
    more[d] = p->more;
  }
  axon_node_set_int (n, "group", MAX (p->group, 1));
  axon_node_set_ints (n, "strides", strides, rank);
  axon_node_set_ints (n, "dilations", dilations, rank);
  if (p->auto_pad != NULL)
    axon_node_set_string (n, "auto_pad", p->auto_pad);
  else
    axon_node_set_ints (n, "pads", pads, 2 * rank);
  if (p->more > 0)
    axon_node_set_ints (n, "output_padding", more, rank);
}

AxonNode *
product_node (TestModel *t, const Product *p, const gchar *domain, const gchar *op,
              AxonValue *const *in, guint n_in)
{
  AxonNode *n = test_model_node_of (t, domain, op, in, n_in, 1);
  if (g_str_has_prefix (p->op, "Conv"))
    set_window (n, p);
  if (p->trans_a)
    axon_node_set_int (n, "transA", 1);
  if (p->trans_b)
    axon_node_set_int (n, "transB", 1);
  return n;
}

gsize
product_channel (const Product *p, const AxonShape *y, gsize i)
{
  gsize inner = 1;
  if (!g_str_has_prefix (p->op, "Conv"))
    return n_channels (p) == 1 ? 0 : i % (gsize)n_channels (p);
  for (gint d = 2; d < y->rank; d++)
    inner *= (gsize)y->dims[d];
  return i / inner % (gsize)y->dims[1];
}

static AxonTensor *
centred (const Product *p, AxonTensor *t, const AxonTensor *zero)
{
  AxonTensor *out = axon_tensor_new (AXON_DTYPE_F64, axon_tensor_get_shape (t), NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    set (out, i, axon_tensor_get_value (t, i) - value_of (zero, i / (gsize)inner_of (p)));
  return out;
}

AxonTensor *
product_sums (const Product *p, const Quantised *q)
{
  g_autoptr (AxonTensor) x = centred (p, q->t[X], q->t[X_ZERO]);
  g_autoptr (AxonTensor) w = centred (p, q->t[W], q->t[W_ZERO]);
  TestModel t = test_model_new (13);
  AxonValue *in[] = { test_model_input (&t, "x", AXON_DTYPE_F64, &p->x),
                      axon_model_add_constant (t.model, NULL, w) };
  g_autoptr (AxonModel) model =
      test_model_finish (&t, product_node (&t, p, NULL, p->op, in, 2)->outputs[0]);
  return test_run (model, "TEMPLATE", g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <'YES'>}"),
                   x);
}

static gdouble
quantised_bound (const Quantised *q, gfloat bound)
{
  return rint ((gdouble)(bound / (gfloat)value_of (q->t[Y_SCALE], 0))) + value_of (q->t[Y_ZERO], 0);
}

AxonTensor *
product_expected (const Product *p, const Quantised *q, const AxonTensor *sums, const Clamp *clamp)
{
  const AxonShape *shape = axon_tensor_get_shape (sums);
  AxonTensor *y = axon_tensor_new (axon_tensor_get_dtype (q->t[Y_ZERO]), shape, NULL);
  gdouble zero = value_of (q->t[Y_ZERO], 0), low = lowest (axon_tensor_get_dtype (y)),
          high = low + 255;
  if (clamp != NULL && clamp->op != NULL) {
    low = CLAMP (quantised_bound (q, clamp->lo), low, high);
    high = CLAMP (quantised_bound (q, clamp->hi), low, high);
  }
  for (gsize i = 0; i < axon_tensor_get_numel (y); i++) {
    gsize c = product_channel (p, shape, i);
    gfloat scale = (gfloat)value_of (q->t[X_SCALE], 0) * (gfloat)value_of (q->t[W_SCALE], c) /
                   (gfloat)value_of (q->t[Y_SCALE], 0);
    gdouble sum = axon_tensor_get_value (sums, i) + (q->t[BIAS] ? value_of (q->t[BIAS], c) : 0);
    gdouble v = rint ((gdouble)((gfloat)sum * scale)) + zero;
    set (y, i, CLAMP (v, low, high));
  }
  return y;
}

static void
report (const AxonTensor *expected, const AxonTensor *got, const gchar *device, gdouble units,
        const gchar *what)
{
  gsize wrong = 0, first = 0;
  gdouble largest = 0;
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (expected), axon_tensor_get_shape (got)));
  g_assert_cmpint (axon_tensor_get_dtype (expected), ==, axon_tensor_get_dtype (got));
  for (gsize i = 0; i < axon_tensor_get_numel (expected); i++) {
    gdouble a = axon_tensor_get_value (expected, i), b = axon_tensor_get_value (got, i);
    if (a == b || fabs (a - b) <= units)
      continue;
    first = wrong++ ? first : i;
    largest = fmax (largest, fabs (a - b));
  }
  if (wrong == 0)
    return;
  g_test_message ("%s on %s: %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT
                  " differ, by up to %g; element %" G_GSIZE_FORMAT ": expected %.10g, got %.10g",
                  what, device, wrong, axon_tensor_get_numel (expected), largest, first,
                  axon_tensor_get_value (expected, first), axon_tensor_get_value (got, first));
  g_test_fail ();
}

static AxonTensor *
run_on (AxonModel *model, const gchar *device, AxonTensor *const *inputs, guint n_inputs,
        const gchar *what)
{
  GVariant *plain = g_str_equal (device, "TEMPLATE")
                        ? g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <'YES'>}")
                        : NULL;
  g_autoptr (GError) error = NULL;
  AxonTensor *y = test_try_run_all (model, device, plain, inputs, n_inputs, &error);
  if (y == NULL) {
    g_test_message ("%s on %s: %s", what, device, error->message);
    g_test_fail ();
  }
  return y;
}

void
quantised_check (AxonModel *model, const gchar *device, AxonTensor *const *inputs, guint n_inputs,
                 const AxonTensor *expected, gdouble units, const gchar *what)
{
  g_autoptr (AxonTensor) got = run_on (model, device, inputs, n_inputs, what);
  if (got != NULL)
    report (expected, got, device, units, what);
}

void
quantised_compare (AxonModel *model, AxonTensor *const *inputs, guint n_inputs, gdouble units,
                   const gchar *what)
{
  g_autoptr (AxonTensor) expected = run_on (model, "TEMPLATE", inputs, n_inputs, what);
  if (expected != NULL)
    quantised_check (model, test_device (), inputs, n_inputs, expected, units, what);
}
