/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What passes make of chains of nodes, and of variants of these: a value that somebody else uses,
 * a constant that is an input, one number, or a vector of one. What becomes of them now differs
 * from becomes.txt where somebody has looked at it, only. */
#include "nodes.h"

#include <axon/plugin/axonpass.h>
#include <math.h>
#include <string.h>

/* Graph inputs, then nodes: "%": what the node before gives, "%0": the first of the values, which
 * are inputs and then each node's outputs; "Split:2" has two; attributes behind "|". */
static const gchar *const chains[] = {
  /* into the convolution before */
  "f32[1,3,4,4] > Conv % f32[4,3,3,3] | pads=1,1,1,1 > BatchNormalization % f32[4] f32[4] f32[4] "
  "f32[4] > Relu %",
  "f32[1,4,3] > Conv % f32[6,2,1] f32[6] | group=2 > Mul % f32[6,1] > Add f32[1,6,1] %",
  "f32[1,4,3] > Conv % f32[6,2,1] | group=2 > Mul % f32[1,6,1] > Add % f32[1,1,3]",
  "f32[1,4,3] > ConvTranspose % f32[4,3,2] f32[6] | group=2 > BatchNormalization % f32[6] f32[6] "
  "f32[6] f32[6] | epsilon=.5 > Mul % f32[]=2",
  "f32[1,2,2] > ConvTranspose % f32[2,3,2] > Add % f32[3,1] > Mul % f32[1,3,1] > Mul % f32[1,1,3]",
  "f32[1,2,2] > Conv % f32[2,2,1] > BatchNormalization % f32[2] f32[2] f32[2] f32[2] | "
  "training_mode=1",
  "f16[1,2,2] > Conv % f16[2,2,1] > Mul % f16[2,1]",
  "f32[1,2,2] > Conv % f32[2,2,1] > Sub % f32[2,1] > Add % %",
  /* nothing, and what is known */
  "f32[2,3] > Identity % > Relu % > Dropout % > Cast % | to=1 > Transpose % | perm=0,1 > Reshape % "
  "i64[2]=2,3 > Neg %",
  "f32[2,3] > Relu % > Transpose % | perm=1,0 > Cast % | to=11 > Reshape % i64[2]=2,3 > Concat % | "
  "axis=0 > Sum % > Flatten %",
  "f32[2,3] > Neg % > Dropout:2 % - bool[]=1 > Dropout % - bool[]=0 > Squeeze % > Identity %",
  "f32[2,3] > Add f32[3] f32[2,3] > Mul % %0 > Shape % > Gather % i64[1]=1 > Concat % i64[1]=2 | "
  "axis=0 > Reshape %0 %",
  "f32[2,3] > Sum % > Concat % | axis=1 > Sum % %0",
  /* quantised */
  "i8[1,2,4] > DequantizeLinear % f32[]=.5 i8[]=3 > DequantizeLinear i8[3,2,1]=1,-2,3,4,5,-6 "
  "f32[3]=.5,.25,1 i8[3]=0,0,0 | axis=0 > Conv %1 % f32[3]=1,2,-4 > Relu % > QuantizeLinear % "
  "f32[]=2 i8[]=-3",
  "u8[1,2,4] > DequantizeLinear % f32[]=.5 > DequantizeLinear i8[2,2,1]=1,-2,3,4 f32[]=.25 > "
  "DequantizeLinear i32[2]=8,-16 f32[]=.125 > Conv %1 %2 % > Clip % f32[]=-1 f32[]=3 > "
  "QuantizeLinear % f32[]=.5 u8[]=100",
  "u8[1,2,4] > DequantizeLinear % f32[]=.5 u8[]=7 > DequantizeLinear i8[2,3,2]=1,-2,3,4,5,-6,7,8,9 "
  "f32[3]=.5,.25,1 | axis=1 > ConvTranspose %1 % > QuantizeLinear % f32[]=2 u8[]=9",
  "u8[1,4,2] > DequantizeLinear % f32[]=.5 u8[]=7 > DequantizeLinear i8[4,1,2]=1,-2,3,4,5,-6,7,8 "
  "f32[1]=.5 | axis=1 > ConvTranspose %1 % f32[2]=4,8 | group=2 > QuantizeLinear % f32[]=2 u8[]=9",
  "i8[2,3] > DequantizeLinear % f32[]=.5 > DequantizeLinear i8[3,2]=1,2,-3,4,5,-6 f32[2]=.5,2 | "
  "axis=-1 > MatMul %1 % > QuantizeLinear % f32[]=4 i8[]=1",
  "u8[2,3] u8[3,2] > DequantizeLinear %0 f32[]=.5 u8[]=2 > DequantizeLinear %1 f32[]=2 u8[]=3 > "
  "MatMul %2 % > Relu % > QuantizeLinear % f32[]=4 u8[]=1",
  "u8[2,3] > DequantizeLinear % f32[]=.5 u8[]=2 > DequantizeLinear i8[2,3]=1,2,-3,4,5,-6 "
  "f32[2]=.5,2 | axis=0 > Gemm %1 % f32[2]=1,-2 | transB=1 alpha=2 beta=.5 > QuantizeLinear % "
  "f32[]=4 u8[]=9",
  "u8[2,3] > DequantizeLinear % f32[]=.5 u8[]=2 > DequantizeLinear i8[3,2]=1,2,-3,4,5,-6 f32[]=.5 "
  "> "
  "Gemm %1 % f32[2,1]=1,-2 | transA=0 alpha=-1 > QuantizeLinear % f32[]=4 u8[]=9",
  "u8[2,3] u8[3] > DequantizeLinear %0 f32[]=.5 u8[]=2 > DequantizeLinear %1 f32[]=2 u8[]=3 > "
  "Add %2 % > Relu % > QuantizeLinear % f32[]=.5 u8[]=9",
  "u8[2,3] i8[3] > DequantizeLinear %0 f32[]=.5 u8[]=2 > DequantizeLinear %1 f32[]=2 > Add %2 % > "
  "QuantizeLinear % f32[]=.5 u8[]=9",
  "u8[2,3] u8[2,1] u8[2,2] > DequantizeLinear %0 f32[]=.5 u8[]=2 > DequantizeLinear %1 f32[]=2 > "
  "DequantizeLinear %2 f32[]=.5 u8[]=2 > Concat %3 %4 % | axis=1 > QuantizeLinear % f32[]=.5 "
  "u8[]=9",
  "f32[2,2] > DequantizeLinear u8[2,2]=1,2,3,4 f32[]=.5 u8[]=2 > MatMul %0 % > QuantizeLinear % "
  "f32[]=.5 > DequantizeLinear % f32[]=.5",
  /* dynamically quantised */
  "f32[2,3] > DynamicQuantizeLinear:3 % > MatMulInteger %1 u8[3,2]=1,2,3,4,5,6 %3 u8[]=2 > Mul %2 "
  "f32[2]=.5,2 > Cast %4 | to=1 > Mul % %5 > Add % f32[2]=1,2",
  "f32[1,3,2] > DynamicQuantizeLinear:3 % > ConvInteger %1 u8[2,3,1]=1,2,3,4,5,6 %3 u8[2]=2,1 > "
  "Mul "
  "f32[2,1]=.5,2 %2 > Cast %4 | to=1 > Mul %5 % > Add f32[1,2,1]=1,2 %",
  "u8[1,3,2] > ConvInteger % u8[2,3,1]=1,2,3,4,5,6 > Cast % | to=1 > Mul % f32[]=.5",
  "u8[3,2] > MatMulInteger % u8[2,3]=1,2,3,4,5,6 u8[3]=1,2,3 > Cast % | to=1 > Mul % f32[3]=1,2,4 "
  "> "
  "Add % f32[3,1]=1,2,3",
  "u8[3,2] > MatMulInteger % u8[2,3]=1,2,3,4,5,6 > Cast % | to=11 > Mul % f64[]=2",
  /* written out by models of older operator sets */
  "f32[2,3] > ReduceMean % | axes=-1 > Sub %0 % > Pow % f32[]=2 > ReduceMean % | axes=-1 > Add % "
  "f32[]=.5 > Sqrt % > Div %2 % > Mul % f32[3] > Add % f32[3]",
  "f32[2,3,2] > ReduceMean % | axes=1,2 > Sub %0 % > Sub %0 %1 > Mul % % > ReduceMean % | "
  "axes=2,-2 "
  "> Add f32[1]=.5 % > Sqrt % > Reciprocal % > Mul % %2 > Mul f32[1,3,2] % > Add f32[3,2] %",
  "f32[2,3] > Mul % % > ReduceMean % | axes=1 > Add % f32[]=.5 > Sqrt % > Div %0 % > Mul % f32[3]",
  "f32[2,3] > ReduceMean % | axes=0 > Sub %0 % > Pow % f32[]=2 > ReduceMean % | axes=1 > Add % "
  "f32[]=.5 > Sqrt % > Div %2 %",
  "f32[2,3] > ReduceMean % | axes=1 > Sub %0 % > Pow % f32[1,1]=2 > ReduceMean % | axes=1 > Add % "
  "f32[1,1,1]=.5 > Sqrt % > Div %2 %",
  "f32[5] > Div % f32[]=1.4142135 > Erf % > Add % f32[]=1 > Mul %0 % > Mul % f32[]=.5",
  "f32[5] > Mul % f32[]=.5 > Mul %0 f32[]=.70710678 > Erf % > Add f32[]=1 % > Mul %1 %",
  "f32[5] > Pow % f32[]=3 > Mul % f32[]=.044715 > Add %0 % > Mul % f32[]=.7978846 > Tanh % > Add % "
  "f32[]=1 > Mul % f32[]=.5 > Mul %0 %",
  "f32[5] > Mul % % > Mul % %0 > Mul f32[]=.044715 % > Add % %0 > Div % f32[]=1.2533141 > Tanh % > "
  "Add f32[]=1 % > Mul f32[]=.5 %0 > Mul % %7",
};

