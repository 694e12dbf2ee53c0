/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model in parts: the class and its properties. */
#include "heteroparts.h"

typedef AxonCompiledModelClass HeteroModelClass;
G_DEFINE_TYPE (HeteroModel, hetero_model, AXON_TYPE_COMPILED_MODEL)

static void
part_free (gpointer data)
{
  Part *part = data;
  g_clear_object (&part->compiled);
  g_clear_object (&part->model);
  g_free (part->inputs);
  g_free (part->device);
  g_free (part);
}

static void
source_clear (gpointer data)
{
  g_clear_pointer (&((Source *)data)->constant, axon_tensor_unref);
}

static GVariant *
execution_devices (HeteroModel *self)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    if (g_hash_table_add (seen, part->device))
      g_variant_builder_add (&b, "s", part->device);
  }
  return g_variant_builder_end (&b);
}

static gint
optimal_requests (HeteroModel *self)
{
  gint most = 1;
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    g_autoptr (GVariant) n =
        axon_compiled_model_get_property (part->compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", NULL);
    most = MAX (most, n ? g_variant_get_int32 (n) : 1);
  }
  return most;
}

/* Device -> its compiled properties. */
static GVariant *
device_properties (HeteroModel *self)
{
  GVariantDict dict;
  g_variant_dict_init (&dict, NULL);
  for (guint i = 0; i < self->parts->len; i++) {
    Part *part = g_ptr_array_index (self->parts, i);
    if (!g_variant_dict_contains (&dict, part->device))
      g_variant_dict_insert_value (&dict, part->device,
                                   axon_compiled_model_dup_properties (part->compiled));
  }
  return g_variant_dict_end (&dict);
}

static GVariant *
hetero_model_get_property (AxonCompiledModel *compiled, const gchar *key,
                           G_GNUC_UNUSED GError **error)
{
  HeteroModel *self = (HeteroModel *)compiled;
  if (g_str_equal (key, "EXECUTION_DEVICES"))
    return execution_devices (self);
  if (g_str_equal (key, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"))
    return g_variant_new_int32 (optimal_requests (self));
  if (g_str_equal (key, "HETERO_NUMBER_OF_SUBMODELS"))
    return g_variant_new_int32 ((gint)self->parts->len);
  if (g_str_equal (key, "DEVICE_PROPERTIES"))
    return device_properties (self);
  return NULL;
}

static void
hetero_model_finalize (GObject *object)
{
  HeteroModel *self = (HeteroModel *)object;
  g_ptr_array_unref (self->parts);
  g_array_unref (self->outputs);
  g_clear_object (&self->ports);
  G_OBJECT_CLASS (hetero_model_parent_class)->finalize (object);
}

static void
hetero_model_class_init (HeteroModelClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = hetero_model_finalize;
  klass->init_request = hetero_request_init;
  klass->start = hetero_request_start;
  klass->cancel = hetero_request_cancel;
  klass->get_property = hetero_model_get_property;
  klass->export_model = hetero_model_export;
  klass->get_runtime_model = hetero_model_get_runtime_model;
}

static void
hetero_model_init (HeteroModel *self)
{
  self->parts = g_ptr_array_new_with_free_func (part_free);
  self->outputs = g_array_new (FALSE, TRUE, sizeof (Source));
  g_array_set_clear_func (self->outputs, source_clear);
}
