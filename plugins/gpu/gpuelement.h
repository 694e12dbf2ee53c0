/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators: chains of them become one kernel, written from the graph. A value that
 * only the next operator of the chain needs is pending, and never stored. */
#pragma once

#include "gpuplan.h"

gboolean gpu_element_knows (const AxonNode *node);
void gpu_element_add_names (GPtrArray *names);
gboolean gpu_element_build (GpuPlan *plan, const AxonNode *node);
void gpu_element_emit (GpuPlan *plan, AxonValue *value);
void gpu_expr_free (GpuExpr *expr);

/* The text of one node (gpuelementops.c): $0 $1 are inputs, $T the type of the result, {x} a
 * floating-point number; NULL: no such kernel for its types and attributes. */
gchar *gpu_element_text (const AxonNode *node);
/* The axis of output 0 that input @index, of rank 1, lies along; -1: it broadcasts as usual. */
gint gpu_element_axis (const AxonNode *node, guint index);
