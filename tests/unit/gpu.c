/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What only device GPU has: OpenCL handles, checks on the device, plans that follow values. */
#include "axontest.h"
#include "testcl.h"

#include <axon/axon-gpu.h>
#include <glib/gstdio.h>
#include <string.h>

static const gfloat four[] = { -1, 2, -3, 4 };

typedef struct {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
} Own;

/* What an application has: the first processor, a context, a queue. */
static void
own_init (Own *own)
{
  cl_platform_id platforms[8];
  cl_uint n = 0;
  g_assert_cmpint (CL (clGetPlatformIDs) (8, platforms, &n), ==, CL_SUCCESS);
  own->id = NULL;
  for (cl_uint i = 0; i < n && own->id == NULL; i++)
    CL (clGetDeviceIDs) (platforms[i], CL_DEVICE_TYPE_ALL, 1, &own->id, NULL);
  own->context = CL (clCreateContext) (NULL, 1, &own->id, NULL, NULL, NULL);
  g_assert_nonnull (own->context);
  own->queue = CL (clCreateCommandQueue) (own->context, own->id, 0, NULL);
  g_assert_nonnull (own->queue);
}

static Own
own_new (void)
{
  Own own = { 0 };
  own_init (&own);
  return own;
}

static void
own_clear (Own *own)
{
  CL (clReleaseCommandQueue) (own->queue);
  CL (clReleaseContext) (own->context);
}

static GVariant *
handles (const Own *own)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, AXON_GPU_OCL_CONTEXT, "t",
                         (guint64)GPOINTER_TO_SIZE (own->context));
  g_variant_dict_insert (&dict, AXON_GPU_OCL_QUEUE, "t", (guint64)GPOINTER_TO_SIZE (own->queue));
  return g_variant_dict_end (&dict);
}

static AxonTensor *
wrap_mem (AxonRemoteContext *context, cl_mem mem, const AxonShape *shape, GError **error)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, AXON_GPU_MEM_HANDLE, "t", (guint64)GPOINTER_TO_SIZE (mem));
  return axon_remote_context_create_tensor (context, AXON_DTYPE_F32, shape,
                                            g_variant_dict_end (&dict), error);
}

static void
buffers_of_the_application_are_read_and_written_in_its_queue (void)
{
  Own own = own_new ();
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonRemoteContext) context =
      axon_core_create_context (axon_core_get_default (), "GPU", handles (&own), &error);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (AxonTensor) in = NULL;
  g_autoptr (AxonTensor) out = NULL;
  cl_mem x = CL (clCreateBuffer) (own.context, CL_MEM_READ_WRITE, sizeof four, NULL, NULL);
  cl_mem y = CL (clCreateBuffer) (own.context, CL_MEM_READ_WRITE, sizeof four, NULL, NULL);
  gfloat result[4] = { 9, 9, 9, 9 };
  g_assert_no_error (error);
  compiled = axon_core_compile_model_with_context (axon_core_get_default (), model, context, NULL,
                                                   NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  in = wrap_mem (context, x, &shape, &error);
  out = wrap_mem (context, y, &shape, &error);
  g_assert_no_error (error);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, in, &error));
  g_assert_true (axon_infer_request_set_output_tensor (request, 0, out, &error));
  CL (clEnqueueWriteBuffer) (own.queue, x, CL_FALSE, 0, sizeof four, four, 0, NULL, NULL);
  g_assert_true (axon_infer_request_infer (request, &error));
  CL (clEnqueueReadBuffer) (own.queue, y, CL_TRUE, 0, sizeof four, result, 0, NULL, NULL);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (result[i], ==, MAX (four[i], 0));
  CL (clReleaseMemObject) (x);
  CL (clReleaseMemObject) (y);
  g_clear_pointer (&in, axon_tensor_unref);
  g_clear_pointer (&out, axon_tensor_unref);
  g_clear_object (&request);
  own_clear (&own);
}

