/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axontest.h"

#include <glib/gstdio.h>
#include <math.h>

TestModel
test_model_new (gint opset)
{
  return (TestModel){ axon_model_new ("test"), opset };
}

AxonValue *
test_model_input (TestModel *t, const gchar *name, AxonDType dtype, const AxonShape *shape)
{
  return axon_model_add_input (t->model, name, dtype, shape);
}

AxonModel *
test_relu_model (void)
{
  TestModel t = test_model_new (13);
  AxonShape s = AXON_SHAPE (1, 4);
  AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
  return test_model_finish (&t, n->outputs[0]);
}

AxonTensor *
test_tensor (const AxonShape *shape, const gfloat *values)
{
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  memcpy (axon_tensor_get_data (tensor), values, axon_tensor_get_n_bytes (tensor));
  return tensor;
}

AxonTensor *
test_random (const AxonShape *shape, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  AxonTensor *tensor = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++)
    ((gfloat *)axon_tensor_get_data (tensor))[i] = (gfloat)g_rand_double_range (rand, -1, 1);
  return tensor;
}

AxonValue *
test_model_constant (TestModel *t, const AxonShape *shape, const gfloat *values)
{
  g_autoptr (AxonTensor) tensor = test_tensor (shape, values);
  return axon_model_add_constant (t->model, NULL, tensor);
}

AxonValue *
test_model_random (TestModel *t, const AxonShape *shape, guint32 seed)
{
  g_autoptr (AxonTensor) tensor = test_random (shape, seed);
  return axon_model_add_constant (t->model, NULL, tensor);
}

AxonValue *
test_model_ints (TestModel *t, const gint64 *values, guint n)
{
  AxonShape shape = AXON_SHAPE ((gint64)n);
  g_autoptr (AxonTensor) tensor = axon_tensor_new (AXON_DTYPE_I64, &shape, NULL);
  if (n > 0)
    memcpy (axon_tensor_get_data (tensor), values, n * sizeof *values);
  return axon_model_add_constant (t->model, NULL, tensor);
}

AxonNode *
test_model_node_of (TestModel *t, const gchar *domain, const gchar *op, AxonValue *const *in,
                    guint n_in, guint n_out)
{
  const AxonOp *row = axon_builtin_op (domain, op, domain ? 1 : t->opset);
  AxonValue *out[4];
  AxonNode *node;
  g_assert_nonnull (row);
  g_assert_cmpuint (n_out, <=, G_N_ELEMENTS (out));
  for (guint i = 0; i < n_out; i++)
    out[i] = axon_model_add_value (t->model, NULL);
  node = axon_model_add_node (t->model, row, domain ? 1 : t->opset, op, in, n_in, out, n_out);
  g_ptr_array_add (node->origins, g_strdup (out[0]->name));
  g_free (node->name);
  node->name = g_strdup (out[0]->name);
  return node;
}

AxonNode *
test_model_node (TestModel *t, const gchar *op, guint n_in, ...)
{
  AxonValue *in[8] = { NULL };
  va_list args;
  va_start (args, n_in);
  for (guint i = 0; i < n_in; i++)
    in[i] = va_arg (args, AxonValue *);
  va_end (args);
  return test_model_node_of (t, NULL, op, in, n_in, 1);
}

AxonNode *
test_model_mish (TestModel *t, AxonValue *x, guint first)
{
  AxonNode *softplus = test_model_node (t, "Softplus", 1, x);
  AxonValue *in[2];
  in[first] = x;
  in[1 - first] = test_model_node (t, "Tanh", 1, softplus->outputs[0])->outputs[0];
  return test_model_node (t, "Mul", 2, in[0], in[1]);
}

AxonValue *
test_model_activate (TestModel *t, AxonValue *y, const gchar *name, gint64 channels, gint spatial)
{
  AxonShape slopes = AXON_SHAPE (channels, 1, 1);
  slopes.rank = 1 + spatial;
  if (name == NULL)
    return y;
  if (g_str_equal (name, "PRelu"))
    return test_model_node (t, name, 2, y, test_model_random (t, &slopes, 5))->outputs[0];
  return test_model_node (t, name, 1, y)->outputs[0];
}

void
test_model_set_window (AxonNode *conv, gint64 group, const gint64 *strides, const gint64 *dilations,
                       const gint64 *pads)
{
  axon_node_set_int (conv, "group", group);
  axon_node_set_ints (conv, "strides", strides, 2);
  axon_node_set_ints (conv, "dilations", dilations, 2);
  axon_node_set_ints (conv, "pads", pads, 4);
}

