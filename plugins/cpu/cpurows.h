/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which graphs compute each row of what they get by itself: they may run on more rows than there
 * are, and the rows that are too many are cut off. */
#pragma once

#include <axon/axon-plugin.h>

/* Kinds of values, but for those that have rows, whose kind is the axis that counts them. */
enum { CPU_ROWS_NONE = -1, CPU_ROWS_COUNT = -2 };

/* @model has one free dimension: @axis of input @input. @shapes: of its inputs, with as many rows
 * as are asked about. @kinds: one per output. TRUE if no row of any output depends on the number of
 * rows or on other rows, and all shapes are known. Proven operator by operator: what no row of the
 * table allows is refused. */
gboolean cpu_rows_are_independent (const AxonModel *model, guint input, gint axis,
                                   const AxonShape *shapes, gint *kinds);

/* A copy of @tensor with @n rows along @axis; where it has less, its last one again and again, for
 * which an operator cannot fail where it does not fail for the others. */
AxonTensor *cpu_rows_resize (const AxonTensor *tensor, gint axis, gint64 n, GError **error);