static void
a_buffer_that_is_too_small_or_no_handle_is_refused (void)
{
  Own own = own_new ();
  AxonShape shape = AXON_SHAPE (100);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonRemoteContext) context =
      axon_core_create_context (axon_core_get_default (), "GPU", handles (&own), &error);
  cl_mem x = CL (clCreateBuffer) (own.context, CL_MEM_READ_WRITE, sizeof four, NULL, NULL);
  g_assert_null (wrap_mem (context, x, &shape, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "400 bytes"));
  g_clear_error (&error);
  g_assert_null (axon_core_create_context (
      axon_core_get_default (), "GPU",
      g_variant_new_parsed ("{%s: <'text'>}", AXON_GPU_OCL_CONTEXT), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  CL (clReleaseMemObject) (x);
  own_clear (&own);
}

static void
a_tensor_of_another_context_is_refused (void)
{
  Own own = own_new ();
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonRemoteContext) context =
      axon_core_create_context (axon_core_get_default (), "GPU", handles (&own), &error);
  g_autoptr (AxonTensor) x =
      axon_remote_context_create_tensor (context, AXON_DTYPE_F32, &shape, NULL, &error);
  g_assert_no_error (error);
  g_assert_null (test_try_run (model, "GPU", NULL, x, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "another OpenCL context"));
  own_clear (&own);
}

static void
host_tensors_of_a_context_are_inputs_and_outputs (void)
{
  AxonShape shape = AXON_SHAPE (1, 4);
  AxonCore *core = axon_core_get_default ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (core, model, "GPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (AxonRemoteContext) context = axon_compiled_model_get_context (compiled, &error);
  g_autoptr (AxonTensor) x =
      axon_remote_context_create_host_tensor (context, AXON_DTYPE_F32, &shape, &error);
  g_autoptr (AxonTensor) y =
      axon_remote_context_create_host_tensor (context, AXON_DTYPE_F32, &shape, &error);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_assert_no_error (error);
  memcpy (axon_tensor_get_data (x), four, sizeof four);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  g_assert_true (axon_infer_request_set_output_tensor (request, 0, y, &error));
  g_assert_true (axon_infer_request_infer (request, &error));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, MAX (four[i], 0));
}

static const gchar *
memory_class (const AxonTensor *tensor)
{
  return axon_tensor_get_memory (tensor, NULL)->klass->name;
}

/* In host memory that the device shares, where it does, nothing is copied: contents that change
 * between runs, and tensors in several roles, are what goes wrong then. */
static void
what_the_host_writes_between_runs_is_seen (void)
{
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "GPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (AxonRemoteContext) context = axon_compiled_model_get_context (compiled, &error);
  g_autoptr (AxonTensor) own =
      axon_remote_context_create_host_tensor (context, AXON_DTYPE_F32, &shape, &error);
  g_autoptr (AxonTensor) x = NULL;
  AxonInferRequest *requests[2];
  for (guint r = 0; r < 2; r++)
    requests[r] = axon_compiled_model_create_infer_request (compiled);
  x = axon_infer_request_get_input_tensor (requests[0], 0);
  g_assert_cmpstr (memory_class (x), ==, memory_class (own));
  g_assert_true (axon_infer_request_set_input_tensor (requests[1], 0, x, &error));
  for (gint run = -3; run < 3; run++) {
    for (guint i = 0; i < 4; i++)
      ((gfloat *)axon_tensor_get_data (x))[i] = (gfloat)(run * (gint)(i + 1));
    for (guint r = 0; r < 2; r++)
      g_assert_true (axon_infer_request_start_async (requests[r], &error));
    for (guint r = 0; r < 2; r++) {
      g_autoptr (AxonTensor) y = NULL;
      g_assert_true (axon_infer_request_wait (requests[r], &error));
      y = axon_infer_request_get_output_tensor (requests[r], 0);
      g_assert_cmpstr (memory_class (y), ==, memory_class (own));
      for (guint i = 0; i < 4; i++)
        g_assert_cmpfloat (axon_tensor_get_value (y, i), ==, MAX (run * (gint)(i + 1), 0));
    }
  }
  g_assert_true (axon_infer_request_set_output_tensor (requests[0], 0, x, &error));
  memcpy (axon_tensor_get_data (x), four, sizeof four);
  g_assert_true (axon_infer_request_infer (requests[0], &error));
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (axon_tensor_get_value (x, i), ==, MAX (four[i], 0));
  for (guint r = 0; r < 2; r++)
    g_object_unref (requests[r]);
}