AxonModel *
test_model_finish (TestModel *t, AxonValue *output)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;
  axon_model_add_output (t->model, output);
  ok = axon_model_infer_shapes (t->model, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  ok = axon_model_verify (t->model, &error);
  g_assert_no_error (error);
  g_assert_true (ok);
  return t->model;
}

AxonModel *
test_model_read_back (AxonModel *model)
{
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
      axon_core_write_model_to_bytes (core, model, AXON_WRITE_DEFAULT, &error);
  AxonModel *back;
  g_assert_no_error (error);
  back = axon_core_read_model_from_bytes (core, bytes, NULL, &error);
  g_assert_no_error (error);
  g_object_unref (model);
  return back;
}

gchar *
test_model_write (AxonModel *model)
{
  g_autoptr (GError) error = NULL;
  gchar *path = g_build_filename (g_get_tmp_dir (), "axon-model-XXXXXX.onnx", NULL);
  gint fd = g_mkstemp (path);
  g_assert_cmpint (fd, >=, 0);
  g_close (fd, NULL);
  axon_core_write_model (axon_core_get_default (), model, path, &error);
  g_assert_no_error (error);
  return path;
}

AxonTensor *
test_try_run_all (AxonModel *model, const gchar *device, GVariant *config,
                  AxonTensor *const *inputs, guint n_inputs, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, device, config, NULL, NULL, NULL, error);
  g_autoptr (AxonInferRequest) request = NULL;
  if (compiled == NULL)
    return NULL;
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < n_inputs; i++)
    if (!axon_infer_request_set_input_tensor (request, i, inputs[i], error))
      return NULL;
  if (!axon_infer_request_infer (request, error))
    return NULL;
  return axon_infer_request_get_output_tensor (request, 0);
}

AxonTensor *
test_try_run (AxonModel *model, const gchar *device, GVariant *config, AxonTensor *input,
              GError **error)
{
  return test_try_run_all (model, device, config, &input, 1, error);
}

AxonTensor *
test_run (AxonModel *model, const gchar *device, GVariant *config, AxonTensor *input)
{
  g_autoptr (GError) error = NULL;
  AxonTensor *output = test_try_run (model, device, config, input, &error);
  g_assert_no_error (error);
  return output;
}

guint
test_cancel_until_it_ends (AxonInferRequest *request)
{
  gboolean done = FALSE;
  guint n_cancelled = 0;
  for (guint ms = 20; !done; ms *= 4) {
    g_autoptr (GError) error = NULL;
    g_assert_true (axon_infer_request_start_async (request, NULL));
    g_assert_true (axon_infer_request_wait_for (request, ms, &done, NULL));
    axon_infer_request_cancel (request);
    if (!axon_infer_request_wait (request, &error)) {
      g_assert_error (error, AXON_ERROR, AXON_ERROR_CANCELLED);
      n_cancelled++;
    }
  }
  return n_cancelled;
}

guint
test_count_nodes (AxonModel *model, const gchar *domain, const gchar *op)
{
  g_autoptr (AxonModel) runtime = test_runtime_model (model, test_device ());
  guint n = 0;
  for (guint i = 0; i < runtime->nodes->len; i++)
    n += axon_node_is_in (runtime->nodes->pdata[i], domain, op);
  return n;
}

gdouble
test_largest_difference (const AxonTensor *a, const AxonTensor *b)
{
  gdouble worst = 0;
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (a), axon_tensor_get_shape (b)));
  for (gsize i = 0; i < axon_tensor_get_numel (a); i++)
    worst = fmax (worst, fabs (axon_tensor_get_value (a, i) - axon_tensor_get_value (b, i)));
  return worst;
}

const gchar *
test_device (void)
{
  const gchar *device = g_getenv ("AXON_TEST_DEVICE");
  return device ? device : "CPU";
}

static GVariant *
test_config (void)
{
  const gchar *config = g_getenv ("AXON_TEST_CONFIG");
  return config ? g_variant_new_parsed (config) : NULL;
}

