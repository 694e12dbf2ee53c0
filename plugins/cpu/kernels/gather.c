/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Gather, GatherND and GatherElements over row-major memory. The first two copy rows of bytes from
 * places that are found for a few hundred at a time; one constant index is a view. */
#include "indices.h"
#include "kernels.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define PARALLEL_BYTES 65536
#define CHUNK 256

typedef struct _Gather Gather;

/* Finds where rows @first to @first + @n begin, in rows. */
typedef void (*FindFunc) (const Gather *g, const CpuIndices *index, gint64 first, gint64 n,
                          gint64 *at);

struct _Gather {
  const AxonNode *node;
  FindFunc find;
  gsize row;                      /* bytes */
  gint64 rows;                    /* of the result */
  gint64 n, dim;                  /* Gather: indices, and what they address */
  gint64 per_batch, tuple;        /* GatherND: tuples of a batch, indices of one */
  gint64 dims[AXON_MAX_RANK + 1]; /* that they address */
};

static void
find_rows (const Gather *g, const CpuIndices *index, gint64 first, gint64 n, gint64 *at)
{
  gint64 outer = first / g->n, i = first % g->n;
  for (gint64 k = 0; k < n; k++) {
    at[k] = outer * g->dim + cpu_index_at (index, i, g->dim);
    if (++i == g->n) {
      i = 0;
      outer++;
    }
  }
}

static void
find_tuples (const Gather *g, const CpuIndices *index, gint64 first, gint64 n, gint64 *at)
{
  for (gint64 k = 0; k < n; k++) {
    at[k] = (first + k) / g->per_batch;
    for (gint64 d = 0; d < g->tuple; d++)
      at[k] = at[k] * g->dims[d] + cpu_index_at (index, (first + k) * g->tuple + d, g->dims[d]);
  }
}

/* Of one run. */
typedef struct {
  const Gather *plan;
  CpuIndices index;
  const guint8 *x;
  guint8 *y;
} GatherRun;

#define COPY(type)                                                                                 \
  static void copy_##type (gpointer y, gconstpointer x, const gint64 *at, gint64 n)                \
  {                                                                                                \
    for (gint64 k = 0; k < n; k++)                                                                 \
      ((type *)y)[k] = ((const type *)x)[at[k]];                                                   \
  }
COPY (guint8)
COPY (guint16)
COPY (guint32)
COPY (guint64)
#undef COPY

typedef void (*CopyFunc) (gpointer y, gconstpointer x, const gint64 *at, gint64 n);

/* By size; other rows are copied by bytes. */
static const CopyFunc copy_rows[] = {
  [1] = copy_guint8, [2] = copy_guint16, [4] = copy_guint32, [8] = copy_guint64
};

static void
gather_rows (gpointer data, gint64 first, gint64 end)
{
  const GatherRun *run = data;
  const Gather *g = run->plan;
  CopyFunc copy = g->row < G_N_ELEMENTS (copy_rows) ? copy_rows[g->row] : NULL;
  gint64 at[CHUNK];
  for (; first < end; first += CHUNK) {
    gint64 n = MIN (CHUNK, end - first);
    guint8 *y = run->y + (gsize)first * g->row;
    g->find (g, &run->index, first, n, at);
    if (copy != NULL)
      copy (y, run->x, at, n);
    for (gint64 k = 0; copy == NULL && k < n; k++)
      memcpy (y + (gsize)k * g->row, run->x + (gsize)at[k] * g->row, g->row);
  }
}

static CpuIndices
indices_of (const CpuStep *step, const CpuInstance *instance, gint *bad)
{
  return (CpuIndices){ cpu_tensor_data (instance, step->in[1]),
                       step->in[1]->dtype == AXON_DTYPE_I64, bad };
}

