/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "remap.h"
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define PARALLEL_BYTES 65536
#define SHORT 4 /* units of a run: then elements are copied one by one */
#define BAND 64 /* rows that stay in the nearest cache from one run to the next */

/* Units in a row; @from < 0: the value. */
typedef struct {
  gint64 from, n;
} Run;

/* In the order in which memory is walked. Behind the last dimension that changes there are units of
 * elements that stay together. */
typedef struct {
  gint outer; /* dimensions before the last that changes */
  gint64 dims[AXON_MAX_RANK], steps[AXON_MAX_RANK];
  gint32 *maps[AXON_MAX_RANK];
  gint64 rows, row; /* of the result, and its elements */
  Run *runs;        /* of a row */
  guint n_runs;
  gint64 *at;    /* or where its elements come from */
  gint64 same;   /* or where all of them come from; -1: not from one place */
  gboolean even; /* rows have runs, and all of them come from places that are steps[0] apart */
  gint64 unit;
  gsize size; /* bytes of an element */
} Remap;

static void
remap_free (gpointer data)
{
  Remap *r = data;
  for (gint d = 0; d < AXON_MAX_RANK; d++)
    g_free (r->maps[d]);
  g_free (r->runs);
  g_free (r->at);
  g_free (r);
}

typedef void (*FillFunc) (gpointer y, gconstpointer value, gint64 n);
typedef void (*TakeFunc) (gpointer y, gconstpointer x, const gint64 *at, gint64 n);

#define MOVES(type)                                                                                \
  static void fill_##type (gpointer y, gconstpointer value, gint64 n)                              \
  {                                                                                                \
    type v = *(const type *)value;                                                                 \
    for (gint64 i = 0; i < n; i++)                                                                 \
      ((type *)y)[i] = v;                                                                          \
  }                                                                                                \
  static void take_##type (gpointer y, gconstpointer x, const gint64 *at, gint64 n)                \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      ((type *)y)[i] = ((const type *)x)[at[i]];                                                   \
  }
MOVES (guint8)
MOVES (guint16)
MOVES (guint32)
MOVES (guint64)
#undef MOVES

static const struct {
  FillFunc fill;
  TakeFunc take;
} moves[] = { [1] = { fill_guint8, take_guint8 },
              [2] = { fill_guint16, take_guint16 },
              [4] = { fill_guint32, take_guint32 },
              [8] = { fill_guint64, take_guint64 } };

/* Of one run of the step. */
typedef struct {
  const Remap *plan;
  const guint8 *x, *value;
  guint8 *y;
} RemapRun;

/* Where row @row comes from, in elements; -1: it is all value. */
static gint64
source_of (const Remap *r, gint64 row)
{
  gint64 at = 0;
  for (gint d = r->outer - 1; d >= 0; d--) {
    gint64 i = row % r->dims[d];
    row /= r->dims[d];
    if (r->maps[d] != NULL)
      i = r->maps[d][i];
    if (i < 0)
      return -1;
    at += i * r->steps[d];
  }
  return at;
}

static void
copy_runs (const RemapRun *run, guint8 *y, const guint8 *x)
{
  const Remap *r = run->plan;
  for (guint i = 0; i < r->n_runs; i++) {
    gint64 n = r->runs[i].n * r->unit;
    if (r->runs[i].from < 0)
      moves[r->size].fill (y, run->value, n);
    else
      memcpy (y, x + (gsize)r->runs[i].from * r->size, (gsize)n * r->size);
    y += (gsize)n * r->size;
  }
}

/* Run by run of all rows: what such runs are is asked once. */
static void
copy_band (const RemapRun *run, gint64 first, gint64 n)
{
  const Remap *r = run->plan;
  CpuCopyRunsFunc copy = cpu_isa_get ()->vector->move->copy_runs;
  gsize row = (gsize)r->row * r->size, step = (gsize)r->steps[0] * r->size;
  const guint8 *x = run->x + (gsize)first * step;
  guint8 *y = run->y + (gsize)first * row;
  for (guint i = 0; i < r->n_runs; i++) {
    gint64 units = r->runs[i].n * r->unit;
    gsize bytes = (gsize)units * r->size;
    if (r->runs[i].from >= 0)
      copy (y, row, x + (gsize)r->runs[i].from * r->size, step, bytes, n);
    else {
      moves[r->size].fill (y, run->value, units);
      copy (y + row, row, y, 0, bytes, n - 1);
    }
    y += bytes;
  }
}

static void
remap_bands (gpointer data, gint64 first, gint64 end)
{
  for (; first < end; first += BAND)
    copy_band (data, first, MIN (BAND, end - first));
}

static void
remap_rows (gpointer data, gint64 first, gint64 end)
{
  const RemapRun *run = data;
  const Remap *r = run->plan;
  for (gint64 row = first; row < end; row++) {
    gint64 from = source_of (r, row);
    guint8 *y = run->y + (gsize)(row * r->row) * r->size;
    const guint8 *x = run->x + (gsize)MAX (from, 0) * r->size;
    if (from < 0)
      moves[r->size].fill (y, run->value, r->row);
    else if (r->same >= 0)
      moves[r->size].fill (y, x + (gsize)r->same * r->size, r->row);
    else if (r->at != NULL)
      moves[r->size].take (y, x, r->at, r->row);
    else
      copy_runs (run, y, x);
  }
}

