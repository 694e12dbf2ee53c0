/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpustore.h"
#include "gpupocl.h"
#include "gpuweights.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

struct _GpuStore {
  gatomicrefcount ref_count;
  const GpuDevice *device;
  GpuOptions options;
  GHashTable *tuned; /* set once */
  cl_context context;
  GMutex lock;
  GHashTable *programs; /* lock: source -> cl_program */
  GHashTable *weights;  /* lock: key (gpuweights.h) -> cl_mem */
  GHashTable *prepared; /* lock: key -> cl_mem */
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
  if (gpu_cl.RetainContext (context) == CL_SUCCESS) /* else what is made of it says so */
    store->context = context;
  store->programs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_program);
  store->weights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_buffer);
  store->prepared = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_buffer);
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
  g_hash_table_unref (store->prepared);
  g_hash_table_unref (store->binaries);
  g_clear_pointer (&store->tuned, g_hash_table_unref);
  if (store->context != NULL)
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

/* (transfer full) */
static gchar *
build_options (const GpuDevice *device)
{
  return g_strconcat (device->dot ? "-w -cl-std=CL3.0" : "-w -cl-std=CL1.2",
                      device->correct_division ? " -cl-fp32-correctly-rounded-divide-sqrt" : "",
                      device->dp4a ? " -DDP4A" : "", NULL);
}

/* What must be equal for a binary to be this program on this device. */
static gchar *
binary_key (const GpuStore *store, const gchar *source)
{
  g_autofree gchar *device = gpu_device_key (store->device);
  g_autofree gchar *options = build_options (store->device);
  g_autofree gchar *all = g_strjoin ("\n", device, options, AXON_PLUGIN_VERSION, source, NULL);
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
  g_autofree gchar *options = build_options (store->device);
  cl_int status;
  gchar log[4096] = "";
  gpu_pocl_begin ();
  status = gpu_cl.BuildProgram (program, 1, &id, options, NULL, NULL);
  gpu_pocl_end ();
  if (status == CL_SUCCESS)
    return TRUE;
  gpu_cl.GetProgramBuildInfo (program, id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE,
               _ ("%s does not compile our kernels (OpenCL error %d): %s"), store->device->name,
               status, g_strstrip (log));
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

cl_program
gpu_store_get_program (GpuStore *store, const gchar *source, GError **error)
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

cl_mem
gpu_store_upload (const GpuStore *store, gconstpointer data, gsize n_bytes, GError **error)
{
  gint32 nothing[2] = { 0, 0 }; /* OpenCL has no empty buffers */
  cl_int status;
  cl_mem mem = gpu_cl.CreateBuffer (
      store->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, MAX (n_bytes, sizeof nothing),
      n_bytes < sizeof nothing ? memcpy (nothing, n_bytes ? data : nothing, n_bytes)
                               : (gpointer)data,
      &status);
  return gpu_cl_ok (status, N_ ("weights for the device"), error) ? mem : NULL;
}

cl_mem
gpu_store_upload_tensor (const GpuStore *store, AxonTensor *tensor, GError **error)
{
  gsize n_bytes =
      axon_tensor_get_numel (tensor) * axon_dtype_get_size (axon_tensor_get_dtype (tensor));
  return gpu_store_upload (store, axon_tensor_get_data (tensor), n_bytes, error);
}

cl_mem
gpu_store_get_weights (GpuStore *store, const GpuPlan *plan, guint index, GError **error)
{
  gchar *key = gpu_weights_key (plan, index);
  cl_mem mem;
  g_mutex_lock (&store->lock);
  mem = g_hash_table_lookup (store->weights, key);
  if (mem == NULL)
    mem = gpu_store_upload_tensor (store, g_ptr_array_index (plan->constants, index), error);
  if (mem != NULL && !g_hash_table_contains (store->weights, key))
    g_hash_table_insert (store->weights, g_steal_pointer (&key), mem);
  g_mutex_unlock (&store->lock);
  g_free (key);
  return mem;
}

cl_mem
gpu_store_find_prepared (GpuStore *store, const gchar *key)
{
  cl_mem mem;
  g_mutex_lock (&store->lock);
  mem = g_hash_table_lookup (store->prepared, key);
  if (mem != NULL && gpu_cl.RetainMemObject (mem) != CL_SUCCESS)
    mem = NULL;
  g_mutex_unlock (&store->lock);
  return mem;
}

void
gpu_store_keep_prepared (GpuStore *store, const gchar *key, cl_mem mem)
{
  g_mutex_lock (&store->lock);
  if (!g_hash_table_contains (store->prepared, key) && gpu_cl.RetainMemObject (mem) == CL_SUCCESS)
    g_hash_table_insert (store->prepared, g_strdup (key), mem);
  g_mutex_unlock (&store->lock);
}
