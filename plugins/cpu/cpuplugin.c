/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device CPU: passes, compile and query. */
#include "cpuisa.h"
#include "cpumodel.h"
#include "cpuproperties.h"
#include "cputhreads.h"
#include "onednn/cpudnn.h"
#include "kernels/extensionconfig.h"
#include "passes/cpupasses.h"
#ifdef AXON_XNNPACK
#include "xnnpack/cpuxnnpack.h"
#endif

#include <axon/axon-cpu.h>

#define MAX_COMPILING 8 /* threads: more have nothing to do */

typedef struct {
  AxonPlugin parent_instance;
  GMutex lock;
  GPtrArray *extensions; /* lock: AxonExtension; replaced, never changed */
} AxonCpuPlugin;

typedef AxonPluginClass AxonCpuPluginClass;
static GType axon_cpu_plugin_get_type (void);
G_DEFINE_TYPE (AxonCpuPlugin, axon_cpu_plugin, AXON_TYPE_PLUGIN)

AxonModel *
cpu_lower_model (AxonModel *model, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  if (!cpu_passes_run (clone, cancellable, error))
    return NULL;
  return g_steal_pointer (&clone);
}

/* An explicit number of streams wins over the hint, and requests limit what the hint asks for. */
static guint
choose_streams (const AxonConfig *config, const CpuLimits *limits, guint all)
{
  gint n = axon_config_get_int (config, "NUM_STREAMS");
  guint requests = (guint)axon_config_get_int (config, "PERFORMANCE_HINT_NUM_REQUESTS");
  const gchar *hint = axon_config_get_string (config, "PERFORMANCE_HINT");
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return 1;
  if (n >= 0)
    return (guint)n;
  if (n == -2)
    return MIN (limits->n_nodes, all);
  if (g_str_equal (hint, "LATENCY"))
    return 1;
  return requests > 0 ? MIN (requests, all) : all;
}

static guint
choose_threads (const AxonConfig *config, CpuThreads *threads)
{
  guint all = (guint)axon_config_get_int (config, "INFERENCE_NUM_THREADS");
  guint each = (guint)axon_config_get_int (config, "THREADS_PER_STREAM");
  guint streams;
  cpu_limits_init (&threads->limits, "", axon_config_get_string (config, "SCHEDULING_CORE_TYPE"),
                   axon_config_get_bool (config, "ENABLE_HYPER_THREADING"));
  all = all == 0 ? threads->limits.n : MIN (all, (guint)CPU_COUNT (&threads->limits.set));
  streams = choose_streams (config, &threads->limits, all);
  threads->threads = each > 0 ? each : MAX (1, all / MAX (streams, 1));
  threads->pin =
      streams != 0 && (axon_config_get_bool (config, "ENABLE_CPU_PINNING") ||
                       g_str_equal (axon_config_get_string (config, "AFFINITY"), "CORE"));
  threads->spread = streams != 0;
  threads->denormals = axon_config_get_bool (config, "CPU_DENORMALS_OPTIMIZATION");
  return streams;
}

/* Beside the thread that makes plans. One that is kept on one processor has no use for any. */
static guint
choose_helpers (const AxonConfig *config, const CpuThreads *threads)
{
  guint n = (guint)axon_config_get_int (config, "COMPILATION_NUM_THREADS");
  return threads->pin ? 0 : MIN (n > 0 ? n : threads->limits.n, MAX_COMPILING) - 1;
}