static void
run_remap (const CpuStep *step, const CpuInstance *instance)
{
  const Remap *r = step->data;
  RemapRun run = { r, cpu_tensor_data (instance, step->in[0]),
                   step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL,
                   cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (r->rows, PARALLEL_BYTES / (r->row * (gint64)r->size) + 1,
                       r->even ? remap_bands : remap_rows, &run);
}

gboolean
cpu_can_remap (const AxonNode *node)
{
  const AxonTypeInfo *x = &node->inputs[0]->type;
  const AxonShape *y = &node->outputs[0]->type.shape;
  gsize size = axon_dtype_get_size (x->dtype);
  gboolean fits = size < G_N_ELEMENTS (moves) && moves[size].fill != NULL && x->shape.rank >= 1 &&
                  axon_shape_get_numel (&x->shape) > 0 && axon_shape_get_numel (y) > 0;
  for (gint d = 0; fits && d < y->rank; d++)
    fits = y->dims[d] <= G_MAXINT32;
  return fits;
}

/* The one place that all @n come from; -1: there are several. */
static gint64
find_same (const gint32 *map, gint64 n, gint64 step)
{
  for (gint64 i = 0; i < n; i++)
    if (map[i] < 0 || map[i] != map[0])
      return -1;
  return map[0] * step;
}

/* The runs of @n places along a dimension whose steps are @step. */
static void
find_runs (Remap *r, const gint32 *map, gint64 n, gint64 step)
{
  gboolean has_value = FALSE;
  r->runs = g_new (Run, (gsize)n + 1);
  for (gint64 i = 0; i < n; i++) {
    gint64 from = map ? map[i] : i;
    Run *last = r->n_runs > 0 ? &r->runs[r->n_runs - 1] : NULL;
    gboolean follows = last != NULL && (from < 0 ? last->from < 0
                                                 : last->from >= 0 && step == r->unit &&
                                                       last->from + last->n * step == from * step);
    has_value = has_value || from < 0;
    if (follows)
      last->n++;
    else
      r->runs[r->n_runs++] = (Run){ from < 0 ? -1 : from * step, 1 };
  }
  if (has_value || r->unit > 1 || n >= r->n_runs * (gint64)SHORT)
    return;
  r->at = g_new (gint64, (gsize)n);
  for (gint64 i = 0; i < n; i++)
    r->at[i] = (map ? map[i] : i) * step;
}

/* The dimensions of @t, the one with the largest step first. */
static void
memory_order (const CpuTensor *t, gint *order)
{
  gint64 strides[AXON_MAX_RANK];
  cpu_md_get_strides (t->md, &t->shape, strides);
  for (gint d = 0; d < t->shape.rank; d++) {
    gint at = d;
    for (; at > 0 && strides[order[at - 1]] < strides[d]; at--)
      order[at] = order[at - 1];
    order[at] = d;
  }
}

/* Behind the others; with the last one, where both are walked as one. */
static void
add_outer (Remap *r, gint32 *map, gint64 n, gint64 step)
{
  gint last = r->outer - 1;
  r->rows *= n;
  if (last >= 0 && map == NULL && r->maps[last] == NULL && r->steps[last] == step * n) {
    r->dims[last] *= n;
    r->steps[last] = step;
    return;
  }
  r->maps[r->outer] = map;
  r->dims[r->outer] = n;
  r->steps[r->outer++] = step;
}

/* Takes over @maps. */
static Remap *
remap_new (const CpuTensor *x, const CpuTensor *y, gint32 *const *maps)
{
  Remap *r = g_new0 (Remap, 1);
  gint order[AXON_MAX_RANK], last = y->shape.rank - 1;
  gint64 strides[AXON_MAX_RANK];
  gint32 *map;
  memory_order (y, order);
  cpu_md_get_strides (x->md, &x->shape, strides);
  *r = (Remap){ .rows = 1, .unit = 1, .same = -1, .size = axon_dtype_get_size (x->dtype) };
  while (last > 0 && maps[order[last]] == NULL && strides[order[last]] == r->unit)
    r->unit *= y->shape.dims[order[last--]];
  for (gint i = 0; i < last; i++)
    add_outer (r, maps[order[i]], y->shape.dims[order[i]], strides[order[i]]);
  map = r->maps[r->outer] = maps[order[last]];
  r->row = y->shape.dims[order[last]] * r->unit;
  if (r->unit == 1 && map != NULL)
    r->same = find_same (map, r->row, strides[order[last]]);
  if (r->same < 0)
    find_runs (r, map, y->shape.dims[order[last]], strides[order[last]]);
  r->even = r->same < 0 && r->at == NULL && r->outer == 1 && r->maps[0] == NULL;
  return r;
}

static void
lead_with_ones (AxonShape *shape, gint rank)
{
  AxonShape wide = { .rank = rank };
  for (gint d = 0; d < rank; d++)
    wide.dims[d] = d < rank - shape->rank ? 1 : shape->dims[d - (rank - shape->rank)];
  *shape = wide;
}

void
cpu_add_remap (CpuPlan *plan, const AxonNode *node, gint32 *const *maps, CpuTensor *value)
{
  const AxonTypeInfo *out = &node->outputs[0]->type;
  g_autoptr (CpuMd) same = NULL;
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2] = { cpu_dense_input (plan, node, 0, out->dtype, &same), value }, *dst, x;
  md = cpu_rows_result (in[0], out->dtype, &out->shape);
  if (md == NULL)
    in[0] = cpu_plan_input_as (plan, node, 0, NULL);
  dst = cpu_plan_output (plan, node, 0, md);
  x = *in[0];
  lead_with_ones (&x.shape, dst->shape.rank);
  cpu_plan_add_step (plan, run_remap, remap_new (&x, dst, maps), remap_free, "own", in,
                     value ? 2 : 1, &dst, 1);
}
