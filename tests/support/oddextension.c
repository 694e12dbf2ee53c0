/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An extension whose kernels do what the example's does not, for tests: one operator each. All
 * compute x + 1 (or ln x), on whatever configuration their row makes. No operator has a reference
 * kernel but OddOrPlain, whose kernel refuses. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#include <math.h>
#include <string.h>

typedef void (*EditFunc) (AxonLayerConfig *config);

/* What is special about an operator's kernel. */
typedef struct {
  const gchar *name;
  EditFunc edit;      /* of the configuration that it offers; NULL: none is offered */
  const gchar *fails; /* function that fails */
  const gchar *text;  /* its message */
  gfloat (*compute) (gfloat);
} Odd;

static gfloat
plus_one (gfloat x)
{
  return x + 1;
}

static void
leave (G_GNUC_UNUSED AxonLayerConfig *config)
{
}

static void
make_half (AxonLayerConfig *config)
{
  config->in[0].desc.dtype = AXON_DTYPE_F16;
}

static void
make_taller (AxonLayerConfig *config)
{
  AxonShape shape = config->out[0].desc.shape;
  shape.dims[2] *= 2;
  axon_tensor_desc_init_planar (&config->out[0].desc, AXON_DTYPE_F32, &shape);
}

static void
make_offset (AxonLayerConfig *config)
{
  config->in[0].desc.offset = 4;
  config->out[0].desc.offset = 7;
}

static void
make_blocks (AxonLayerConfig *config, gint64 block)
{
  AxonShape shape = config->in[0].desc.shape;
  axon_tensor_desc_init_channel_blocks (&config->in[0].desc, AXON_DTYPE_F32, &shape, block);
  config->out[0] = config->in[0];
}

static void
make_blocks_of_8 (AxonLayerConfig *config)
{
  make_blocks (config, 8);
}

static void
make_blocks_of_16 (AxonLayerConfig *config)
{
  make_blocks (config, 16);
}

static void
make_wrong_blocks (AxonLayerConfig *config)
{
  make_blocks (config, 8);
  config->in[0].desc.blocked[1]++;
}

static void
open_batch (AxonLayerConfig *config)
{
  AxonShape shape = config->in[0].desc.shape;
  shape.dims[0] = -1;
  axon_tensor_desc_init_planar (&config->in[0].desc, AXON_DTYPE_F32, &shape);
  config->out[0] = config->in[0];
}

static void
make_batch_dynamic (AxonLayerConfig *config)
{
  open_batch (config);
  config->dynamic_batch = TRUE;
}

static const Odd odds[] = {
  { "OddOptional", leave, NULL, NULL, plus_one },
  { "OddHalf", make_half, NULL, NULL, plus_one },
  { "OddTaller", make_taller, NULL, NULL, plus_one },
  { "OddOffset", make_offset, NULL, NULL, plus_one },
  { "OddLog8", make_blocks_of_8, NULL, NULL, logf },
  { "OddLog16", make_blocks_of_16, NULL, NULL, logf },
  { "OddBlocks", make_wrong_blocks, NULL, NULL, plus_one },
  { "OddBatch", make_batch_dynamic, NULL, NULL, plus_one },
  { "OddOpen", open_batch, NULL, NULL, plus_one },
  { "OddNone", NULL, NULL, NULL, plus_one },
  { "OddInit", leave, "init", "init refuses on purpose", plus_one },
  { "OddExecute", leave, "execute", "execute refuses on purpose", plus_one },
  { "OddSilentConfigs", leave, "configs", "", plus_one },
  { "OddSilentInit", leave, "init", "", plus_one },
  { "OddSilentExecute", leave, "execute", "", plus_one },
  { "OddOrPlain", leave, "configs", "refused on purpose", plus_one },
};

static gboolean
infer_same (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out,
            G_GNUC_UNUSED GError **error)
{
  for (guint i = 0; i < node->n_outputs; i++) {
    out[i].dtype = in[0].dtype;
    out[i].shape = in[0].shape;
  }
  return TRUE;
}

static gboolean
eval_plus_one (G_GNUC_UNUSED const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
               G_GNUC_UNUSED GError **error)
{
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]); i++)
    ((gfloat *)axon_tensor_get_data (out[0]))[i] =
        plus_one (((gfloat *)axon_tensor_get_data (in[0]))[i]);
  return TRUE;
}

static const AxonAttrSpec no_attributes[] = { { 0 } };
static AxonOp operators[G_N_ELEMENTS (odds)]; /* made of the rows above before anybody reads them */

static void __attribute__ ((constructor)) make_operators (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (odds); i++)
    operators[i] =
        (AxonOp){ .name = odds[i].name,
                  .domain = "test.odd",
                  .since = 1,
                  .inputs = { 1, 3 },
                  .outputs = { 1, 2 },
                  .types = AXON_DTYPE_BIT (AXON_DTYPE_F32),
                  .attrs = no_attributes,
                  .infer = infer_same,
                  .eval = g_str_equal (odds[i].name, "OddOrPlain") ? eval_plus_one : NULL };
}

