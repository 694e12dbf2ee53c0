/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axontensorpool.h"

#include "../../tensor/axontensor-private.h"
#include <axon/plugin/axonwork.h>

#define LEAST ((gsize)1 << 20) /* smaller ones are quick to get */
#define MOST_IDLE 4

typedef struct {
  AxonTensorPool *pool;
  gpointer data;
  gsize n_bytes;
} Block;

struct _AxonTensorPool {
  gatomicrefcount ref_count; /* the owner's, and one for each block in use */
  GMutex lock;
  Block *idle[MOST_IDLE]; /* lock: the oldest first */
  guint n_idle;           /* lock */
  gboolean is_closed;     /* lock */
};

AxonTensorPool *
axon_tensor_pool_new (void)
{
  AxonTensorPool *pool = g_new0 (AxonTensorPool, 1);
  g_atomic_ref_count_init (&pool->ref_count);
  g_mutex_init (&pool->lock);
  return pool;
}

static void
pool_unref (AxonTensorPool *pool)
{
  if (!g_atomic_ref_count_dec (&pool->ref_count))
    return;
  g_mutex_clear (&pool->lock);
  g_free (pool);
}

static void
block_free (Block *block)
{
  if (block == NULL)
    return;
  axon_scratch_free (block->data);
  g_free (block);
}

/* lock held */
static Block *
steal_idle (AxonTensorPool *pool, guint index)
{
  Block *block = pool->idle[index];
  pool->n_idle--;
  for (guint i = index; i < pool->n_idle; i++)
    pool->idle[i] = pool->idle[i + 1];
  return block;
}

void
axon_tensor_pool_close (AxonTensorPool *pool)
{
  g_mutex_lock (&pool->lock);
  pool->is_closed = TRUE;
  g_mutex_unlock (&pool->lock);
  for (guint i = 0; i < pool->n_idle; i++) /* nothing is added any more */
    block_free (pool->idle[i]);
  pool_unref (pool);
}

/* The last tensor on it is gone. */
static void
give_back (gpointer data)
{
  Block *block = data, *dropped = NULL;
  AxonTensorPool *pool = block->pool;
  g_mutex_lock (&pool->lock);
  if (pool->is_closed) {
    dropped = block;
  } else {
    if (pool->n_idle == MOST_IDLE)
      dropped = steal_idle (pool, 0);
    pool->idle[pool->n_idle++] = block;
  }
  g_mutex_unlock (&pool->lock);
  block_free (dropped);
  pool_unref (pool);
}

static Block *
take_idle (AxonTensorPool *pool, gsize n_bytes)
{
  Block *block = NULL;
  g_mutex_lock (&pool->lock);
  for (guint i = pool->n_idle; block == NULL && i-- > 0;)
    if (pool->idle[i]->n_bytes == n_bytes)
      block = steal_idle (pool, i);
  g_mutex_unlock (&pool->lock);
  return block;
}

static Block *
new_block (AxonTensorPool *pool, gsize n_bytes, GError **error)
{
  gpointer data = axon_scratch_new (n_bytes, 1, error);
  Block *block;
  if (data == NULL)
    return NULL;
  block = g_new (Block, 1);
  *block = (Block){ pool, data, n_bytes };
  return block;
}

AxonTensor *
axon_tensor_pool_take (AxonTensorPool *pool, AxonDType dtype, const AxonShape *shape,
                       GError **error)
{
  Block *block;
  gsize n_bytes;
  if (!axon_tensor_checked_size (dtype, shape, &n_bytes, error))
    return NULL;
  if (n_bytes < LEAST || axon_dtype_is_boxed (dtype))
    return axon_tensor_new (dtype, shape, error);
  block = take_idle (pool, n_bytes);
  if (block == NULL)
    block = new_block (pool, n_bytes, error);
  if (block == NULL)
    return NULL;
  g_atomic_ref_count_inc (&pool->ref_count);
  return axon_tensor_new_wrapped (dtype, shape, block->data, n_bytes, give_back, block, error);
}
