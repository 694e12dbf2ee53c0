/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <axon/plugin/axonplan.h>
#include <axon/plugin/axonpass.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-plan"

static int
compare_size (const void *a, const void *b)
{
  const AxonArenaItem *x = *(AxonArenaItem *const *)a, *y = *(AxonArenaItem *const *)b;
  if (x->size != y->size)
    return x->size > y->size ? -1 : 1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int
compare_offset (const void *a, const void *b)
{
  const AxonArenaItem *x = *(AxonArenaItem *const *)a, *y = *(AxonArenaItem *const *)b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Greedy by size (Pisarchyk and Lee, arXiv:2001.03288): largest first, each into the lowest gap
 * between buffers that live at the same time. Returns the size of the arena. */
gsize
axon_plan_arena (AxonArenaItem *items, guint n_items, gsize alignment)
{
  g_autofree AxonArenaItem **order = g_new (AxonArenaItem *, n_items + 1);
  g_autofree AxonArenaItem **live = g_new (AxonArenaItem *, n_items + 1);
  gsize total = 0, sum = 0;
  for (guint i = 0; i < n_items; i++) {
    order[i] = &items[i];
    sum += items[i].size;
  }
  qsort (order, n_items, sizeof *order, compare_size);
  for (guint i = 0; i < n_items; i++) {
    AxonArenaItem *item = order[i];
    gsize size = (item->size + alignment - 1) / alignment * alignment, at = 0;
    guint n = 0;
    for (guint k = 0; k < i; k++)
      if (order[k]->first <= item->last && item->first <= order[k]->last)
        live[n++] = order[k];
    qsort (live, n, sizeof *live, compare_offset);
    for (guint k = 0; k < n; k++) {
      gsize end = live[k]->offset + (live[k]->size + alignment - 1) / alignment * alignment;
      if (at + size <= live[k]->offset)
        break;
      at = MAX (at, end);
    }
    item->offset = at;
    total = MAX (total, at + size);
  }
  g_debug ("%u buffers of %" G_GSIZE_FORMAT " bytes share %" G_GSIZE_FORMAT, n_items, sum, total);
  return total;
}

gboolean
axon_model_input_is_any_size (AxonModel *model, guint index)
{
  const AxonValue *value = g_ptr_array_index (model->inputs, index);
  for (guint i = 0; i < value->users->len; i++) {
    const AxonNode *user = g_ptr_array_index (value->users, i);
    if (!(user->op->flags & AXON_OP_ANY_INPUT_SIZE))
      return FALSE;
  }
  return value->users->len > 0;
}

AxonModel *
axon_model_specialize (AxonModel *model, const AxonShape *shapes, GError **error)
{
  g_autoptr (AxonModel) clone = axon_model_clone (model);
  for (guint i = 0; i < clone->inputs->len; i++)
    if (!axon_model_input_is_any_size (clone, i))
      ((AxonValue *)g_ptr_array_index (clone->inputs, i))->type.shape = shapes[i];
  if (!axon_pass_fold_constants (clone, error) || !axon_pass_remove_identity (clone, error) ||
      !axon_pass_fold_batch_norm (clone, error) || !axon_pass_remove_dead_code (clone, error))
    return NULL;
  return g_steal_pointer (&clone);
}
