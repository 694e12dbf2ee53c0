/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuprogram.h"
#include "gpupocl.h"

#include <string.h>

struct _GpuStore {
  gatomicrefcount ref_count;
  const GpuDevice *device;
  GpuOptions options;
  GHashTable *tuned; /* set once */
  cl_context context;
  GMutex lock;
  GHashTable *programs; /* lock: source -> cl_program */
  GHashTable *weights;  /* lock: AxonTensor -> cl_mem */
  GHashTable *binaries; /* lock: key -> GBytes */
};

static void
release_program (gpointer program)
{
  gpu_cl.ReleaseProgram (program);
}

static void
release_buffer (gpointer buffer)
{
  gpu_cl.ReleaseMemObject (buffer);
}

GpuStore *
gpu_store_new (const GpuDevice *device, cl_context context, const GpuOptions *options)
{
  GpuStore *store = g_new0 (GpuStore, 1);
  g_atomic_ref_count_init (&store->ref_count);
  g_mutex_init (&store->lock);
  store->device = device;
  store->options = *options;
  store->context = context;
  gpu_cl.RetainContext (context);
  store->programs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_program);
  store->weights =
      g_hash_table_new_full (NULL, NULL, (GDestroyNotify)axon_tensor_unref, release_buffer);
  store->binaries =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_bytes_unref);
  return store;
}

GpuStore *
gpu_store_ref (GpuStore *store)
{
  g_atomic_ref_count_inc (&store->ref_count);
  return store;
}

void
gpu_store_unref (GpuStore *store)
{
  if (!g_atomic_ref_count_dec (&store->ref_count))
    return;
  g_hash_table_unref (store->programs);
  g_hash_table_unref (store->weights);
  g_hash_table_unref (store->binaries);
  g_clear_pointer (&store->tuned, g_hash_table_unref);
  gpu_cl.ReleaseContext (store->context);
  g_mutex_clear (&store->lock);
  g_free (store);
}

cl_context
gpu_store_get_context (const GpuStore *store)
{
  return store->context;
}

const GpuDevice *
gpu_store_get_device (const GpuStore *store)
{
  return store->device;
}

const GpuOptions *
gpu_store_get_options (const GpuStore *store)
{
  return &store->options;
}

/* Once, before plans are made of it. */
void
gpu_store_set_tuned (GpuStore *store, GHashTable *tuned)
{
  g_assert (store->tuned == NULL);
  store->tuned = tuned;
  store->options.tuned = tuned;
}

GVariant *
gpu_store_get_tuned (GpuStore *store)
{
  GVariantBuilder list;
  GHashTableIter iter;
  gpointer name, variant;
  g_variant_builder_init (&list, G_VARIANT_TYPE ("a{si}"));
  if (store->tuned != NULL) {
    g_hash_table_iter_init (&iter, store->tuned);
    while (g_hash_table_iter_next (&iter, &name, &variant))
      g_variant_builder_add (&list, "{si}", (const gchar *)name, GPOINTER_TO_INT (variant));
  }
  return g_variant_builder_end (&list);
}

static const gchar *
build_options (const GpuDevice *device)
{
  static const gchar *const options[2][2] = {
    { "-w -cl-std=CL1.2", "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" },
    { "-w -cl-std=CL3.0", "-w -cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt" },
  };
  return options[device->dot][device->correct_division];
}

/* What must be equal for a binary to be this program on this device. */
static gchar *
binary_key (const GpuStore *store, const gchar *source)
{
  g_autofree gchar *device = gpu_device_key (store->device);
  g_autofree gchar *all =
      g_strjoin ("\n", device, build_options (store->device), AXON_PLUGIN_VERSION, source, NULL);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, all, -1);
}

void
gpu_store_offer_binary (GpuStore *store, const gchar *key, GBytes *binary)
{
  g_mutex_lock (&store->lock);
  g_hash_table_insert (store->binaries, g_strdup (key), g_bytes_ref (binary));
  g_mutex_unlock (&store->lock);
}

static void
add_binary (GVariantBuilder *list, const gchar *key, cl_program program)
{
  gsize size = 0;
  g_autofree guchar *bytes = NULL;
  if (gpu_cl.GetProgramInfo (program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) !=
          CL_SUCCESS ||
      size == 0)
    return;
  bytes = g_malloc (size);
  if (gpu_cl.GetProgramInfo (program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) ==
      CL_SUCCESS)
    g_variant_builder_add (
        list, "(s@ay)", key,
        g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, bytes, size, sizeof *bytes));
}

GVariant *
gpu_store_get_binaries (GpuStore *store)
{
  GVariantBuilder list;
  GHashTableIter iter;
  gpointer source, program;
  g_variant_builder_init (&list, G_VARIANT_TYPE ("a(say)"));
  g_mutex_lock (&store->lock);
  g_hash_table_iter_init (&iter, store->programs);
  while (g_hash_table_iter_next (&iter, &source, &program)) {
    g_autofree gchar *key = binary_key (store, source);
    add_binary (&list, key, program);
  }
  g_mutex_unlock (&store->lock);
  return g_variant_builder_end (&list);
}