static gboolean
run_common (AxonModel *model, GError **error)
{
  return axon_passes_run_common (model, NULL, error);
}

static const AxonPass passes[] = {
  { "common", run_common },
  { "contrib", axon_pass_expand_contrib },
  { "constants", axon_pass_fold_constants },
  { "identity", axon_pass_remove_identity },
  { "norm", axon_pass_fold_batch_norm },
  { "dead", axon_pass_remove_dead_code },
  { "attention", axon_pass_expand_attention },
  { "expanded", axon_pass_expand_quantized },
  { "dequantized", axon_pass_fold_dequantized },
  { "convolutions", axon_pass_fuse_quantized_convolutions },
  { "products", axon_pass_fuse_quantized_products },
  { "sums", axon_pass_fuse_quantized_sums },
  { "dynamic", axon_pass_fuse_dynamic_quantization },
  { "normalization", axon_pass_fuse_normalization },
  { "gelu", axon_pass_fuse_gelu },
};

/* Which constant or value is another, counted from the beginning; -1: none. */
typedef struct {
  gint open, number, vector; /* constants */
  gint used;                 /* values */
} Variant;

typedef struct {
  TestModel t;
  Variant v;
  GPtrArray *values, *inputs; /* of the graph */
  gint n_constants;
  AxonValue *last;
} Chain;

