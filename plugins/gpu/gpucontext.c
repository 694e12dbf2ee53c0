/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpucontext.h"

#include "config.h"
#include <axon/axon-gpu.h>
#include <glib/gi18n-lib.h>
#include <stdlib.h>

#define PAGE 4096

typedef struct {
  AxonMemory parent;
  cl_mem mem;
  gpointer data; /* of the host, which the buffer stands on, or NULL */
} GpuMemory;

typedef struct {
  AxonRemoteContext parent_instance;
  GObject *keep;
  cl_context context;
  cl_command_queue queue;  /* the application's, or NULL */
  cl_command_queue copies; /* for what the host reads and writes */
  gboolean unified;        /* the device works in the host's memory */
} AxonGpuContext;

typedef AxonRemoteContextClass AxonGpuContextClass;
static GType axon_gpu_context_get_type (void);
G_DEFINE_TYPE (AxonGpuContext, axon_gpu_context, AXON_TYPE_REMOTE_CONTEXT)

static void
memory_free (AxonMemory *memory)
{
  gpu_cl.ReleaseMemObject (((GpuMemory *)memory)->mem);
  free (((GpuMemory *)memory)->data);
  g_free (memory);
}

static gpointer
memory_map (G_GNUC_UNUSED AxonMemory *memory)
{
  return NULL;
}

static gpointer
shared_map (AxonMemory *memory)
{
  return ((GpuMemory *)memory)->data;
}

static gboolean
memory_read (AxonMemory *memory, gsize offset, gpointer to, gsize n_bytes, GError **error)
{
  AxonGpuContext *self = (AxonGpuContext *)memory->context;
  return axon_memory_check_range (memory, offset, n_bytes, error) &&
         (n_bytes == 0 ||
          gpu_cl_ok (gpu_cl.EnqueueReadBuffer (self->copies, ((GpuMemory *)memory)->mem, CL_TRUE,
                                               offset, n_bytes, to, 0, NULL, NULL),
                     "copy from the device", error));
}

static gboolean
memory_write (AxonMemory *memory, gsize offset, gconstpointer from, gsize n_bytes, GError **error)
{
  AxonGpuContext *self = (AxonGpuContext *)memory->context;
  return axon_memory_check_range (memory, offset, n_bytes, error) &&
         (n_bytes == 0 ||
          gpu_cl_ok (gpu_cl.EnqueueWriteBuffer (self->copies, ((GpuMemory *)memory)->mem, CL_TRUE,
                                                offset, n_bytes, from, 0, NULL, NULL),
                     "copy to the device", error));
}

static const AxonMemoryClass memory_class = { .name = "opencl",
                                              .map = memory_map,
                                              .free = memory_free,
                                              .read = memory_read,
                                              .write = memory_write };
static const AxonMemoryClass shared_class = { .name = "opencl-host",
                                              .map = shared_map,
                                              .free = memory_free };

/* FALSE with @error; *handle stays where @params lack the key. */
static gboolean
read_handle (GVariant *params, const gchar *key, gpointer *handle, GError **error)
{
  g_autoptr (GVariant) value = params ? g_variant_lookup_value (params, key, NULL) : NULL;
  if (value == NULL)
    return TRUE;
  if (g_variant_is_of_type (value, G_VARIANT_TYPE_UINT64) && g_variant_get_uint64 (value) != 0) {
    *handle = GSIZE_TO_POINTER (g_variant_get_uint64 (value));
    return TRUE;
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("%s: expected a handle as a number of type t, got %s"), key,
               g_variant_get_type_string (value));
  return FALSE;
}

/* The caller's buffer, which gets a reference, or a new one. */
static cl_mem
get_mem (AxonGpuContext *self, GVariant *params, gsize n_bytes, GError **error)
{
  gpointer given = NULL;
  gsize size = 0;
  cl_int status;
  cl_mem mem;
  if (!read_handle (params, AXON_GPU_MEM_HANDLE, &given, error))
    return NULL;
  if (given == NULL) {
    mem = gpu_cl.CreateBuffer (self->context, CL_MEM_READ_WRITE, MAX (n_bytes, 8), NULL, &status);
    return gpu_cl_ok (status, N_ ("a tensor in device memory"), error) ? mem : NULL;
  }
  status = gpu_cl.GetMemObjectInfo (given, CL_MEM_SIZE, sizeof size, &size, NULL);
  if (!gpu_cl_ok (status, AXON_GPU_MEM_HANDLE, error))
    return NULL;
  if (size < n_bytes) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s: the tensor needs %zu bytes, the buffer has %zu"), AXON_GPU_MEM_HANDLE,
                 n_bytes, size);
    return NULL;
  }
  return gpu_cl_ok (gpu_cl.RetainMemObject (given), AXON_GPU_MEM_HANDLE, error) ? given : NULL;
}

