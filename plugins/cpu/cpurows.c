/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One walk in order, with shapes inferred for n rows and for n + 1 at once. What has rows differs
 * in one dimension, which is n in one and n + 1 in the other; then a literal number of rows in the
 * graph, or an operand that does not stretch, is found by inference itself. Whether an operator
 * mixes rows cannot be seen from shapes: the table says it. */
#include "cpurows.h"

#include <string.h>

/* One node while it is looked at; shapes are those for n rows. */
typedef struct {
  const AxonNode *node;
  const AxonTypeInfo *in, *out;
  const gint *kinds; /* of the inputs */
  gint to;           /* the axis of the rows of all outputs */
} Look;

typedef gboolean (*Rule) (const Look *look);

static gint
positive (gint64 axis, const AxonShape *shape)
{
  return (gint)(axis < 0 ? axis + shape->rank : axis);
}

static gboolean
only_input (const Look *l, guint index)
{
  for (guint i = 0; i < l->node->n_inputs; i++)
    if (i != index && l->kinds[i] >= 0)
      return FALSE;
  return TRUE;
}

static gboolean
any_axis (G_GNUC_UNUSED const Look *l)
{
  return TRUE;
}

/* Works along attribute axis alone. */
static gboolean
other_axis (const Look *l)
{
  gint64 axis = axon_node_get_int (l->node, "axis");
  for (guint i = 0; i < l->node->n_inputs; i++)
    if (l->kinds[i] >= 0 && l->kinds[i] == positive (axis, &l->in[i].shape))
      return FALSE;
  return TRUE;
}

/* Works along attribute axis and all that follow. */
static gboolean
before_axis (const Look *l)
{
  return only_input (l, 0) &&
         l->kinds[0] < positive (axon_node_get_int (l->node, "axis"), &l->in[0].shape);
}

/* Indices may have rows anywhere, data not where they are looked up. */
static gboolean
gather (const Look *l)
{
  return l->kinds[0] < 0 ||
         l->kinds[0] != positive (axon_node_get_int (l->node, "axis"), &l->in[0].shape);
}

static gboolean
gather_nd (const Look *l)
{
  return only_input (l, 1) && l->kinds[1] != l->in[1].shape.rank - 1 &&
         axon_node_get_int (l->node, "batch_dims") == 0;
}

/* TRUE if @axes, those of input 0, are without its rows. */
static gboolean
is_free_of (const Look *l, const AxonTensor *axes)
{
  for (gsize i = 0; i < axon_tensor_get_numel (axes); i++)
    if (positive ((gint64)axon_tensor_get_value (axes, i), &l->in[0].shape) == l->kinds[0])
      return FALSE;
  return TRUE;
}

static gboolean
listed_axes (const Look *l)
{
  guint n;
  const gint64 *axes = axon_node_get_ints (l->node, "axes", &n);
  const AxonTensor *input = l->node->n_inputs > 1 ? l->in[1].value : NULL;
  if (!only_input (l, 0))
    return FALSE;
  if (input != NULL)
    return axon_tensor_get_numel (input) > 0 && is_free_of (l, input);
  for (guint i = 0; i < n; i++)
    if (positive (axes[i], &l->in[0].shape) == l->kinds[0])
      return FALSE;
  return axes != NULL && n > 0 && axon_node_get_input (l->node, 1) == NULL;
}

static gboolean
slice (const Look *l)
{
  const AxonTensor *axes = l->node->n_inputs > 3 ? l->in[3].value : NULL;
  guint n;
  const gint64 *attr = axon_node_get_ints (l->node, "axes", &n);
  if (!only_input (l, 0) || (axes == NULL && attr == NULL))
    return FALSE;
  for (guint i = 0; axes == NULL && i < n; i++)
    if (positive (attr[i], &l->in[0].shape) == l->kinds[0])
      return FALSE;
  return axes == NULL || is_free_of (l, axes);
}

/* Elements stay in their order: as many stand before the rows as did. */
static gboolean
same_before (const Look *l)
{
  gint64 before = 1, after = 1;
  for (gint d = 0; d < l->kinds[0]; d++)
    before *= l->in[0].shape.dims[d];
  for (gint d = 0; d < l->to; d++)
    after *= l->out[0].shape.dims[d];
  return only_input (l, 0) && before == after;
}

/* Frames are the rows; all else is the same for each. */
static gboolean
frames (const Look *l)
{
  return only_input (l, 0) && l->kinds[0] == 0 && l->node->n_outputs == 1;
}

