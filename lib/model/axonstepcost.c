/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The costs of steps. A device runs several nodes as one step, and the runtime model says which
 * nodes run; another one belongs to the step that makes what it uses, or else to the one that uses
 * it. Between two nodes of one step nothing is moved. */
#include "axoncost-private.h"

#include <math.h>

#define NO_STEP G_MAXUINT

static const gchar *const pickers[] = { "Gather", "GatherElements", "GatherND", "Slice", "Shape",
                                        "Size",   "SequenceLength", "Compress", NULL };
/* Where they do not run, they are only another view of what others made. */
static const gchar *const views[] = { "Concat", "Slice", "Split", NULL };

typedef struct {
  const AxonModel *model;
  GHashTable *positions; /* AxonNode -> place in the list */
  guint *steps;          /* by place: the node that runs it */
  AxonStepCost *costs;
} Costs;

static guint
step_of (const Costs *c, const AxonNode *node)
{
  return node ? c->steps[GPOINTER_TO_UINT (g_hash_table_lookup (c->positions, node))] : NO_STEP;
}

static gboolean
is_view (const AxonNode *node)
{
  return g_strv_contains (views, node->op->name);
}

/* The step whose result a value is or shows; the latest one. */
static guint
latest_step (const Costs *c, const AxonNode *node)
{
  guint latest = NO_STEP;
  for (guint i = 0; i < node->n_inputs; i++) {
    const AxonNode *from = node->inputs[i] ? node->inputs[i]->producer : NULL;
    guint step = step_of (c, from);
    if (step != NO_STEP && (latest == NO_STEP || step > latest))
      latest = step;
  }
  return latest;
}

static void
find_steps (Costs *c, gboolean runtime)
{
  guint n = c->model->nodes->len;
  for (guint i = 0; i < n; i++) {
    const AxonNode *node = g_ptr_array_index (c->model->nodes, i);
    c->steps[i] = !runtime || node->exec_type != NULL ? i
                  : is_view (node)                    ? NO_STEP
                                                      : latest_step (c, node);
  }
  for (guint i = n; i-- > 0;) {
    const AxonNode *node = g_ptr_array_index (c->model->nodes, i);
    const AxonValue *y = node->n_outputs > 0 ? node->outputs[0] : NULL;
    if (c->steps[i] == NO_STEP && !is_view (node) && y != NULL && y->users->len > 0)
      c->steps[i] = step_of (c, g_ptr_array_index (y->users, 0));
  }
}

/* What @node reads of @value. */
static gdouble
bytes_read (const AxonNode *node, const AxonValue *value)
{
  gdouble bytes = axon_value_get_bytes (value), made = 0;
  if (value != axon_node_get_input (node, 0) || !g_strv_contains (pickers, node->op->name))
    return bytes;
  for (guint i = 0; i < node->n_outputs; i++)
    made += node->outputs[i] ? axon_value_get_bytes (node->outputs[i]) : 0;
  return MIN (bytes, made);
}

static void
add_bytes (Costs *c, guint step, const AxonValue *value, gdouble bytes)
{
  if (axon_shape_get_numel (&value->type.shape) < 0)
    c->costs[step].bytes = NAN; /* and it stays that */
  c->costs[step].bytes += bytes;
}

/* Each step reads a value once, and writes what others use. */
static void
add_traffic (Costs *c, const AxonValue *value)
{
  guint maker = step_of (c, value->producer);
  gboolean leaves = value->is_output;
  for (guint i = 0; i < value->users->len; i++) {
    const AxonNode *user = g_ptr_array_index (value->users, i);
    guint step = step_of (c, user);
    gboolean again = FALSE;
    for (guint k = 0; k < i && !again; k++)
      again = step_of (c, g_ptr_array_index (value->users, k)) == step;
    leaves = leaves || step != maker;
    if (step != NO_STEP && step != maker && !again)
      add_bytes (c, step, value, bytes_read (user, value));
  }
  if (leaves && maker != NO_STEP)
    add_bytes (c, maker, value, axon_value_get_bytes (value));
}

AxonStepCost *
axon_model_get_step_costs (const AxonModel *model)
{
  guint n = model->nodes->len;
  g_autoptr (GHashTable) positions = g_hash_table_new (NULL, NULL);
  g_autofree guint *steps = g_new (guint, n + 1);
  g_autofree gdouble *most = g_new0 (gdouble, n + 1);
  Costs c = { model, positions, steps, g_new0 (AxonStepCost, n + 1) };
  gboolean runtime = FALSE;
  for (guint i = 0; i < n; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    g_hash_table_insert (positions, node, GUINT_TO_POINTER (i));
    runtime = runtime || node->exec_type != NULL;
  }
  find_steps (&c, runtime);
  for (guint i = 0; i < n; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    gdouble operations = axon_node_get_operations (node);
    if (steps[i] == NO_STEP)
      continue;
    c.costs[steps[i]].operations += operations;
    if (operations > most[steps[i]]) {
      most[steps[i]] = operations;
      c.costs[steps[i]].of_bytes = axon_node_multiplies_bytes (node);
    }
  }
  for (guint i = 0; i < model->values->len; i++)
    add_traffic (&c, g_ptr_array_index (model->values, i));
  for (guint i = 0; i < n; i++)
    if (isnan (c.costs[i].bytes))
      c.costs[i].bytes = 0;
  return c.costs;
}
