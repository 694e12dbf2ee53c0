/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device REMOTE: models on servers of the Open Inference Protocol (KServe v2). A whole model goes
 * there, or nothing; only the steps that make tensors of pictures stay here. */
#include "remotemodel.h"

#include "config.h"
#include <axon/axon-remote.h>
#include <glib/gi18n-lib.h>

typedef AxonPlugin AxonRemotePlugin;
typedef AxonPluginClass AxonRemotePluginClass;
static GType axon_remote_plugin_get_type (void);
G_DEFINE_TYPE (AxonRemotePlugin, axon_remote_plugin, AXON_TYPE_PLUGIN)

#define MOST_DEVICES "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
#define TEXT(key, blurb)                                                                           \
  {                                                                                                \
    key, AXON_PROPERTY_STRING, AXON_RW, "", 0, 0, NULL, blurb                                      \
  }
#define NUMBER(key, value, min, max, blurb)                                                        \
  {                                                                                                \
    key, AXON_PROPERTY_INT, AXON_RW, value, min, max, NULL, blurb                                  \
  }
#define CHOICE(key, value, choices, blurb)                                                         \
  {                                                                                                \
    key, AXON_PROPERTY_CHOICE, AXON_RW, value, 0, 0, choices, blurb                                \
  }

static const AxonPropertySpec properties[] = {
  { .key = "SUPPORTED_PROPERTIES", .flags = AXON_RO_COMPILED },
  { .key = "AVAILABLE_DEVICES", .flags = AXON_RO },
  { .key = "FULL_DEVICE_NAME", .flags = AXON_RO },
  { .key = "DEVICE_ARCHITECTURE", .flags = AXON_RO },
  { .key = "DEVICE_TYPE", .flags = AXON_RO },
  { .key = "OPTIMIZATION_CAPABILITIES", .flags = AXON_RO },
  { .key = "RANGE_FOR_ASYNC_INFER_REQUESTS", .flags = AXON_RO },
  { .key = "EXECUTION_DEVICES", .flags = AXON_RO_COMPILED },
  TEXT (AXON_REMOTE_URL, N_ ("The server, as https://host:8000")),
  TEXT (AXON_REMOTE_MODEL, N_ ("The model's name there; empty: its name here")),
  TEXT (AXON_REMOTE_VERSION, N_ ("Its version; empty: the server chooses")),
  NUMBER (AXON_REMOTE_TIMEOUT, "10000", 1, 3600000,
          N_ ("Milliseconds for a request, all tries together")),
  NUMBER (AXON_REMOTE_RETRIES, "2", 0, 100,
          N_ ("Tries after the first, where the server was not reached or was too busy")),
  NUMBER (AXON_REMOTE_CONNECTIONS, "4", 1, 64, N_ ("Connections at a time")),
  CHOICE (AXON_REMOTE_BINARY_DATA, "AUTO", "AUTO YES NO",
          N_ ("Tensors as bytes; AUTO: where the server lists the extension")),
  CHOICE (
      AXON_REMOTE_SHARED_MEMORY, "AUTO", "AUTO YES NO",
      N_ ("Tensors in shared memory; AUTO: where a server on this machine lists the extension")),
  CHOICE (AXON_REMOTE_COMPRESSION, "AUTO", "AUTO GZIP NO",
          N_ ("GZIP: requests and answers; AUTO: answers in JSON from other machines")),
  TEXT (AXON_REMOTE_TOKEN_FILE, N_ ("File with a bearer's token")),
  TEXT (AXON_REMOTE_CA_FILE, N_ ("File of trusted certificates, instead of the system's")),
  TEXT (AXON_REMOTE_CERTIFICATE_FILE, N_ ("File of the certificate shown to the server")),
  TEXT (AXON_REMOTE_KEY_FILE, N_ ("File of its key; empty: it is in the same file")),
  NUMBER (AXON_REMOTE_MAX_ANSWER_SIZE, "256", 1, 1024,
          N_ ("Mebibytes that an answer of unknown size may have")),
  { AXON_REMOTE_TRANSFER, AXON_PROPERTY_STRING, AXON_MODEL, NULL, 0, 0, NULL,
    N_ ("How tensors travel: SHARED_MEMORY, BINARY_DATA or JSON") },
  { .key = "DEVICE_ID", .flags = AXON_RW, .default_text = "0", .choices = MOST_DEVICES },
  { .key = "PERF_COUNT", .flags = AXON_RW, .default_text = "NO" },
  { .key = "PERFORMANCE_HINT", .flags = AXON_RW, .default_text = "THROUGHPUT" },
  { .key = "PERFORMANCE_HINT_NUM_REQUESTS", .flags = AXON_RW, .default_text = "0" },
  { .key = "LOG_LEVEL", .flags = AXON_RW, .default_text = "LOG_NONE" },
  { .key = "NETWORK_NAME", .flags = AXON_MODEL },
  { .key = "OPTIMAL_NUMBER_OF_INFER_REQUESTS", .flags = AXON_MODEL },
  { .key = "LOADED_FROM_CACHE", .flags = AXON_MODEL },
};

