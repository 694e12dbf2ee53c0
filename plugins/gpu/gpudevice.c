/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpudevice.h"
#include "gpupocl.h"

#include "config.h"
#include <axon/axon.h>
#include <axon/axon-plugin.h>
#include <glib/gi18n-lib.h>
#include <string.h>

static gchar *
device_text (cl_device_id id, cl_device_info what)
{
  gsize n = 0;
  gchar *text;
  if (gpu_cl.GetDeviceInfo (id, what, 0, NULL, &n) != CL_SUCCESS)
    return g_strdup ("");
  text = g_malloc0 (n + 1);
  gpu_cl.GetDeviceInfo (id, what, n, text, NULL);
  return g_strstrip (text);
}

/* Zero-extended: the field may be shorter than 64 bits. */
static guint64
device_number (cl_device_id id, cl_device_info what)
{
  guint64 value = 0;
  gpu_cl.GetDeviceInfo (id, what, sizeof value, &value, NULL);
  return value;
}

/* cl_khr_device_uuid */
static gchar *
device_uuid (cl_device_id id, const gchar *extensions)
{
  const cl_device_info uuid_khr = 0x106A;
  guint8 bytes[16];
  GString *text;
  if (strstr (extensions, "cl_khr_device_uuid") == NULL ||
      gpu_cl.GetDeviceInfo (id, uuid_khr, sizeof bytes, bytes, NULL) != CL_SUCCESS)
    return NULL;
  text = g_string_new (NULL);
  for (guint i = 0; i < sizeof bytes; i++)
    g_string_append_printf (text, "%02x", bytes[i]);
  return g_string_free (text, FALSE);
}

/* cl_nv_device_attribute_query; from compute capability 6.1 on */
static gboolean
has_dp4a (cl_device_id id, const gchar *extensions)
{
  const cl_device_info major = 0x4000, minor = 0x4001;
  return strstr (extensions, "cl_nv_device_attribute_query") != NULL &&
         device_number (id, major) * 10 + device_number (id, minor) >= 61;
}

static void
device_free (gpointer data)
{
  GpuDevice *device = data;
  gpu_cl.ReleaseContext (device->context);
  g_free (device->name);
  g_free (device->vendor);
  g_free (device->driver);
  g_free (device->version);
  g_free (device->uuid);
  g_free (device);
}

static GpuDevice *
device_new (cl_platform_id platform, cl_device_id id)
{
  const cl_context_properties context[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)platform,
                                            0 };
  g_autofree gchar *extensions = device_text (id, CL_DEVICE_EXTENSIONS);
  GpuDevice *device;
  cl_int status;
  if (!device_number (id, CL_DEVICE_AVAILABLE) || !device_number (id, CL_DEVICE_COMPILER_AVAILABLE))
    return NULL;
  device = g_new0 (GpuDevice, 1);
  device->context = gpu_cl.CreateContext (context, 1, &id, NULL, NULL, &status);
  if (status != CL_SUCCESS) {
    g_free (device);
    return NULL;
  }
  device->id = id;
  device->name = device_text (id, CL_DEVICE_NAME);
  device->vendor = device_text (id, CL_DEVICE_VENDOR);
  device->driver = device_text (id, CL_DRIVER_VERSION);
  device->uuid = device_uuid (id, extensions);
  device->version = device_text (id, CL_DEVICE_VERSION);
  device->memory = device_number (id, CL_DEVICE_GLOBAL_MEM_SIZE);
  device->vendor_id = (guint)device_number (id, CL_DEVICE_VENDOR_ID);
  device->local_memory = device_number (id, CL_DEVICE_LOCAL_MEM_SIZE);
  device->most_items = (guint)device_number (id, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  device->units = (guint)device_number (id, CL_DEVICE_MAX_COMPUTE_UNITS);
  device->align = MAX (128, (guint)device_number (id, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  device->unified = device_number (id, CL_DEVICE_HOST_UNIFIED_MEMORY) != 0;
  device->local = device_number (id, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL;
  device->dot = strstr (extensions, "cl_khr_integer_dot_product") != NULL;
  device->dp4a = has_dp4a (id, extensions);
  device->fp16 = strstr (extensions, "cl_khr_fp16") != NULL;
  device->fp64 = strstr (extensions, "cl_khr_fp64") != NULL;
  device->correct_division =
      (device_number (id, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  return device;
}

static void
find_of_platform (cl_platform_id platform, cl_device_type type, GPtrArray *devices)
{
  cl_device_id ids[64];
  cl_uint n = 0;
  if (gpu_cl.GetDeviceIDs (platform, type, G_N_ELEMENTS (ids), ids, &n) != CL_SUCCESS)
    return;
  for (cl_uint i = 0; i < MIN (n, G_N_ELEMENTS (ids)); i++) {
    GpuDevice *device = device_new (platform, ids[i]);
    if (device != NULL)
      g_ptr_array_add (devices, device);
  }
}

GPtrArray *
gpu_devices_find (GError **error)
{
  gboolean allow_cpu = g_strcmp0 (g_getenv ("AXON_GPU_ALLOW_CPU"), "1") == 0;
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (device_free);
  cl_platform_id platforms[32];
  cl_uint n = 0;
  cl_int status;
  gpu_pocl_prepare ();
  status = gpu_cl.GetPlatformIDs (G_N_ELEMENTS (platforms), platforms, &n);
  if (status != CL_SUCCESS || n == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("no OpenCL platform is installed (OpenCL error %d); install the GPU's driver"),
                 status);
    return NULL;
  }
  n = MIN (n, G_N_ELEMENTS (platforms));
  for (cl_uint i = 0; i < n; i++)
    find_of_platform (platforms[i], CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR, devices);
  for (cl_uint i = 0; allow_cpu && i < n; i++)
    find_of_platform (platforms[i], CL_DEVICE_TYPE_CPU, devices);
  if (devices->len > 0)
    return g_steal_pointer (&devices);
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
      allow_cpu
          ? g_dngettext (GETTEXT_PACKAGE, "%u OpenCL platform, but no GPU",
                         "%u OpenCL platforms, but no GPU", n)
          : g_dngettext (
                GETTEXT_PACKAGE,
                "%u OpenCL platform, but no GPU (AXON_GPU_ALLOW_CPU=1 offers processors too)",
                "%u OpenCL platforms, but no GPU (AXON_GPU_ALLOW_CPU=1 offers processors too)", n),
      n);
  return NULL;
}

gchar *
gpu_device_key (const GpuDevice *device)
{
  return g_strjoin ("|", device->vendor, device->name, device->version, device->driver, NULL);
}