/* The device tells its memory, and takes what fits. */
static void
a_model_is_spread_by_the_memory_that_the_device_tells (void)
{
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (AxonTensor) x = test_tensor (&shape, four);
  g_autoptr (GVariant) memory = axon_core_get_property (axon_core_get_default (), "GPU",
                                                        AXON_GPU_DEVICE_TOTAL_MEM_SIZE, NULL);
  g_autoptr (AxonTensor) y =
      test_run (model, "HETERO:GPU,CPU",
                g_variant_new_parsed ("{'MODEL_DISTRIBUTION_POLICY': <'PIPELINE_PARALLEL'>}"), x);
  g_assert_cmpuint (g_variant_get_uint64 (memory), >, 0);
  g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, 2);
}

static void
a_wrong_index_ends_the_run_with_an_error_and_the_next_works (void)
{
  AxonShape data = AXON_SHAPE (5, 3), one = AXON_SHAPE (1);
  TestModel t = test_model_new (13);
  AxonValue *index = test_model_input (&t, "i", AXON_DTYPE_I64, &one);
  AxonNode *n = test_model_node (&t, "Gather", 2, test_model_random (&t, &data, 1), index);
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "GPU", NULL, NULL, NULL, NULL, &error);
  g_autoptr (AxonInferRequest) request = NULL;
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (gint64 i = -7; i < 8; i++) {
    g_autoptr (AxonTensor) x = axon_tensor_new_i64 (&i, 1);
    gboolean right = i >= -5 && i < 5;
    g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
    g_assert_true (axon_infer_request_infer (request, &error) == right);
    if (right)
      continue;
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, "Gather"));
    g_clear_error (&error);
  }
}

static void
values_that_decide_shapes_are_planned_when_they_come (void)
{
  static const gint64 shapes[][2] = { { 2, 6 }, { 3, 4 }, { 12, 1 }, { 2, 6 } };
  AxonShape data = AXON_SHAPE (12), two = AXON_SHAPE (2);
  TestModel t = test_model_new (13);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &data);
  AxonNode *n =
      test_model_node (&t, "Reshape", 2, x, test_model_input (&t, "s", AXON_DTYPE_I64, &two));
  g_autoptr (AxonTensor) input = test_random (&data, 3);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  n = test_model_node (&t, "Relu", 1, n->outputs[0]);
  model = test_model_finish (&t, n->outputs[0]);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "GPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, input, &error));
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_autoptr (AxonTensor) s = axon_tensor_new_i64 (shapes[i], 2);
    g_autoptr (AxonTensor) y = NULL;
    g_assert_true (axon_infer_request_set_input_tensor (request, 1, s, &error));
    g_assert_true (axon_infer_request_infer (request, &error));
    y = axon_infer_request_get_output_tensor (request, 0);
    g_assert_cmpint (axon_tensor_get_dim (y, 0), ==, shapes[i][0]);
    g_assert_cmpint (axon_tensor_get_dim (y, 1), ==, shapes[i][1]);
  }
}