/* As frames (), with statistics that are given. */
static gboolean
given_statistics (const Look *l)
{
  const AxonAttr *training = axon_node_find_attr (l->node, "training_mode");
  return frames (l) && (training == NULL || axon_node_get_int (l->node, "training_mode") == 0);
}

static gboolean
product (const Look *l)
{
  const AxonShape *a = &l->in[0].shape, *b = &l->in[1].shape;
  return l->kinds[0] != a->rank - 1 && (l->kinds[1] < 0 || l->kinds[1] != MAX (b->rank - 2, 0));
}

static gboolean
gemm (const Look *l)
{
  return l->kinds[1] < 0 && l->kinds[0] != !axon_node_get_int (l->node, "transA");
}

static gboolean
regions (const Look *l)
{
  return l->kinds[0] < 0;
}

typedef enum { TARGET_NONE, TARGET_0, TARGET_1 } Target;

typedef struct {
  const gchar *name;
  Rule rule;
  Target target;  /* the input that is the output's shape, and may hold the number of rows */
  gboolean fills; /* makes rows of what has none */
} Row;

static const Row table[] = {
  { .name = "ArgMax", .rule = other_axis },
  { .name = "ArgMin", .rule = other_axis },
  { .name = "AveragePool", .rule = frames },
  { .name = "BatchNormalization", .rule = given_statistics },
  { .name = "Concat", .rule = other_axis },
  { .name = "ConstantOfShape", .rule = any_axis, .target = TARGET_0, .fills = TRUE },
  { .name = "Conv", .rule = frames },
  { .name = "ConvTranspose", .rule = frames },
  { .name = "DepthToSpace", .rule = frames },
  { .name = "Expand", .rule = any_axis, .target = TARGET_1, .fills = TRUE },
  { .name = "Flatten", .rule = same_before },
  { .name = "Gather", .rule = gather },
  { .name = "GatherElements", .rule = other_axis },
  { .name = "GatherND", .rule = gather_nd },
  { .name = "Gemm", .rule = gemm },
  { .name = "GlobalAveragePool", .rule = frames },
  { .name = "GlobalMaxPool", .rule = frames },
  { .name = "Identity", .rule = any_axis },
  { .name = "InstanceNormalization", .rule = frames },
  { .name = "LayerNormalization", .rule = before_axis },
  { .name = "LogSoftmax", .rule = before_axis },
  { .name = "MatMul", .rule = product },
  { .name = "MaxPool", .rule = frames },
  { .name = "MaxRoiPool", .rule = regions },
  { .name = "ReduceL1", .rule = listed_axes },
  { .name = "ReduceL2", .rule = listed_axes },
  { .name = "ReduceMax", .rule = listed_axes },
  { .name = "ReduceMean", .rule = listed_axes },
  { .name = "ReduceMin", .rule = listed_axes },
  { .name = "ReduceProd", .rule = listed_axes },
  { .name = "ReduceSum", .rule = listed_axes },
  { .name = "ReduceSumSquare", .rule = listed_axes },
  { .name = "Reshape", .rule = same_before, .target = TARGET_1 },
  { .name = "Resize", .rule = frames },
  { .name = "RoiAlign", .rule = regions },
  { .name = "Slice", .rule = slice },
  { .name = "Softmax", .rule = before_axis },
  { .name = "Split", .rule = other_axis },
  { .name = "Squeeze", .rule = same_before },
  { .name = "TopK", .rule = other_axis },
  { .name = "Transpose", .rule = any_axis },
  { .name = "Unsqueeze", .rule = same_before },
  { .name = "Where", .rule = any_axis },
};

/* What only moves numbers about: of a number of rows they make no other one. */
static const gchar *const movers[] = { "Cast",    "Concat",    "Gather", "Identity",
                                       "Squeeze", "Unsqueeze", NULL };

static const Row *
find_row (const AxonNode *node)
{
  static const Row elementwise = { .rule = any_axis };
  if (node->op->flags & AXON_OP_ELEMENTWISE)
    return &elementwise;
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (axon_node_is (node, table[i].name))
      return &table[i];
  return NULL;
}

/* Of the whole walk: types for n rows and for n + 1, by value. */
typedef struct {
  AxonTypeInfo *types[2];
  gint *kinds;
  gint64 n;
} Walk;

