/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators infer, refuse and compute around the rows of the tables: each dimension, type,
 * value and attribute a little different, one at a time. What they say now differs from around.txt
 * where somebody has looked at it, only. */
#include "nodes.h"

#include <math.h>
#include <string.h>

#define MAX_INPUTS 12
#define MAX_OUTPUTS 4

typedef struct {
  GString *text;
  const NodeCase *c;
  AxonModel *model;
  AxonNode *node;
  NodeTensor in[MAX_INPUTS];
  guint n_in;
  gchar *own;             /* what is inferred of the row */
  GString *labels, *said; /* of the variants that follow each other and come to the same */
} Around;

/* What is said behind the name of the node. */
static void
append_error (GString *text, const GError *error)
{
  const gchar *what = strstr (error->message, "): ");
  g_string_append_printf (text, "!%.20s", what ? what + strlen ("): ") : error->message);
}

/* One number of all outputs in which each element has its share. */
static void
append_sum (GString *text, AxonTensor *const *out, guint n)
{
  gdouble sum = 0;
  for (guint o = 0; o < n; o++)
    for (gsize i = 0; out[o] && !axon_dtype_is_boxed (axon_tensor_get_dtype (out[o])) &&
                      i < axon_tensor_get_numel (out[o]);
         i++) {
      gdouble value = axon_tensor_get_value (out[o], i);
      sum += isfinite (value) ? value * (gdouble)(1 + (i + o) % 7) : 1000;
    }
  g_string_append_printf (text, " %.3g", fabs (sum) < 1e-4 ? 0 : sum);
}

static gboolean
is_random (const AxonNode *node)
{
  static const gchar *const names[] = { "Bernoulli", "Dropout", "Multinomial" };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (node->op->name, names[i]))
      return TRUE;
  return g_str_has_prefix (node->op->name, "Random");
}

/* What a run gives; nothing where an input is not known. */
static void
append_run (GString *text, const AxonNode *node, const NodeTensor *in)
{
  AxonTensor *tensors[MAX_INPUTS] = { NULL }, *out[MAX_OUTPUTS] = { NULL };
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < node->n_inputs; i++) {
    tensors[i] = in[i].tensor;
    if (in[i].dtype != AXON_DTYPE_UNDEFINED && in[i].tensor == NULL)
      return;
  }
  if (!axon_eval_node (node, tensors, out, &error))
    append_error (text, error);
  else if (!is_random (node))
    append_sum (text, out, node->n_outputs);
  for (guint o = 0; o < node->n_outputs; o++)
    g_clear_pointer (&out[o], axon_tensor_unref);
}

/* The types and shapes that are inferred, or why not. */
static gchar *
infer (const AxonNode *node, const NodeTensor *in, gboolean *ok)
{
  AxonTypeInfo types[MAX_INPUTS] = { 0 }, out[MAX_OUTPUTS] = { 0 };
  GString *text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < node->n_inputs; i++)
    types[i] = (AxonTypeInfo){ .dtype = in[i].dtype,
                               .shape = in[i].shape,
                               .value = in[i].is_constant ? in[i].tensor : NULL };
  *ok = axon_node_check (node, &error) && axon_node_infer (node, types, out, &error);
  if (!*ok)
    append_error (text, error);
  for (guint o = 0; *ok && o < node->n_outputs; o++) {
    g_autofree gchar *shape = axon_shape_to_string (&out[o].shape);
    g_string_append_printf (text, "%s%s%s", o ? " " : "", axon_dtype_get_name (out[o].dtype),
                            shape);
    g_clear_pointer (&out[o].value, axon_tensor_unref);
  }
  return g_string_free (text, FALSE);
}

static void
end_said (Around *a)
{
  if (a->labels->len > 0)
    g_string_append_printf (a->text, "%s:%s;", a->labels->str, a->said->str);
  g_string_truncate (a->labels, 0);
}

/* "=": as the row itself. */
static void
describe (Around *a, const gchar *label, const AxonNode *node, const NodeTensor *in)
{
  gboolean ok;
  g_autofree gchar *inferred = infer (node, in, &ok);
  g_autoptr (GString) says = g_string_new (g_strcmp0 (inferred, a->own) ? inferred : "=");
  if (ok)
    append_run (says, node, in);
  if (!g_string_equal (says, a->said))
    end_said (a);
  g_string_assign (a->said, says->str);
  g_string_append_printf (a->labels, " %s", label);
}

/* Of a node that is built anew. */
static void
describe_built (Around *a, const gchar *label, const gchar *inputs, const gchar *attrs,
                const NodeTensor *in)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  NodeCase c = { a->c->op, inputs, attrs, a->c->says };
  AxonNode *node;
  AxonModel *model = node_case_build (&c, a->node->n_outputs, FALSE, tensors, &node);
  describe (a, label, node, in);
  g_object_unref (model);
}