static void
run_gather (const CpuStep *step, const CpuInstance *instance)
{
  const Gather *g = step->data;
  gint bad = FALSE;
  GatherRun run = { g, indices_of (step, instance, &bad), cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (g->rows, PARALLEL_BYTES / (gint64)MAX (g->row, 16) + 1, gather_rows, &run);
  if (bad)
    cpu_run_reference_kernel (g->node, step, instance);
}

static gboolean
has_indices (const AxonNode *node)
{
  AxonDType dtype = node->inputs[1]->type.dtype;
  return (dtype == AXON_DTYPE_I32 || dtype == AXON_DTYPE_I64) &&
         axon_shape_get_numel (&node->inputs[0]->type.shape) > 0 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0;
}

static void
add_step (CpuPlan *plan, const AxonNode *node, CpuStepFunc run, gpointer data)
{
  CpuTensor *in[] = { cpu_plan_input_as (plan, node, 0, NULL),
                      cpu_plan_input_as (plan, node, 1, NULL) };
  CpuTensor *out = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run, data, g_free, "own", in, 2, &out, 1);
}

/* One constant index, of a tensor that lies as it likes: the rest of its dimensions. */
static gboolean
add_view (CpuPlan *plan, const AxonNode *node, gint axis)
{
  const AxonTensor *indices = cpu_node_constant (node, 1);
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  CpuTensor *src = cpu_plan_input (plan, node, 0), *view;
  gint64 strides[AXON_MAX_RANK], moved[AXON_MAX_RANK], at;
  gint q = node->inputs[1]->type.shape.rank;
  g_autoptr (CpuMd) md = NULL;
  if (indices == NULL || axon_tensor_get_numel (indices) != 1 || y->rank > 6 ||
      !cpu_dnn_has_type (src->dtype) || !cpu_md_get_strides (src->md, x, strides))
    return FALSE;
  at = axon_dtype_load_int (axon_tensor_get_dtype (indices), axon_tensor_get_data (indices), 0);
  at += at < 0 ? x->dims[axis] : 0;
  if (at < 0 || at >= x->dims[axis])
    return FALSE;
  for (gint d = 0; d < y->rank; d++)
    moved[d] = strides[d < axis ? d : MAX (d - q + 1, axis)];
  md = cpu_md_strided (src->dtype, y, moved);
  if (md == NULL)
    return FALSE;
  view = cpu_plan_alias (plan, node, 0, src, md);
  view->offset += (gsize)(at * strides[axis]) * axon_dtype_get_size (src->dtype);
  return TRUE;
}

static gboolean
build_gather (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  Gather g = { .node = node,
               .find = find_rows,
               .row = axon_dtype_get_size (node->inputs[0]->type.dtype),
               .n = axon_shape_get_numel (&node->inputs[1]->type.shape) };
  if (!has_indices (node))
    return FALSE;
  axis += axis < 0 ? x->rank : 0;
  if (add_view (plan, node, axis))
    return TRUE;
  g.dim = x->dims[axis];
  g.rows = g.n;
  for (gint d = 0; d < axis; d++)
    g.rows *= x->dims[d];
  for (gint d = axis + 1; d < x->rank; d++)
    g.row *= (gsize)x->dims[d];
  add_step (plan, node, run_gather, g_memdup2 (&g, sizeof g));
  return TRUE;
}

static gboolean
build_gather_nd (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *index = &node->inputs[1]->type.shape;
  gint64 batch = axon_node_get_int (node, "batch_dims");
  Gather g = { .node = node,
               .find = find_tuples,
               .row = axon_dtype_get_size (node->inputs[0]->type.dtype),
               .rows = 1,
               .per_batch = 1 };
  if (!has_indices (node))
    return FALSE;
  g.tuple = index->dims[index->rank - 1];
  for (gint d = 0; d < index->rank - 1; d++) {
    g.rows *= index->dims[d];
    g.per_batch *= d < batch ? 1 : index->dims[d];
  }
  for (gint64 d = 0; d < g.tuple; d++)
    g.dims[d] = x->dims[batch + d];
  for (gint64 d = batch + g.tuple; d < x->rank; d++)
    g.row *= (gsize)x->dims[d];
  add_step (plan, node, run_gather, g_memdup2 (&g, sizeof g));
  return TRUE;
}