static AxonValue *
add_constant (Chain *c, const gchar *text)
{
  g_auto (NodeTensor) t = { 0 };
  gint at = c->n_constants++;
  g_autofree gchar *name = g_strdup_printf ("c%d", at);
  node_tensor_parse (text, &t);
  if (!t.has_values)
    node_fill (t.tensor);
  if (at == c->v.number || at == c->v.vector) {
    AxonShape shape = { .rank = at == c->v.vector, .dims = { 1 } };
    AxonTensor *one = axon_tensor_new (t.dtype, &shape, NULL);
    axon_dtype_store (t.dtype, axon_tensor_get_data (one), 0, axon_tensor_get_value (t.tensor, 0));
    axon_tensor_unref (t.tensor);
    t.tensor = one;
    t.shape = shape;
  }
  if (at != c->v.open)
    return axon_model_add_constant (c->t.model, name, t.tensor);
  g_ptr_array_add (c->inputs, axon_tensor_ref (t.tensor));
  return test_model_input (&c->t, name, t.dtype, &t.shape);
}

static AxonValue *
find_operand (Chain *c, const gchar *text)
{
  if (g_str_equal (text, "-"))
    return NULL;
  if (g_str_equal (text, "%"))
    return c->last;
  if (*text == '%')
    return c->values->pdata[g_ascii_strtoull (text + 1, NULL, 10)];
  return add_constant (c, text);
}