/* @t of another type or shape: of the values that its row says as many as there is room for. */
static NodeTensor
changed (const NodeTensor *t, AxonDType dtype, const AxonShape *shape)
{
  NodeTensor other = *t;
  other.dtype = dtype;
  other.shape = *shape;
  other.tensor = axon_shape_is_static (shape) ? axon_tensor_new (dtype, shape, NULL) : NULL;
  if (other.tensor == NULL)
    return other;
  memset (axon_tensor_get_data (other.tensor), 0, axon_tensor_get_n_bytes (other.tensor));
  if (!t->has_values || t->tensor == NULL)
    node_fill (other.tensor);
  else
    for (gsize i = 0;
         i < MIN (axon_tensor_get_numel (t->tensor), axon_tensor_get_numel (other.tensor)); i++)
      axon_dtype_store (dtype, axon_tensor_get_data (other.tensor), i,
                        axon_tensor_get_value (t->tensor, i));
  return other;
}

static void
describe_changed (Around *a, const gchar *label, guint i, AxonDType dtype, const AxonShape *shape)
{
  NodeTensor in[MAX_INPUTS];
  memcpy (in, a->in, sizeof in);
  in[i] = changed (&a->in[i], dtype, shape);
  describe (a, label, a->node, in);
  node_tensor_clear (&in[i]);
}

static void
change_dimension (Around *a, guint i, gint d)
{
  gint64 n = a->in[i].shape.dims[d];
  const struct {
    const gchar *label;
    gint64 n;
  } changes[] = { { "?", -1 }, { "+", n + 1 }, { "-", n - 1 }, { "0", 0 }, { "1", 1 } };
  end_said (a);
  g_string_append_printf (a->text, "\n %u.%d", i, d);
  for (guint k = 0; k < G_N_ELEMENTS (changes); k++) {
    AxonShape shape = a->in[i].shape;
    shape.dims[d] = changes[k].n;
    if (changes[k].n != n && (k == 0 || (n >= 0 && (k < 2 || changes[k].n != n - (k != 2)))))
      describe_changed (a, changes[k].label, i, a->in[i].dtype, &shape);
  }
}

static void
change_rank (Around *a, guint i)
{
  const AxonShape *own = &a->in[i].shape;
  AxonShape shape = AXON_SHAPE_UNKNOWN;
  describe_changed (a, "rank", i, a->in[i].dtype, &shape);
  if (own->rank > 0) {
    shape.rank = own->rank - 1;
    memcpy (shape.dims, &own->dims[1], sizeof shape.dims - sizeof shape.dims[0]);
    describe_changed (a, "less", i, a->in[i].dtype, &shape);
  }
  if (own->rank >= 0) {
    shape = *own;
    shape.dims[shape.rank++] = 1;
    describe_changed (a, "more", i, a->in[i].dtype, &shape);
  }
}

static void
leave_out (Around *a, guint i)
{
  g_auto (GStrv) texts = g_strsplit (a->c->inputs, " ", -1);
  g_autofree gchar *inputs = NULL;
  NodeTensor in[MAX_INPUTS];
  memcpy (in, a->in, sizeof in);
  in[i] = (NodeTensor){ .dtype = AXON_DTYPE_UNDEFINED, .shape = AXON_SHAPE_UNKNOWN };
  g_free (texts[i]);
  texts[i] = g_strdup ("-");
  inputs = g_strjoinv (" ", texts);
  describe_built (a, "none", inputs, a->c->attrs, in);
}

/* As if nothing was known of its values, left out, of other types. */
static void
change_kind (Around *a, guint i)
{
  static const AxonDType types[] = { AXON_DTYPE_F32, AXON_DTYPE_I64, AXON_DTYPE_U8 };
  NodeTensor in[MAX_INPUTS];
  memcpy (in, a->in, sizeof in);
  in[i].is_constant = !in[i].is_constant;
  describe (a, in[i].is_constant ? "known" : "unknown", a->node, in);
  leave_out (a, i);
  for (guint k = 0; k < G_N_ELEMENTS (types); k++)
    if (types[k] != a->in[i].dtype)
      describe_changed (a, axon_dtype_get_name (types[k]), i, types[k], &a->in[i].shape);
}

static void
change_values (Around *a, guint i)
{
  AxonTensor *tensor = a->in[i].tensor;
  for (gsize k = 0; k < MIN (axon_tensor_get_numel (tensor), 6); k++) {
    gpointer data = axon_tensor_get_data (tensor);
    gdouble value = axon_tensor_get_value (tensor, k);
    for (gint by = 1; by >= -1; by -= 2) {
      g_autofree gchar *label = g_strdup_printf ("%s%" G_GSIZE_FORMAT, by > 0 ? "+" : "-", k);
      axon_dtype_store (a->in[i].dtype, data, k, value + by);
      describe (a, label, a->node, a->in);
    }
    axon_dtype_store (a->in[i].dtype, data, k, value);
  }
}