typedef struct {
  const AxonNode *node;
  AxonShape y;
  gint axis;
  gint64 dim, rows, n, strides[AXON_MAX_RANK]; /* of data; rows of n of the result */
  gint64 along, across;                        /* steps of an index, and of its place in a row */
  gsize size;
} Elements;

#define TAKE(type)                                                                                 \
  static void take_##type (gpointer y, gconstpointer x, const Elements *e,                         \
                           const CpuIndices *index, gint64 first)                                  \
  {                                                                                                \
    for (gint64 j = 0; j < e->n; j++)                                                              \
      ((type *)y)[first + j] =                                                                     \
          ((const type *)x)[cpu_index_at (index, first + j, e->dim) * e->along + j * e->across];   \
  }
TAKE (guint8)
TAKE (guint16)
TAKE (guint32)
TAKE (guint64)
#undef TAKE

static void (*const take_row[]) (gpointer y, gconstpointer x, const Elements *e,
                                 const CpuIndices *index, gint64 first) = {
  [1] = take_guint8, [2] = take_guint16, [4] = take_guint32, [8] = take_guint64
};

typedef struct {
  const Elements *plan;
  CpuIndices index;
  const guint8 *x;
  guint8 *y;
} ElementsRun;

static void
gather_elements (gpointer data, gint64 first, gint64 end)
{
  const ElementsRun *run = data;
  const Elements *e = run->plan;
  for (gint64 row = first; row < end; row++) {
    gint64 at = 0, rest = row;
    for (gint d = e->y.rank - 2; d >= 0; d--) {
      at += d == e->axis ? 0 : rest % e->y.dims[d] * e->strides[d];
      rest /= e->y.dims[d];
    }
    take_row[e->size](run->y, run->x + (gsize)at * e->size, e, &run->index, row * e->n);
  }
}

static void
run_gather_elements (const CpuStep *step, const CpuInstance *instance)
{
  const Elements *e = step->data;
  gint bad = FALSE;
  ElementsRun run = { e, indices_of (step, instance, &bad), cpu_tensor_data (instance, step->in[0]),
                      cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (e->rows, PARALLEL_BYTES / 8 / e->n + 1, gather_elements, &run);
  if (bad)
    cpu_run_reference_kernel (e->node, step, instance);
}

static gboolean
build_gather_elements (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  Elements e = { .node = node,
                 .y = *y,
                 .axis = (gint)axon_node_get_int (node, "axis"),
                 .size = axon_dtype_get_size (node->inputs[0]->type.dtype) };
  if (!has_indices (node) || e.size >= G_N_ELEMENTS (take_row) || take_row[e.size] == NULL)
    return FALSE;
  e.axis += e.axis < 0 ? x->rank : 0;
  for (gint d = 0; d < x->rank; d++)
    if (d != e.axis && y->dims[d] > x->dims[d])
      return FALSE;
  cpu_md_get_strides (NULL, x, e.strides);
  e.dim = x->dims[e.axis];
  e.n = y->dims[y->rank - 1];
  e.rows = axon_shape_get_numel (y) / e.n;
  e.along = e.strides[e.axis];
  e.across = e.axis == x->rank - 1 ? 0 : 1;
  add_step (plan, node, run_gather_elements, g_memdup2 (&e, sizeof e));
  return TRUE;
}

const CpuKernel cpu_gather_kernels[] = {
  { .name = "Gather", .impl = "own", .build = build_gather },
  { .name = "GatherND", .impl = "own", .build = build_gather_nd },
  { .name = "GatherElements", .impl = "own", .build = build_gather_elements },
  { 0 },
};
