/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "onnxifilibrary.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <gmodule.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "libonnxifi-"
#define SUFFIX "." G_MODULE_SUFFIX
#define OWN "libonnxifi-axon" SUFFIX
#define MOST_BACKENDS 1024
#define MOST_TEXT 65536

/* Where ONNXIFI looks, and where Debian puts libraries. */
static const gchar *const standard_directories[] = { "/usr/lib", ONNXIFI_MULTIARCH_DIR,
                                                     "/usr/local/lib", ONNXIFI_LIBDIR };

static GPtrArray *
list_directories (void)
{
  GPtrArray *dirs = g_ptr_array_new_with_free_func (g_free);
  const gchar *env = secure_getenv ("AXON_ONNXIFI_PATH");
  g_auto (GStrv) parts = g_strsplit (env ? env : "", G_SEARCHPATH_SEPARATOR_S, -1);
  for (guint i = 0; parts[i] != NULL; i++)
    if (g_path_is_absolute (parts[i]))
      g_ptr_array_add (dirs, g_strdup (parts[i]));
  for (guint i = 0; i < G_N_ELEMENTS (standard_directories); i++)
    if (!g_ptr_array_find_with_equal_func (dirs, standard_directories[i], g_str_equal, NULL))
      g_ptr_array_add (dirs, g_strdup (standard_directories[i]));
  return dirs;
}

