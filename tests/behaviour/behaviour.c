/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The program, and what its groups share.
 * usage: axon-behaviour --device NAME [--plugin FILE.so] [--config KEY=VALUE]... [-l] [-p
 * /behaviour/GROUP] */
#include "behaviour.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const gchar *behaviour_device;
gchar *behaviour_name;
gboolean behaviour_is_virtual;
static gchar **config_pairs;
static gchar *plugin_path;

static void
configure (AxonCore *core)
{
  for (guint i = 0; config_pairs != NULL && config_pairs[i] != NULL; i++) {
    g_auto (GStrv) pair = g_strsplit (config_pairs[i], "=", 2);
    axon_core_set_property (core, behaviour_name, pair[0], g_variant_new_string (pair[1]), NULL);
  }
}

AxonCore *
behaviour_new_core (void)
{
  AxonCore *core = axon_core_new ();
  g_autoptr (GError) error = NULL;
  if (plugin_path != NULL && !axon_core_register_plugin (core, plugin_path, behaviour_name, &error))
    g_error ("%s", error->message);
  configure (core);
  return core;
}

AxonCore *
behaviour_core (void)
{
  static AxonCore *core;
  if (core == NULL)
    core = behaviour_new_core ();
  return core;
}

GVariant *
behaviour_config (void)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_VARDICT);
  for (guint i = 0; config_pairs != NULL && config_pairs[i] != NULL; i++) {
    g_auto (GStrv) pair = g_strsplit (config_pairs[i], "=", 2);
    g_variant_builder_add (&b, "{sv}", pair[0], g_variant_new_string (pair[1]));
  }
  return g_variant_builder_end (&b);
}

AxonTensor *
behaviour_random (const AxonShape *shape, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    ((gfloat *)axon_tensor_get_data (tensor))[i] = (gfloat)g_rand_double_range (rand, -1, 1);
  return tensor;
}

static AxonValue *
constant (AxonModel *model, const AxonShape *shape, guint32 seed)
{
  g_autoptr (AxonTensor) tensor = behaviour_random (shape, seed);
  if (shape->rank == 4) /* weights of a convolution: results keep their size, however many follow */
    for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
      ((gfloat *)axon_tensor_get_data (tensor))[i] *= 0.3f;
  return axon_model_add_constant (model, NULL, tensor);
}

static AxonNode *
add (AxonModel *model, const gchar *op, const gchar *name, guint n_in, AxonValue **in,
     const gchar *out_name)
{
  AxonValue *out = axon_model_add_value (model, out_name);
  AxonNode *node =
      axon_model_add_node (model, axon_builtin_op (NULL, op, 13), 13, name, in, n_in, &out, 1);
  g_ptr_array_add (node->origins, g_strdup (name));
  return node;
}

static AxonModel *
finish (AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  axon_model_infer_shapes (model, &error);
  g_assert_no_error (error);
  axon_model_verify (model, &error);
  g_assert_no_error (error);
  return model;
}

AxonModel *
behaviour_dense_model (void)
{
  AxonModel *m = axon_model_new ("dense");
  AxonShape in = AXON_SHAPE (1, 8), w = AXON_SHAPE (8, 4), b = AXON_SHAPE (4);
  AxonValue *x = axon_model_add_input (m, "x", AXON_DTYPE_F32, &in);
  AxonNode *product =
      add (m, "MatMul", "product", 2, (AxonValue *[]){ x, constant (m, &w, 1) }, NULL);
  AxonNode *sum =
      add (m, "Add", "sum", 2, (AxonValue *[]){ product->outputs[0], constant (m, &b, 2) }, NULL);
  AxonNode *y = add (m, "Relu", "relu", 1, sum->outputs, "y");
  axon_model_add_output (m, y->outputs[0]);
  return finish (m);
}

AxonModel *
behaviour_conv_model (guint n)
{
  static const gint64 pads[] = { 1, 1, 1, 1 };
  AxonModel *m = axon_model_new ("conv");
  AxonShape in = AXON_SHAPE (1, 3, 16, 16), w = AXON_SHAPE (3, 3, 3, 3);
  AxonValue *x = axon_model_add_input (m, "x", AXON_DTYPE_F32, &in);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *conv_name = g_strdup_printf ("conv%u", i);
    g_autofree gchar *relu_name = g_strdup_printf ("relu%u", i);
    AxonNode *conv = add (m, "Conv", conv_name, 2, (AxonValue *[]){ x, constant (m, &w, i) }, NULL);
    axon_node_set_ints (conv, "pads", pads, 4);
    x = add (m, "Relu", relu_name, 1, conv->outputs, i + 1 == n ? "y" : NULL)->outputs[0];
  }
  axon_model_add_output (m, x);
  return finish (m);
}

