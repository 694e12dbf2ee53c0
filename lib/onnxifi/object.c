/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "object.h"

/* A handle is, from the top: generation of its slot, slot + 1, kind. */
#define KIND_BITS 3
#define SLOT_BITS (sizeof (gpointer) > 4 ? 29 : 17)

typedef struct {
  gpointer object; /* NULL: free */
  ObjectKind kind;
  gsize generation;
} Slot;

static GMutex lock;
static GArray *slots; /* lock: Slot */

void
object_init (gpointer object, void (*free_func) (gpointer))
{
  Object *self = object;
  g_atomic_ref_count_init (&self->ref_count);
  self->free = free_func;
}

gpointer
object_ref (gpointer object)
{
  g_atomic_ref_count_inc (&((Object *)object)->ref_count);
  return object;
}

void
object_unref (gpointer object)
{
  Object *self = object;
  if (g_atomic_ref_count_dec (&self->ref_count))
    self->free (object);
}

static gsize
to_handle (gsize slot, const Slot *s)
{
  return s->generation << (SLOT_BITS + KIND_BITS) | (slot + 1) << KIND_BITS | s->kind;
}

/* lock held */
static gsize
find_free (void)
{
  const Slot empty = { .object = NULL };
  if (slots == NULL)
    slots = g_array_new (FALSE, FALSE, sizeof (Slot));
  for (gsize i = 0; i < slots->len; i++)
    if (g_array_index (slots, Slot, i).object == NULL)
      return i;
  g_array_append_val (slots, empty);
  return slots->len - 1;
}

gpointer
handle_new (ObjectKind kind, gpointer object)
{
  gsize at, handle;
  Slot *slot;
  g_mutex_lock (&lock);
  at = find_free ();
  slot = &g_array_index (slots, Slot, at);
  slot->object = object_ref (object);
  slot->kind = kind;
  slot->generation++;
  handle = to_handle (at, slot);
  g_mutex_unlock (&lock);
  return GSIZE_TO_POINTER (handle);
}

/* lock held */
static Slot *
find (ObjectKind kind, gpointer handle)
{
  gsize value = GPOINTER_TO_SIZE (handle);
  gsize at = (value >> KIND_BITS) & (((gsize)1 << SLOT_BITS) - 1);
  Slot *slot;
  if (slots == NULL || at == 0 || at > slots->len)
    return NULL;
  slot = &g_array_index (slots, Slot, at - 1);
  return slot->object != NULL && slot->kind == kind && to_handle (at - 1, slot) == value ? slot
                                                                                         : NULL;
}

gpointer
handle_find (ObjectKind kind, gpointer handle)
{
  gpointer object = NULL;
  Slot *slot;
  g_mutex_lock (&lock);
  slot = find (kind, handle);
  if (slot != NULL)
    object = object_ref (slot->object);
  g_mutex_unlock (&lock);
  return object;
}

gpointer
handle_take (ObjectKind kind, gpointer handle)
{
  gpointer object = NULL;
  Slot *slot;
  g_mutex_lock (&lock);
  slot = find (kind, handle);
  if (slot != NULL)
    object = g_steal_pointer (&slot->object);
  g_mutex_unlock (&lock);
  return object;
}
