/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extension: operator com.example.AddConstant, output = input + add, with a reference kernel and
 * a kernel for device CPU that works on row-major tensors and on blocks of eight channels alike.
 * Built against the installed headers only. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#define DOMAIN "com.example"

/* The operator: shape inference and the reference kernel. */
static gboolean
infer_same (G_GNUC_UNUSED const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
            G_GNUC_UNUSED GError **error)
{
  out[0].dtype = in[0].dtype;
  out[0].shape = in[0].shape;
  return TRUE;
}

static gboolean
eval_add (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
          G_GNUC_UNUSED GError **error)
{
  gfloat add = (gfloat)axon_node_get_int (node, "add");
  const gfloat *x = axon_tensor_get_data (in[0]);
  gfloat *y = axon_tensor_get_data (out[0]);
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]); i++)
    y[i] = x[i] + add;
  return TRUE;
}

static const AxonAttrSpec attributes[] = {
  { .name = "add", .type = AXON_ATTR_INT, .required = TRUE },
  { .name = "blocked", .type = AXON_ATTR_INT },
  { 0 },
};

#define F32 AXON_DTYPE_BIT (AXON_DTYPE_F32)
static const AxonOp operators[] = {
  {
      .name = "AddConstant",
      .domain = DOMAIN,
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F32,
      .same_type_inputs = 1,
      .attrs = attributes,
      .infer = infer_same,
      .eval = eval_add,
      .flags = AXON_OP_ELEMENTWISE,
  },
  /* the same without a reference kernel: only devices with a kernel of the extension run it */
  {
      .name = "AddConstantOnDevice",
      .domain = DOMAIN,
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = F32,
      .same_type_inputs = 1,
      .attrs = attributes,
      .infer = infer_same,
      .flags = AXON_OP_ELEMENTWISE,
  },
};

/* The kernel for device CPU. */
typedef struct {
  AxonLayerImpl parent;
  gint64 add;
  gboolean blocked_only;
  AxonShape shape;
  gchar *error; /* of the constructor: told by the first call */
} AddLayer;

/* TRUE if all is well; else the text goes to @response. */
static AxonStatus
check (const AddLayer *self, AxonResponse *response)
{
  if (self->error == NULL)
    return AXON_STATUS_OK;
  axon_response_set (response, "%s", self->error);
  return AXON_STATUS_GENERAL_ERROR;
}

static AxonStatus
add_get_supported_configurations (AxonLayerImpl *impl, GArray *configs, AxonResponse *response)
{
  AddLayer *self = (AddLayer *)impl;
  AxonLayerConfig config = { .n_in = 1, .n_out = 1 };
  if (check (self, response) != AXON_STATUS_OK)
    return AXON_STATUS_GENERAL_ERROR;
  if (!self->blocked_only) {
    axon_tensor_desc_init_planar (&config.in[0].desc, AXON_DTYPE_F32, &self->shape);
    config.out[0] = config.in[0];
    g_array_append_val (configs, config);
  }
  axon_tensor_desc_init_channel_blocks (&config.in[0].desc, AXON_DTYPE_F32, &self->shape, 8);
  config.out[0] = config.in[0];
  g_array_append_val (configs, config);
  return AXON_STATUS_OK;
}

static AxonStatus
add_init (AxonLayerImpl *impl, const AxonLayerConfig *config, AxonResponse *response)
{
  AddLayer *self = (AddLayer *)impl;
  if (config->n_in == 1 && config->n_out == 1 && config->in[0].desc.shape.rank == 4 &&
      config->out[0].desc.shape.rank == 4 && config->in[0].desc.dtype == AXON_DTYPE_F32 &&
      config->out[0].desc.dtype == AXON_DTYPE_F32)
    return check (self, response);
  axon_response_set (response, "AddConstant: expected one f32 input and output of rank 4");
  return AXON_STATUS_GENERAL_ERROR;
}

/* Input and output lie alike, so the elements are one row, those that fill a last block included.
 */
static AxonStatus
add_execute (AxonLayerImpl *impl, const AxonLayerBuffer *in, G_GNUC_UNUSED guint n_in,
             const AxonLayerBuffer *out, G_GNUC_UNUSED guint n_out,
             G_GNUC_UNUSED AxonResponse *response)
{
  gfloat add = (gfloat)((AddLayer *)impl)->add;
  const gfloat *x = (const gfloat *)in[0].data + in[0].desc->offset;
  gfloat *y = (gfloat *)out[0].data + out[0].desc->offset;
  gsize n = axon_tensor_desc_get_n_elements (in[0].desc);
  for (gsize i = 0; i < n; i++)
    y[i] = x[i] + add;
  return AXON_STATUS_OK;
}

static void
add_free (AxonLayerImpl *impl)
{
  g_free (((AddLayer *)impl)->error);
  g_free (impl);
}

static const AxonLayerImplClass add_class = {
  .get_supported_configurations = add_get_supported_configurations,
  .init = add_init,
  .execute = add_execute,
  .free = add_free,
};

static AxonLayerImpl *
add_new (const AxonNode *node)
{
  AddLayer *self = g_new0 (AddLayer, 1);
  const AxonTypeInfo *in = &node->inputs[0]->type;
  self->parent.klass = &add_class;
  self->add = axon_node_get_int (node, "add");
  self->blocked_only = axon_node_get_int (node, "blocked") != 0;
  self->shape = in->shape;
  if (in->dtype != AXON_DTYPE_F32 || in->shape.rank != 4 || !axon_shape_is_static (&in->shape)) {
    g_autofree gchar *shape = axon_shape_to_string (&in->shape);
    self->error = g_strdup_printf ("AddConstant: expected f32 of rank 4 and known shape, got %s%s",
                                   axon_dtype_get_name (in->dtype), shape);
  }
  return &self->parent;
}

static gboolean
is_ours (const AxonNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (node->op == &operators[i])
      return TRUE;
  return FALSE;
}

static const gchar *const *
get_impl_types (const AxonNode *node)
{
  static const gchar *const types[] = { "CPU", NULL };
  return is_ours (node) ? types : NULL;
}

static AxonLayerImpl *
get_implementation (const AxonNode *node, const gchar *type)
{
  return is_ours (node) && g_str_equal (type, "CPU") ? add_new (node) : NULL;
}

AXON_DEFINE_EXTENSION (.name = "example", .version = "1.0", .ops = operators,
                       .n_ops = G_N_ELEMENTS (operators), .get_impl_types = get_impl_types,
                       .get_implementation = get_implementation)
