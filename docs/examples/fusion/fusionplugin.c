/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device FUSION: the sample plugin with an operator and a pass of its own. Its backend multiplies
 * and adds in one kernel, so the pass makes one node of Mul and Add; the table in AxonPluginInfo
 * lets exported models have that node. Built against the installed headers only. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#define DOMAIN "com.example.fusion"

/* The operator: y = x * scale + shift. Where the device has no kernel for it, or another device
 * imports the graph, the reference kernel runs. */
static gboolean
infer_scale_shift (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
                   G_GNUC_UNUSED GError **error)
{
  out[0].dtype = in[0].dtype;
  out[0].shape = in[0].shape;
  return TRUE;
}

static gboolean
eval_scale_shift (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  G_GNUC_UNUSED GError **error)
{
  gfloat scale = (gfloat)axon_node_get_float (node, "scale");
  gfloat shift = (gfloat)axon_node_get_float (node, "shift");
  const gfloat *x = axon_tensor_get_data (in[0]);
  gfloat *y = axon_tensor_get_data (out[0]);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]); i++)
    y[i] = x[i] * scale + shift;
  return TRUE;
}

static const AxonAttrSpec attributes[] = { { .name = "scale", .type = AXON_ATTR_FLOAT, .f = 1 },
                                           { .name = "shift", .type = AXON_ATTR_FLOAT },
                                           { 0 } };

static const AxonOp operators[] = {
  { .name = "ScaleShift",
    .domain = DOMAIN,
    .since = 1,
    .inputs = { 1, 1 },
    .outputs = { 1, 1 },
    .types = AXON_DTYPE_BIT (AXON_DTYPE_F32),
    .same_type_inputs = 1,
    .attrs = attributes,
    .infer = infer_scale_shift,
    .eval = eval_scale_shift,
    .flags = AXON_OP_ELEMENTWISE },
};

/* The pass: Add (Mul (x, scale), shift), both constants of one element, becomes ScaleShift (x). */
static gboolean
is_f32 (const AxonValue *value)
{
  return value->type.dtype == AXON_DTYPE_F32;
}

/* The input of @node that is not the scalar. */
static AxonValue *
other_input (const AxonNode *node, gdouble *scalar)
{
  for (guint i = 0; i < 2; i++)
    if (axon_match_scalar (node->inputs[i], scalar))
      return node->inputs[1 - i];
  return NULL;
}

/* TRUE if it did, and @add is gone. */
static gboolean
fuse (AxonModel *model, AxonNode *add)
{
  gdouble scale, shift;
  AxonValue *product = other_input (add, &shift), *x, *y = add->outputs[0];
  AxonNode *mul = product ? product->producer : NULL, *fused;
  if (mul == NULL || !axon_node_is (mul, "Mul") || !is_f32 (y) || product->is_output ||
      axon_value_get_only_user (product) != add)
    return FALSE;
  x = other_input (mul, &scale);
  if (x == NULL || !axon_shape_equal (&x->type.shape, &y->type.shape))
    return FALSE; /* a constant of higher rank makes the result larger */
  fused = axon_model_add_node (model, &operators[0], 1, add->name, &x, 1, &y, 1);
  axon_node_set_float (fused, "scale", scale);
  axon_node_set_float (fused, "shift", shift);
  axon_node_add_origins (fused, mul); /* the names that queries and profiles know */
  axon_node_add_origins (fused, add);
  axon_model_remove_node (model, add);
  axon_model_remove_node (model, mul);
  return TRUE;
}

static gboolean
fuse_next (AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (axon_node_is (node, "Add") && fuse (model, node))
      return TRUE;
  }
  return FALSE;
}

static gboolean
fuse_scale_shift (AxonModel *model, GError **error)
{
  while (fuse_next (model)) /* each changes the list */
    ;
  axon_model_prune (model); /* of values that nobody uses any more */
  return axon_model_sort (model, error);
}

static const AxonPass passes[] = { { "fuse-scale-shift", fuse_scale_shift } };

/* The rest is the sample's. */
#define SAMPLE_NO_ENTRY
#define SampleModel FusionModel /* both plugins may be loaded: types have one name each */
#define SampleModelClass FusionModelClass
#define SamplePlugin FusionPlugin
#define SamplePluginClass FusionPluginClass
#define SAMPLE_OWN_PASSES passes, G_N_ELEMENTS (passes)
#include "../plugin/sampleplugin.c"

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (sample_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_INFO (.name = "FUSION", .version = AXON_PLUGIN_VERSION,
                         .description = "Example of operators and passes", .create = create,
                         .flags = AXON_PLUGIN_REFERENCE, .ops = operators,
                         .n_ops = G_N_ELEMENTS (operators))
