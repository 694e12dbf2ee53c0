/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs of elementwise operators on f32 become one node Elementwise of domain axon, whose kernel
 * takes them block by block: memory is read and written once. All results of a run have the shape
 * of its last one, so that nothing is computed more often than before. */
#include "cpupasses.h"
#include "../cpueltwise.h"
#include "../kernels/chain.h"

typedef struct {
  GPtrArray *nodes;  /* AxonNode, the run's last one first */
  GPtrArray *inputs; /* AxonValue */
  guint n_steps;
} Run;

/* Powers by small constants are steps of their own. */
static guint
count_steps (const AxonNode *node)
{
  CpuPost post;
  return cpu_post_of_node (&post, node) && post.kind == CPU_POST_CUBE ? 2 : 1;
}

static gboolean
has_step (const AxonNode *node)
{
  CpuPost post;
  if (cpu_post_of_node (&post, node))
    return post.kind != CPU_POST_GELU_TANH; /* a step has no attribute for it */
  return node->n_inputs == 2 && node->inputs[1] != NULL &&
         node->inputs[1]->type.dtype == AXON_DTYPE_F32 && cpu_pair_of_op (node->op->name) >= 0;
}

static gboolean
is_link (const AxonNode *node)
{
  return node->op->domain == NULL && cpu_knows_form (node->op) && node->n_outputs == 1 &&
         node->n_inputs >= 1 && node->inputs[0] != NULL &&
         node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         node->outputs[0]->type.dtype == AXON_DTYPE_F32 &&
         axon_shape_is_static (&node->outputs[0]->type.shape) &&
         node->outputs[0]->type.shape.rank <= AXON_MAX_RANK && has_step (node);
}

/* Inputs that are numbers of the step itself: Clip's bounds, a power. */
static guint
count_operands (const AxonNode *node)
{
  CpuPost post;
  return cpu_post_of_node (&post, node) ? 1 : 2;
}

static gboolean
has (const GPtrArray *array, gconstpointer item)
{
  return g_ptr_array_find ((GPtrArray *)array, item, NULL);
}

/* Inputs of the run's nodes that none of them makes. */
static void
collect_inputs (Run *run)
{
  g_ptr_array_set_size (run->inputs, 0);
  for (guint i = 0; i < run->nodes->len; i++) {
    const AxonNode *node = run->nodes->pdata[i];
    for (guint k = 0; k < count_operands (node); k++)
      if (!has (run->inputs, node->inputs[k]) &&
          (node->inputs[k]->producer == NULL || !has (run->nodes, node->inputs[k]->producer)))
        g_ptr_array_add (run->inputs, node->inputs[k]);
  }
}

/* What makes an input may join if nobody else uses it. */
static gboolean
may_join (const Run *run, const AxonValue *value)
{
  const AxonNode *last = run->nodes->pdata[0];
  if (value->producer == NULL || value->is_output || !is_link (value->producer) ||
      !axon_shape_equal (&value->type.shape, &last->outputs[0]->type.shape))
    return FALSE;
  for (guint i = 0; i < value->users->len; i++)
    if (!has (run->nodes, value->users->pdata[i]))
      return FALSE;
  return TRUE;
}

/* With one node more; FALSE: there is none, or no room. */
static gboolean
grow (Run *run)
{
  for (guint i = 0; i < run->inputs->len; i++) {
    AxonValue *value = run->inputs->pdata[i];
    if (!may_join (run, value) || run->n_steps + count_steps (value->producer) > CPU_CHAIN_STEPS)
      continue;
    g_ptr_array_add (run->nodes, value->producer);
    collect_inputs (run);
    if (run->inputs->len <= CPU_CHAIN_INPUTS) {
      run->n_steps += count_steps (value->producer);
      return TRUE;
    }
    g_ptr_array_set_size (run->nodes, (gint)run->nodes->len - 1);
    collect_inputs (run);
  }
  return FALSE;
}

/* Some input that is not a constant has the shape of the result. */
static gboolean
has_lead (const Run *run)
{
  const AxonNode *last = run->nodes->pdata[0];
  for (guint i = 0; i < run->inputs->len; i++) {
    const AxonValue *value = run->inputs->pdata[i];
    if (value->type.value == NULL &&
        axon_shape_equal (&value->type.shape, &last->outputs[0]->type.shape))
      return TRUE;
  }
  return FALSE;
}

