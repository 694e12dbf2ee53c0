/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ONNXIFI vendor library on OpenCL buffers of the client. */
#include "onnxifitest.h"
#include "testcl.h"

#include <string.h>

static onnxBackendID
find_gpu (const Client *c)
{
  for (size_t i = 0; i < c->n_ids; i++) {
    guint64 type = 0;
    size_t n = sizeof type;
    g_assert_cmpint (onnxGetBackendInfo (c->ids[i], ONNXIFI_BACKEND_DEVICE_TYPE, &type, &n), ==,
                     ONNXIFI_STATUS_SUCCESS);
    if (type == ONNXIFI_DEVICE_TYPE_GPU)
      return c->ids[i];
  }
  return NULL;
}

static cl_context
make_context (cl_command_queue *queue)
{
  cl_platform_id platform;
  cl_device_id device;
  cl_context context;
  g_assert_cmpint (CL (clGetPlatformIDs) (1, &platform, NULL), ==, CL_SUCCESS);
  g_assert_cmpint (CL (clGetDeviceIDs) (platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), ==,
                   CL_SUCCESS);
  context = CL (clCreateContext) (NULL, 1, &device, NULL, NULL, NULL);
  *queue = CL (clCreateCommandQueue) (context, device, 0, NULL);
  return context;
}

static void
buffers_of_the_clients_context_are_tensors (void)
{
  Client c = client_new ();
  onnxBackend cpu = c.backend;
  g_autoptr (GBytes) bytes = relu_bytes (&c, 4);
  cl_command_queue queue;
  cl_context context = make_context (&queue);
  const uint64_t properties[] = { ONNXIFI_BACKEND_OPENCL_CONTEXT,
                                  (uint64_t)GPOINTER_TO_SIZE (context), 0 };
  const guint64 shape[] = { 1, 4 };
  const gfloat x[4] = { -1, 2, -3, 4 };
  gfloat y[4] = { 0 };
  onnxBackendID gpu = find_gpu (&c);
  onnxTensorDescriptorV1 in, out;
  onnxGraph graph;
  cl_mem a, b;
  g_assert_nonnull (gpu);
  a = CL (clCreateBuffer) (context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof x, (gpointer)x,
                           NULL);
  b = CL (clCreateBuffer) (context, CL_MEM_READ_WRITE, sizeof y, NULL, NULL);
  in = tensor_f32 (c.input, 2, shape, a);
  out = tensor_f32 (c.output, 2, shape, b);
  in.memoryType = out.memoryType = ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER;
  g_assert_cmpint (onnxInitBackend (gpu, properties, &c.backend), ==, ONNXIFI_STATUS_SUCCESS);
  graph = client_graph (&c, bytes);
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==, ONNXIFI_STATUS_SUCCESS);
  client_run (&c, graph);
  CL (clEnqueueReadBuffer) (queue, b, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (y[i], ==, MAX (x[i], 0));
  onnxReleaseGraph (graph);
  onnxReleaseBackend (c.backend);
  c.backend = cpu;
  graph = client_graph (&c, bytes); /* a backend without the context takes none */
  g_assert_cmpint (onnxSetGraphIO (graph, 1, &in, 1, &out), ==,
                   ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE);
  onnxReleaseGraph (graph);
  CL (clReleaseMemObject) (a);
  CL (clReleaseMemObject) (b);
  CL (clReleaseCommandQueue) (queue);
  CL (clReleaseContext) (context);
  client_clear (&c);
}

static void
a_context_of_another_kind_is_an_invalid_property (void)
{
  Client c = client_new ();
  const uint64_t none[] = { ONNXIFI_BACKEND_OPENCL_CONTEXT, 0, 0 };
  onnxBackend backend = &c;
  g_assert_cmpint (onnxInitBackend (find_gpu (&c), none, &backend), ==,
                   ONNXIFI_STATUS_INVALID_PROPERTY);
  g_assert_null (backend);
  client_clear (&c);
}

#define ADD(test) g_test_add_func ("/opencl/" #test, test)

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ADD (buffers_of_the_clients_context_are_tensors);
  ADD (a_context_of_another_kind_is_an_invalid_property);
  return g_test_run ();
}