/* The axis that counts rows; FALSE: something else depends on their number, or is not known. */
static gboolean
measure (const Walk *w, const AxonShape *a, const AxonShape *b, gint *kind)
{
  *kind = CPU_ROWS_NONE;
  if (!axon_shape_is_static (a) || !axon_shape_is_static (b) || a->rank != b->rank)
    return FALSE;
  for (gint d = 0; d < a->rank; d++) {
    if (a->dims[d] == b->dims[d])
      continue;
    if (*kind != CPU_ROWS_NONE || a->dims[d] != w->n || b->dims[d] != w->n + 1)
      return FALSE;
    *kind = d;
  }
  return TRUE;
}

/* FALSE: an output is not of @wanted kind (any axis: has rows); counts are known values. */
static gboolean
set_kinds (Walk *w, const AxonNode *node, gint wanted)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    const AxonValue *value = node->outputs[i];
    gint kind;
    if (value == NULL)
      continue;
    if (!measure (w, &w->types[0][value->index].shape, &w->types[1][value->index].shape, &kind) ||
        (kind >= 0) != (wanted >= 0) ||
        (wanted == CPU_ROWS_COUNT && w->types[0][value->index].value == NULL))
      return FALSE;
    w->kinds[value->index] = kind >= 0 ? kind : wanted;
  }
  return TRUE;
}

/* Numbers of rows are known as values, though inference itself does not follow them far. */
static gboolean
evaluate (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out)
{
  g_autofree AxonTensor **values = g_new0 (AxonTensor *, node->n_inputs + 1);
  gboolean known =
      node->n_outputs == 1 && out[0].value == NULL && g_strv_contains (movers, node->op->name);
  for (guint i = 0; known && i < node->n_inputs; i++) {
    values[i] = in[i].value;
    known = node->inputs[i] == NULL || values[i] != NULL;
  }
  return !known || axon_eval_node (node, values, &out[0].value, NULL);
}

static gboolean
infer_for (AxonTypeInfo *types, const AxonNode *node)
{
  g_autofree AxonTypeInfo *in = g_new0 (AxonTypeInfo, node->n_inputs + 1);
  g_autofree AxonTypeInfo *out = g_new0 (AxonTypeInfo, node->n_outputs + 1);
  gboolean ok;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = node->inputs[i] ? types[node->inputs[i]->index]
                            : (AxonTypeInfo){ .shape = AXON_SHAPE_UNKNOWN };
  if (!axon_node_infer (node, in, out, NULL))
    return FALSE;
  ok = evaluate (node, in, out);
  for (guint i = 0; i < node->n_outputs; i++) {
    if (node->outputs[i] == NULL) {
      g_clear_pointer (&out[i].value, axon_tensor_unref);
      continue;
    }
    if (out[i].dtype == AXON_DTYPE_UNDEFINED) /* else what the model declares stays */
      out[i].dtype = node->outputs[i]->type.dtype;
    types[node->outputs[i]->index] = out[i];
  }
  return ok;
}

static gboolean
obeys (const Walk *w, const AxonNode *node, Rule rule, const gint *kinds)
{
  g_autofree AxonTypeInfo *in = g_new0 (AxonTypeInfo, node->n_inputs + 1);
  g_autofree AxonTypeInfo *out = g_new0 (AxonTypeInfo, node->n_outputs + 1);
  Look look = { node, in, out, kinds, CPU_ROWS_NONE };
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      in[i] = w->types[0][node->inputs[i]->index];
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL) {
      out[i] = w->types[0][node->outputs[i]->index];
      look.to = w->kinds[node->outputs[i]->index];
    }
  return rule (&look);
}

/* What counts nothing says which numbers are moved. */
static gboolean
moves_counts (const AxonNode *node, const gint *kinds)
{
  return g_strv_contains (movers, node->op->name) &&
         (!axon_node_is (node, "Gather") || kinds[1] == CPU_ROWS_NONE);
}

/* @rows: an input has rows; else one counts them. */
static gboolean
check_rows (Walk *w, const AxonNode *node, const gint *kinds, gboolean rows)
{
  const Row *row = find_row (node);
  if (rows && axon_node_is (node, "Shape"))
    return set_kinds (w, node, CPU_ROWS_COUNT);
  if (!rows && moves_counts (node, kinds))
    return set_kinds (w, node, CPU_ROWS_COUNT);
  for (guint i = 0; i < node->n_inputs; i++)
    if (kinds[i] == CPU_ROWS_COUNT && (row == NULL || row->target != TARGET_0 + i))
      return FALSE;
  return row != NULL && (rows || row->fills) && set_kinds (w, node, 0) &&
         obeys (w, node, row->rule, kinds);
}

