/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The work that a thread does for a model: whether it shall go on, and the memory that it may take.
 * Compiling and inferring set it; kernels and passes ask. */
#pragma once

#include <axon/axonapi.h>
#include <axon/axonerror.h>

G_BEGIN_DECLS

/**
 * AxonBudget:
 *
 * Bytes that may be taken: those of one compiled model, within those of the process
 * (`AXON_MAX_MEMORY`). Any thread.
 *
 * Since: 1.0
 */
typedef struct _AxonBudget AxonBudget;

/**
 * AxonWork:
 *
 * One call that compiles or infers, for as long as it lasts.
 *
 * Since: 1.0
 */
typedef struct _AxonWork AxonWork;

/**
 * axon_work_get: (skip)
 *
 * Returns: (transfer none) (nullable): what this thread works on, to be entered by threads that
 * help
 *
 * Since: 1.0
 */
AXON_API const AxonWork *axon_work_get (void);

/**
 * axon_work_enter: (skip)
 * @work: (nullable): what this thread works on from now on; lasts until the next call
 *
 * Returns: (transfer none) (nullable): what it worked on before
 *
 * Since: 1.0
 */
AXON_API const AxonWork *axon_work_enter (const AxonWork *work);

/**
 * axon_work_get_budget: (skip)
 *
 * Returns: (transfer none): the budget of what this thread does; outside of compiling and inferring
 *   that of the process
 *
 * Since: 1.0
 */
AXON_API AxonBudget *axon_work_get_budget (void);

/**
 * axon_work_is_cancelled:
 *
 * For kernels and passes that run long, asked once in a few thousand elements. Who sees it stops;
 * whatever was computed is thrown away.
 *
 * Returns: %TRUE if what this thread does is not wanted any more
 *
 * Since: 1.0
 */
AXON_API gboolean axon_work_is_cancelled (void);

/**
 * axon_budget_ref: (skip)
 * @budget: a budget
 *
 * Returns: (transfer full): @budget
 *
 * Since: 1.0
 */
AXON_API AxonBudget *axon_budget_ref (AxonBudget *budget);

/**
 * axon_budget_unref: (skip)
 * @budget: (transfer full): a budget
 *
 * Since: 1.0
 */
AXON_API void axon_budget_unref (AxonBudget *budget);

/**
 * axon_budget_take: (skip)
 * @budget: a budget
 * @n_bytes: bytes that are about to be allocated
 * @error: return location; left alone where it is set already
 *
 * Returns: %FALSE with %AXON_ERROR_MEMORY, which says the sum, where they are too many
 *
 * Since: 1.0
 */
AXON_API gboolean axon_budget_take (AxonBudget *budget, gsize n_bytes, GError **error);

/**
 * axon_budget_give: (skip)
 * @budget: a budget
 * @n_bytes: bytes that were taken and are free again
 *
 * Since: 1.0
 */
AXON_API void axon_budget_give (AxonBudget *budget, gsize n_bytes);

/**
 * axon_budget_get_used: (skip)
 * @budget: a budget
 *
 * Returns: bytes taken now
 *
 * Since: 1.0
 */
AXON_API gsize axon_budget_get_used (AxonBudget *budget);

/**
 * axon_scratch_new: (skip)
 * @n: elements
 * @size: bytes of one
 * @error: return location; left alone where it is set already
 *
 * Memory whose size a model, a stream or a file chose: of the thread's budget, aligned to 64 bytes,
 * undefined.
 *
 * Returns: (transfer full) (nullable): free with axon_scratch_free(); %NULL with
 *   %AXON_ERROR_MEMORY, never an abort
 *
 * Since: 1.0
 */
AXON_API gpointer axon_scratch_new (gsize n, gsize size, GError **error);

/**
 * axon_scratch_new0: (skip)
 * @n: elements
 * @size: bytes of one
 * @error: return location; left alone where it is set already
 *
 * As axon_scratch_new(), all 0.
 *
 * Returns: (transfer full) (nullable): the memory
 *
 * Since: 1.0
 */
AXON_API gpointer axon_scratch_new0 (gsize n, gsize size, GError **error);

/**
 * axon_scratch_free: (skip)
 * @memory: (nullable): of axon_scratch_new()
 *
 * Since: 1.0
 */
AXON_API void axon_scratch_free (gpointer memory);

/**
 * axon_scratch_clear: (skip)
 * @place: address of a pointer to scratch memory
 *
 * For `AXON_AUTO_SCRATCH`.
 *
 * Since: 1.0
 */
AXON_API void axon_scratch_clear (gpointer place);

/* In front of a pointer to scratch memory: freed where the variable goes out of scope. */
#define AXON_AUTO_SCRATCH __attribute__ ((cleanup (axon_scratch_clear)))

G_END_DECLS
