/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuelement.h"

#include <math.h>
#include <string.h>

#define MOST_INPUTS 10
#define MOST_NODES 24

struct _GpuExpr {
  GPtrArray *nodes;  /* in order; the last one's output is the value */
  GPtrArray *inputs; /* AxonValue from outside, but for constants of one element */
};

void
gpu_expr_free (GpuExpr *expr)
{
  g_ptr_array_unref (expr->nodes);
  g_ptr_array_unref (expr->inputs);
  g_free (expr);
}

static GpuExpr *
expr_new (void)
{
  GpuExpr *expr = g_new0 (GpuExpr, 1);
  expr->nodes = g_ptr_array_new ();
  expr->inputs = g_ptr_array_new ();
  return expr;
}

/* Becomes a literal in the text. */
static gboolean
is_literal (const AxonValue *value)
{
  return value->type.value != NULL && axon_shape_get_numel (&value->type.shape) == 1;
}

static void
add_input (GpuExpr *expr, AxonValue *value)
{
  if (!is_literal (value) && !g_ptr_array_find (expr->inputs, value, NULL))
    g_ptr_array_add (expr->inputs, value);
}

/* The pending expression of an input joins its only user where both have the same elements. */
static gboolean
can_join (const GpuExpr *part, const AxonValue *input, const AxonNode *node, guint n_inputs)
{
  return part != NULL && axon_shape_equal (&input->type.shape, &node->outputs[0]->type.shape) &&
         part->inputs->len + n_inputs <= MOST_INPUTS && part->nodes->len < MOST_NODES;
}

static void
join (GpuExpr *expr, GpuExpr *part)
{
  for (guint i = 0; i < part->nodes->len; i++)
    g_ptr_array_add (expr->nodes, part->nodes->pdata[i]);
  for (guint i = 0; i < part->inputs->len; i++)
    add_input (expr, part->inputs->pdata[i]);
  gpu_expr_free (part);
}

gboolean
gpu_element_build (GpuPlan *plan, const AxonNode *node)
{
  g_autofree gchar *text = gpu_element_knows (node) ? gpu_element_text (node) : NULL;
  AxonValue *out = node->outputs[0];
  GpuExpr *expr;
  if (text == NULL || node->n_inputs > MOST_INPUTS)
    return FALSE;
  expr = expr_new ();
  for (guint i = 0; i < node->n_inputs; i++) {
    AxonValue *in = node->inputs[i];
    GpuExpr **part = in ? &plan->pending[in->index] : NULL;
    if (in == NULL)
      continue;
    if (can_join (*part, in, node, expr->inputs->len + node->n_inputs))
      join (expr, g_steal_pointer (part));
    else
      add_input (expr, in);
  }
  g_ptr_array_add (expr->nodes, (gpointer)node);
  plan->pending[out->index] = expr;
  if (out->is_output || out->users->len != 1)
    gpu_element_emit (plan, out);
  return TRUE;
}

/* Strides of @shape over @to, in elements; 0 where it broadcasts. @axis: of its first dimension, or
 * -1: it ends where @to does. */
static void
strides_over (const AxonShape *shape, gint axis, const AxonShape *to, gint32 *strides)
{
  gint first = axis >= 0 ? axis : to->rank - shape->rank;
  gint64 stride = 1;
  memset (strides, 0, AXON_MAX_RANK * sizeof *strides);
  for (gint i = shape->rank - 1; i >= 0; i--) {
    if (first + i < to->rank && shape->dims[i] != 1)
      strides[first + i] = (gint32)stride;
    stride *= shape->dims[i];
  }
}

static gint
axis_of (const GpuExpr *expr, const AxonValue *value)
{
  for (guint i = 0; i < expr->nodes->len; i++) {
    const AxonNode *node = expr->nodes->pdata[i];
    for (guint k = 0; k < node->n_inputs; k++)
      if (node->inputs[k] == value)
        return gpu_element_axis (node, k);
  }
  return -1;
}

