/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpucl.h"

#include "config.h"
#include <axon/axon.h>
#include <axon/axon-plugin.h>
#include <glib/gi18n-lib.h>

#define LOADER "libOpenCL.so.1"

GpuCl gpu_cl;

static gboolean
load_functions (GModule *module, GError **error)
{
  static const gchar *const names[] = {
#define NAME(name) "cl" #name,
    GPU_CL_FUNCTIONS (NAME)
#undef NAME
  };
  gpointer *fields = (gpointer *)&gpu_cl;
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (!g_module_symbol (module, names[i], &fields[i])) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("%s lacks %s: it is no OpenCL 1.2"), LOADER, names[i]);
      return FALSE;
    }
  return TRUE;
}

gboolean
gpu_cl_load (GError **error)
{
  static GMutex lock;
  static gboolean loaded;
  GModule *module = NULL;
  g_mutex_lock (&lock);
  if (!loaded) {
    module = g_module_open (LOADER, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
    if (module == NULL)
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   _ ("no OpenCL platform: %s (Debian: ocl-icd-libopencl1, and the driver's ICD)"),
                   g_module_error ());
    else
      loaded = load_functions (module, error);
    if (loaded) /* drivers leave threads behind */
      g_module_make_resident (module);
    else if (module != NULL)
      g_module_close (module);
  }
  g_mutex_unlock (&lock);
  return loaded;
}

/* Names of what users meet; the rest is a number that the specification explains. */
static const struct {
  cl_int status;
  const gchar *name;
  gint code;
} errors[] = {
  { -1, "CL_DEVICE_NOT_FOUND", AXON_ERROR_UNSUPPORTED },
  { -2, N_ ("CL_DEVICE_NOT_AVAILABLE: the device is lost"), AXON_ERROR_DEVICE },
  { -4, N_ ("CL_MEM_OBJECT_ALLOCATION_FAILURE: out of device memory"), AXON_ERROR_MEMORY },
  { -5, N_ ("CL_OUT_OF_RESOURCES: out of device memory, or the device is lost"),
    AXON_ERROR_MEMORY },
  { -6, "CL_OUT_OF_HOST_MEMORY", AXON_ERROR_MEMORY },
  { -11, "CL_BUILD_PROGRAM_FAILURE", AXON_ERROR_DEVICE },
  { -14, N_ ("a command failed on the device"), AXON_ERROR_DEVICE },
  { -36, N_ ("CL_INVALID_COMMAND_QUEUE: the device is lost"), AXON_ERROR_DEVICE },
  { -61, N_ ("CL_INVALID_BUFFER_SIZE: more than the device allocates at once"), AXON_ERROR_MEMORY },
  { -1001, N_ ("no OpenCL platform is installed"), AXON_ERROR_UNSUPPORTED },
};

gboolean
gpu_cl_ok (cl_int status, const gchar *what, GError **error)
{
  if (status == CL_SUCCESS)
    return TRUE;
  if (error != NULL && *error != NULL) /* the first failure explains the others */
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (errors); i++)
    if (errors[i].status == status) {
      g_set_error (error, AXON_ERROR, errors[i].code, "%s: %s", _ (what), _ (errors[i].name));
      return FALSE;
    }
  g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("%s: OpenCL error %d"), _ (what), status);
  return FALSE;
}