/* Takes @mem and @data. */
static AxonMemory *
memory_new (const AxonMemoryClass *klass, AxonRemoteContext *context, cl_mem mem, gsize n_bytes,
            gpointer data)
{
  GpuMemory *memory = g_new0 (GpuMemory, 1);
  memory->parent.klass = klass;
  memory->parent.n_bytes = n_bytes;
  memory->parent.context = g_object_ref (G_OBJECT (context));
  g_atomic_ref_count_init (&memory->parent.ref_count);
  memory->mem = mem;
  memory->data = data;
  return &memory->parent;
}

static AxonTensor *
axon_gpu_context_create_tensor (AxonRemoteContext *context, AxonDType dtype, const AxonShape *shape,
                                GVariant *params, GError **error)
{
  gsize n_bytes = (gsize)MAX (axon_shape_get_numel (shape), 0) * axon_dtype_get_size (dtype);
  cl_mem mem = get_mem ((AxonGpuContext *)context, params, n_bytes, error);
  if (mem == NULL)
    return NULL;
  return axon_tensor_new_with_memory (
      dtype, shape, memory_new (&memory_class, context, mem, n_bytes, NULL), error);
}

/* Whole pages: what drivers ask for to work in it. */
static AxonTensor *
create_shared_tensor (AxonRemoteContext *context, AxonDType dtype, const AxonShape *shape,
                      gsize n_bytes, GError **error)
{
  AxonGpuContext *self = (AxonGpuContext *)context;
  gsize padded = (MAX (n_bytes, 1) + PAGE - 1) / PAGE * PAGE;
  gpointer data = NULL;
  cl_int status;
  cl_mem mem;
  if (posix_memalign (&data, PAGE, padded) != 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("no memory for a tensor of %zu bytes"),
                 n_bytes);
    return NULL;
  }
  mem = gpu_cl.CreateBuffer (self->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, padded, data,
                             &status);
  if (!gpu_cl_ok (status, N_ ("memory that the device shares"), error)) {
    free (data);
    return NULL;
  }
  return axon_tensor_new_with_memory (
      dtype, shape, memory_new (&shared_class, context, mem, n_bytes, data), error);
}

/* A buffer in memory that the driver reaches by itself, mapped as long as it lives. */
typedef struct {
  AxonRemoteContext *context;
  cl_mem mem;
  gpointer data;
} Pinned;

static void
pinned_free (gpointer data)
{
  Pinned *p = data;
  AxonGpuContext *self = (AxonGpuContext *)p->context;
  gpu_cl.EnqueueUnmapMemObject (self->copies, p->mem, p->data, 0, NULL, NULL);
  gpu_cl.Finish (self->copies);
  gpu_cl.ReleaseMemObject (p->mem);
  g_object_unref (p->context);
  g_free (p);
}

static AxonTensor *
axon_gpu_context_create_host_tensor (AxonRemoteContext *context, AxonDType dtype,
                                     const AxonShape *shape, GError **error)
{
  AxonGpuContext *self = (AxonGpuContext *)context;
  gsize n_bytes = (gsize)MAX (axon_shape_get_numel (shape), 0) * axon_dtype_get_size (dtype);
  cl_int status;
  Pinned *p;
  cl_mem mem;
  if (self->unified)
    return create_shared_tensor (context, dtype, shape, n_bytes, error);
  mem = gpu_cl.CreateBuffer (self->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                             MAX (n_bytes, 8), NULL, &status);
  if (!gpu_cl_ok (status, N_ ("pinned memory"), error))
    return NULL;
  p = g_new0 (Pinned, 1);
  p->mem = mem;
  p->data = gpu_cl.EnqueueMapBuffer (self->copies, mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                     MAX (n_bytes, 8), 0, NULL, NULL, &status);
  if (!gpu_cl_ok (status, N_ ("pinned memory"), error)) {
    gpu_cl.ReleaseMemObject (mem);
    g_free (p);
    return NULL;
  }
  p->context = g_object_ref (context);
  return axon_tensor_new_wrapped (dtype, shape, p->data, n_bytes, pinned_free, p, error);
}

static GVariant *
axon_gpu_context_get_params (AxonRemoteContext *context)
{
  AxonGpuContext *self = (AxonGpuContext *)context;
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  g_variant_dict_insert (&dict, AXON_GPU_OCL_CONTEXT, "t",
                         (guint64)GPOINTER_TO_SIZE (self->context));
  if (self->queue != NULL)
    g_variant_dict_insert (&dict, AXON_GPU_OCL_QUEUE, "t", (guint64)GPOINTER_TO_SIZE (self->queue));
  return g_variant_ref_sink (g_variant_dict_end (&dict));
}

static void
axon_gpu_context_finalize (GObject *object)
{
  AxonGpuContext *self = (AxonGpuContext *)object;
  if (self->copies != NULL)
    gpu_cl.ReleaseCommandQueue (self->copies);
  if (self->queue != NULL)
    gpu_cl.ReleaseCommandQueue (self->queue);
  if (self->context != NULL)
    gpu_cl.ReleaseContext (self->context);
  g_clear_object (&self->keep);
  G_OBJECT_CLASS (axon_gpu_context_parent_class)->finalize (object);
}