static void
add_inputs (Chain *c, const gchar *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  for (guint i = 0; words[i] != NULL; i++) {
    g_autofree gchar *name = g_strdup_printf ("x%u", i);
    g_auto (NodeTensor) t = { 0 };
    node_tensor_parse (words[i], &t);
    node_fill (t.tensor);
    g_ptr_array_add (c->values, test_model_input (&c->t, name, t.dtype, &t.shape));
    g_ptr_array_add (c->inputs, g_steal_pointer (&t.tensor));
  }
  c->last = c->values->pdata[0];
}

static void
add_node (Chain *c, const gchar *text)
{
  g_auto (GStrv) halves = g_strsplit (text, " | ", 2), words = g_strsplit (halves[0], " ", -1);
  g_auto (GStrv) name = g_strsplit (words[0], ":", 2);
  g_auto (GStrv) attrs = g_strsplit (halves[1] ? halves[1] : "", " ", -1);
  AxonValue *in[8] = { NULL }, *out[4] = { NULL };
  guint n = g_strv_length (words) - 1;
  guint n_out = name[1] ? (guint)g_ascii_strtoull (name[1], NULL, 10) : 1;
  AxonNode *node;
  for (guint i = 0; i < n; i++)
    in[i] = find_operand (c, words[i + 1]);
  for (guint i = 0; i < n_out; i++)
    out[i] = axon_model_add_value (c->t.model, NULL);
  node = axon_model_add_node (c->t.model, axon_builtin_op (NULL, name[0], c->t.opset), c->t.opset,
                              NULL, in, n, out, n_out);
  for (guint i = 0; attrs[i] != NULL && *attrs[i] != '\0'; i++)
    node_set_attr (node, attrs[i]);
  for (guint i = 0; i < n_out; i++)
    g_ptr_array_add (c->values, out[i]);
  c->last = out[0];
}

/* How many constants and values there are is told. */
static AxonModel *
build (const gchar *text, Variant v, GPtrArray *inputs, gint *n_constants, gint *n_values)
{
  g_auto (GStrv) parts = g_strsplit (text, " > ", -1);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  Chain c = { test_model_new (13), v, values, inputs, 0, NULL };
  add_inputs (&c, parts[0]);
  for (guint i = 1; parts[i] != NULL; i++)
    add_node (&c, parts[i]);
  axon_model_add_output (c.t.model, c.last);
  if (v.used >= 0 && values->pdata[v.used] != c.last)
    axon_model_add_output (c.t.model, values->pdata[v.used]);
  *n_constants = c.n_constants;
  *n_values = (gint)values->len;
  return c.t.model;
}

static gchar *
list_ops (const AxonModel *model)
{
  GString *text = g_string_new (NULL);
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = model->nodes->pdata[i];
    g_string_append_printf (text, " %s/%u", node->op->name, node->n_inputs);
  }
  return g_string_free (text, FALSE);
}

static void
append_sum (GString *text, AxonModel *model, const GPtrArray *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) y =
      test_try_run_all (model, "TEMPLATE", NULL, (AxonTensor **)inputs->pdata, inputs->len, &error);
  gdouble sum = 0;
  for (gsize i = 0; y != NULL && i < axon_tensor_get_numel (y); i++)
    sum += axon_tensor_get_value (y, i) * (gdouble)(1 + i % 7);
  if (y != NULL)
    g_string_append_printf (text, " = %.4g\n", sum);
  else
    g_string_append_printf (text, " ! %.50s\n", error->message);
}

static guint
hash_and_free (gchar *text)
{
  guint hash = g_str_hash (text);
  g_free (text);
  return hash;
}

/* Numbers for what is said of it, and for what a file of it is read as. */
static void
append_model (GString *text, AxonModel *model)
{
  g_autoptr (GVariant) nodes = g_variant_ref_sink (axon_model_dup_nodes (model));
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
      axon_core_write_model_to_bytes (core, model, AXON_WRITE_DEFAULT, &error);
  g_autoptr (AxonModel) back =
      bytes ? axon_core_read_model_from_bytes (core, bytes, NULL, &error) : NULL;
  g_string_append_printf (text, "  %08x, drawn %08x, nodes %08x, %g operations, %.0f bytes",
                          hash_and_free (axon_model_to_text (model)),
                          hash_and_free (axon_model_to_dot (model)),
                          hash_and_free (g_variant_print (nodes, FALSE)),
                          axon_model_get_flops (model), (gdouble)axon_model_get_memory (model));
  if (back != NULL)
    g_string_append_printf (text, ", file of %" G_GSIZE_FORMAT " is %08x\n",
                            g_bytes_get_size (bytes), hash_and_free (axon_model_to_text (back)));
  else
    g_string_append_printf (text, " ! %.60s\n", error->message);
}