static gboolean
build (const GpuStore *store, cl_program program, GError **error)
{
  cl_device_id id = store->device->id;
  cl_int status;
  gchar log[4096] = "";
  gpu_pocl_begin ();
  status = gpu_cl.BuildProgram (program, 1, &id, build_options (store->device), NULL, NULL);
  gpu_pocl_end ();
  if (status == CL_SUCCESS)
    return TRUE;
  gpu_cl.GetProgramBuildInfo (program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               "%s does not compile our kernels (OpenCL error %d): %s", store->device->name, status,
               g_strstrip (log));
  return FALSE;
}

/* lock held. NULL: there is none, or the driver does not want it any more. */
static cl_program
load_binary (const GpuStore *store, const gchar *source)
{
  g_autofree gchar *key = binary_key (store, source);
  GBytes *binary = g_hash_table_lookup (store->binaries, key);
  cl_device_id id = store->device->id;
  cl_int status = CL_SUCCESS, loaded = CL_SUCCESS;
  cl_program program;
  const guchar *bytes;
  gsize size;
  if (binary == NULL)
    return NULL;
  bytes = g_bytes_get_data (binary, &size);
  program =
      gpu_cl.CreateProgramWithBinary (store->context, 1, &id, &size, &bytes, &loaded, &status);
  if (program != NULL && status == CL_SUCCESS && loaded == CL_SUCCESS &&
      build (store, program, NULL))
    return program;
  if (program != NULL)
    gpu_cl.ReleaseProgram (program);
  return NULL;
}

/* lock held */
static cl_program
make_program (GpuStore *store, const gchar *source, GError **error)
{
  cl_program program = load_binary (store, source);
  cl_int status;
  if (program != NULL)
    return program;
  program = gpu_cl.CreateProgramWithSource (store->context, 1, &source, NULL, &status);
  if (!gpu_cl_ok (status, "clCreateProgramWithSource", error))
    return NULL;
  if (build (store, program, error))
    return program;
  gpu_cl.ReleaseProgram (program);
  return NULL;
}

static cl_program
get_program (GpuStore *store, const gchar *source, GError **error)
{
  cl_program program;
  g_mutex_lock (&store->lock);
  program = g_hash_table_lookup (store->programs, source);
  if (program == NULL) {
    program = make_program (store, source, error);
    if (program != NULL)
      g_hash_table_insert (store->programs, g_strdup (source), program);
  }
  g_mutex_unlock (&store->lock);
  return program;
}

static cl_mem
upload (const GpuStore *store, gconstpointer data, gsize n_bytes, GError **error)
{
  gint32 nothing[2] = { 0, 0 }; /* OpenCL has no empty buffers */
  cl_int status;
  cl_mem mem = gpu_cl.CreateBuffer (
      store->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, MAX (n_bytes, sizeof nothing),
      n_bytes < sizeof nothing ? memcpy (nothing, n_bytes ? data : nothing, n_bytes)
                               : (gpointer)data,
      &status);
  return gpu_cl_ok (status, "weights for the device", error) ? mem : NULL;
}

static cl_mem
get_weights (GpuStore *store, AxonTensor *tensor, GError **error)
{
  cl_mem mem;
  g_mutex_lock (&store->lock);
  mem = g_hash_table_lookup (store->weights, tensor);
  if (mem == NULL) {
    gsize n_bytes =
        axon_tensor_get_numel (tensor) * axon_dtype_get_size (axon_tensor_get_dtype (tensor));
    mem = upload (store, axon_tensor_get_data (tensor), n_bytes, error);
    if (mem != NULL)
      g_hash_table_insert (store->weights, axon_tensor_ref (tensor), mem);
  }
  g_mutex_unlock (&store->lock);
  return mem;
}

/* TRUE for constants that steps read which run again and again. */
static gboolean *
find_lasting (const GpuPlan *plan)
{
  gboolean *lasting = g_new0 (gboolean, plan->constants->len + 1);
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    for (guint k = 0; k < step->args->len && !step->once; k++) {
      const GpuBuffer *b = g_array_index (step->args, GpuArg, k).buffer;
      if (b != NULL && b->place == GPU_CONSTANT)
        lasting[b->index] = TRUE;
    }
  }
  return lasting;
}