static gchar *
device_name (AxonPlugin *plugin, const AxonConfig *config)
{
  return g_strdup_printf ("%s.%s", axon_plugin_get_name (plugin),
                          axon_config_get_string (config, "DEVICE_ID"));
}

/* There is one where somebody said which: nobody looks for servers. */
static GVariant *
available_devices (AxonPlugin *plugin)
{
  g_autoptr (GVariant) url = axon_plugin_get_property (plugin, AXON_REMOTE_URL, NULL);
  return url != NULL && *g_variant_get_string (url, NULL) ? axon_property_list ("", NULL)
                                                          : axon_property_list (NULL, NULL);
}

static GVariant *
axon_remote_plugin_get_metric (AxonPlugin *plugin, const gchar *key, GError **error)
{
  if (g_str_equal (key, "AVAILABLE_DEVICES"))
    return available_devices (plugin);
  if (g_str_equal (key, "FULL_DEVICE_NAME"))
    return g_variant_new_string ("Server of the Open Inference Protocol");
  if (g_str_equal (key, "DEVICE_ARCHITECTURE"))
    return g_variant_new_string ("REMOTE");
  if (g_str_equal (key, "DEVICE_TYPE"))
    return g_variant_new_string ("discrete");
  if (g_str_equal (key, "OPTIMIZATION_CAPABILITIES"))
    return axon_property_list ("FP32", "FP16", "BF16", "INT8", "EXPORT_IMPORT", NULL);
  if (g_str_equal (key, "RANGE_FOR_ASYNC_INFER_REQUESTS"))
    return g_variant_new ("(iii)", 1, 128, 1);
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return axon_property_list (axon_plugin_get_name (plugin), NULL);
  return axon_property_no_value (key, error);
}

/* The server that has @model; NULL with @error where there is none, or where it is another. */
static RemoteServer *
find_model (RemoteClient *client, AxonModel *model, const RemoteView *view,
            const AxonConfig *config, GCancellable *cancellable, GError **error)
{
  g_autoptr (RemoteServer) server =
      remote_server_for (client, config, model->name, cancellable, error);
  return server != NULL && remote_server_check (server, remote_client_get_url (client),
                                                view->inputs, view->outputs, error)
             ? g_steal_pointer (&server)
             : NULL;
}