/* How the inputs are indexed: dimensions of the result, merged where all inputs allow it. */
typedef struct {
  gint rank; /* 0: no input broadcasts */
  gint32 dims[AXON_MAX_RANK];
  gint32 strides[MOST_INPUTS][AXON_MAX_RANK];
  gboolean plain[MOST_INPUTS]; /* element i is i */
} Index;

static gboolean
merges (const Index *x, guint n, gint inner, gint outer)
{
  for (guint i = 0; i < n; i++)
    if (x->strides[i][outer] != x->strides[i][inner] * x->dims[inner])
      return FALSE;
  return TRUE;
}

static void
merge_dims (Index *x, guint n)
{
  for (gint d = x->rank - 1; d > 0;) {
    if (!merges (x, n, d, d - 1)) {
      d--;
      continue;
    }
    x->dims[d - 1] *= x->dims[d];
    for (guint i = 0; i < n; i++)
      x->strides[i][d - 1] = x->strides[i][d];
    for (gint k = d; k + 1 < x->rank; k++) {
      x->dims[k] = x->dims[k + 1];
      for (guint i = 0; i < n; i++)
        x->strides[i][k] = x->strides[i][k + 1];
    }
    x->rank--;
    d = MIN (d, x->rank - 1);
  }
}

static void
index_init (Index *x, const GpuExpr *expr, const AxonShape *to)
{
  gint64 numel = axon_shape_get_numel (to);
  gboolean all = TRUE;
  *x = (Index){ .rank = to->rank };
  for (gint d = 0; d < to->rank; d++)
    x->dims[d] = (gint32)to->dims[d];
  for (guint i = 0; i < expr->inputs->len; i++) {
    const AxonValue *value = expr->inputs->pdata[i];
    gint axis = axis_of (expr, value);
    x->plain[i] = axis < 0 && axon_shape_get_numel (&value->type.shape) == numel;
    all &= x->plain[i];
    strides_over (&value->type.shape, axis, to, x->strides[i]);
  }
  if (all)
    x->rank = 0;
  else
    merge_dims (x, expr->inputs->len);
}

static void
append_literal (GString *text, const AxonValue *value)
{
  const AxonTensor *t = value->type.value;
  AxonDType dtype = value->type.dtype;
  if (axon_dtype_is_float (dtype)) {
    gdouble v = axon_tensor_get_value (t, 0);
    gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
    gboolean wide = dtype == AXON_DTYPE_F64;
    g_ascii_formatd (digits, sizeof digits, wide ? "%.17g" : "%.9g", v);
    if (!isfinite (v))
      g_string_append (text, isnan (v) ? "NAN" : v > 0 ? "INFINITY" : "(-INFINITY)");
    else
      g_string_append_printf (text, "(%s%s%s)", digits, strpbrk (digits, ".e") ? "" : ".0",
                              wide ? "" : "f");
    return;
  }
  g_string_append_printf (text, "((%s)0x%" G_GINT64_MODIFIER "xUL)", gpu_type_computed (dtype),
                          axon_dtype_load_int (dtype, axon_tensor_get_data (t), 0));
}

/* Names: x0 an input, t0 a result within. */
static void
append_operand (GString *text, const GpuExpr *expr, const AxonNode *node, guint index)
{
  const AxonValue *value = node->inputs[index];
  guint at;
  if (is_literal (value)) {
    append_literal (text, value);
    return;
  }
  for (guint i = 0; i < expr->nodes->len; i++)
    if (((AxonNode *)expr->nodes->pdata[i])->outputs[0] == value) {
      g_string_append_printf (text, "t%u", i);
      return;
    }
  if (g_ptr_array_find (expr->inputs, value, &at))
    g_string_append_printf (text, "v%u", at);
}