typedef struct {
  AxonLayerImpl parent;
  const Odd *odd;
  AxonShape shape;
  guint n_in, n_out;
  AxonLayerConfig config; /* that init was given */
} OddLayer;

static AxonStatus
may_fail (const OddLayer *self, const gchar *function, AxonResponse *response)
{
  if (g_strcmp0 (self->odd->fails, function) != 0)
    return AXON_STATUS_OK;
  axon_response_set (response, "%s", self->odd->text);
  return AXON_STATUS_GENERAL_ERROR;
}

static AxonStatus
get_supported_configurations (AxonLayerImpl *impl, GArray *configs, AxonResponse *response)
{
  OddLayer *self = (OddLayer *)impl;
  AxonLayerConfig config = { .n_in = self->n_in, .n_out = self->n_out };
  for (guint i = 0; i < self->n_in; i++)
    axon_tensor_desc_init_planar (&config.in[i].desc, AXON_DTYPE_F32, &self->shape);
  for (guint i = 0; i < self->n_out; i++)
    axon_tensor_desc_init_planar (&config.out[i].desc, AXON_DTYPE_F32, &self->shape);
  if (self->odd->edit != NULL) {
    self->odd->edit (&config);
    g_array_append_val (configs, config);
  }
  return may_fail (self, "configs", response);
}

/* The final configuration has nothing left open. */
static AxonStatus
init (AxonLayerImpl *impl, const AxonLayerConfig *config, AxonResponse *response)
{
  const AxonTensorDesc *in = &config->in[0].desc, *out = &config->out[0].desc;
  ((OddLayer *)impl)->config = *config;
  gboolean moved = g_str_equal (((OddLayer *)impl)->odd->name, "OddOffset");
  if (config->dynamic_batch || !axon_shape_is_static (&in->shape) || in->blocked[0] < 0 ||
      in->offset != (moved ? 4 : 0) || out->offset != (moved ? 7 : 0)) {
    axon_response_set (response, "init was not given the final configuration");
    return AXON_STATUS_GENERAL_ERROR;
  }
  return may_fail ((OddLayer *)impl, "init", response);
}

/* Every output is written, lanes that only pad included, and inputs that are given are added up. */
static AxonStatus
execute (AxonLayerImpl *impl, const AxonLayerBuffer *in, guint n_in, const AxonLayerBuffer *out,
         guint n_out, AxonResponse *response)
{
  OddLayer *self = (OddLayer *)impl;
  gsize n = axon_tensor_desc_get_n_elements (in[0].desc);
  if (in[0].desc->offset != self->config.in[0].desc.offset ||
      out[0].desc->offset != self->config.out[0].desc.offset) {
    axon_response_set (response, "execute was given other offsets than init");
    return AXON_STATUS_GENERAL_ERROR;
  }
  for (guint o = 0; o < n_out; o++) {
    gfloat *y = (gfloat *)out[o].data + out[o].desc->offset;
    const gfloat *x = (const gfloat *)in[0].data + in[0].desc->offset;
    for (gsize i = 0; i < n; i++)
      y[i] = self->odd->compute (x[i]);
    for (guint k = 1; k < n_in; k++)
      for (gsize i = 0; in[k].data != NULL && i < n; i++)
        y[i] += ((const gfloat *)in[k].data + in[k].desc->offset)[i];
  }
  return may_fail (self, "execute", response);
}

static void
odd_free (AxonLayerImpl *impl)
{
  g_free (impl);
}

static const AxonLayerImplClass odd_class = { .get_supported_configurations =
                                                  get_supported_configurations,
                                              .init = init,
                                              .execute = execute,
                                              .free = odd_free };

static const Odd *
find (const AxonNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (odds); i++)
    if (node->op == &operators[i])
      return &odds[i];
  return NULL;
}

static const gchar *const *
get_impl_types (const AxonNode *node)
{
  static const gchar *const types[] = { "CPU", NULL };
  return find (node) ? types : NULL;
}

static AxonLayerImpl *
get_implementation (const AxonNode *node, G_GNUC_UNUSED const gchar *type)
{
  OddLayer *self = g_new0 (OddLayer, 1);
  self->parent.klass = &odd_class;
  self->odd = find (node);
  self->shape = node->inputs[0]->type.shape;
  self->n_in = node->n_inputs;
  self->n_out = node->n_outputs;
  return &self->parent;
}

AXON_DEFINE_EXTENSION (.name = "odd", .version = "1.0", .ops = operators,
                       .n_ops = G_N_ELEMENTS (operators), .get_impl_types = get_impl_types,
                       .get_implementation = get_implementation)