AxonModel *
behaviour_dynamic_model (void)
{
  AxonModel *m = axon_model_new ("dynamic");
  AxonShape in = AXON_SHAPE (-1, 4), one = AXON_SHAPE (1);
  AxonValue *x = axon_model_add_input (m, "x", AXON_DTYPE_F32, &in);
  AxonNode *s = add (m, "Sigmoid", "sigmoid", 1, &x, NULL);
  AxonNode *scaled =
      add (m, "Mul", "scaled", 2, (AxonValue *[]){ s->outputs[0], constant (m, &one, 3) }, NULL);
  AxonNode *y =
      add (m, "Add", "moved", 2, (AxonValue *[]){ scaled->outputs[0], constant (m, &one, 4) }, "y");
  axon_model_add_output (m, y->outputs[0]);
  return finish (m);
}

AxonModel *
behaviour_two_port_model (void)
{
  AxonModel *m = axon_model_new ("two ports");
  AxonShape s = AXON_SHAPE (1, 4);
  AxonValue *in[] = { axon_model_add_input (m, "a", AXON_DTYPE_F32, &s),
                      axon_model_add_input (m, "b", AXON_DTYPE_F32, &s) };
  axon_model_add_output (m, add (m, "Add", "add", 2, in, "sum")->outputs[0]);
  axon_model_add_output (m, add (m, "Mul", "mul", 2, in, "product")->outputs[0]);
  return finish (m);
}

AxonModel *
behaviour_batch_model (gint64 n)
{
  AxonModel *m = axon_model_new ("batch");
  AxonShape in = AXON_SHAPE (n, 4), one = AXON_SHAPE (1);
  AxonValue *x = axon_model_add_input (m, "x", AXON_DTYPE_F32, &in);
  AxonNode *r = add (m, "Relu", "relu", 1, &x, NULL);
  AxonNode *y =
      add (m, "Add", "one more", 2, (AxonValue *[]){ r->outputs[0], constant (m, &one, 4) }, "y");
  axon_model_add_output (m, y->outputs[0]);
  return finish (m);
}

AxonModel *
behaviour_any_model (guint index)
{
  return index == 0   ? behaviour_dense_model ()
         : index == 1 ? behaviour_conv_model (3)
                      : behaviour_two_port_model ();
}

AxonCompiledModel *
behaviour_compile_with (AxonModel *model, const gchar *key, const gchar *value, const gchar *what)
{
  g_autoptr (GVariant) base = g_variant_ref_sink (behaviour_config ());
  g_autoptr (GError) error = NULL;
  GVariantDict dict;
  AxonCompiledModel *compiled;
  g_variant_dict_init (&dict, base);
  if (key != NULL)
    g_variant_dict_insert (&dict, key, "s", value);
  compiled = axon_core_compile_model (behaviour_core (), model, behaviour_device,
                                      g_variant_dict_end (&dict), NULL, NULL, NULL, &error);
  if (compiled == NULL && what != NULL &&
      g_error_matches (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED)) {
    g_test_skip_printf ("%s: %s is not supported: %s", behaviour_device, what, error->message);
    return NULL;
  }
  g_assert_no_error (error);
  return compiled;
}

AxonCompiledModel *
behaviour_compile (AxonModel *model, const gchar *what)
{
  return behaviour_compile_with (model, NULL, NULL, what);
}

void
behaviour_bind (AxonInferRequest *request, AxonCompiledModel *compiled, guint32 seed)
{
  for (guint i = 0; i < axon_compiled_model_get_n_inputs (compiled); i++) {
    AxonShape shape = *axon_compiled_model_get_input_shape (compiled, i);
    g_autoptr (AxonTensor) x = NULL;
    g_autoptr (GError) error = NULL;
    for (gint d = 0; d < shape.rank; d++)
      shape.dims[d] = shape.dims[d] < 0 ? 1 : shape.dims[d];
    x = behaviour_random (&shape, seed + i);
    axon_infer_request_set_input_tensor (request, i, x, &error);
    g_assert_no_error (error);
  }
}

AxonInferRequest *
behaviour_request (AxonCompiledModel *compiled, guint32 seed)
{
  AxonInferRequest *request = axon_compiled_model_create_infer_request (compiled);
  behaviour_bind (request, compiled, seed);
  return request;
}

