/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows.h"
#include "kernels.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Elements that are worth a thread. */
#define PARALLEL 16384
#define SHORT 16 /* elements of a row, rows */

gint
cpu_sort_dims (const AxonShape *shape, const gint64 *strides, gint *order)
{
  gint n = 0;
  for (gint d = 0; d < shape->rank; d++) {
    gint at = n;
    if (shape->dims[d] == 1)
      continue;
    for (; at > 0 && strides[order[at - 1]] < strides[d]; at--)
      order[at] = order[at - 1];
    order[at] = d;
    n++;
  }
  return n;
}

/* The last dimension but one steps over all of the last, in every operand. */
static void
merge_last (CpuRows *r)
{
  gint d = r->rank - 1;
  for (guint k = 0; k < r->n_operands; k++)
    if (d < 1 || r->strides[k][d - 1] != r->strides[k][d] * r->dims[d])
      return;
  r->dims[d - 1] *= r->dims[d];
  for (guint k = 0; k < r->n_operands; k++)
    r->strides[k][d - 1] = r->strides[k][d];
  r->rank--;
}

static gboolean
can_walk (const CpuRows *r)
{
  gint last = r->rank - 1;
  for (guint k = 0; k < r->n_operands && r->dims[last] > 1; k++)
    if (r->strides[k][last] != 1 && (k == 0 || r->strides[k][last] != 0))
      return FALSE;
  return TRUE;
}

static void
set_units (CpuRows *r)
{
  r->rows = 1;
  for (gint d = 0; d < r->rank - 1; d++)
    r->rows *= r->dims[d];
  r->n = r->dims[r->rank - 1];
  r->part = MAX (PARALLEL / MAX (r->n, 1), 1);
  r->units = r->n > PARALLEL ? r->rows * ((r->n + PARALLEL - 1) / PARALLEL)
                             : (r->rows + r->part - 1) / r->part;
}

gboolean
cpu_rows_are_short (const CpuRows *r)
{
  return r->n < SHORT && r->rows > SHORT;
}

static void
set_dims (CpuRows *r, const AxonShape *shape, const gint64 (*strides)[AXON_MAX_RANK],
          guint n_operands)
{
  gint order[AXON_MAX_RANK], n = cpu_sort_dims (shape, strides[0], order);
  *r = (CpuRows){ .n_operands = n_operands };
  for (gint i = 0; i < n; i++) {
    r->dims[r->rank] = shape->dims[order[i]];
    for (guint k = 0; k < n_operands; k++)
      r->strides[k][r->rank] = strides[k][order[i]];
    r->rank++;
    merge_last (r);
  }
  if (r->rank == 0)
    r->dims[r->rank++] = 1;
}

gboolean
cpu_rows_init (CpuRows *r, const AxonShape *shape, const gint64 (*strides)[AXON_MAX_RANK],
               guint n_operands)
{
  gboolean walks;
  set_dims (r, shape, strides, n_operands);
  walks = can_walk (r);
  if (!walks)
    r->dims[r->rank++] = 1;
  set_units (r);
  return walks;
}

void
cpu_rows_init_any (CpuRows *r, const AxonShape *shape, const gint64 (*strides)[AXON_MAX_RANK],
                   guint n_operands)
{
  set_dims (r, shape, strides, n_operands);
  set_units (r);
}

void
cpu_rows_broadcast (const CpuTensor *t, const AxonShape *shape, gint64 *strides)
{
  gint64 own[AXON_MAX_RANK];
  gint missing = shape->rank - t->shape.rank;
  cpu_md_get_strides (t->md, &t->shape, own);
  for (gint d = 0; d < shape->rank; d++)
    strides[d] = d < missing || t->shape.dims[d - missing] == 1 ? 0 : own[d - missing];
}

static void
find_row (const CpuRows *r, gint64 row, gint64 first, gint64 *at)
{
  for (guint k = 0; k < r->n_operands; k++)
    at[k] = first * r->strides[k][r->rank - 1];
  at[0] += r->offset;
  for (gint d = r->rank - 2; d >= 0; d--) {
    gint64 index = d > 0 ? row % r->dims[d] : row;
    for (guint k = 0; k < r->n_operands; k++)
      at[k] += index * r->strides[k][d];
    row = d > 0 ? row / r->dims[d] : 0;
  }
}