/* What each pass that changes something makes of it. */
static void
describe_passes (GString *text, AxonModel *model, const GPtrArray *inputs)
{
  g_autofree gchar *before = list_ops (model);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++) {
    g_autoptr (AxonModel) clone = axon_model_clone (model);
    g_autoptr (GError) error = NULL;
    g_autofree gchar *after = NULL;
    if (!axon_passes_run (clone, &passes[i], 1, NULL, &error)) {
      g_string_append_printf (text, "  %s ! %s\n", passes[i].name, error->message);
      continue;
    }
    after = list_ops (clone);
    if (g_str_equal (before, after))
      continue;
    g_string_append_printf (text, "  %s:%s", passes[i].name, after);
    append_sum (text, clone, inputs);
  }
}

static void
describe (GString *text, const gchar *chain, const gchar *label, Variant v, gint *n_constants,
          gint *n_values)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (AxonModel) model = build (chain, v, inputs, n_constants, n_values);
  g_autoptr (GError) error = NULL;
  g_string_append_printf (text, " %s", label);
  if (!axon_model_sort (model, &error) || !axon_model_infer_shapes (model, &error)) {
    g_string_append_printf (text, " ! %.50s\n", error->message);
    return;
  }
  append_sum (text, model, inputs);
  append_model (text, model);
  describe_passes (text, model, inputs);
}

/* A row of the tables of single nodes, where all its inputs are known. */
static void
describe_row (GString *text, const NodeCase *c)
{
  g_auto (GStrv) outputs = g_strsplit (c->says, " ", -1);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  g_autoptr (GString) said = g_string_new (NULL);
  AxonNode *node;
  g_autoptr (AxonModel) model = node_case_build (c, g_strv_length (outputs), FALSE, inputs, &node);
  if (inputs->len < axon_model_get_n_inputs (model) || !axon_model_infer_shapes (model, NULL))
    return;
  for (guint i = 0; i < inputs->len; i++)
    if (axon_tensor_get_numel (inputs->pdata[i]) > 0 &&
        axon_tensor_get_value (inputs->pdata[i], 0) == 0)
      node_fill (inputs->pdata[i]);
  append_model (said, model);
  describe_passes (said, model, inputs);
  g_string_append_printf (text, "%s %s\n%s", c->op, c->attrs, said->str);
}

static void
describe_around (GString *text, const gchar *chain)
{
  const Variant none = { -1, -1, -1, -1 };
  gint n_constants, n_values, ignored;
  g_string_append_printf (text, "%s\n", chain);
  describe (text, chain, "itself", none, &n_constants, &n_values);
  for (gint i = 0; i < n_constants; i++) {
    Variant v = none;
    v.open = i;
    describe (text, chain, "open", v, &ignored, &ignored);
    v = none;
    v.number = i;
    describe (text, chain, "number", v, &ignored, &ignored);
    v = none;
    v.vector = i;
    describe (text, chain, "vector", v, &ignored, &ignored);
  }
  for (gint i = 0; i < n_values; i++) {
    Variant v = none;
    v.used = i;
    describe (text, chain, "used", v, &ignored, &ignored);
  }
}

static void
chains_become_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    describe_around (text, chains[i]);
  for (guint i = 0; i < n_result_cases; i++)
    describe_row (text, &result_cases[i]);
  for (guint i = 0; i < n_move_cases; i++)
    describe_row (text, &move_cases[i]);
  for (guint i = 0; i < n_number_cases; i++)
    describe_row (text, &number_cases[i]);
  test_assert_approved ("ops/becomes.txt", text->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/becomes/chains_become_what_somebody_has_looked_at",
                   chains_become_what_somebody_has_looked_at);
  return g_test_run ();
}