static void
a_frame_may_change_its_size_between_runs (void)
{
  static const gint sizes[][2] = { { 64, 48 }, { 300, 200 }, { 20, 30 }, { 300, 200 } };
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GError) error = NULL;
  AxonInferRequest *requests[2] = { NULL, NULL };
  axon_preprocess_set_size (pp, 40, 33);
  model = axon_preprocess_build (pp, NULL, 0, &error);
  for (guint d = 0; d < 2; d++) {
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        axon_core_get_default (), model, d ? "GPU" : "CPU", NULL, NULL, NULL, NULL, &error);
    g_assert_no_error (error);
    requests[d] = axon_compiled_model_create_infer_request (compiled);
  }
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (AxonTensor) a = NULL;
    g_autoptr (AxonTensor) b = NULL;
    for (guint d = 0; d < 2; d++) {
      test_bind_frame (requests[d], sizes[i][0], sizes[i][1], i);
      g_assert_true (axon_infer_request_infer (requests[d], &error));
    }
    a = axon_infer_request_get_output_tensor (requests[0], 0);
    b = axon_infer_request_get_output_tensor (requests[1], 0);
    g_assert_cmpfloat (test_largest_difference (a, b), <=, 1e-3);
  }
  g_object_unref (requests[0]);
  g_object_unref (requests[1]);
}

static void
memory_that_is_not_there_is_an_error_and_the_device_works_on (void)
{
  AxonShape little = AXON_SHAPE (1, 4);
  TestModel t = test_model_new (13);
  AxonNode *n =
      test_model_node (&t, "Expand", 2, test_model_input (&t, "x", AXON_DTYPE_F32, &little),
                       test_model_ints (&t, (gint64[]){ 500000000, 4 }, 2));
  g_autoptr (AxonModel) small = test_relu_model ();
  g_autoptr (AxonTensor) x = test_tensor (&little, four);
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (GVariant) memory = NULL;
  g_autoptr (GError) error = NULL;
  n = test_model_node (&t, "Transpose", 1, n->outputs[0]);
  n = test_model_node (&t, "ReduceMax", 1, n->outputs[0]);
  model = test_model_finish (&t, n->outputs[0]);
  memory = axon_core_get_property (axon_core_get_default (), "GPU", AXON_GPU_DEVICE_TOTAL_MEM_SIZE,
                                   &error);
  g_assert_no_error (error);
  if (g_variant_get_uint64 (memory) > (guint64)16 << 30) {
    g_test_skip ("the device has memory for two tensors of the largest size");
    return;
  }
  g_assert_null (test_try_run (model, "GPU", NULL, x, &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_MEMORY);
  y = test_run (small, "GPU", NULL, x);
  g_assert_cmpfloat (axon_tensor_get_value (y, 3), ==, 4);
}

static void
a_device_that_is_not_there_is_named (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  g_autoptr (GError) error = NULL;
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "GPU.15", NULL, NULL,
                                          NULL, NULL, &error));
  g_assert_nonnull (error);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "GPU.15"));
}

/* The driver of the tests makes as many devices as it is told. */
static void
the_second_device_has_its_own_name_context_and_place (void)
{
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonRemoteContext) context = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonTensor) x = NULL;
  g_autoptr (AxonTensor) y = NULL;
  g_autoptr (GVariant) name = NULL;
  g_autoptr (GVariant) other = NULL;
  g_autoptr (GVariant) where = NULL;
  g_autofree const gchar **list = NULL;
  AxonShape shape = AXON_SHAPE (1, 4);
  AxonCore *core = axon_core_get_default ();
  if (!g_test_subprocess ()) {
    g_setenv ("POCL_DEVICES", "pthread basic", TRUE);
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_unsetenv ("POCL_DEVICES");
    g_test_trap_assert_passed ();
    return;
  }
  name = axon_core_get_property (core, "GPU.1", "FULL_DEVICE_NAME", NULL);
  if (name == NULL) {
    g_test_skip ("the driver makes one device only");
    return;
  }
  model = test_relu_model ();
  other = axon_core_get_property (core, "GPU.0", "FULL_DEVICE_NAME", NULL);
  g_assert_false (g_variant_equal (name, other));
  context = axon_core_get_default_context (core, "GPU.1", NULL);
  g_assert_cmpstr (axon_remote_context_get_device_name (context), ==, "GPU.1");
  compiled = axon_core_compile_model (core, model, "GPU.1", NULL, NULL, NULL, NULL, NULL);
  where = axon_compiled_model_get_property (compiled, "EXECUTION_DEVICES", NULL);
  list = g_variant_get_strv (where, NULL);
  g_assert_cmpstr (list[0], ==, "GPU.1");
  x = test_tensor (&shape, four);
  y = test_run (model, "GPU.1", NULL, x);
  g_assert_cmpfloat (axon_tensor_get_value (y, 1), ==, 2);
}

