/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One walk in topological order: a node joins the earliest part of its device that is not before
 * any part that its inputs come from, else it begins a new part. */
#include <axon/plugin/axonpartition.h>

typedef struct {
  gchar *device;
  GPtrArray *nodes;
} Group;

static void
group_free (gpointer data)
{
  Group *group = data;
  g_ptr_array_unref (group->nodes);
  g_free (group->device);
  g_free (group);
}

static void
part_free (gpointer data)
{
  AxonPart *part = data;
  g_clear_object (&part->model);
  g_free (part->device);
  g_free (part);
}

/* node->index holds the part of nodes that are placed. */
static guint
earliest_part (const AxonNode *node)
{
  guint first = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && node->inputs[i]->producer != NULL)
      first = MAX (first, node->inputs[i]->producer->index);
  return first;
}

static void
place (GPtrArray *groups, AxonNode *node)
{
  guint g = earliest_part (node);
  Group *group;
  while (g < groups->len &&
         !g_str_equal (((Group *)g_ptr_array_index (groups, g))->device, node->affinity))
    g++;
  if (g == groups->len) {
    group = g_new0 (Group, 1);
    group->device = g_strdup (node->affinity);
    group->nodes = g_ptr_array_new ();
    g_ptr_array_add (groups, group);
  }
  group = g_ptr_array_index (groups, g);
  g_ptr_array_add (group->nodes, node);
  node->index = g;
}

/* The part's own value for @value: a copy of a constant, a new input, or what a node here makes. */
static AxonValue *
map_value (AxonModel *part, const AxonValue *value)
{
  AxonValue *mine = axon_model_find_value (part, value->name);
  if (mine != NULL)
    return mine;
  if (value->type.value != NULL)
    return axon_model_add_constant (part, value->name, value->type.value);
  mine = axon_model_add_input (part, value->name, value->type.dtype, &value->type.shape);
  mine->symbols = g_strdupv (value->symbols);
  mine->layout = g_strdup (value->layout);
  return mine;
}

static AxonValue *
make_value (AxonModel *part, const AxonValue *value)
{
  AxonValue *mine = axon_model_add_value (part, value->name);
  mine->type.dtype = value->type.dtype;
  mine->type.shape = value->type.shape;
  mine->symbols = g_strdupv (value->symbols);
  mine->layout = g_strdup (value->layout);
  return mine;
}

static gboolean
leaves_part (const AxonValue *value, guint part)
{
  gboolean leaves = value->is_output;
  for (guint u = 0; u < value->users->len && !leaves; u++)
    leaves = ((const AxonNode *)g_ptr_array_index (value->users, u))->index != part;
  return leaves;
}

static void
copy_node (AxonModel *part, const AxonNode *node, guint index)
{
  g_autofree AxonValue **in = g_new0 (AxonValue *, node->n_inputs + 1);
  g_autofree AxonValue **out = g_new0 (AxonValue *, node->n_outputs + 1);
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      in[i] = map_value (part, node->inputs[i]);
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      out[i] = make_value (part, node->outputs[i]);
  axon_model_copy_node (part, node, in, out);
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL && leaves_part (node->outputs[i], index))
      axon_model_add_output (part, out[i]);
}

static AxonPart *
make_part (AxonModel *model, const Group *group, guint index, GError **error)
{
  AxonPart *part = g_new0 (AxonPart, 1);
  g_autofree gchar *name = g_strdup_printf ("%s_%u", model->name, index);
  part->device = g_strdup (group->device);
  part->model = axon_model_new (name);
  part->model->quantized = model->quantized;
  for (guint i = 0; i < group->nodes->len; i++)
    copy_node (part->model, g_ptr_array_index (group->nodes, i), index);
  if (axon_model_infer_shapes (part->model, error)) {
    g_assert (axon_model_verify (part->model, NULL));
    return part;
  }
  part_free (part);
  return NULL;
}

GPtrArray *
axon_partition (AxonModel *model, GError **error)
{
  g_autoptr (AxonModel) whole = axon_model_clone (model); /* gets indices */
  g_autoptr (GPtrArray) groups = g_ptr_array_new_with_free_func (group_free);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (part_free);
  for (guint i = 0; i < whole->nodes->len; i++)
    place (groups, g_ptr_array_index (whole->nodes, i));
  for (guint i = 0; i < groups->len; i++) {
    AxonPart *part = make_part (whole, g_ptr_array_index (groups, i), i, error);
    if (part == NULL)
      return NULL;
    g_ptr_array_add (parts, part);
  }
  return g_steal_pointer (&parts);
}

AxonModel *
axon_partition_node (const AxonModel *model, const AxonNode *node, GError **error)
{
  g_autoptr (AxonModel) alone = axon_model_new (model->name);
  copy_node (alone, node, G_MAXUINT);
  if (alone->outputs->len == 0) /* nobody reads them */
    axon_model_add_output (alone, ((AxonNode *)alone->nodes->pdata[0])->outputs[0]);
  return axon_model_infer_shapes (alone, error) ? g_steal_pointer (&alone) : NULL;
}
