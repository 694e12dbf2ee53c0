/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device MULTI: one model compiled on several devices, requests spread over them. */
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#include "config.h"
#include <glib/gi18n-lib.h>

typedef struct {
  AxonCompiledModel parent_instance;
  AxonScheduler *scheduler;
} MultiModel;

typedef AxonCompiledModelClass MultiModelClass;
static GType multi_model_get_type (void);
G_DEFINE_TYPE (MultiModel, multi_model, AXON_TYPE_COMPILED_MODEL)

static gboolean
multi_model_start (AxonCompiledModel *compiled, AxonInferRequest *request, GError **error)
{
  return axon_scheduler_start (((MultiModel *)compiled)->scheduler, request, error);
}

static void
multi_model_cancel (AxonCompiledModel *compiled, AxonInferRequest *request)
{
  axon_scheduler_cancel (((MultiModel *)compiled)->scheduler, request);
}

static GVariant *
multi_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                          G_GNUC_UNUSED GError **error)
{
  return axon_scheduler_get_property (((MultiModel *)compiled)->scheduler, key);
}

static AxonModel *
multi_model_get_runtime_model (AxonCompiledModel *compiled, GError **error)
{
  return axon_scheduler_get_runtime_model (((MultiModel *)compiled)->scheduler, error);
}

static void
multi_model_finalize (GObject *object)
{
  MultiModel *self = (MultiModel *)object;
  if (self->scheduler != NULL)
    axon_candidates_stop_awaiting (self->scheduler);
  g_clear_pointer (&self->scheduler, axon_scheduler_unref);
  G_OBJECT_CLASS (multi_model_parent_class)->finalize (object);
}

static void
multi_model_class_init (MultiModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = multi_model_finalize;
  klass->start = multi_model_start;
  klass->cancel = multi_model_cancel;
  klass->get_property = multi_model_get_property;
  klass->get_runtime_model = multi_model_get_runtime_model;
  klass->accepts_remote = TRUE;
  klass->accepts_any_place = TRUE;
}

static void
multi_model_init (G_GNUC_UNUSED MultiModel *self)
{
}

typedef AxonPlugin MultiPlugin;
typedef AxonPluginClass MultiPluginClass;
static GType multi_plugin_get_type (void);
G_DEFINE_TYPE (MultiPlugin, multi_plugin, AXON_TYPE_PLUGIN)

static const AxonPropertySpec properties[] = {
  AXON_CANDIDATES_PROPERTIES ("CUMULATIVE_THROUGHPUT"),
};

static AxonSchedulerFlags
scheduler_flags (const AxonConfig *config)
{
  const gchar *policy = axon_config_get_string (config, "SCHEDULE_POLICY");
  gboolean bind = axon_config_get_bool (config, "DEVICE_BIND_BUFFER");
  return (g_str_equal (policy, "ROUND_ROBIN") ? AXON_SCHEDULER_ROUND_ROBIN : 0) |
         (bind ? AXON_SCHEDULER_BIND : AXON_SCHEDULER_RETRY);
}

static AxonCompiledModel *
multi_plugin_compile_model (AxonPlugin *plugin, AxonModel *model, AxonRemoteContext *context,
                            const AxonConfig *config, GCancellable *cancellable,
                            AxonProgressFunc progress, gpointer user_data, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GPtrArray) devices = NULL;
  MultiModel *self;
  g_assert (context == NULL); /* MULTI makes none */
  if (core == NULL)
    return NULL;
  if (*axon_config_get_string (config, "MULTI_DEVICE_PRIORITIES") == '\0') {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("MULTI: which devices? Write MULTI:GPU,CPU or set MULTI_DEVICE_PRIORITIES"));
    return NULL;
  }
  devices = axon_candidates_list (plugin, core, config, error);
  if (devices == NULL)
    return NULL;
  compiled = g_object_new (multi_model_get_type (), NULL);
  self = (MultiModel *)compiled;
  self->scheduler = axon_scheduler_new (scheduler_flags (config));
  axon_candidates_await (self->scheduler, plugin, model, devices, config, "THROUGHPUT");
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  return axon_candidates_compile_all (plugin, core, self->scheduler, model, devices, config,
                                      cancellable, progress, user_data, error)
             ? g_steal_pointer (&compiled)
             : NULL;
}

static void
multi_plugin_class_init (MultiPluginClass *klass)
{
  klass->compile_model = multi_plugin_compile_model;
  klass->query_model = axon_candidates_query;
  klass->get_metric = axon_candidates_get_metric;
  klass->forwards_properties = TRUE;
}

static void
multi_plugin_init (MultiPlugin *self)
{
  axon_plugin_set_properties_table (self, properties, G_N_ELEMENTS (properties));
}

static AxonPlugin *
create (const gchar *name, G_GNUC_UNUSED GError **error)
{
  return g_object_new (multi_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN_WITH_FLAGS ("MULTI", "Requests spread over several devices", create,
                               AXON_PLUGIN_VIRTUAL | AXON_PLUGIN_SPREADING)