/* In a process of its own: the loader looks for drivers once. */
static void
without_a_driver_the_device_says_so (void)
{
  g_autoptr (GError) error = NULL;
  if (!g_test_subprocess ()) {
    g_setenv ("OCL_ICD_VENDORS", "/nonexistent", TRUE);
    g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
    g_unsetenv ("OCL_ICD_VENDORS");
    g_test_trap_assert_passed ();
    return;
  }
  g_assert_false (axon_core_has_device (axon_core_get_default (), "GPU", &error));
  g_assert_nonnull (strstr (error->message, "no OpenCL platform"));
}

/* The driver of the tests aborts on a damaged cache. */
static void
a_cache_that_a_process_left_while_writing_is_emptied (void)
{
  g_autofree gchar *home = NULL;
  g_autofree gchar *folder = NULL;
  g_autofree gchar *damaged = NULL;
  g_autofree gchar *mark = NULL;
  g_autofree gchar *command = NULL;
  if (g_test_subprocess ()) {
    g_assert_true (axon_core_has_device (axon_core_get_default (), "GPU", NULL));
    return;
  }
  home = g_dir_make_tmp ("axon-XXXXXX", NULL);
  folder = g_build_filename (home, "axon", "pocl", NULL);
  damaged = g_build_filename (folder, "damaged", NULL);
  mark = g_build_filename (home, "axon", "pocl-writes-99999999", NULL);
  g_mkdir_with_parents (folder, 0700);
  g_file_set_contents (damaged, "x", 1, NULL);
  g_file_set_contents (mark, "", 0, NULL);
  g_setenv ("XDG_CACHE_HOME", home, TRUE);
  g_unsetenv ("POCL_CACHE_DIR");
  g_test_trap_subprocess (NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_unsetenv ("XDG_CACHE_HOME");
  g_test_trap_assert_passed ();
  g_assert_false (g_file_test (damaged, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (mark, G_FILE_TEST_EXISTS));
  command = g_strdup_printf ("rm -r '%s'", home);
  g_spawn_command_line_sync (command, NULL, NULL, NULL, NULL);
}

#define ADD(test) g_test_add_func ("/gpu/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (buffers_of_the_application_are_read_and_written_in_its_queue);
  ADD (a_buffer_that_is_too_small_or_no_handle_is_refused);
  ADD (a_tensor_of_another_context_is_refused);
  ADD (host_tensors_of_a_context_are_inputs_and_outputs);
  ADD (what_the_host_writes_between_runs_is_seen);
  ADD (a_model_is_spread_by_the_memory_that_the_device_tells);
  ADD (a_wrong_index_ends_the_run_with_an_error_and_the_next_works);
  ADD (values_that_decide_shapes_are_planned_when_they_come);
  ADD (a_frame_may_change_its_size_between_runs);
  ADD (memory_that_is_not_there_is_an_error_and_the_device_works_on);
  ADD (a_device_that_is_not_there_is_named);
  ADD (the_second_device_has_its_own_name_context_and_place);
  ADD (without_a_driver_the_device_says_so);
  ADD (a_cache_that_a_process_left_while_writing_is_emptied);
  return g_test_run ();
}
