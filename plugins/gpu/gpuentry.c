/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpuentry.h"
#include "gpumodel.h"
#include "gputune.h"

#include <string.h>

#define MOST_VALUES 64 /* elements of an input whose values may decide shapes */

gpointer
gpu_entry_ref (gpointer data)
{
  GpuEntry *entry = data;
  g_atomic_ref_count_inc (&entry->ref_count);
  return entry;
}

void
gpu_entry_unref (gpointer data)
{
  GpuEntry *entry = data;
  if (!g_atomic_ref_count_dec (&entry->ref_count))
    return;
  g_ptr_array_unref (entry->idle);
  g_clear_pointer (&entry->program, gpu_program_free);
  g_clear_pointer (&entry->plan, gpu_plan_free);
  for (guint i = 0; i < entry->n_inputs; i++)
    g_clear_pointer (&entry->values[i], axon_tensor_unref);
  g_free (entry->values);
  g_free (entry->shapes);
  g_mutex_clear (&entry->lock);
  g_free (entry);
}

static gboolean
same_values (const AxonTensor *a, const AxonTensor *b)
{
  return axon_tensor_get_dtype (a) == axon_tensor_get_dtype (b) &&
         axon_shape_equal (axon_tensor_get_shape (a), axon_tensor_get_shape (b)) &&
         (axon_tensor_get_numel (a) == 0 ||
          memcmp (axon_tensor_get_data (a), axon_tensor_get_data (b),
                  axon_tensor_get_numel (a) * axon_dtype_get_size (axon_tensor_get_dtype (a))) ==
              0);
}

static gboolean
is_small (const AxonTensor *tensor)
{
  return tensor != NULL && !axon_tensor_is_remote (tensor) &&
         axon_tensor_get_numel (tensor) <= MOST_VALUES &&
         axon_dtype_get_size (axon_tensor_get_dtype (tensor)) > 0;
}

gboolean
gpu_entry_fits (gconstpointer data, gconstpointer wanted)
{
  const GpuEntry *entry = data;
  const GpuEntryKey *key = wanted;
  for (guint i = 0; i < entry->n_inputs; i++)
    if (!axon_shape_equal (&entry->shapes[i], &key->shapes[i]) ||
        (entry->values[i] != NULL && (key->inputs == NULL || !is_small (key->inputs[i]) ||
                                      !same_values (entry->values[i], key->inputs[i]))))
      return FALSE;
  return TRUE;
}

/* A clone in which the inputs with @values are constants. */
static AxonModel *
with_values (AxonModel *model, AxonTensor *const *values)
{
  AxonModel *clone = axon_model_clone (model);
  for (guint i = 0; i < clone->inputs->len; i++)
    if (values[i] != NULL) {
      AxonValue *constant = axon_model_add_constant (clone, NULL, values[i]);
      axon_model_replace_value (clone, g_ptr_array_index (clone->inputs, i), constant);
    }
  return clone;
}

/* TRUE if @value is a number that says what @user does, not what it does it to. Operators whose
 * results are as long as the data says are never served so: every frame would be another model. */
static gboolean
is_aside (const AxonNode *user, const AxonValue *value)
{
  if (axon_node_is (user, "Range") || axon_node_is (user, "ConstantOfShape"))
    return TRUE;
  return user->op->run == NULL && user->inputs[0] != value;
}

static gboolean
choose_values (const AxonModel *model, AxonTensor *const *inputs, AxonTensor **values)
{
  gboolean any = FALSE;
  for (guint i = 0; inputs != NULL && i < model->inputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->inputs, i);
    gboolean aside = value->users->len > 0;
    for (guint k = 0; k < value->users->len; k++)
      aside &= is_aside (value->users->pdata[k], value);
    if (!aside || !is_small (inputs[i]))
      continue;
    values[i] = axon_tensor_new (axon_tensor_get_dtype (inputs[i]),
                                 axon_tensor_get_shape (inputs[i]), NULL);
    any |= values[i] != NULL && axon_tensor_copy_to (inputs[i], values[i], NULL);
  }
  return any;
}

