/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each elementwise operator is in OpenCL C. */
#include "gpuelement.h"

#include <math.h>
#include <string.h>

/* $a, $b: the first two float attributes. NULL: not for such numbers. */
static const struct {
  const gchar *name, *real, *whole;
} rows[] = {
  { "Abs", "fabs($0)", "$0 < 0 ? -$0 : $0" },
  { "Acos", "acos($0)", NULL },
  { "Acosh", "acosh($0)", NULL },
  { "Asin", "asin($0)", NULL },
  { "Asinh", "asinh($0)", NULL },
  { "Atan", "atan($0)", NULL },
  { "Atanh", "atanh($0)", NULL },
  { "Ceil", "ceil($0)", NULL },
  { "Celu", "$0 < 0 ? $a * expm1($0 / $a) : $0", NULL },
  { "Cos", "cos($0)", NULL },
  { "Cosh", "cosh($0)", NULL },
  { "Elu", "$0 < 0 ? $a * (exp($0) - {1}) : $0", NULL },
  { "Erf", "erf($0)", NULL },
  { "Exp", "exp($0)", NULL },
  { "Floor", "floor($0)", NULL },
  { "HardSigmoid", "fmax({0}, fmin({1}, $a * $0 + $b))", NULL },
  { "HardSwish", "$0 * fmax({0}, fmin({1}, $0 / {6} + {0.5}))", NULL },
  { "IsNaN", "isnan($0) ? 1 : 0", NULL },
  { "LeakyRelu", "$0 < 0 ? $a * $0 : $0", NULL },
  { "Log", "log($0)", NULL },
  { "Mish", "$0 * tanh(log1p(exp(-fabs($0))) + fmax($0, {0}))", NULL },
  { "Neg", "-$0", "-$0" },
  { "Not", NULL, "!$0" },
  { "Reciprocal", "{1} / $0", NULL },
  { "Relu", "$0 < 0 ? {0} : $0", "$0 < 0 ? 0 : $0" },
  { "Round", "rint($0)", NULL },
  { "Selu", "$0 > 0 ? $b * $0 : $b * ($a * exp($0) - $a)", NULL },
  { "Shrink", "$0 < -$a ? $0 + $b : $0 > $a ? $0 - $b : {0}", NULL },
  { "Sigmoid", "{1} / ({1} + exp(-$0))", NULL },
  { "Sign", "$0 > 0 ? {1} : $0 < 0 ? {-1} : {0}", "$0 > 0 ? 1 : $0 < 0 ? -1 : 0" },
  { "Sin", "sin($0)", NULL },
  { "Sinh", "sinh($0)", NULL },
  { "Softplus", "log1p(exp(-fabs($0))) + fmax($0, {0})", NULL },
  { "Softsign", "$0 / ({1} + fabs($0))", NULL },
  { "Sqrt", "sqrt($0)", NULL },
  { "Swish", "$0 / ({1} + exp(-$a * $0))", NULL },
  { "Tan", "tan($0)", NULL },
  { "Tanh", "tanh($0)", NULL },
  { "ThresholdedRelu", "$0 > $a ? $0 : {0}", NULL },
  { "BitwiseNot", NULL, "~$0" },
  { "Add", "$0 + $1", "$0 + $1" },
  { "Sub", "$0 - $1", "$0 - $1" },
  { "Mul", "$0 * $1", "$0 * $1" },
  { "Div", "$0 / $1", "$1 == 0 ? 0 : $1 == ($T)-1 && ($T)-1 < 0 ? -$0 : $0 / $1" },
  { "Sum", "$0 + $1", NULL },
  { "Mean", "$0 + $1", NULL },
  { "Max", "LARGER($0, $1)", "max($0, $1)" },
  { "Min", "SMALLER($0, $1)", "min($0, $1)" },
  { "PRelu", "$0 < 0 ? $1 * $0 : $0", "$0 < 0 ? $1 * $0 : $0" },
  { "And", NULL, "$0 && $1" },
  { "Or", NULL, "$0 || $1" },
  { "Xor", NULL, "!$0 != !$1" },
  { "BitwiseAnd", NULL, "$0 & $1" },
  { "BitwiseOr", NULL, "$0 | $1" },
  { "BitwiseXor", NULL, "$0 ^ $1" },
  { "Equal", "$0 == $1", "$0 == $1" },
  { "Greater", "$0 > $1", "$0 > $1" },
  { "GreaterOrEqual", "$0 >= $1", "$0 >= $1" },
  { "Less", "$0 < $1", "$0 < $1" },
  { "LessOrEqual", "$0 <= $1", "$0 <= $1" },
};

static AxonDType
dtype_of (const AxonNode *node, guint index)
{
  const AxonValue *value = axon_node_get_input (node, index);
  return value ? value->type.dtype : AXON_DTYPE_UNDEFINED;
}

static gchar *
text_clip (const AxonNode *node)
{
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    return g_strdup_printf ("UPPER(LOWER($0, {%.17g}), {%.17g})", axon_node_get_float (node, "min"),
                            axon_node_get_float (node, "max"));
  if (axon_node_get_input (node, 1) != NULL)
    return g_strdup (axon_node_get_input (node, 2) ? "UPPER(LOWER($0, $1), $2)" : "LOWER($0, $1)");
  return g_strdup (axon_node_get_input (node, 2) ? "UPPER($0, $2)" : "$0");
}

