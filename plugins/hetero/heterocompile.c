/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cuts a model, compiles its parts and joins them by the names of values. */
#include "heteroparts.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* By name: the model's inputs, then what earlier parts make, then constants. */
static gboolean
find_source (HeteroModel *self, const gchar *name, guint before, Source *source, GError **error)
{
  const AxonValue *value = axon_model_find_value (self->ports, name);
  for (guint i = 0; i < self->n_inputs; i++)
    if (g_ptr_array_index (self->ports->inputs, i) == value && value != NULL) {
      *source = (Source){ FROM_INPUT, 0, i, NULL };
      return TRUE;
    }
  for (guint p = 0; p < before; p++) {
    Part *part = g_ptr_array_index (self->parts, p);
    gint at = axon_compiled_model_find_output (part->compiled, name);
    if (at >= 0) {
      *source = (Source){ FROM_PART, p, (guint)at, NULL };
      return TRUE;
    }
  }
  if (value != NULL && value->type.value != NULL) {
    *source = (Source){ FROM_CONSTANT, 0, 0, axon_tensor_ref (value->type.value) };
    return TRUE;
  }
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("HETERO: no part makes \"%s\""), name);
  return FALSE;
}

gboolean
hetero_link_parts (HeteroModel *self, GError **error)
{
  for (guint p = 0; p < self->parts->len; p++) {
    Part *part = g_ptr_array_index (self->parts, p);
    guint n = axon_compiled_model_get_n_inputs (part->compiled);
    part->inputs = g_new0 (Source, n + 1);
    for (guint i = 0; i < n; i++)
      if (!find_source (self, axon_compiled_model_get_input_name (part->compiled, i), p,
                        &part->inputs[i], error))
        return FALSE;
  }
  for (guint i = 0; i < self->ports->outputs->len; i++) {
    Source source;
    if (!find_source (self, ((AxonValue *)g_ptr_array_index (self->ports->outputs, i))->name,
                      self->parts->len, &source, error))
      return FALSE;
    g_array_append_val (self->outputs, source);
  }
  return TRUE;
}

static AxonValue *
add_port (AxonModel *ports, const AxonValue *value)
{
  AxonValue *mine = axon_model_find_value (ports, value->name);
  if (mine != NULL)
    return mine;
  if (value->type.value != NULL)
    return axon_model_add_constant (ports, value->name, value->type.value);
  mine = axon_model_add_input (ports, value->name, value->type.dtype, &value->type.shape);
  mine->layout = g_strdup (value->layout);
  return mine;
}

/* A graph without nodes: the inputs, then the results of parts as if they were inputs. */
static AxonModel *
make_ports (AxonModel *model)
{
  AxonModel *ports = axon_model_new (model->name);
  for (guint i = 0; i < model->inputs->len; i++)
    add_port (ports, g_ptr_array_index (model->inputs, i));
  for (guint i = 0; i < model->outputs->len; i++)
    axon_model_add_output (ports, add_port (ports, g_ptr_array_index (model->outputs, i)));
  return ports;
}

/* Parts of one device share its queue, unless the user said how many streams there shall be. */
GVariant *
hetero_part_config (AxonCore *core, const AxonConfig *config, const gchar *device, guint n_parts)
{
  g_autoptr (GVariant) own = axon_config_for_device (config, device);
  g_autoptr (GVariant) uncached = axon_variant_with (own, "CACHE_DIR", g_variant_new_string (""));
  g_autoptr (GVariant) counted = NULL;
  g_autoptr (GVariant) known =
      axon_core_get_property (core, device, "EXCLUSIVE_ASYNC_REQUESTS", NULL);
  g_autoptr (GVariant) streams = g_variant_lookup_value (own, "NUM_STREAMS", NULL);
  g_autoptr (GVariant) hint = g_variant_lookup_value (own, "PERFORMANCE_HINT", NULL);
  counted = axon_config_get_bool (config, "PERF_COUNT")
                ? axon_variant_with (uncached, "PERF_COUNT", g_variant_new_boolean (TRUE))
                : g_variant_ref (uncached);
  if (n_parts < 2 || known == NULL || streams != NULL || hint != NULL)
    return g_steal_pointer (&counted);
  return axon_variant_with (counted, "EXCLUSIVE_ASYNC_REQUESTS", g_variant_new_boolean (TRUE));
}

typedef struct {
  AxonProgressFunc progress;
  gpointer user_data;
  guint at, n;
} PartProgress;

static void
on_progress (gdouble fraction, const gchar *stage, gpointer user_data)
{
  PartProgress *p = user_data;
  if (p->progress != NULL)
    p->progress ((p->at + fraction) / p->n, stage, p->user_data);
}

static gboolean
compile_part (HeteroModel *self, AxonCore *core, const AxonPart *cut, const AxonConfig *config,
              GCancellable *cancellable, PartProgress *progress, GError **error)
{
  g_autoptr (GVariant) own = hetero_part_config (core, config, cut->device, progress->n);
  AxonCompiledModel *compiled = axon_core_compile_model (core, cut->model, cut->device, own,
                                                         cancellable, on_progress, progress, error);
  g_autoptr (GVariant) capabilities =
      axon_core_get_property (core, cut->device, "OPTIMIZATION_CAPABILITIES", NULL);
  g_autofree const gchar **list = capabilities ? g_variant_get_strv (capabilities, NULL) : NULL;
  Part *part;
  if (compiled == NULL) {
    g_prefix_error (error, _ ("HETERO, part %u: "), progress->at);
    return FALSE;
  }
  part = g_new0 (Part, 1);
  part->device = g_strdup (cut->device);
  part->compiled = compiled;
  if (list == NULL || !g_strv_contains (list, "EXPORT_IMPORT"))
    part->model = g_object_ref (cut->model);
  g_ptr_array_add (self->parts, part);
  return TRUE;
}

AxonCompiledModel *
hetero_model_new (AxonPlugin *plugin, AxonModel *model, const AxonConfig *config,
                  GCancellable *cancellable, AxonProgressFunc progress, gpointer user_data,
                  GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (hetero_model_get_type (), NULL);
  HeteroModel *self = (HeteroModel *)compiled;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (AxonModel) assigned = axon_model_clone (model);
  g_autoptr (GPtrArray) parts = NULL;
  PartProgress told = { progress, user_data, 0, 1 };
  if (core == NULL || !hetero_assign (core, assigned, config, cancellable, error))
    return NULL;
  parts = axon_partition (assigned, error);
  if (parts == NULL)
    return NULL;
  hetero_dump (assigned, parts);
  told.n = parts->len;
  for (; told.at < parts->len; told.at++)
    if (!compile_part (self, core, g_ptr_array_index (parts, told.at), config, cancellable, &told,
                       error))
      return NULL;
  self->ports = make_ports (model);
  self->n_inputs = model->inputs->len;
  axon_compiled_model_setup (compiled, plugin, model, config, NULL);
  return hetero_link_parts (self, error) ? g_steal_pointer (&compiled) : NULL;
}
