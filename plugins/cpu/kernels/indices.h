/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Indices that come from data: each is checked where it is used. One that is outside of its
 * dimension counts as 0 and is remembered; then the reference kernel says what is wrong. */
#pragma once

#include "../cpuplan.h"

typedef struct {
  gconstpointer data;
  gboolean wide; /* i64, else i32 */
  gint *bad;     /* set where one is outside */
} CpuIndices;

/* Index @i within a dimension of @n, which is at least 1; negative ones count from its end. */
static inline gint64
cpu_index_at (const CpuIndices *x, gint64 i, gint64 n)
{
  gint64 at = x->wide ? ((const gint64 *)x->data)[i] : ((const gint32 *)x->data)[i];
  at += at < 0 ? n : 0;
  if (G_UNLIKELY (at < 0 || at >= n)) {
    g_atomic_int_set (x->bad, TRUE);
    return 0;
  }
  return at;
}

/* Runs the reference kernel of @node on the step's tensors, which are those of the node, row-major:
 * its result, or its complaint. */
void cpu_run_reference_kernel (const AxonNode *node, const CpuStep *step,
                               const CpuInstance *instance);

/* The same complaint about the first of @n_indices outside of a dimension of @n, for steps whose
 * tensors lie otherwise. */
void cpu_refuse_index (const AxonNode *node, const CpuInstance *instance, const CpuIndices *x,
                       gint64 n_indices, gint64 n);