static gchar *
text_gelu (const AxonNode *node)
{
  return g_strdup (
      g_str_equal (axon_node_get_string (node, "approximate"), "tanh")
          ? "{0.5} * $0 * ({1} + tanh({0.79788456080286535588} * ($0 + {0.044715} * $0 * $0 * $0)))"
          : "{0.5} * $0 * ({1} + erf($0 * {0.70710678118654752440}))");
}

static gchar *
text_where (G_GNUC_UNUSED const AxonNode *node)
{
  return g_strdup ("$0 ? $1 : $2");
}

static gchar *
text_pow (const AxonNode *node)
{
  gboolean real = axon_dtype_is_float (dtype_of (node, 0));
  if (real)
    return g_strdup ("pow($0, ($T)$1)");
  return g_strdup (axon_dtype_is_float (dtype_of (node, 1))
                       ? "convert_$T_sat(rint(pow((float)$0, (float)$1)))"
                       : "convert_$T_sat(whole_power($0, $1))");
}

static gchar *
text_mod (const AxonNode *node)
{
  gboolean c_sign = axon_node_get_int (node, "fmod") != 0;
  if (axon_dtype_is_float (dtype_of (node, 0)))
    return g_strdup (c_sign ? "fmod($0, $1)" : "REAL_MOD($0, $1)");
  return g_strdup (c_sign ? "$1 == 0 ? 0 : $0 % $1" : "WHOLE_MOD($0, $1)");
}

static gchar *
text_shift (const AxonNode *node)
{
  gboolean left = g_str_equal (axon_node_get_string (node, "direction"), "LEFT");
  return g_strdup (left ? "$1 >= 8 * sizeof($T) ? 0 : $0 << $1"
                        : "$1 >= 8 * sizeof($T) ? 0 : $0 >> $1");
}

static gchar *
text_is_inf (const AxonNode *node)
{
  gboolean positive = axon_node_get_int (node, "detect_positive") != 0;
  gboolean negative = axon_node_get_int (node, "detect_negative") != 0;
  return g_strdup_printf ("isinf($0) && ($0 > 0 ? %d : %d)", positive, negative);
}

/* From real to whole numbers towards zero and saturating; between whole ones the bits are cut. */
static gchar *
text_cast (const AxonNode *node)
{
  AxonDType from = dtype_of (node, 0), to = node->outputs[0]->type.dtype;
  if (to == AXON_DTYPE_BOOL)
    return g_strdup ("$0 != 0");
  if (axon_dtype_is_float (from) && !axon_dtype_is_float (to))
    return g_strdup ("convert_$T_sat($0)");
  return g_strdup ("($T)$0");
}

static gboolean
is_blocked (const AxonNode *node)
{
  return axon_node_find_attr (node, "block_size") != NULL &&
         axon_node_get_int (node, "block_size") != 0;
}

static gchar *
text_quantize (const AxonNode *node)
{
  if (is_blocked (node) || axon_dtype_is_float (node->outputs[0]->type.dtype) ||
      !axon_dtype_is_float (dtype_of (node, 0)))
    return NULL;
  return g_strdup (axon_node_get_input (node, 2) ? "convert_$T_sat(rint($0 / $1) + (float)$2)"
                                                 : "convert_$T_sat(rint($0 / $1))");
}

static gchar *
text_dequantize (const AxonNode *node)
{
  if (is_blocked (node) || axon_dtype_is_float (dtype_of (node, 0)))
    return NULL;
  return g_strdup (axon_node_get_input (node, 2) ? "($T)((int)$0 - (int)$2) * $1" : "($T)$0 * $1");
}