static AxonCompiledModel *
axon_remote_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                                  G_GNUC_UNUSED AxonRemoteContext *context,
                                  const AxonConfig *config, GCancellable *cancellable,
                                  AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autofree gchar *device = device_name (plugin, config);
  g_autoptr (RemoteView) view = remote_view_new (model, error);
  g_autoptr (RemoteClient) client = view ? remote_client_for (config, error) : NULL;
  g_autoptr (RemoteServer) server =
      client ? find_model (client, model, view, config, cancellable, error) : NULL;
  AxonCompiledModel *compiled;
  if (server == NULL)
    return NULL;
  axon_plugin_log (plugin, config, "LOG_INFO", "%s is model \"%s\" of %s at %s", device,
                   server->model, server->name, remote_client_get_url (client));
  compiled = remote_model_new (plugin, model, view, g_steal_pointer (&client),
                               g_steal_pointer (&server), config, device, cancellable, error);
  if (compiled != NULL && progress != NULL)
    progress (1, "compiled", user_data);
  return compiled;
}

static AxonCompiledModel *
axon_remote_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                                 AxonRemoteContext *context, const AxonConfig *config,
                                 GCancellable *cancellable, AxonProgressFunc progress,
                                 gpointer user_data, GError **error)
{
  g_autoptr (AxonModel) model = axon_blob_read_model (blob, payload, error);
  return model ? axon_remote_plugin_compile_model (plugin, model, context, config, cancellable,
                                                   progress, user_data, error)
               : NULL;
}

/* No bytes at all: the server's description is the model. */
static AxonCompiledModel *
axon_remote_plugin_import_bytes (AxonPlugin *plugin, GBytes *bytes, AxonRemoteContext *context,
                                 const AxonConfig *config, GCancellable *cancellable,
                                 AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (RemoteClient) client = NULL;
  g_autoptr (RemoteServer) server = NULL;
  g_autoptr (AxonModel) model = NULL;
  if (g_bytes_get_size (bytes) > 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("device REMOTE: expected no bytes, for a model that only the server has, or an "
                    "exported model, got %zu others"),
                 g_bytes_get_size (bytes));
    return NULL;
  }
  client = remote_client_for (config, error);
  server = client ? remote_server_for (client, config, NULL, cancellable, error) : NULL;
  model = server ? remote_server_make_model (server, remote_client_get_url (client), error) : NULL;
  return model ? axon_remote_plugin_compile_model (plugin, model, context, config, cancellable,
                                                   progress, user_data, error)
               : NULL;
}

static gchar *
refuse_all (G_GNUC_UNUSED const AxonNode *node, gpointer why)
{
  return g_strdup (why);
}

static gboolean
axon_remote_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                                AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autofree gchar *device = device_name (plugin, config);
  g_autoptr (GError) why = NULL;
  g_autoptr (RemoteView) view = remote_view_new (model, &why);
  g_autoptr (RemoteClient) client = view ? remote_client_for (config, &why) : NULL;
  g_autoptr (RemoteServer) server =
      client ? find_model (client, model, view, config, cancellable, &why) : NULL;
  axon_supported_ops_collect (result, model, model, device, 1, server ? NULL : refuse_all,
                              why ? why->message : NULL);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static void
axon_remote_plugin_class_init (AxonRemotePluginClass *klass)
{
  klass->compile_model = axon_remote_plugin_compile_model;
  klass->query_model = axon_remote_plugin_query_model;
  klass->get_metric = axon_remote_plugin_get_metric;
  klass->import_model = axon_remote_plugin_import_model;
  klass->import_bytes = axon_remote_plugin_import_bytes;
}

static void
axon_remote_plugin_init (AxonRemotePlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, GError **error)
{
  if (remote_transport_load (error) != NULL)
    return g_object_new (axon_remote_plugin_get_type (), "name", name, NULL);
  g_prefix_error (error, _ ("device REMOTE: "));
  return NULL;
}

AXON_DEFINE_PLUGIN_INFO (.name = "REMOTE", .version = AXON_PLUGIN_VERSION,
                         .description = "Models on servers of the Open Inference Protocol",
                         .create = create, .flags = AXON_PLUGIN_FOREIGN, .n_ops = 1,
                         .ops = remote_ops)