/* Rows of the last dimension but one follow by its strides. */
static void
run_rows (const CpuRows *r, gint64 row, gint64 end, const gint64 *step, CpuBlockFunc func,
          gpointer user)
{
  gint d = MAX (r->rank - 2, 0);
  gint64 at[CPU_ROWS_OPERANDS], next[CPU_ROWS_OPERANDS], dim = d < r->rank - 1 ? r->dims[d] : 1;
  for (guint k = 0; k < r->n_operands; k++)
    next[k] = r->strides[k][d];
  while (row < end) {
    gint64 stop = MIN (end, row + dim - row % dim);
    find_row (r, row, 0, at);
    func (user, at, step, r->n, next, stop - row);
    row = stop;
  }
}

static void
run_block (const CpuRows *r, gint64 unit, CpuBlockFunc func, gpointer user)
{
  gint64 at[CPU_ROWS_OPERANDS] = { 0 }, step[CPU_ROWS_OPERANDS] = { 0 };
  for (guint k = 0; k < r->n_operands; k++)
    step[k] = r->strides[k][r->rank - 1];
  if (r->n > PARALLEL) {
    gint64 parts = (r->n + PARALLEL - 1) / PARALLEL, first = unit % parts * PARALLEL;
    find_row (r, unit / parts, first, at);
    func (user, at, step, MIN (PARALLEL, r->n - first), at, 1);
    return;
  }
  run_rows (r, unit * r->part, MIN ((unit + 1) * r->part, r->rows), step, func, user);
}

/* Row by row. */
typedef struct {
  guint n_operands;
  CpuRowFunc func;
  gpointer user;
} EachRow;

static void
each_row (gpointer user, const gint64 *first, const gint64 *step, gint64 n, const gint64 *next,
          gint64 count)
{
  const EachRow *each = user;
  gint64 at[CPU_ROWS_OPERANDS] = { 0 };
  for (guint k = 0; k < each->n_operands; k++)
    at[k] = first[k];
  for (gint64 i = 0; i < count; i++) {
    each->func (each->user, at, step, n);
    for (guint k = 0; k < each->n_operands; k++)
      at[k] += next[k];
  }
}

void
cpu_rows_run_unit (const CpuRows *r, gint64 unit, CpuRowFunc func, gpointer user)
{
  EachRow each = { r->n_operands, func, user };
  run_block (r, unit, each_row, &each);
}

/* Of one run. */
typedef struct {
  const CpuRows *rows;
  CpuBlockFunc func;
  gpointer user;
} RowsRun;

static void
run_unit (gpointer data, gint64 unit)
{
  const RowsRun *run = data;
  run_block (run->rows, unit, run->func, run->user);
}

void
cpu_rows_run_blocks (const CpuRows *r, CpuBlockFunc func, gpointer user)
{
  RowsRun run = { r, func, user };
  cpu_parallel (r->units, run_unit, &run);
}

void
cpu_rows_run (const CpuRows *r, CpuRowFunc func, gpointer user)
{
  EachRow each = { r->n_operands, func, user };
  cpu_rows_run_blocks (r, each_row, &each);
}

gboolean
cpu_channels_are_inner (const AxonShape *shape, const gint64 *strides)
{
  if (strides[1] == 1 || shape->rank < 4)
    return strides[1] == 1;
  for (gint d = 2; d < shape->rank; d++)
    if (strides[d] <= strides[1])
      return FALSE;
  return TRUE;
}

static gboolean
is_dense (const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK], span = 1;
  if (t->md == NULL)
    return TRUE;
  if (!cpu_md_get_strides (t->md, &t->shape, strides))
    return FALSE;
  for (gint d = 0; d < t->shape.rank; d++)
    span += (t->shape.dims[d] - 1) * strides[d];
  return span == axon_shape_get_numel (&t->shape);
}

static CpuMd *
channels_last (AxonDType dtype, const AxonShape *shape)
{
  return shape->rank >= 3 ? cpu_md_channels_last (dtype, shape) : NULL;
}

CpuTensor *
cpu_rows_input (CpuPlan *plan, const AxonNode *node, guint index)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  gint64 strides[AXON_MAX_RANK];
  if (!cpu_md_get_strides (t->md, &t->shape, strides)) {
    g_autoptr (CpuMd) md = channels_last (t->dtype, &t->shape);
    t = cpu_plan_input_as (plan, node, index, md);
  }
  return t;
}

