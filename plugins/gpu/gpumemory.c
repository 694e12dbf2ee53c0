/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where buffers lie: one arena, by lifetime. What is copied whole and in order into a part of
 * another buffer, or out of one, lies there from the beginning, and is not copied. */
#include "gpuplan.h"

static gboolean
is_free (const GpuBuffer *b)
{
  return b->place == GPU_ARENA && b->parent == NULL;
}

/* TRUE if @inner, whose elements the copy moves, may be a part of @outer. */
static gboolean
may_lie_in (const GpuBuffer *inner, const GpuBuffer *outer, gsize n_bytes)
{
  const GpuBuffer *root = outer;
  while (root->parent != NULL)
    root = root->parent;
  return is_free (inner) && outer->place == GPU_ARENA && root != inner && inner->n_bytes == n_bytes;
}

static void
drop_copies (GpuPlan *plan)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    GpuBuffer *inner = step->copy_from, *outer = step->copy_to;
    gsize offset = step->copy_to_offset;
    if (inner == NULL)
      continue;
    if (step->copy_from_offset != 0 || !may_lie_in (inner, outer, step->copy_bytes)) {
      inner = step->copy_to;
      outer = step->copy_from;
      offset = step->copy_from_offset;
      if (step->copy_to_offset != 0 || !may_lie_in (inner, outer, step->copy_bytes))
        continue;
    }
    inner->parent = outer;
    inner->offset = offset;
    g_ptr_array_remove_index (plan->steps, i--);
  }
}

static void
use (GpuBuffer *b, guint at)
{
  for (; b != NULL; b = b->parent) {
    b->first = MIN (b->first, at);
    b->last = MAX (b->last, at);
  }
}

static void
find_lifetimes (GpuPlan *plan)
{
  for (guint i = 0; i < plan->steps->len; i++) {
    const GpuStep *step = g_ptr_array_index (plan->steps, i);
    for (guint k = 0; k < step->args->len; k++)
      use (g_array_index (step->args, GpuArg, k).buffer, i);
  }
}

/* Offsets of parts become offsets in the arena. */
static void
place_parts (GpuPlan *plan)
{
  for (guint i = 0; i < plan->buffers->len; i++) {
    GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    while (b->parent != NULL) {
      b->offset += b->parent->offset;
      b->parent = b->parent->parent;
    }
  }
}

void
gpu_plan_memory (GpuPlan *plan)
{
  g_autofree AxonArenaItem *items = g_new0 (AxonArenaItem, plan->buffers->len + 1);
  g_autoptr (GPtrArray) arena = g_ptr_array_new ();
  drop_copies (plan);
  find_lifetimes (plan);
  for (guint i = 0; i < plan->buffers->len; i++) {
    GpuBuffer *b = g_ptr_array_index (plan->buffers, i);
    if (!is_free (b) || b->first == G_MAXUINT)
      continue;
    items[arena->len] = (AxonArenaItem){ b->n_bytes, b->first, b->last, 0 };
    g_ptr_array_add (arena, b);
  }
  plan->arena_size = axon_plan_arena (items, arena->len, plan->device->align);
  for (guint i = 0; i < arena->len; i++)
    ((GpuBuffer *)g_ptr_array_index (arena, i))->offset = items[i].offset;
  place_parts (plan);
}
