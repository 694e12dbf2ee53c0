/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupacked.h"

#include "onednn/cpudnn.h"

typedef struct {
  gconstpointer data;
  CpuMd *from, *to;
  AxonTensor *packed;
} Weights;

struct _CpuPacked {
  GMutex lock;
  GHashTable *constants; /* where their elements stand */
  GPtrArray *weights;    /* lock: Weights; a few layouts of each constant */
};

static void
weights_free (gpointer data)
{
  Weights *weights = data;
  cpu_md_free (weights->from);
  cpu_md_free (weights->to);
  axon_tensor_unref (weights->packed);
  g_free (weights);
}

CpuPacked *
cpu_packed_new (const AxonModel *model)
{
  CpuPacked *self = g_new0 (CpuPacked, 1);
  g_mutex_init (&self->lock);
  self->constants = g_hash_table_new (NULL, NULL);
  self->weights = g_ptr_array_new_with_free_func (weights_free);
  for (guint i = 0; i < model->values->len; i++) {
    const AxonValue *value = g_ptr_array_index (model->values, i);
    if (value->type.value != NULL && !axon_dtype_is_boxed (value->type.dtype))
      g_hash_table_add (self->constants, axon_tensor_get_data (value->type.value));
  }
  return self;
}

void
cpu_packed_free (CpuPacked *self)
{
  g_ptr_array_unref (self->weights);
  g_hash_table_unref (self->constants);
  g_mutex_clear (&self->lock);
  g_free (self);
}

AxonTensor *
cpu_packed_find (CpuPacked *self, gconstpointer data, const CpuMd *from, const CpuMd *to)
{
  AxonTensor *found = NULL;
  g_mutex_lock (&self->lock);
  for (guint i = 0; found == NULL && i < self->weights->len; i++) {
    const Weights *weights = g_ptr_array_index (self->weights, i);
    if (weights->data == data && cpu_md_equal (weights->from, from) &&
        cpu_md_equal (weights->to, to))
      found = axon_tensor_ref (weights->packed);
  }
  g_mutex_unlock (&self->lock);
  return found;
}

void
cpu_packed_add (CpuPacked *self, gconstpointer data, const CpuMd *from, const CpuMd *to,
                AxonTensor *packed)
{
  Weights *weights;
  if (!g_hash_table_contains (self->constants, data))
    return;
  weights = g_new (Weights, 1);
  *weights = (Weights){ data, cpu_md_copy (from), cpu_md_copy (to), axon_tensor_ref (packed) };
  g_mutex_lock (&self->lock);
  g_ptr_array_add (self->weights, weights);
  g_mutex_unlock (&self->lock);
}
