/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of elementwise operators, for fusing and for kernels. */
#pragma once

#include "cpuplan.h"
#include "vector/eltwise.h"

/* Inputs of a convolution that fused work has added. */
enum { CPU_CONV_RESIDUAL = 3, CPU_CONV_SLOPES = 4 };

/* alpha and beta of an activation; Clip's bounds. FALSE where they are not constant. */
gboolean cpu_eltwise_args (const AxonNode *node, gfloat *alpha, gfloat *beta);

/* What ai.onnx's operator @op computes with these arguments; FALSE: no such function. Gelu is the
 * one by erf. */
gboolean cpu_post_init (CpuPost *post, const gchar *op, gfloat alpha, gfloat beta);

/* The operator that computes @kind, where there is one for it alone. */
const gchar *cpu_post_name (CpuPostKind kind);

/* What @node computes of its first input, whatever its type; FALSE: no function with constant
 * arguments. */
gboolean cpu_post_of_node (CpuPost *post, const AxonNode *node);

/* CPU_PAIR_ of ai.onnx's operator @op, whose result is of floats as its operands are; -1: none. */
gint cpu_pair_of_op (const gchar *op);