static void
change_input (Around *a, guint i)
{
  NodeTensor *t = &a->in[i];
  if (t->dtype == AXON_DTYPE_UNDEFINED || axon_dtype_is_boxed (t->dtype))
    return;
  for (gint d = 0; d < t->shape.rank; d++)
    change_dimension (a, i, d);
  end_said (a);
  g_string_append_printf (a->text, "\n %u", i);
  change_rank (a, i);
  change_kind (a, i);
  if (t->has_values && t->tensor != NULL && t->dtype != AXON_DTYPE_BOOL)
    change_values (a, i);
}

static void
describe_attr (Around *a, const gchar *name, const gchar *value)
{
  g_autofree gchar *label = g_strdup_printf ("%s%s", name, value);
  g_autofree gchar *attrs = g_strjoin (*a->c->attrs ? " " : "", a->c->attrs, label, NULL);
  describe_built (a, label, a->c->inputs, attrs, a->in);
}

/* Each of the numbers one more and one less, then one less of them, and one more. */
static void
change_ints (Around *a, const gchar *name)
{
  guint n;
  const gint64 *values = axon_node_get_ints (a->node, name, &n);
  for (guint k = 0; values != NULL && n < 8 && k < 2 * n + 2; k++) {
    g_autoptr (GString) text = g_string_new ("=");
    for (guint i = 0; i < n - (k == 2 * n); i++)
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i ? "," : "",
                              values[i] + (k / 2 == i ? (k % 2 ? -1 : 1) : 0));
    if (k == 2 * n + 1)
      g_string_append (text, n ? ",1" : "1");
    describe_attr (a, name, text->str);
  }
}

static void
change_attr (Around *a, const AxonAttrSpec *spec)
{
  for (guint k = 0; spec->type == AXON_ATTR_INT && k < 2; k++) {
    g_autofree gchar *text = g_strdup_printf (
        "=%" G_GINT64_FORMAT, axon_node_get_int (a->node, spec->name) + (k ? -1 : 1));
    describe_attr (a, spec->name, text);
  }
  if (spec->type == AXON_ATTR_INTS)
    change_ints (a, spec->name);
  if (spec->type == AXON_ATTR_FLOAT) {
    g_autofree gchar *text =
        g_strdup_printf ("=%g", 2 * axon_node_get_float (a->node, spec->name) + 0.25);
    describe_attr (a, spec->name, text);
  }
  if (spec->type == AXON_ATTR_STRING)
    describe_attr (a, spec->name, ":other");
}

static void
parse_inputs (Around *a)
{
  g_auto (GStrv) texts = g_strsplit (a->c->inputs, " ", -1);
  a->n_in = a->node->n_inputs;
  for (guint i = 0; i < a->n_in; i++)
    if (!g_str_equal (texts[i], "-"))
      node_tensor_parse (texts[i], &a->in[i]);
    else
      a->in[i].shape = AXON_SHAPE_UNKNOWN;
  for (guint i = 0; i < a->n_in; i++)
    if (a->in[i].tensor != NULL && !a->in[i].has_values)
      node_fill (a->in[i].tensor);
}

static void
describe_around (GString *text, const NodeCase *c)
{
  g_auto (GStrv) outputs = g_strsplit (c->says, " ", -1);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  Around a = { .text = text, .c = c, .labels = g_string_new (NULL), .said = g_string_new (NULL) };
  gboolean ok;
  a.model = node_case_build (c, g_strv_length (outputs), FALSE, inputs, &a.node);
  parse_inputs (&a);
  a.own = infer (a.node, a.in, &ok);
  g_string_append_printf (text, "%s %s -> %s", c->op, c->attrs, a.own);
  append_run (text, a.node, a.in);
  for (guint i = 0; i < a.n_in; i++)
    change_input (&a, i);
  end_said (&a);
  g_string_append (text, "\n");
  for (const AxonAttrSpec *spec = a.node->op->attrs; spec != NULL && spec->name != NULL; spec++)
    change_attr (&a, spec);
  end_said (&a);
  g_string_append_c (text, '\n');
  g_string_free (a.labels, TRUE);
  g_string_free (a.said, TRUE);
  for (guint i = 0; i < a.n_in; i++)
    node_tensor_clear (&a.in[i]);
  g_free (a.own);
  g_object_unref (a.model);
}

static void
operators_say_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < n_result_cases; i++)
    describe_around (text, &result_cases[i]);
  for (guint i = 0; i < n_move_cases; i++)
    describe_around (text, &move_cases[i]);
  for (guint i = 0; i < n_number_cases; i++)
    describe_around (text, &number_cases[i]);
  test_assert_approved ("ops/around.txt", text->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/around/operators_say_what_somebody_has_looked_at",
                   operators_say_what_somebody_has_looked_at);
  return g_test_run ();
}
