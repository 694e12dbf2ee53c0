/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What every compiled device needs: a model specialised to concrete shapes, and a memory plan. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* One buffer of the arena: lives from step @first to step @last, both included. */
typedef struct {
  gsize size;
  guint first, last;
  gsize offset; /* result */
} AxonArenaItem;

AXON_API gsize axon_plan_arena (AxonArenaItem *items, guint n_items, gsize alignment);

/* A clone with the inputs' shapes set and everything that follows folded. Inputs whose size does
 * not matter (frames) keep their free dimensions. */
AXON_API AxonModel *axon_model_specialize (AxonModel *model, const AxonShape *shapes,
                                           GError **error);

/* TRUE if only operators that ignore its size use input @index. */
AXON_API gboolean axon_model_input_is_any_size (AxonModel *model, guint index);

G_END_DECLS