static CpuWinogradLimits
choose_winograd (const AxonConfig *config)
{
  static const struct {
    const gchar *name;
    CpuWinogradLimits limits;
  } rows[] = { { "AUTO", { TRUE, 4, 0, 0 } },
               { "2x2", { TRUE, 2, 0, 0 } },
               { "ALL_2x2", { TRUE, 2, 2, 0 } },
               { "ALL_4x4", { TRUE, 4, 4, 0 } },
               { "NO", { FALSE, 0, 0, 0 } } };
  const gchar *name = axon_config_get_string (config, AXON_CPU_WINOGRAD);
  CpuWinogradLimits limits = { 0 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_str_equal (name, rows[i].name))
      limits = rows[i].limits;
  if (limits.all == 0 &&
      g_str_equal (axon_config_get_string (config, "EXECUTION_MODE_HINT"), "ACCURACY"))
    limits.most = MIN (limits.most, 2);
  limits.bytes = (gsize)axon_config_get_int (config, AXON_CPU_WINOGRAD_MEMORY) << 20;
  return limits;
}

static gboolean
has_halves (void)
{
  return cpu_isa_get ()->vector->halves != NULL;
}

/* What was wished for and is not there is said. */
static AxonDType
choose_products (AxonPlugin *plugin, const AxonConfig *config)
{
  static const struct {
    const gchar *hint;
    AxonDType products;
    gboolean (*is_there) (void);
  } rows[] = { { "f16", AXON_DTYPE_F16, has_halves },
               { "bf16", AXON_DTYPE_BF16, cpu_dnn_has_tiles } };
  const gchar *hint = axon_config_get_string (config, "INFERENCE_PRECISION_HINT");
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    if (!g_str_equal (hint, rows[i].hint))
      continue;
    if (rows[i].is_there ())
      return rows[i].products;
    axon_plugin_log (
        plugin, config, "LOG_WARNING",
        "INFERENCE_PRECISION_HINT %s: %s does not compute in it, or not faster: f32 is "
        "used",
        hint, cpu_isa_get ()->name);
  }
  return AXON_DTYPE_F32;
}

static GPtrArray *
dup_extensions (AxonCpuPlugin *self)
{
  GPtrArray *extensions;
  g_mutex_lock (&self->lock);
  extensions = g_ptr_array_ref (self->extensions);
  g_mutex_unlock (&self->lock);
  return extensions;
}

#ifdef AXON_XNNPACK
#define choose_xnnpack cpu_xnnpack_is_wanted
#else
#define choose_xnnpack(plugin, config) FALSE
#endif

/* Teams are made where the streams' threads are: else a caller that is kept on some processors
 * might be the first to work in a stream, and its workers would stay there. The executor that
 * everybody shares has its one from its own thread. */
static AxonExecutor *
make_executor (const AxonConfig *config, guint streams)
{
  AxonExecutor *executor;
  if (axon_config_get_bool (config, "EXCLUSIVE_ASYNC_REQUESTS"))
    return axon_executor_manager_get ("CPU", 1);
  executor = axon_executor_new ("axon-cpu", streams);
  for (guint i = 0; i < axon_executor_get_n_streams (executor); i++)
    axon_executor_get_stream_data (executor, i, cpu_team_new, cpu_team_free);
  return executor;
}

/* @transformed: after the common passes; @model has the ports. */
static AxonCompiledModel *
make_model (AxonPlugin *plugin, AxonModel *model, AxonModel *transformed, const AxonConfig *config,
            const CpuCompile *call, GError **error)
{
  CpuThreads threads;
  guint streams = choose_threads (config, &threads);
  CpuPlanOptions options = { threads.threads, choose_helpers (config, &threads),
                             choose_winograd (config), choose_products (plugin, config),
                             choose_xnnpack (plugin, config) };
  g_autoptr (GPtrArray) extensions = dup_extensions ((AxonCpuPlugin *)plugin);
  g_autoptr (AxonExecutor) executor = make_executor (config, streams);
  return cpu_model_new (plugin, model, transformed, extensions, config, executor, &threads,
                        &options, call, error);
}