/* Weights that are used as they are belong to the store; the others are forgotten after setup. */
static gboolean
upload_constants (GpuProgram *self, const gboolean *lasting, GError **error)
{
  const GpuPlan *plan = self->plan;
  for (guint i = 0; i < plan->constants->len; i++) {
    AxonTensor *tensor = g_ptr_array_index (plan->constants, i);
    gsize n_bytes =
        axon_tensor_get_numel (tensor) * axon_dtype_get_size (axon_tensor_get_dtype (tensor));
    self->constants[i] = lasting[i]
                             ? get_weights (self->store, tensor, error)
                             : upload (self->store, axon_tensor_get_data (tensor), n_bytes, error);
    if (self->constants[i] == NULL)
      return FALSE;
  }
  return TRUE;
}

static gboolean
make_prepared (GpuProgram *self, GError **error)
{
  for (guint i = 0; i < self->plan->buffers->len; i++) {
    const GpuBuffer *b = g_ptr_array_index (self->plan->buffers, i);
    cl_int status;
    if (b->place != GPU_PREPARED)
      continue;
    self->prepared[b->index] =
        gpu_cl.CreateBuffer (self->store->context, CL_MEM_READ_WRITE, b->n_bytes, NULL, &status);
    if (!gpu_cl_ok (status, "prepared weights", error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
run_once (GpuProgram *self, const GpuStep *step, cl_command_queue queue, GError **error)
{
  const gsize local[] = { GPU_GROUP, 1, 1 };
  cl_int status;
  cl_kernel kernel = gpu_cl.CreateKernel (self->program, step->kernel, &status);
  for (guint i = 0; i < step->args->len && status == CL_SUCCESS; i++) {
    const GpuArg *arg = &g_array_index (step->args, GpuArg, i);
    cl_mem mem = arg->buffer ? gpu_program_get_mem (self, arg->buffer) : NULL;
    status = arg->buffer ? gpu_cl.SetKernelArg (kernel, i, sizeof mem, &mem)
                         : gpu_cl.SetKernelArg (kernel, i, sizeof arg->number, &arg->number);
  }
  if (status == CL_SUCCESS)
    status =
        gpu_cl.EnqueueNDRangeKernel (queue, kernel, 3, NULL, step->global, local, 0, NULL, NULL);
  if (kernel != NULL)
    gpu_cl.ReleaseKernel (kernel);
  return gpu_cl_ok (status, step->kernel, error);
}

static gboolean
prepare (GpuProgram *self, GError **error)
{
  cl_int status;
  cl_command_queue queue;
  gboolean ok;
  if (self->plan->n_prepared == 0)
    return TRUE;
  queue = gpu_cl.CreateCommandQueue (self->store->context, self->store->device->id, 0, &status);
  if (!gpu_cl_ok (status, "clCreateCommandQueue", error))
    return FALSE;
  gpu_pocl_begin ();
  ok = make_prepared (self, error);
  for (guint i = 0; ok && i < self->plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (self->plan->steps, i);
    if (step->once)
      ok = run_once (self, step, queue, error);
  }
  status = gpu_cl.Finish (queue);
  gpu_pocl_end ();
  gpu_cl.ReleaseCommandQueue (queue);
  return ok && gpu_cl_ok (status, "preparing weights", error);
}

GpuProgram *
gpu_program_new (GpuStore *store, const GpuPlan *plan, GError **error)
{
  GpuProgram *self = g_new0 (GpuProgram, 1);
  g_autofree gboolean *lasting = find_lasting (plan);
  gboolean ok;
  self->plan = plan;
  self->store = gpu_store_ref (store);
  self->constants = g_new0 (cl_mem, plan->constants->len + 1);
  self->prepared = g_new0 (cl_mem, plan->n_prepared + 1);
  self->program = get_program (store, plan->source->str, error);
  if (self->program != NULL)
    self->params = upload (store, plan->params->data, plan->params->len * sizeof (gint32), error);
  ok = self->params != NULL && upload_constants (self, lasting, error) && prepare (self, error);
  for (guint i = 0; i < plan->constants->len; i++)
    if (!lasting[i] && self->constants[i] != NULL) {
      gpu_cl.ReleaseMemObject (self->constants[i]);
      self->constants[i] = NULL;
    }
  if (ok)
    return self;
  gpu_program_free (self);
  return NULL;
}

cl_mem
gpu_program_get_mem (const GpuProgram *self, const GpuBuffer *buffer)
{
  switch (buffer->place) {
  case GPU_CONSTANT:
    return self->constants[buffer->index];
  case GPU_PREPARED:
    return self->prepared[buffer->index];
  case GPU_PARAMS:
    return self->params;
  default:
    return NULL;
  }
}

/* Programs and weights belong to the store. */
void
gpu_program_free (GpuProgram *self)
{
  for (guint i = 0; i < self->plan->n_prepared; i++)
    if (self->prepared[i] != NULL)
      gpu_cl.ReleaseMemObject (self->prepared[i]);
  if (self->params != NULL)
    gpu_cl.ReleaseMemObject (self->params);
  g_free (self->constants);
  g_free (self->prepared);
  gpu_store_unref (self->store);
  g_free (self);
}