static gboolean
look_at (Walk *w, const AxonNode *node)
{
  g_autofree gint *kinds = g_new (gint, node->n_inputs + 1);
  gboolean rows = FALSE, counts = FALSE;
  for (guint i = 0; i < node->n_inputs; i++) {
    kinds[i] = node->inputs[i] ? w->kinds[node->inputs[i]->index] : CPU_ROWS_NONE;
    rows |= kinds[i] >= 0;
    counts |= kinds[i] == CPU_ROWS_COUNT;
  }
  if (node->op->run != NULL || !infer_for (w->types[0], node) || !infer_for (w->types[1], node))
    return FALSE;
  return rows || counts ? check_rows (w, node, kinds, rows) : set_kinds (w, node, CPU_ROWS_NONE);
}

static void
walk_init (Walk *w, const AxonModel *model, guint input, gint axis, const AxonShape *shapes)
{
  guint n = model->values->len;
  w->n = shapes[input].dims[axis];
  w->kinds = g_new (gint, n + 1);
  for (guint k = 0; k < 2; k++)
    w->types[k] = g_new0 (AxonTypeInfo, n + 1);
  for (guint i = 0; i < n; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    w->kinds[i] = CPU_ROWS_NONE;
    for (guint k = 0; k < 2 && value->producer == NULL; k++) {
      w->types[k][i] = value->type;
      if (value->type.value != NULL)
        axon_tensor_ref (value->type.value);
    }
  }
  for (guint i = 0; i < model->inputs->len; i++)
    for (guint k = 0; k < 2; k++) {
      guint at = ((const AxonValue *)g_ptr_array_index (model->inputs, i))->index;
      w->types[k][at].shape = shapes[i];
      w->types[k][at].shape.dims[axis] += i == input ? k : 0;
      w->kinds[at] = i == input ? axis : CPU_ROWS_NONE;
    }
}

static void
walk_clear (Walk *w, guint n)
{
  for (guint k = 0; k < 2; k++) {
    for (guint i = 0; i < n; i++)
      g_clear_pointer (&w->types[k][i].value, axon_tensor_unref);
    g_free (w->types[k]);
  }
  g_free (w->kinds);
}

gboolean
cpu_rows_are_independent (const AxonModel *model, guint input, gint axis, const AxonShape *shapes,
                          gint *kinds)
{
  gboolean ok = TRUE;
  Walk w;
  walk_init (&w, model, input, axis, shapes);
  for (guint i = 0; ok && i < model->nodes->len; i++)
    ok = look_at (&w, g_ptr_array_index (model->nodes, i));
  for (guint i = 0; ok && i < model->outputs->len; i++) {
    kinds[i] = w.kinds[((const AxonValue *)g_ptr_array_index (model->outputs, i))->index];
    ok = kinds[i] != CPU_ROWS_COUNT;
  }
  walk_clear (&w, model->values->len);
  return ok;
}

AxonTensor *
cpu_rows_resize (const AxonTensor *tensor, gint axis, gint64 n, GError **error)
{
  AxonShape shape = *axon_tensor_get_shape (tensor);
  gsize size = axon_dtype_get_size (axon_tensor_get_dtype (tensor)), blocks = 1;
  gsize from = (gsize)shape.dims[axis], to = (gsize)n;
  const guint8 *source = axon_tensor_get_data ((AxonTensor *)tensor);
  AxonTensor *copy;
  guint8 *target;
  for (gint d = 0; d < shape.rank; d++) {
    blocks *= d < axis ? (gsize)shape.dims[d] : 1;
    size *= d > axis ? (gsize)shape.dims[d] : 1;
  }
  shape.dims[axis] = n;
  copy = axon_tensor_new (axon_tensor_get_dtype (tensor), &shape, error);
  if (copy == NULL)
    return NULL;
  target = axon_tensor_get_data (copy);
  for (gsize b = 0; b < blocks; b++) {
    memcpy (target + b * to * size, source + b * from * size, MIN (from, to) * size);
    for (gsize row = from; row < to; row++)
      memcpy (target + (b * to + row) * size, source + (b * from + from - 1) * size, size);
  }
  return copy;
}