/* Our own library leads to devices that are here by their own names. */
static gboolean
is_wanted (const gchar *file)
{
  return g_str_has_prefix (file, PREFIX) && g_str_has_suffix (file, SUFFIX) &&
         (!g_str_equal (file, OWN) || g_strcmp0 (secure_getenv ("AXON_ONNXIFI_OWN"), "1") == 0);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

static void
add_files (GPtrArray *files, const gchar *directory)
{
  g_autoptr (GDir) dir = g_dir_open (directory, 0, NULL);
  guint first = files->len;
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    if (is_wanted (name))
      g_ptr_array_add (files, g_build_filename (directory, name, NULL));
  if (files->len > first)
    qsort (files->pdata + first, files->len - first, sizeof (gpointer), compare_names);
}

static OnnxifiLibrary *
load (const gchar *path, GString *problems)
{
  OnnxifiLibrary *library;
  g_autoptr (GError) error = NULL;
  gboolean allowed = axon_probe_allows (path, NULL, &error), ok = TRUE;
  GModule *module = allowed ? g_module_open (path, G_MODULE_BIND_LOCAL) : NULL;
  if (module == NULL) {
    g_string_append_printf (problems, "; %s", allowed ? g_module_error () : error->message);
    return NULL;
  }
  g_module_make_resident (module); /* it may have threads */
  library = g_atomic_rc_box_new0 (OnnxifiLibrary);
#define LOAD(name) ok &= g_module_symbol (module, "onnx" #name, (gpointer *)&library->name);
  ONNXIFI_FUNCTIONS (LOAD)
#undef LOAD
  if (!ok) {
    g_string_append_printf (problems, _ ("; %s lacks functions of ONNXIFI 1.0"), path);
    g_atomic_rc_box_release (library);
    return NULL;
  }
  library->path = g_strdup (path);
  return library;
}

static gchar *
get_text (const OnnxifiLibrary *library, onnxBackendID id, onnxBackendInfo what)
{
  gsize n = 0;
  gchar *text, *valid;
  if (library->GetBackendInfo (id, what, NULL, &n) != ONNXIFI_STATUS_FALLBACK || n > MOST_TEXT)
    return g_strdup ("");
  text = g_malloc0 (n + 1);
  if (library->GetBackendInfo (id, what, text, &n) != ONNXIFI_STATUS_SUCCESS)
    *text = '\0';
  valid = g_utf8_make_valid (text, -1);
  g_free (text);
  return valid;
}

static guint64
get_number (const OnnxifiLibrary *library, onnxBackendID id, onnxBackendInfo what)
{
  guint64 value = 0;
  gsize n = sizeof value;
  return library->GetBackendInfo (id, what, &value, &n) == ONNXIFI_STATUS_SUCCESS ? value : 0;
}

static void
library_clear (gpointer data)
{
  g_free (((OnnxifiLibrary *)data)->path);
}

static void
device_free (gpointer data)
{
  OnnxifiDevice *device = data;
  device->library->ReleaseBackendID (device->id);
  g_atomic_rc_box_release_full ((gpointer)device->library, library_clear);
  g_free (device->name);
  g_free (device->vendor);
  g_free (device->version);
  g_free (device->hardware);
  g_free (device->opsets);
  g_free (device);
}

static OnnxifiDevice *
device_new (const OnnxifiLibrary *library, onnxBackendID id)
{
  OnnxifiDevice *device = g_new0 (OnnxifiDevice, 1);
  device->library = g_atomic_rc_box_acquire ((gpointer)library);
  device->id = id;
  device->name = get_text (library, id, ONNXIFI_BACKEND_NAME);
  device->vendor = get_text (library, id, ONNXIFI_BACKEND_VENDOR);
  device->version = get_text (library, id, ONNXIFI_BACKEND_VERSION);
  device->hardware = get_text (library, id, ONNXIFI_BACKEND_DEVICE);
  device->opsets = get_text (library, id, ONNXIFI_BACKEND_OPSET_VERSION);
  device->type = get_number (library, id, ONNXIFI_BACKEND_DEVICE_TYPE);
  device->capabilities = get_number (library, id, ONNXIFI_BACKEND_CAPABILITIES);
  device->init_properties = get_number (library, id, ONNXIFI_BACKEND_INIT_PROPERTIES);
  device->memory = get_number (library, id, ONNXIFI_BACKEND_MEMORY_SIZE);
  return device;
}

/* Into room for many, and again where they are more; some libraries refuse to count alone. */
static onnxBackendID *
get_ids (const OnnxifiLibrary *library, gsize *n, GError **error)
{
  gsize room = 16;
  onnxBackendID *ids = g_new0 (onnxBackendID, room);
  onnxStatus status;
  *n = room;
  status = library->GetBackendIDs (ids, n);
  if (status == ONNXIFI_STATUS_FALLBACK && *n > room) {
    room = *n = MIN (*n, MOST_BACKENDS);
    g_free (ids);
    ids = g_new0 (onnxBackendID, room);
    status = library->GetBackendIDs (ids, n);
  }
  if (status == ONNXIFI_STATUS_FALLBACK) /* and nothing was given */
    *n = 0;
  *n = MIN (*n, room);
  if (onnxifi_check (library, "GetBackendIDs", status, error))
    return ids;
  g_free (ids);
  return NULL;
}

static void
add_devices (const OnnxifiLibrary *library, GPtrArray *devices, GString *problems)
{
  g_autoptr (GError) error = NULL;
  gsize n;
  g_autofree onnxBackendID *ids = get_ids (library, &n, &error);
  if (ids == NULL)
    g_string_append_printf (problems, "; %s", error->message);
  else if (n == 0)
    g_string_append_printf (problems, _ ("; %s has no backend"), library->path);
  for (gsize i = 0; ids != NULL && i < n; i++)
    g_ptr_array_add (devices, device_new (library, ids[i]));
}

GPtrArray *
onnxifi_devices_find (GError **error)
{
  g_autoptr (GPtrArray) dirs = list_directories ();
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) devices = g_ptr_array_new_with_free_func (device_free);
  g_autoptr (GString) problems = g_string_new (NULL);
  g_autofree gchar *searched = NULL;
  for (guint i = 0; i < dirs->len; i++)
    add_files (files, g_ptr_array_index (dirs, i));
  for (guint i = 0; i < files->len; i++) {
    OnnxifiLibrary *library = load (g_ptr_array_index (files, i), problems);
    if (library == NULL)
      continue;
    add_devices (library, devices, problems);
    g_atomic_rc_box_release_full (library, library_clear);
  }
  if (devices->len > 0)
    return g_steal_pointer (&devices);
  g_ptr_array_add (dirs, NULL);
  searched = g_strjoinv (", ", (gchar **)dirs->pdata);
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               _ ("no ONNXIFI backend of another vendor: %s* in %s (AXON_ONNXIFI_PATH adds "
                  "directories)%s"),
               PREFIX, searched, problems->str);
  return NULL;
}
