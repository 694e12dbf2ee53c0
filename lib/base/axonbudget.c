/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Budgets form a chain up to the process's; bytes are taken of all of them or of none. */
#include "axonwork-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 64
#define AROUND                                                                                     \
  512 /* bytes: what stands around a block, such as a tensor; many small ones are large */

/* From this on a block is the system's own, and goes back to it. What is freed of a C library's
 * heap stays there, in that of each thread that ever had a tensor. */
#if defined(__SANITIZE_ADDRESS__) /* which looks after what the C library gives */
#define LARGE G_MAXSIZE
#else
#define LARGE ((gsize)1 << 20)
#endif

struct _AxonBudget {
  gatomicrefcount ref_count;
  AxonBudget *parent; /* nullable */
  gsize limit;        /* 0: none */
  gsize used;         /* atomic */
};

AxonBudget *
axon_budget_new (AxonBudget *parent, gsize limit)
{
  AxonBudget *self = g_new0 (AxonBudget, 1);
  g_atomic_ref_count_init (&self->ref_count);
  self->parent = parent ? axon_budget_ref (parent) : NULL;
  self->limit = limit;
  return self;
}

AxonBudget *
axon_budget_ref (AxonBudget *budget)
{
  g_atomic_ref_count_inc (&budget->ref_count);
  return budget;
}

void
axon_budget_unref (AxonBudget *budget)
{
  if (!g_atomic_ref_count_dec (&budget->ref_count))
    return;
  g_clear_pointer (&budget->parent, axon_budget_unref);
  g_free (budget);
}

gsize
axon_budget_get_used (AxonBudget *budget)
{
  return __atomic_load_n (&budget->used, __ATOMIC_RELAXED);
}

/* FALSE: nothing was taken. */
static gboolean
take_one (AxonBudget *budget, gsize n_bytes)
{
  gsize used = axon_budget_get_used (budget), sum;
  do {
    if (!g_size_checked_add (&sum, used, n_bytes) || (budget->limit > 0 && sum > budget->limit))
      return FALSE;
  } while (!__atomic_compare_exchange_n (&budget->used, &used, sum, TRUE, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED));
  return TRUE;
}

static void
set_error (const AxonBudget *full, gsize n_bytes, GError **error)
{
  if (error == NULL || *error != NULL)
    return;
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_MEMORY,
      _ ("out of memory: %zu bytes are needed beside %zu in use, and %zu are allowed (%s)"),
      n_bytes, axon_budget_get_used ((AxonBudget *)full), full->limit,
      full->parent ? "MAX_MEMORY" : "AXON_MAX_MEMORY");
}

gboolean
axon_budget_take (AxonBudget *budget, gsize n_bytes, GError **error)
{
  for (AxonBudget *b = budget; b != NULL; b = b->parent) {
    if (take_one (b, n_bytes))
      continue;
    set_error (b, n_bytes, error);
    for (AxonBudget *done = budget; done != b; done = done->parent)
      __atomic_sub_fetch (&done->used, n_bytes, __ATOMIC_RELAXED);
    return FALSE;
  }
  return TRUE;
}

void
axon_budget_give (AxonBudget *budget, gsize n_bytes)
{
  for (AxonBudget *b = budget; b != NULL; b = b->parent)
    __atomic_sub_fetch (&b->used, n_bytes, __ATOMIC_RELAXED);
}

typedef struct {
  AxonBudget *budget; /* a reference */
  gsize n_bytes;
} Head;

G_STATIC_ASSERT (sizeof (Head) <= ALIGNMENT);

static gsize
size_of_block (gsize n_bytes)
{
  return n_bytes - AROUND + 2 * ALIGNMENT;
}

static gpointer
take_block (gsize size)
{
  gpointer block = NULL;
  if (size < LARGE)
    return posix_memalign (&block, ALIGNMENT, size) == 0 ? block : NULL;
  block = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED)
    return NULL;
  madvise (block, size, MADV_HUGEPAGE); /* fewer faults, where there are any */
  return block;
}

static void
give_block (gpointer block, gsize size)
{
  if (size < LARGE)
    free (block);
  else
    munmap (block, size);
}

/* @n_bytes: what was taken of the budget */
static gpointer
allocate (gsize n, gsize size, gsize *n_bytes, GError **error)
{
  AxonBudget *budget = axon_work_get_budget ();
  gpointer block;
  if (!g_size_checked_mul (n_bytes, n, size) || !g_size_checked_add (n_bytes, *n_bytes, AROUND)) {
    *n_bytes = G_MAXSIZE;
    set_error (budget, G_MAXSIZE, error);
    return NULL;
  }
  if (!axon_budget_take (budget, *n_bytes, error))
    return NULL;
  block = take_block (size_of_block (*n_bytes));
  if (block == NULL) {
    axon_budget_give (budget, *n_bytes);
    if (error != NULL && *error == NULL)
      g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY,
                   _ ("out of memory: the system has no %zu bytes more"), *n_bytes);
    return NULL;
  }
  *(Head *)block = (Head){ axon_budget_ref (budget), *n_bytes };
  return (guint8 *)block + ALIGNMENT;
}

gpointer
axon_scratch_new (gsize n, gsize size, GError **error)
{
  gsize n_bytes;
  return allocate (n, size, &n_bytes, error);
}

gpointer
axon_scratch_new0 (gsize n, gsize size, GError **error)
{
  gsize n_bytes;
  gpointer memory = allocate (n, size, &n_bytes, error);
  if (memory != NULL && size_of_block (n_bytes) < LARGE) /* the system's are zero */
    memset (memory, 0, n_bytes - AROUND + ALIGNMENT);
  return memory;
}

void
axon_scratch_free (gpointer memory)
{
  Head head;
  if (memory == NULL)
    return;
  memory = (guint8 *)memory - ALIGNMENT;
  head = *(Head *)memory;
  give_block (memory, size_of_block (head.n_bytes));
  axon_budget_give (head.budget, head.n_bytes);
  axon_budget_unref (head.budget);
}

void
axon_scratch_clear (gpointer place)
{
  axon_scratch_free (*(gpointer *)place);
}