static void
append_statement (GString *text, const GpuExpr *expr, guint at)
{
  const AxonNode *node = expr->nodes->pdata[at];
  g_autofree gchar *code = gpu_element_text (node);
  AxonDType dtype = node->outputs[0]->type.dtype;
  const gchar *type = gpu_type_computed (dtype);
  g_string_append_printf (text, "  %s t%u = (%s)(", type, at, type);
  for (const gchar *c = code; *c != '\0'; c++) {
    if (*c != '$' || !g_ascii_isdigit (c[1])) {
      g_string_append_c (text, *c);
      continue;
    }
    append_operand (text, expr, node, (guint)g_ascii_digit_value (c[1]));
    c++;
  }
  g_string_append (text, ");\n");
  if (dtype == AXON_DTYPE_F16 ||
      dtype == AXON_DTYPE_BF16) /* every operator rounds, in or out of a chain */
    g_string_append_printf (text, "  t%u = ROUND_%s(t%u);\n", at, gpu_type_name (dtype), at);
}

static void
append_indices (GString *text, const Index *x, guint n)
{
  g_string_append (text, "  int r = i, d;\n");
  for (guint i = 0; i < n; i++)
    if (!x->plain[i])
      g_string_append_printf (text, "  int i%u = 0;\n", i);
  for (gint d = x->rank - 1; d >= 0; d--) {
    g_string_append_printf (text, "  d = r %% P[p + %d]; r /= P[p + %d];\n", d, d);
    for (guint i = 0, at = (guint)x->rank; i < n; i++)
      if (!x->plain[i]) {
        g_string_append_printf (text, "  i%u += d * P[p + %u];\n", i, at + (guint)d);
        at += (guint)x->rank;
      }
  }
}

static const gchar *
stored_type (const GpuExpr *expr, guint index)
{
  return gpu_type_stored (((AxonValue *)expr->inputs->pdata[index])->type.dtype);
}

static void
append_load (GString *text, const GpuExpr *expr, guint index, const gchar *from, const gchar *at)
{
  AxonDType dtype = ((AxonValue *)expr->inputs->pdata[index])->type.dtype;
  g_string_append_printf (text, "  %s v%u = LD_%s(%s%u, %s);\n", gpu_type_computed (dtype), index,
                          gpu_type_name (dtype), from, index, at);
}

static gchar *
write_body (const GpuExpr *expr, const Index *x, AxonDType out)
{
  GString *text = g_string_new ("(__global const int *P, int p, int n");
  guint n = expr->inputs->len;
  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, ", __global const %s *x%u", stored_type (expr, i), i);
  g_string_append_printf (text,
                          ", __global %s *y)\n{\n  int i = get_global_id(0);\n"
                          "  if (i >= n)\n    return;\n",
                          gpu_type_stored (out));
  if (x->rank > 0)
    append_indices (text, x, n);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *at =
        x->plain[i] || x->rank == 0 ? g_strdup ("i") : g_strdup_printf ("i%u", i);
    append_load (text, expr, i, "x", at);
  }
  for (guint i = 0; i < expr->nodes->len; i++)
    append_statement (text, expr, i);
  g_string_append_printf (text, "  ST_%s(y, i, t%u);\n}\n", gpu_type_name (out),
                          expr->nodes->len - 1);
  return g_string_free (text, FALSE);
}

/* A function of input @host, which a kernel has just computed, and of the others. */
static void
write_fused (const GpuExpr *expr, guint host, GpuDraft *draft)
{
  AxonDType from = ((AxonValue *)expr->inputs->pdata[host])->type.dtype;
  const AxonNode *last = expr->nodes->pdata[expr->nodes->len - 1];
  GString *text = draft->fused;
  for (guint i = 0; i < expr->inputs->len; i++)
    if (i != host) {
      g_string_append_printf (draft->more, ", __global const %s *more%u", stored_type (expr, i), i);
      g_string_append_printf (draft->names, ", more%u", i);
    }
  g_string_append_printf (text, "inline %s @NAME@_fused(%s v%u, int i%s)\n{\n",
                          gpu_type_computed (last->outputs[0]->type.dtype),
                          gpu_type_computed (from), host, draft->more->str);
  if (from == AXON_DTYPE_F16 || from == AXON_DTYPE_BF16)
    g_string_append_printf (text, "  v%u = ROUND_%s(v%u);\n", host, gpu_type_name (from), host);
  for (guint i = 0; i < expr->inputs->len; i++)
    if (i != host)
      append_load (text, expr, i, "more", "i");
  for (guint i = 0; i < expr->nodes->len; i++)
    append_statement (text, expr, i);
  g_string_append_printf (text, "  return t%u;\n}\n", expr->nodes->len - 1);
}