static void
axon_gpu_context_class_init (AxonGpuContextClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_gpu_context_finalize;
  klass->create_tensor = axon_gpu_context_create_tensor;
  klass->create_host_tensor = axon_gpu_context_create_host_tensor;
  klass->get_params = axon_gpu_context_get_params;
}

static void
axon_gpu_context_init (G_GNUC_UNUSED AxonGpuContext *self)
{
}

static gboolean
holds_device (cl_context context, const GpuDevice *device, GError **error)
{
  cl_device_id ids[64];
  gsize n_bytes = 0;
  if (!gpu_cl_ok (gpu_cl.GetContextInfo (context, CL_CONTEXT_DEVICES, sizeof ids, ids, &n_bytes),
                  AXON_GPU_OCL_CONTEXT, error))
    return FALSE;
  for (gsize i = 0; i < n_bytes / sizeof *ids; i++)
    if (ids[i] == device->id)
      return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: the context does not hold %s"),
               AXON_GPU_OCL_CONTEXT, device->name);
  return FALSE;
}

static gboolean
takes_queue (cl_command_queue queue, cl_context context, GError **error)
{
  cl_command_queue_properties flags = 0;
  cl_context theirs = NULL;
  if (!gpu_cl_ok (
          gpu_cl.GetCommandQueueInfo (queue, CL_QUEUE_CONTEXT, sizeof theirs, &theirs, NULL),
          AXON_GPU_OCL_QUEUE, error) ||
      !gpu_cl_ok (
          gpu_cl.GetCommandQueueInfo (queue, CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL),
          AXON_GPU_OCL_QUEUE, error))
    return FALSE;
  if (theirs == context && !(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: expected an in-order queue of %s"),
               AXON_GPU_OCL_QUEUE, AXON_GPU_OCL_CONTEXT);
  return FALSE;
}

AxonRemoteContext *
gpu_context_new (const gchar *name, const GpuDevice *device, GObject *keep, GVariant *params,
                 GError **error)
{
  gpointer context = device->context, queue = NULL;
  g_autoptr (AxonRemoteContext) result = NULL;
  AxonGpuContext *self;
  cl_int status;
  if (!read_handle (params, AXON_GPU_OCL_CONTEXT, &context, error) ||
      !read_handle (params, AXON_GPU_OCL_QUEUE, &queue, error) ||
      !holds_device (context, device, error) ||
      (queue != NULL && !takes_queue (queue, context, error)))
    return NULL;
  result = g_object_new (axon_gpu_context_get_type (), "device-name", name, NULL);
  self = (AxonGpuContext *)result;
  self->keep = g_object_ref (keep);
  if (!gpu_cl_ok (gpu_cl.RetainContext (context), "clRetainContext", error))
    return NULL;
  self->context = context;
  if (queue != NULL &&
      !gpu_cl_ok (gpu_cl.RetainCommandQueue (queue), "clRetainCommandQueue", error))
    return NULL;
  self->queue = queue;
  self->unified = device->unified;
  self->copies = gpu_cl.CreateCommandQueue (context, device->id, 0, &status);
  return gpu_cl_ok (status, "clCreateCommandQueue", error) ? g_steal_pointer (&result) : NULL;
}

cl_context
gpu_context_get_cl (AxonRemoteContext *context)
{
  return ((AxonGpuContext *)context)->context;
}

cl_command_queue
gpu_context_get_queue (AxonRemoteContext *context)
{
  return ((AxonGpuContext *)context)->queue;
}

cl_mem
gpu_tensor_get_mem (const AxonTensor *tensor, gsize *offset)
{
  AxonMemory *memory = axon_tensor_get_memory (tensor, offset);
  return memory != NULL && memory->klass == &memory_class ? ((GpuMemory *)memory)->mem : NULL;
}

cl_mem
gpu_tensor_get_shared (const AxonTensor *tensor, cl_context context)
{
  gsize offset = 0;
  AxonMemory *memory = axon_tensor_get_memory (tensor, &offset);
  return memory != NULL && memory->klass == &shared_class && offset == 0 &&
                 ((AxonGpuContext *)memory->context)->context == context
             ? ((GpuMemory *)memory)->mem
             : NULL;
}

gboolean
gpu_tensor_check_place (const AxonTensor *tensor, cl_context context, GError **error)
{
  AxonMemory *memory = axon_tensor_get_memory (tensor, NULL);
  if (memory == NULL || memory->klass != &memory_class ||
      ((AxonGpuContext *)memory->context)->context == context)
    return TRUE;
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_ARGUMENT,
      _ ("the tensor belongs to another OpenCL context than the model: compile the model with "
         "the tensor's context, or copy the tensor"));
  return FALSE;
}