/* Outputs of the reference kernels on the graph as it is; free each. */
AxonTensor **
behaviour_reference (AxonModel *model, AxonTensor *const *inputs)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  AxonTensor **out = g_new0 (AxonTensor *, model->outputs->len + 1);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < clone->values->len; i++)
    ((AxonValue *)g_ptr_array_index (clone->values, i))->index = i;
  axon_eval_model (clone, inputs, out, NULL, NULL, &error);
  g_assert_no_error (error);
  return out;
}

void
behaviour_assert_close (const AxonTensor *got, const AxonTensor *expected)
{
  g_assert_nonnull (got);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (got), axon_tensor_get_shape (expected)));
  for (gsize i = 0; i < axon_tensor_get_numel (expected); i++) {
    gdouble e = axon_tensor_get_value (expected, i), g = axon_tensor_get_value (got, i);
    g_assert_cmpfloat (fabs (g - e), <=, 1e-4 + 1e-3 * fabs (e));
  }
}

void
behaviour_assert_result (AxonInferRequest *request, AxonModel *model, guint32 seed)
{
  guint n = model->inputs->len;
  g_autofree AxonTensor **in = g_new0 (AxonTensor *, n + 1);
  g_autofree AxonTensor **expected = NULL;
  for (guint i = 0; i < n; i++) {
    AxonShape shape = *axon_model_get_input_shape (model, i);
    for (gint d = 0; d < shape.rank; d++)
      shape.dims[d] = shape.dims[d] < 0 ? 1 : shape.dims[d];
    in[i] = behaviour_random (&shape, seed + i);
  }
  expected = behaviour_reference (model, in);
  for (guint i = 0; i < model->outputs->len; i++) {
    g_autoptr (AxonTensor) got = axon_infer_request_get_output_tensor (request, i);
    behaviour_assert_close (got, expected[i]);
    axon_tensor_unref (expected[i]);
  }
  for (guint i = 0; i < n; i++)
    axon_tensor_unref (in[i]);
}

gchar **
behaviour_ids (void)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (behaviour_core (), behaviour_name, "AVAILABLE_DEVICES", NULL);
  g_autofree const gchar **ids = value ? g_variant_get_strv (value, NULL) : NULL;
  guint n = ids ? g_strv_length ((gchar **)ids) : 0;
  gchar **devices;
  if (n < 2) {
    g_test_skip ("the plugin has one device");
    return NULL;
  }
  devices = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++)
    devices[i] = g_strdup_printf ("%s.%s", behaviour_name, ids[i]);
  return devices;
}

gboolean
behaviour_can_export (void)
{
  g_autoptr (GVariant) value =
      axon_core_get_property (behaviour_core (), behaviour_name, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = value ? g_variant_get_strv (value, NULL) : NULL;
  if (list != NULL && g_strv_contains (list, "EXPORT_IMPORT"))
    return TRUE;
  g_test_skip_printf ("%s does not list EXPORT_IMPORT", behaviour_name);
  return FALSE;
}

/* Our options leave argv; GLib's test options stay. */
static gboolean
parse (int *argc, char **argv)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  int kept = 1;
  for (int i = 1; i < *argc; i++) {
    if (i + 1 < *argc && g_str_equal (argv[i], "--device"))
      behaviour_device = argv[++i];
    else if (i + 1 < *argc && g_str_equal (argv[i], "--plugin"))
      plugin_path = argv[++i];
    else if (i + 1 < *argc && g_str_equal (argv[i], "--config") && strchr (argv[i + 1], '='))
      g_ptr_array_add (pairs, g_strdup (argv[++i]));
    else
      argv[kept++] = argv[i];
  }
  *argc = kept;
  g_ptr_array_add (pairs, NULL);
  config_pairs = (gchar **)g_ptr_array_free (g_steal_pointer (&pairs), FALSE);
  return behaviour_device != NULL;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  if (!parse (&argc, argv)) {
    fprintf (stderr,
             "usage: %s --device NAME [--plugin FILE.so] [--config KEY=VALUE]... [-l] "
             "[-p /behaviour/GROUP]\n",
             argv[0]);
    return 2;
  }
  behaviour_name = g_strndup (behaviour_device, strcspn (behaviour_device, ":."));
  behaviour_is_virtual = strchr (behaviour_device, ':') != NULL;
  g_test_init (&argc, &argv, NULL);
  if (!axon_core_has_device (behaviour_core (), behaviour_device, &error)) {
    fprintf (stderr, "%s\n", error->message);
    return 2;
  }
  behaviour_add_properties ();
  behaviour_add_compile ();
  behaviour_add_infer ();
  behaviour_add_async ();
  behaviour_add_tensors ();
  behaviour_add_export ();
  behaviour_add_lifetime ();
  behaviour_add_threads ();
  return g_test_run ();
}