/* The node's attributes while they are made. */
typedef struct {
  const Run *run;
  gchar **names;
  gint64 operands[2 * CPU_CHAIN_STEPS];
  gfloat args[2 * CPU_CHAIN_STEPS];
  AxonValue *made[CPU_CHAIN_STEPS];
  guint n;
} Attributes;

static gint64
find_operand (const Attributes *a, const AxonValue *value)
{
  guint index = 0;
  if (g_ptr_array_find (a->run->inputs, value, &index))
    return index;
  while (a->made[index] != value)
    index++;
  return a->run->inputs->len + index;
}

static void
add_step (Attributes *a, const gchar *name, gint64 first, gint64 second, const CpuPost *post)
{
  a->names[a->n] = g_strdup (name);
  a->operands[2 * a->n] = first;
  a->operands[2 * a->n + 1] = second;
  a->args[2 * a->n] = post->alpha;
  a->args[2 * a->n + 1] = post->beta;
  a->n++;
}

static void
add_node_steps (Attributes *a, const AxonNode *node)
{
  gint64 x = find_operand (a, node->inputs[0]);
  CpuPost post = { 0 };
  if (!cpu_post_of_node (&post, node))
    add_step (a, node->op->name, x, find_operand (a, node->inputs[1]), &post);
  else if (post.kind == CPU_POST_SQUARE || post.kind == CPU_POST_CUBE) {
    add_step (a, "Mul", x, x, &post);
    if (post.kind == CPU_POST_CUBE)
      add_step (a, "Mul", a->run->inputs->len + a->n - 1, x, &post);
  } else
    add_step (a, axon_node_is (node, "Pow") ? cpu_post_name (post.kind) : node->op->name, x, -1,
              &post);
  a->made[a->n - 1] = node->outputs[0];
}

static void
set_attributes (AxonNode *node, const Attributes *a)
{
  AxonAttr *steps = axon_node_add_attr (node, "steps", AXON_ATTR_STRINGS);
  steps->strings = a->names;
  steps->n = a->n;
  axon_node_set_ints (node, "operands", a->operands, 2 * a->n);
  axon_node_set_floats (node, "args", a->args, 2 * a->n);
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  guint x = (*(AxonNode *const *)a)->index, y = (*(AxonNode *const *)b)->index;
  return x < y ? -1 : x > y;
}

static void
fuse (AxonModel *model, Run *run)
{
  Attributes a = { .run = run, .names = g_new0 (gchar *, CPU_CHAIN_STEPS + 1) };
  AxonNode *last = run->nodes->pdata[0], *node;
  AxonValue *y = last->outputs[0];
  g_ptr_array_sort (run->nodes, compare_places);
  for (guint i = 0; i < run->nodes->len; i++)
    add_node_steps (&a, run->nodes->pdata[i]);
  axon_node_set_output (last, 0, NULL);
  node = axon_model_add_node (model, axon_builtin_op (AXON_DOMAIN_AXON, "Elementwise", 1), 1,
                              last->name, (AxonValue *const *)run->inputs->pdata, run->inputs->len,
                              &y, 1);
  set_attributes (node, &a);
  for (guint i = 0; i < run->nodes->len; i++)
    axon_node_add_origins (node, run->nodes->pdata[i]);
  for (guint i = run->nodes->len; i > 0; i--)
    axon_model_remove_node (model, run->nodes->pdata[i - 1]);
}

gboolean
cpu_pass_fuse_elementwise (AxonModel *model, GError **error)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new (), inputs = g_ptr_array_new ();
  guint before = model->nodes->len;
  for (guint i = 0; i < model->nodes->len; i++)
    ((AxonNode *)model->nodes->pdata[i])->index = i;
  for (guint i = model->nodes->len; i-- > 0;) {
    AxonNode *node = model->nodes->pdata[i];
    Run run = { nodes, inputs, 0 };
    if (!is_link (node))
      continue;
    run.n_steps = count_steps (node);
    g_ptr_array_set_size (nodes, 0);
    g_ptr_array_add (nodes, node);
    collect_inputs (&run);
    while (grow (&run))
      ;
    if (nodes->len < 2 || !has_lead (&run))
      continue;
    fuse (model, &run);
    i = i + 1 - nodes->len;
  }
  return model->nodes->len == before || axon_model_sort (model, error);
}