CpuMd *
cpu_rows_result (const CpuTensor *t, AxonDType dtype, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK];
  if (t->md == NULL || t->shape.rank != shape->rank)
    return NULL;
  cpu_md_get_strides (t->md, &t->shape, strides);
  if (is_dense (t) && axon_shape_equal (&t->shape, shape))
    return cpu_md_strided (dtype, shape, strides);
  return shape->rank >= 3 && cpu_channels_are_inner (&t->shape, strides)
             ? channels_last (dtype, shape)
             : NULL;
}

CpuTensor *
cpu_rows_convert (CpuPlan *plan, const AxonNode *node, guint index, const CpuTensor *result)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  g_autoptr (CpuMd) md = NULL;
  gint64 strides[AXON_MAX_RANK];
  cpu_md_get_strides (result->md, &result->shape, strides);
  if (axon_shape_equal (&t->shape, &result->shape))
    md = cpu_md_strided (t->dtype, &t->shape, strides);
  else if (result->md != NULL && t->shape.rank == result->shape.rank)
    md = channels_last (t->dtype, &t->shape);
  return cpu_plan_input_as (plan, node, index, md);
}

CpuTensor *
cpu_dense_input (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype, CpuMd **md)
{
  CpuTensor *t;
  *md = NULL;
  if (!cpu_dnn_has_type (dtype)) /* as halves: they have no layouts */
    return cpu_plan_input_as (plan, node, index, NULL);
  t = cpu_rows_input (plan, node, index);
  if (!is_dense (t)) {
    g_autoptr (CpuMd) last = channels_last (t->dtype, &t->shape);
    t = cpu_plan_input_as (plan, node, index, last);
  }
  *md = cpu_rows_result (t, dtype, &t->shape);
  return t;
}

void
cpu_lines_init (CpuLines *lines, const CpuTensor *t, gint axis)
{
  gint64 strides[AXON_MAX_RANK], n = t->shape.dims[axis], all = axon_shape_get_numel (&t->shape);
  cpu_md_get_strides (t->md, &t->shape, strides);
  *lines =
      n == 1 ? (CpuLines){ all, 1, 1 } : (CpuLines){ all / n / strides[axis], n, strides[axis] };
}

CpuTensor *
cpu_lines_input (CpuPlan *plan, const AxonNode *node, AxonDType dtype, CpuLines *lines, CpuMd **md)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  gint64 all = axon_shape_get_numel (x), n = 1;
  CpuTensor *t;
  *md = NULL;
  if (x->rank < 1 || all < 1)
    return NULL;
  axis += axis < 0 ? x->rank : 0;
  for (gint d = axis; axon_node_has_form (node, AXON_FORM_FLATTENS) && d < x->rank; d++)
    n *= x->dims[d];
  if (n != 1 && n != x->dims[axis]) { /* several dimensions, one after the other */
    *lines = (CpuLines){ all / n, n, 1 };
    return cpu_plan_input_as (plan, node, 0, NULL);
  }
  t = cpu_plan_input (plan, node, 0);
  t = axis == 1 && cpu_md_get_block (t->md, t->dtype, x) > 0
          ? cpu_plan_input_as (plan, node, 0, NULL)
          : cpu_dense_input (plan, node, 0, dtype, md);
  cpu_lines_init (lines, t, axis);
  return t;
}

CpuTensor *
cpu_axis_input (CpuPlan *plan, const AxonNode *node, CpuLines *lines, gboolean *last)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *t;
  if (x->rank < 1 || axon_shape_get_numel (x) < 1)
    return NULL;
  axis += axis < 0 ? x->rank : 0;
  *lines = (CpuLines){ 1, x->dims[axis], 1 };
  for (gint d = 0; d < x->rank; d++)
    if (d != axis)
      *(d < axis ? &lines->outer : &lines->inner) *= x->dims[d];
  t = cpu_rows_input (plan, node, 0);
  md = channels_last (t->dtype, x);
  *last = axis == 1 && t->md != NULL && md != NULL && cpu_md_equal (t->md, md);
  return *last ? t : cpu_plan_input_as (plan, node, 0, NULL);
}