gchar *
test_disagreement (AxonModel *model, AxonTensor *x, gdouble tolerance)
{
  GVariant *plain = g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <'YES'>}");
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonTensor) reference = test_try_run (model, "TEMPLATE", plain, x, &error);
  g_autoptr (AxonTensor) got =
      error ? NULL : test_try_run (model, test_device (), test_config (), x, &error);
  gdouble largest = 1;
  if (error != NULL)
    return g_strdup_printf ("%s: %s", reference ? test_device () : "TEMPLATE", error->message);
  if (!axon_shape_equal (axon_tensor_get_shape (reference), axon_tensor_get_shape (got)) ||
      axon_tensor_get_dtype (reference) != axon_tensor_get_dtype (got))
    return g_strdup ("another shape or type");
  for (gsize i = 0; i < axon_tensor_get_numel (reference); i++)
    if (isfinite (axon_tensor_get_value (reference, i)))
      largest = fmax (largest, fabs (axon_tensor_get_value (reference, i)));
  for (gsize i = 0; i < axon_tensor_get_numel (reference); i++) {
    gdouble a = axon_tensor_get_value (reference, i), b = axon_tensor_get_value (got, i);
    if (a != b && !(isnan (a) && isnan (b)) && !(fabs (a - b) <= tolerance * largest))
      return g_strdup_printf ("element %" G_GSIZE_FORMAT ": TEMPLATE %.9g, the device %.9g", i, a,
                              b);
  }
  return NULL;
}

void
test_compare_devices (AxonModel *model, AxonTensor *x, gdouble tolerance)
{
  g_autofree gchar *difference = test_disagreement (model, x, tolerance);
  g_assert_cmpstr (difference, ==, NULL);
}

AxonModel *
test_runtime_model (AxonModel *model, const gchar *device)
{
  g_autoptr (GError) error = NULL;
  AxonModel *runtime;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, device, NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  g_assert_no_error (error);
  return runtime;
}

gchar *
test_data (const gchar *relative)
{
  const gchar *root = g_getenv ("AXON_TEST_DATA");
  g_autofree gchar *path = g_build_filename (root ? root : TEST_DATA_DEFAULT, relative, NULL);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  g_test_skip_printf ("no test data at %s (set AXON_TEST_DATA)", path);
  return NULL;
}

gchar *
test_ball_model (void)
{
  return g_build_filename (TEST_SOURCE_ROOT, "pipelines", "quickstart", "ball.onnx", NULL);
}

void
test_bind_frame (AxonInferRequest *request, gint width, gint height, guint32 seed)
{
  AxonShape info_shape = AXON_SHAPE (AXON_IMAGE_INFO_NUMEL), one = AXON_SHAPE (1);
  AxonShape bytes = AXON_SHAPE ((gint64)width * 3 * height);
  AxonImageInfo info = { .format = AXON_IMAGE_FORMAT_RGB,
                         .width = width,
                         .height = height,
                         .stride = { (gint64)width * 3 },
                         .kr_1e6 = 299000,
                         .kb_1e6 = 114000 };
  g_autoptr (AxonTensor) header = axon_tensor_new (AXON_DTYPE_I64, &info_shape, NULL);
  g_autoptr (AxonTensor) plane = axon_tensor_new (AXON_DTYPE_U8, &bytes, NULL);
  g_autoptr (AxonTensor) none = axon_tensor_new (AXON_DTYPE_U8, &one, NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  AxonTensor *all[] = { header, plane, none, none };
  memcpy (axon_tensor_get_data (header), &info, sizeof info);
  for (gsize i = 0; i < axon_tensor_get_numel (plane); i++)
    ((guint8 *)axon_tensor_get_data (plane))[i] = (guint8)g_rand_int (rand);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    g_autoptr (GError) error = NULL;
    axon_infer_request_set_input_tensor (request, i, all[i], &error);
    g_assert_no_error (error);
  }
}

guint
test_count_entries (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  guint n = 0;
  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

void
test_assert_approved (const gchar *path, const gchar *text)
{
  g_autofree gchar *approved = g_build_filename (TEST_SOURCE_ROOT, "tests", path, NULL);
  g_autofree gchar *base = g_path_get_basename (path), *before = NULL, *now = NULL;
  g_autoptr (GError) error = NULL;
  g_file_get_contents (approved, &before, NULL, NULL);
  if (g_strcmp0 (before, text) == 0)
    return;
  now = g_build_filename (g_get_tmp_dir (), base, NULL);
  g_file_set_contents (now, text, -1, &error);
  g_assert_no_error (error);
  g_test_fail_printf ("diff %s %s; what is meant replaces it", approved, now);
}
