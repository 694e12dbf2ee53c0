/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every compiled device needs: a model specialised to concrete shapes, and a memory plan. No
 * state: any thread. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* One buffer of the arena: lives from step @first to step @last, both included. */
typedef struct {
  gsize size;
  guint first, last;
  gsize offset; /* result */
} AxonArenaItem;

/**
 * axon_plan_arena:
 * @items: (array length=n_items) (inout): buffers with size and life; the offset is filled
 * @n_items: how many
 * @alignment: of every offset, bytes
 *
 * Lays buffers out so that those alive at the same time do not overlap, in little memory.
 *
 * Returns: the size of the arena, bytes
 *
 * Since: 1.0
 */
AXON_API gsize axon_plan_arena (AxonArenaItem *items, guint n_items, gsize alignment);

/**
 * axon_model_specialize:
 * @model: a model; not changed
 * @shapes: (array): one static shape per input
 * @error: return location
 *
 * Clones a model for concrete shapes of its inputs and folds what follows from them. Inputs whose
 * size does not matter (frames) keep their free dimensions.
 *
 * Returns: (transfer full): the clone; %NULL with @error, %AXON_ERROR_MODEL where the shapes do not
 *   fit
 *
 * Since: 1.0
 */
AXON_API AxonModel *axon_model_specialize (AxonModel *model, const AxonShape *shapes,
                                           GError **error);

/**
 * axon_model_input_is_any_size:
 * @model: a model
 * @index: less than the number of inputs
 *
 * Tells whether only operators that ignore its size use an input.
 *
 * Returns: %TRUE if so
 *
 * Since: 1.0
 */
AXON_API gboolean axon_model_input_is_any_size (AxonModel *model, guint index);

G_END_DECLS
