/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntransport.h"

#include "config.h"
#include <dlfcn.h>
#include <glib/gi18n-lib.h>
#include <gmodule.h>

/* A transport is here, or in a module whose library Debian has in a package. libsoup 3 ends a
 * process that has libsoup 2. */
static const struct {
  const gchar *scheme;
  const GstNnTransport *transport;
  const gchar *module, *package, *enemy;
} schemes[] = {
  { "file", &gst_nn_transport_file, NULL, NULL, NULL },
  { "unix", &gst_nn_transport_socket, NULL, NULL, NULL },
  { "udp", &gst_nn_transport_socket, NULL, NULL, NULL },
  { "tcp", &gst_nn_transport_socket, NULL, NULL, NULL },
  { "mqtt", NULL, "mqtt", "libmosquitto1", NULL },
  { "mqtts", NULL, "mqtt", "libmosquitto1", NULL },
  { "kafka", NULL, "kafka", "librdkafka1", NULL },
  { "http", NULL, "http", "libsoup-3.0-0", "libsoup-2.4.so.1" },
  { "https", NULL, "http", "libsoup-3.0-0", "libsoup-2.4.so.1" },
  { "sse", NULL, "sse", "libsoup-3.0-0", "libsoup-2.4.so.1" },
};

/* Installed beside the plugin, and as the build leaves it. */
static const gchar *const folders[] = { "nnpublish", "publish" };

static gchar *
find_module (const gchar *name)
{
  g_autofree gchar *file = g_strconcat (name, ".nntransport", NULL);
  g_autofree gchar *beside = NULL;
  Dl_info info;
  if (dladdr ((gconstpointer)gst_nn_transport_find, &info) != 0 && info.dli_fname != NULL)
    beside = g_path_get_dirname (info.dli_fname);
  for (guint i = 0; beside != NULL && i < G_N_ELEMENTS (folders); i++) {
    g_autofree gchar *path = g_build_filename (beside, folders[i], file, NULL);
    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&path);
  }
  return g_build_filename (TRANSPORT_DIR, file, NULL); /* of applications that link the elements */
}

static gboolean
is_loaded (const gchar *library)
{
  void *handle = library ? dlopen (library, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (handle != NULL)
    dlclose (handle);
  return handle != NULL;
}

static const GstNnTransport *
load (guint row, const gchar *location, GError **error)
{
  g_autofree gchar *path = find_module (schemes[row].module);
  GModule *module;
  gpointer symbol;
  const GstNnTransport *transport;
  if (is_loaded (schemes[row].enemy)) {
    g_set_error (
        error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
        _ ("%s needs libsoup 3, and this process has %s already, which cannot stand beside "
           "it: publish from a process of its own"),
        location, schemes[row].enemy);
    return NULL;
  }
  module = g_module_open (path, G_MODULE_BIND_LAZY | G_MODULE_BIND_LOCAL);
  if (module == NULL || !g_module_symbol (module, GST_NN_TRANSPORT_SYMBOL, &symbol)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND,
                 _ ("%s: its transport cannot be loaded (%s); Debian has the library that it needs "
                    "in %s"),
                 location, g_module_error (), schemes[row].package);
    return NULL;
  }
  g_module_make_resident (module); /* its library has threads and types */
  transport = symbol;
  if (transport->version == GST_NN_TRANSPORT_VERSION)
    return transport;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               _ ("%s is of version %u, expected %u: install it with this plugin"), path,
               transport->version, GST_NN_TRANSPORT_VERSION);
  return NULL;
}

const GstNnTransport *
gst_nn_transport_find (const gchar *location, GError **error)
{
  g_autofree gchar *scheme = g_uri_parse_scheme (location);
  g_autoptr (GString) known = g_string_new (NULL);
  if (scheme == NULL || strstr (location, "://") == NULL)
    return &gst_nn_transport_file;
  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++) {
    g_string_append_printf (known, "%s%s", i ? ", " : "", schemes[i].scheme);
    if (g_ascii_strcasecmp (scheme, schemes[i].scheme) == 0)
      return schemes[i].transport ? schemes[i].transport : load (i, location, error);
  }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               _ ("%s: no transport is called %s; there are %s"), location, scheme, known->str);
  return NULL;
}

static gboolean
set_option (GstStructure *options, const GstNnTransportOption *option, const GValue *given)
{
  g_auto (GValue) value = G_VALUE_INIT;
  g_value_init (&value, option->type);
  if (given == NULL && option->initial == NULL)
    return TRUE;
  if (given == NULL || G_VALUE_HOLDS_STRING (given)) {
    const gchar *text = given ? g_value_get_string (given) : option->initial;
    if (text == NULL || !gst_value_deserialize (&value, text))
      return FALSE;
  } else if (!g_value_transform (given, &value)) {
    return FALSE;
  }
  gst_structure_set_value (options, option->name, &value);
  return TRUE;
}

static gboolean
is_option (const GstNnTransport *transport, const gchar *name)
{
  const GstNnTransportOption *o = transport->options;
  while (o != NULL && o->name != NULL && !g_str_equal (o->name, name))
    o++;
  return o != NULL && o->name != NULL;
}

static gchar *
list_options (const GstNnTransport *transport)
{
  GString *list = g_string_new (NULL);
  for (const GstNnTransportOption *o = transport->options; o != NULL && o->name != NULL; o++)
    g_string_append_printf (list, "%s%s", list->len ? ", " : "", o->name);
  return g_string_free (list, FALSE);
}

GstStructure *
gst_nn_transport_options (const GstNnTransport *transport, const GstStructure *given,
                          GError **error)
{
  g_autoptr (GstStructure) options = gst_structure_new_empty ("options");
  gint n = given ? gst_structure_n_fields (given) : 0;
  for (gint i = 0; i < n; i++) {
    const gchar *name = gst_structure_nth_field_name (given, (guint)i);
    g_autofree gchar *known = list_options (transport);
    if (is_option (transport, name))
      continue;
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 _ ("this location has no option \"%s\"; it has: %s"), name,
                 *known ? known : _ ("none"));
    return NULL;
  }
  for (const GstNnTransportOption *o = transport->options; o != NULL && o->name != NULL; o++)
    if (!set_option (options, o, given ? gst_structure_get_value (given, o->name) : NULL)) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                   _ ("option \"%s\" (%s): expected a value of type %s"), o->name, o->blurb,
                   g_type_name (o->type));
      return NULL;
    }
  return g_steal_pointer (&options);
}
