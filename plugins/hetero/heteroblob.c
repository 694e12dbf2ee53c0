/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model in parts as a file: each part's own blob, or its graph, and the ports that join them. */
#include "heteroparts.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/* The part's own export as a blob in the blob; else its graph. */
static GVariant *
export_part (Part *part, AxonBlobWriter *writer, GError **error)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GBytes) bytes = NULL;
  if (part->model != NULL)
    return g_variant_new ("(sttv)", part->device, (guint64)0, (guint64)0,
                          axon_blob_writer_add_model (writer, part->model));
  if (!axon_compiled_model_export (part->compiled, stream, NULL, error) ||
      !g_output_stream_close (stream, NULL, error))
    return NULL;
  bytes = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  return g_variant_new ("(sttv)", part->device,
                        axon_blob_writer_add (writer, bytes, AXON_BLOB_PAGE),
                        (guint64)g_bytes_get_size (bytes), g_variant_new_boolean (FALSE));
}

GVariant *
hetero_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  GVariantBuilder parts;
  g_variant_builder_init (&parts, G_VARIANT_TYPE ("a(sttv)"));
  for (guint i = 0; i < self->parts->len; i++) {
    GVariant *part = export_part (g_ptr_array_index (self->parts, i), writer, error);
    if (part == NULL) {
      g_variant_builder_clear (&parts);
      return NULL;
    }
    g_variant_builder_add_value (&parts, part);
  }
  return g_variant_new ("(ua(sttv)v)", self->n_inputs, &parts,
                        axon_blob_writer_add_model (writer, self->ports));
}

static gboolean
import_part (HeteroModel *self, AxonCore *core, AxonBlob *blob, GVariant *packed, guint n_parts,
             const AxonConfig *config, GCancellable *cancellable, GError **error)
{
  guint64 offset, size;
  const gchar *device;
  g_autoptr (GVariant) graph = NULL;
  g_autoptr (GVariant) own = NULL;
  Part *part = g_new0 (Part, 1);
  g_variant_get (packed, "(&sttv)", &device, &offset, &size, &graph);
  part->device = g_strdup (device);
  g_ptr_array_add (self->parts, part);
  own = hetero_part_config (core, config, device, n_parts);
  if (size > 0) {
    g_autoptr (GBytes) bytes = axon_blob_get_bytes (blob, offset, size, error);
    part->compiled = bytes ? axon_core_import_model (core, bytes, device, NULL, own, cancellable,
                                                     NULL, NULL, error)
                           : NULL;
  } else {
    part->model = axon_blob_read_model (blob, graph, error);
    part->compiled = part->model ? axon_core_compile_model (core, part->model, device, own,
                                                            cancellable, NULL, NULL, error)
                                 : NULL;
  }
  return part->compiled != NULL;
}

/* The port graph's outputs name what to show; its surplus inputs are results of parts. */
AxonCompiledModel *
hetero_model_import (AxonPlugin *plugin, AxonBlob *blob, GVariant *payload,
                     const AxonConfig *config, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonCompiledModel) compiled = g_object_new (hetero_model_get_type (), NULL);
  HeteroModel *self = (HeteroModel *)compiled;
  g_autoptr (AxonCore) core = axon_plugin_get_core (plugin, error);
  g_autoptr (GVariant) parts = NULL;
  g_autoptr (GVariant) ports = NULL;
  g_autoptr (AxonModel) shown = NULL;
  if (core == NULL)
    return NULL;
  if (!g_variant_is_of_type (payload, G_VARIANT_TYPE ("(ua(sttv)v)"))) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("HETERO: the file has another form"));
    return NULL;
  }
  g_variant_get (payload, "(u@a(sttv)v)", &self->n_inputs, &parts, &ports);
  self->ports = axon_blob_read_model (blob, ports, error);
  if (self->ports == NULL)
    return NULL;
  if (self->n_inputs > self->ports->inputs->len) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("HETERO: the file's inputs are wrong"));
    return NULL;
  }
  for (gsize i = 0; i < g_variant_n_children (parts); i++) {
    g_autoptr (GVariant) packed = g_variant_get_child_value (parts, i);
    if (!import_part (self, core, blob, packed, (guint)g_variant_n_children (parts), config,
                      cancellable, error))
      return NULL;
  }
  shown = axon_model_clone (self->ports);
  g_ptr_array_set_size (shown->inputs, (gint)self->n_inputs);
  axon_compiled_model_setup (compiled, plugin, shown, config, NULL);
  return hetero_link_parts (self, error) ? g_steal_pointer (&compiled) : NULL;
}
