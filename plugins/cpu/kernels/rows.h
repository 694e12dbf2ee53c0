/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements that follow each other, over operands of any strides: dimensions are merged where all
 * operands allow it, the last one is the row, and rows are shared out to the stream's threads. */
#pragma once

#include "../cpuplan.h"

#define CPU_ROWS_OPERANDS 3

/* Operand 0 is the result: its strides say in which order memory is walked. */
typedef struct {
  gint rank;
  gint64 dims[AXON_MAX_RANK + 1], strides[CPU_ROWS_OPERANDS][AXON_MAX_RANK + 1]; /* in elements */
  guint n_operands;
  gint64 offset; /* of the result's first element */
  gint64 rows, n, part;
  gint64 units; /* shares of a thread: parts of a row, or some rows */
} CpuRows;

/* @n elements, the first of operand k at at[k]; they are step[k] apart. */
typedef void (*CpuRowFunc) (gpointer user, const gint64 *at, const gint64 *step, gint64 n);

/* @count such rows, operand k of the next one @next[k] elements further. */
typedef void (*CpuBlockFunc) (gpointer user, const gint64 *at, const gint64 *step, gint64 n,
                              const gint64 *next, gint64 count);

/* TRUE for many rows of a few elements each: what is laid out anew is read faster. */
gboolean cpu_rows_are_short (const CpuRows *rows);

/* FALSE: some operand's steps would be neither 0 nor 1, or the result's not 1, so that rows are of
 * one element: right, but slow. */
gboolean cpu_rows_init (CpuRows *rows, const AxonShape *shape,
                        const gint64 (*strides)[AXON_MAX_RANK], guint n_operands);

/* The same with rows of any steps. */
void cpu_rows_init_any (CpuRows *rows, const AxonShape *shape,
                        const gint64 (*strides)[AXON_MAX_RANK], guint n_operands);

/* Dimensions of more than one place in @order, the largest stride first; their number. */
gint cpu_sort_dims (const AxonShape *shape, const gint64 *strides, gint *order);

/* Strides of @t over @shape, to which it is broadcast. */
void cpu_rows_broadcast (const CpuTensor *t, const AxonShape *shape, gint64 *strides);

/* A unit, on this thread. */
void cpu_rows_run_unit (const CpuRows *rows, gint64 unit, CpuRowFunc func, gpointer user);

/* All of them, on all threads; @user is shared. */
void cpu_rows_run (const CpuRows *rows, CpuRowFunc func, gpointer user);

/* The same with as many rows in a call as follow each other. */
void cpu_rows_run_blocks (const CpuRows *rows, CpuBlockFunc func, gpointer user);

/* An input with strides, as it lies; blocked layouts are converted to channels last. */
CpuTensor *cpu_rows_input (CpuPlan *plan, const AxonNode *node, guint index);

/* TRUE if the channels of four or more dimensions lie innermost, side by side or some apart. */
gboolean cpu_channels_are_inner (const AxonShape *shape, const gint64 *strides);

/* Memory for type @dtype and @shape without gaps, ordered as @t is: as it is, channels last or
 * row-major (free it; NULL: row-major). */
CpuMd *cpu_rows_result (const CpuTensor *t, AxonDType dtype, const AxonShape *shape);

/* Memory without gaps as @outer sets of @n elements that are @inner apart, @inner sets beside each
 * other. */
typedef struct {
  gint64 outer, n, inner;
} CpuLines;

/* @t has no gaps and is not empty. */
void cpu_lines_init (CpuLines *lines, const CpuTensor *t, gint axis);

/* Input 0 without gaps along the node's axis, or from there on for operators that flatten; @md for
 * a result that lies the same way, as cpu_dense_input() makes it. Along channels, blocks of them
 * become planes: their rows would be short, and what follows them mostly leaves the graph. NULL: it
 * is empty, or a scalar. */
CpuTensor *cpu_lines_input (CpuPlan *plan, const AxonNode *node, AxonDType dtype, CpuLines *lines,
                            CpuMd **md);

/* Input 0 along the node's axis, for results that lie row-major whatever the source does: @lines
 * are those of a row-major source. @last: it is channels last, and the axis its channels. */
CpuTensor *cpu_axis_input (CpuPlan *plan, const AxonNode *node, CpuLines *lines, gboolean *last);

/* Input @index in the order of @result, for rows that cannot walk it as it lies. */
CpuTensor *cpu_rows_convert (CpuPlan *plan, const AxonNode *node, guint index,
                             const CpuTensor *result);