/* NULL with @error. *dynamic: shapes were missing, and nothing else. */
static GpuPlan *
make_plan (const GpuStore *store, const GpuOptions *options, AxonModel *model,
           const AxonShape *shapes, gboolean *dynamic, GCancellable *cancellable, GError **error)
{
  g_autoptr (AxonModel) special = axon_model_specialize (model, shapes, error);
  g_autoptr (AxonModel) lowered =
      special ? gpu_lower_model (special, options, cancellable, error) : NULL;
  g_autoptr (GHashTable) refused = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  GHashTableIter iter;
  gpointer why;
  GpuPlan *plan;
  if (lowered == NULL)
    return NULL;
  plan = gpu_plan_new (gpu_store_get_device (store), options, lowered, refused, cancellable, error);
  if (plan == NULL || g_hash_table_size (refused) == 0)
    return plan;
  g_hash_table_iter_init (&iter, refused);
  while (g_hash_table_iter_next (&iter, NULL, &why))
    *dynamic |= gpu_plan_is_dynamic (why);
  gpu_plan_fail (plan, refused, error);
  gpu_plan_free (plan);
  return NULL;
}

typedef struct {
  const GpuStore *store;
  AxonModel *model;
  const AxonShape *shapes;
  GCancellable *cancellable;
} Tuning;

static GpuPlan *
make_variant (const GpuOptions *options, gpointer user_data, GError **error)
{
  const Tuning *t = user_data;
  gboolean dynamic = FALSE;
  return make_plan (t->store, options, t->model, t->shapes, &dynamic, t->cancellable, error);
}

/* At the first shapes that are all known; what is measured there serves the others, too. */
gboolean
gpu_entry_tune (GpuStore *store, AxonModel *model, const AxonShape *shapes,
                GCancellable *cancellable, GError **error)
{
  Tuning tuning = { store, model, shapes, cancellable };
  g_autoptr (GHashTable) best = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  if (!gpu_tune (store, make_variant, &tuning, best, error))
    return FALSE;
  gpu_store_set_tuned (store, g_steal_pointer (&best));
  return TRUE;
}

GpuEntry *
gpu_entry_new (GpuStore *store, AxonModel *model, const AxonShape *shapes,
               AxonTensor *const *inputs, gboolean *dynamic, GCancellable *cancellable,
               GError **error)
{
  GpuEntry *entry = g_new0 (GpuEntry, 1);
  g_autoptr (GError) first = NULL;
  g_atomic_ref_count_init (&entry->ref_count);
  g_mutex_init (&entry->lock);
  entry->n_inputs = model->inputs->len;
  entry->shapes = g_memdup2 (shapes, (entry->n_inputs + 1) * sizeof *shapes);
  entry->values = g_new0 (AxonTensor *, entry->n_inputs + 1);
  entry->idle = g_ptr_array_new_with_free_func ((GDestroyNotify)gpu_instance_free);
  *dynamic = FALSE;
  entry->plan =
      make_plan (store, gpu_store_get_options (store), model, shapes, dynamic, cancellable, &first);
  if (entry->plan == NULL && *dynamic && choose_values (model, inputs, entry->values)) {
    g_autoptr (AxonModel) known = with_values (model, entry->values);
    g_clear_error (&first);
    entry->plan = make_plan (store, gpu_store_get_options (store), known, shapes, dynamic,
                             cancellable, &first);
  }
  if (first != NULL)
    g_propagate_error (error, g_steal_pointer (&first));
  if (entry->plan != NULL)
    entry->program = gpu_program_new (store, entry->plan, error);
  if (entry->program == NULL)
    g_clear_pointer (&entry, gpu_entry_unref);
  return entry;
}

GpuInstance *
gpu_entry_take (GpuEntry *entry, GError **error)
{
  GpuInstance *instance = NULL;
  g_mutex_lock (&entry->lock);
  if (entry->idle->len > 0)
    instance = g_ptr_array_steal_index_fast (entry->idle, entry->idle->len - 1);
  g_mutex_unlock (&entry->lock);
  return instance ? instance : gpu_instance_new (entry->program, error);
}

/* What failed is not used again: the driver may have lost its buffers. */
void
gpu_entry_give_back (GpuEntry *entry, GpuInstance *instance, gboolean works)
{
  if (!works) {
    gpu_instance_free (instance);
    return;
  }
  g_mutex_lock (&entry->lock);
  g_ptr_array_add (entry->idle, instance);
  g_mutex_unlock (&entry->lock);
}