static gboolean
only_used_here (const GpuExpr *expr, const AxonValue *value)
{
  for (guint i = 0; i < value->users->len; i++)
    if (!g_ptr_array_find (expr->nodes, value->users->pdata[i], NULL))
      return FALSE;
  return !value->is_output;
}

/* The kernel that has just made one of the inputs computes the chain, too, and the input is never
 * stored. FALSE: there is none that can. */
static gboolean
fuse (GpuPlan *plan, const GpuExpr *expr, GpuTensor *const *in, const Index *x,
      const GpuTensor *out)
{
  for (guint host = 0; x->rank == 0 && host < expr->inputs->len; host++) {
    GpuStep *step = only_used_here (expr, expr->inputs->pdata[host])
                        ? gpu_plan_find_draft (plan, in[host])
                        : NULL;
    if (step == NULL)
      continue;
    write_fused (expr, host, step->draft);
    for (guint i = 0; i < expr->inputs->len; i++)
      if (i != host)
        gpu_step_read (plan, step, in[i]);
    gpu_plan_redirect (plan, step, out);
    return TRUE;
  }
  return FALSE;
}

/* Readable in profiles: the operators, and a number that tells equal ones apart. */
static gchar *
name_of (const GpuExpr *expr, const gchar *body)
{
  GString *name = g_string_new (NULL);
  g_autofree gchar *id = gpu_text_id (body);
  for (guint i = 0; i < expr->nodes->len && i < 4; i++)
    g_string_append_printf (name, "%s_", ((AxonNode *)expr->nodes->pdata[i])->op->name);
  if (expr->nodes->len > 4)
    g_string_append_printf (name, "and_%u_", expr->nodes->len - 4);
  g_string_append (name, id);
  return g_string_free (name, FALSE);
}

static gint32
add_params (GpuPlan *plan, const Index *x, guint n)
{
  gint32 at = gpu_plan_params (plan, x->dims, (guint)x->rank);
  for (guint i = 0; x->rank > 0 && i < n; i++)
    if (!x->plain[i])
      gpu_plan_params (plan, x->strides[i], (guint)x->rank);
  return at;
}

static void
add_kernel (GpuPlan *plan, const GpuExpr *expr, GpuTensor *const *in, const Index *x,
            GpuTensor *out)
{
  g_autofree gchar *body = write_body (expr, x, out->dtype);
  g_autofree gchar *name = name_of (expr, body);
  g_autofree gchar *text = g_strdup_printf ("__kernel void %s%s", name, body);
  GpuStep *step;
  gpu_plan_text (plan, name, text);
  step = gpu_plan_step (plan, name, add_params (plan, x, expr->inputs->len),
                        axon_shape_get_numel (&out->shape), 1, 1);
  for (guint i = 0; i < expr->inputs->len; i++)
    gpu_step_read (plan, step, in[i]);
  gpu_step_write (plan, step, out);
}

void
gpu_element_emit (GpuPlan *plan, AxonValue *value)
{
  GpuExpr *expr = g_steal_pointer (&plan->pending[value->index]);
  const AxonNode *last = expr->nodes->pdata[expr->nodes->len - 1], *outer = plan->node;
  g_autofree GpuTensor **in = g_new0 (GpuTensor *, expr->inputs->len + 1);
  GpuTensor *out;
  Index x;
  for (guint i = 0; i < expr->inputs->len; i++)
    in[i] = gpu_plan_value (plan, expr->inputs->pdata[i]);
  plan->node = last;
  out = gpu_plan_output (plan, last, 0);
  index_init (&x, expr, &out->shape);
  if (!fuse (plan, expr, in, &x, out))
    add_kernel (plan, expr, in, &x, out);
  gpu_expr_free (expr);
  plan->node = outer;
}