static gchar *
text_batch_norm (const AxonNode *node)
{
  for (guint i = 1; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      return NULL;
  if (axon_node_has_form (node, AXON_FORM_TEST_MODE)
          ? axon_node_get_int (node, "is_test") == 0
          : axon_node_get_int (node, "training_mode") != 0)
    return NULL;
  return g_strdup_printf ("($0 - $3) / sqrt($4 + {%.17g}) * $1 + $2",
                          axon_node_get_float (node, "epsilon"));
}

static const struct {
  const gchar *name;
  gchar *(*text) (const AxonNode *node);
} special[] = {
  { "Clip", text_clip },
  { "Gelu", text_gelu },
  { "Where", text_where },
  { "Pow", text_pow },
  { "Mod", text_mod },
  { "BitShift", text_shift },
  { "IsInf", text_is_inf },
  { "Cast", text_cast },
  { "CastLike", text_cast },
  { "QuantizeLinear", text_quantize },
  { "DequantizeLinear", text_dequantize },
  { "BatchNormalization", text_batch_norm },
};

/* Folds a text of two over all inputs: ((x0 + x1) + x2), and Mean's division. */
static gchar *
fold (const AxonNode *node, const gchar *text)
{
  GString *all = g_string_new ("$0");
  for (guint i = 1; i < node->n_inputs; i++) {
    GString *next = g_string_new (text);
    g_autofree gchar *left = g_strdup_printf ("(%s)", all->str);
    g_autofree gchar *right = g_strdup_printf ("$%u", i);
    g_string_replace (next, "$1", "\x01", 0);
    g_string_replace (next, "$0", left, 0);
    g_string_replace (next, "\x01", right, 0);
    g_string_free (all, TRUE);
    all = next;
  }
  if (g_str_equal (node->op->name, "Mean")) {
    g_string_prepend (all, "(");
    g_string_append_printf (all, ") / {%u}", node->n_inputs);
  }
  return g_string_free (all, FALSE);
}

static void
replace_attrs (const AxonNode *node, GString *text)
{
  static const gchar *const marks[] = { "$a", "$b" };
  const AxonAttrSpec *spec = node->op->attrs;
  for (guint i = 0; i < 2 && spec != NULL && spec[i].name != NULL; i++) {
    g_autofree gchar *number = NULL;
    if (spec[i].type != AXON_ATTR_FLOAT)
      return;
    number = g_strdup_printf ("{%.17g}", axon_node_get_float (node, spec[i].name));
    g_string_replace (text, marks[i], number, 0);
  }
}

/* {0.5} is 0.5f where the result is float. */
static void
replace_numbers (GString *text, const gchar *computed)
{
  gboolean single = g_str_equal (computed, "float");
  for (gchar *at = strchr (text->str, '{'); at != NULL; at = strchr (text->str, '{')) {
    gsize start = (gsize)(at - text->str), length = strcspn (at, "}");
    gdouble value = g_ascii_strtod (at + 1, NULL);
    g_autofree gchar *number = NULL;
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd (digits, sizeof digits, single ? "%.9g" : "%.17g", value);
    number = !isfinite (value)
                 ? g_strdup (isnan (value) ? "NAN"
                             : value > 0   ? "INFINITY"
                                           : "(-INFINITY)")
                 : g_strdup_printf ("(%s%s%s)", digits, strpbrk (digits, ".e") ? "" : ".0",
                                    single ? "f" : "");
    g_string_erase (text, (gssize)start, (gssize)length + 1);
    g_string_insert (text, (gssize)start, number);
  }
}

static gchar *
find_text (const AxonNode *node)
{
  gboolean real = axon_dtype_is_float (dtype_of (node, 0));
  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    if (g_str_equal (special[i].name, node->op->name))
      return special[i].text (node);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].name, node->op->name)) {
      const gchar *text = real ? rows[i].real : rows[i].whole;
      return text == NULL                            ? NULL
             : node->op->inputs.max == AXON_VARIADIC ? fold (node, text)
                                                     : g_strdup (text);
    }
  return NULL;
}

gchar *
gpu_element_text (const AxonNode *node)
{
  g_autofree gchar *found =
      node->n_inputs > 0 && node->op->domain == NULL ? find_text (node) : NULL;
  const gchar *computed = gpu_type_computed (node->outputs[0]->type.dtype);
  GString *text;
  if (found == NULL || computed == NULL)
    return NULL;
  text = g_string_new (found);
  replace_attrs (node, text);
  replace_numbers (text, computed);
  g_string_replace (text, "$T", computed, 0);
  return g_string_free (text, FALSE);
}

gint
gpu_element_axis (const AxonNode *node, guint index)
{
  gboolean quantised = g_str_has_suffix (node->op->name, "quantizeLinear") ||
                       g_str_equal (node->op->name, "QuantizeLinear");
  gint rank = node->outputs[0]->type.shape.rank;
  gint axis;
  if (index == 0)
    return -1;
  if (g_str_equal (node->op->name, "BatchNormalization") ||
      (g_str_equal (node->op->name, "PRelu") &&
       axon_node_has_form (node, AXON_FORM_CHANNEL_SLOPES)))
    return rank > 1 && axon_shape_get_numel (&node->inputs[index]->type.shape) > 1 ? 1 : -1;
  if (axon_node_find_attr (node, "broadcast") != NULL &&
      axon_node_find_attr (node, "axis") != NULL) {
    axis = (gint)axon_node_get_int (node, "axis");
    return axis < 0 ? axis + rank : axis;
  }
  if (!quantised || node->inputs[index]->type.shape.rank != 1 ||
      node->inputs[index]->type.shape.dims[0] == 1)
    return -1;
  axis = (gint)axon_node_get_int (node, "axis");
  return axis < 0 ? axis + rank : axis;
}

gboolean
gpu_element_knows (const AxonNode *node)
{
  if (node->op->domain != NULL)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    if (g_str_equal (special[i].name, node->op->name))
      return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (rows[i].name, node->op->name))
      return TRUE;
  return FALSE;
}

/* To @names, as gpu_kernel_names() has them. */
void
gpu_element_add_names (GPtrArray *names)
{
  for (guint i = 0; i < G_N_ELEMENTS (special); i++)
    g_ptr_array_add (names, g_strdup_printf ("ai.onnx:%s=generated", special[i].name));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_ptr_array_add (names, g_strdup_printf ("ai.onnx:%s=generated", rows[i].name));
}