static AxonCompiledModel *
axon_cpu_plugin_compile_model (AxonPlugin *plugin, AxonModel *model,
                               G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                               GCancellable *cancellable, AxonProgressFunc progress,
                               gpointer user_data, GError **error)
{
  CpuCompile call = { cancellable, progress, user_data };
  g_autoptr (AxonModel) transformed = NULL;
  if (!cpu_isa_use (error))
    return NULL;
  if (progress != NULL)
    progress (0, "passes", user_data);
  transformed = axon_passes_apply_common (model, cancellable, error);
  return transformed ? make_model (plugin, model, transformed, config, &call, error) : NULL;
}

static AxonCompiledModel *
axon_cpu_plugin_import_model (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                              G_GNUC_UNUSED AxonRemoteContext *context, const AxonConfig *config,
                              GCancellable *cancellable, AxonProgressFunc progress,
                              gpointer user_data, GError **error)
{
  CpuCompile call = { cancellable, progress, user_data };
  g_autoptr (AxonModel) model =
      cpu_isa_use (error) ? axon_blob_read_model (blob, payload, error) : NULL;
  return model ? make_model (plugin, model, model, config, &call, error) : NULL;
}

/* Everything has at least the reference kernel, but for operators of extensions. */
static gchar *
refuse_node (const AxonNode *node, gpointer user_data)
{
  return axon_op_has_kernel (node->op) ? NULL : cpu_layer_refuse (user_data, node);
}

static gboolean
axon_cpu_plugin_query_model (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                             AxonSupportedOps *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) extensions = dup_extensions ((AxonCpuPlugin *)plugin);
  g_autoptr (AxonModel) transformed =
      cpu_isa_use (error) ? axon_passes_apply_common (model, cancellable, error) : NULL;
  g_autoptr (AxonModel) lowered =
      transformed ? cpu_lower_model (transformed, cancellable, error) : NULL;
  if (lowered == NULL)
    return FALSE;
  axon_supported_ops_collect (result, model, lowered, axon_plugin_get_name (plugin),
                              axon_config_get_float (config, "QUERY_MODEL_RATIO"), refuse_node,
                              extensions);
  return TRUE;
}

static gboolean
axon_cpu_plugin_add_extension (AxonPlugin *plugin, AxonExtension *extension,
                               G_GNUC_UNUSED GError **error)
{
  AxonCpuPlugin *self = (AxonCpuPlugin *)plugin;
  GPtrArray *next;
  g_mutex_lock (&self->lock);
  next = g_ptr_array_copy (self->extensions, (GCopyFunc)axon_extension_ref, NULL);
  g_ptr_array_set_free_func (next, (GDestroyNotify)axon_extension_unref);
  g_ptr_array_add (next, axon_extension_ref (extension));
  g_ptr_array_unref (self->extensions);
  self->extensions = next;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

static void
axon_cpu_plugin_finalize (GObject *object)
{
  AxonCpuPlugin *self = (AxonCpuPlugin *)object;
  g_ptr_array_unref (self->extensions);
  g_mutex_clear (&self->lock);
  G_OBJECT_CLASS (axon_cpu_plugin_parent_class)->finalize (object);
}

static void
axon_cpu_plugin_class_init (AxonCpuPluginClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_cpu_plugin_finalize;
  klass->compile_model = axon_cpu_plugin_compile_model;
  klass->import_model = axon_cpu_plugin_import_model;
  klass->add_extension = axon_cpu_plugin_add_extension;
  klass->query_model = axon_cpu_plugin_query_model;
  klass->get_metric = cpu_properties_get;
  klass->set_property = cpu_properties_set;
}

static void
axon_cpu_plugin_init (AxonCpuPlugin *self)
{
  g_mutex_init (&self->lock);
  self->extensions = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_extension_unref);
  axon_plugin_set_properties_table (&self->parent_instance, cpu_properties, cpu_n_properties);
}

static AxonPlugin *
create (const gchar *name, GError **error)
{
  if (!cpu_isa_init (error))
    return NULL;
  return g_object_new (axon_cpu_plugin_get_type (), "name", name, NULL);
}

AXON_DEFINE_PLUGIN ("CPU", "Processors, with oneDNN", create)
