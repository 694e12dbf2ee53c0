/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reduce* of f32 over any axes, in the layout that the source has, and global pooling, which is the
 * same over all but the first two. Where the elements that follow each other are reduced, they are
 * rows; else planes of elements that are joined one by one. Blocks of channels are read as they lie
 * where all but channels is reduced, as of points or pictures that become a vector. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>
#include <string.h>

/* Elements that are worth a thread; of a plane, that are joined at a time. */
#define PARALLEL 16384
#define CHUNK 256
#define SHARES 8 /* of what is reduced, where there are fewer results than threads */

/* What follows the loops; PRODUCT has a loop of its own. */
typedef enum { AS_IS, MEAN, ROOT, LOGARITHM, PRODUCT } Then;

typedef struct {
  CpuReduction how;
  Then then;
} Reduction;

/* In the order of the source's memory, without those of one place. Strides in elements. */
typedef struct {
  gint64 n, x, y;
} Dim;

/* The source as memory has it: of blocks, channels are two dimensions, the second one last. */
typedef struct {
  AxonShape shape;
  gint64 x[AXON_MAX_RANK], y[AXON_MAX_RANK]; /* strides of it, and of the result */
  gboolean marks[AXON_MAX_RANK];             /* reduced */
} Source;

typedef struct {
  const CpuReducer *reducer;
  void (*join) (gfloat *restrict acc, const gfloat *restrict x, gint64 n, gint64 count,
                gint64 stride);
  Then then;
  gboolean planes; /* the last of kept is a plane, else the last of reduced is a row */
  Dim kept[AXON_MAX_RANK + 1], reduced[AXON_MAX_RANK + 1];
  gint n_kept, n_reduced; /* at least 1 */
  gint64 outer;           /* places of kept dimensions but the last */
  gint64 chunk, chunks;   /* of the last */
  gint64 shares;          /* of the first of reduced */
  gint64 results, length; /* length: elements of the source for each */
} ReducePlan;

/* Of one run. */
typedef struct {
  const ReducePlan *plan;
  const gfloat *x;
  gfloat *y, *parts; /* parts: of each share all results, if there are more shares than one */
} ReduceRun;

/* Joins to the @n results in @acc what is reduced within dimensions from @d on. */
static void
reduce_from (const ReducePlan *p, gint d, const gfloat *x, gfloat *acc, gint64 n, gint64 first,
             gint64 end)
{
  const Dim *dim = &p->reduced[d];
  x += first * dim->x;
  if (d < p->n_reduced - 1)
    for (gint64 i = first; i < end; i++, x += dim->x)
      reduce_from (p, d + 1, x, acc, n, 0, p->reduced[d + 1].n);
  else if (p->planes)
    p->reducer->planes (acc, x, n, end - first, dim->x);
  else
    p->reducer->rows (acc, x, n, end - first, p->kept[p->n_kept - 1].x);
}

/* Multiplies the @n results in @acc by what lies within dimensions from @d on. */
static void
multiply_from (const ReducePlan *p, gint d, const gfloat *x, AxonProduct *acc, gint64 n)
{
  gint64 stride = p->kept[p->n_kept - 1].x;
  for (gint64 i = 0; i < p->reduced[d].n; i++, x += p->reduced[d].x)
    if (d < p->n_reduced - 1)
      multiply_from (p, d + 1, x, acc, n);
    else
      for (gint64 k = 0; k < n; k++)
        axon_product_multiply (&acc[k], x[k * stride]);
}

static void
multiply (const ReducePlan *p, const gfloat *x, gfloat *y, gint64 n)
{
  AxonProduct acc[CHUNK];
  for (gint64 i = 0; i < n; i++)
    acc[i] = (AxonProduct){ 1, 0 };
  multiply_from (p, 0, x, acc, n);
  for (gint64 i = 0; i < n; i++)
    y[i] = (gfloat)axon_product_value (&acc[i]);
}

/* The @n results in @acc of one share of what is reduced. */
static void
reduce_share (const ReducePlan *p, const gfloat *x, gfloat *acc, gint64 n, gint64 share)
{
  for (gint64 i = 0; i < n; i++)
    acc[i] = p->reducer->start;
  reduce_from (p, 0, x, acc, n, p->reduced[0].n * share / p->shares,
               p->reduced[0].n * (share + 1) / p->shares);
}

static void
finish (const ReducePlan *p, gfloat *y, gint64 n)
{
  gfloat length = (gfloat)p->length;
  for (gint64 i = 0; p->then == MEAN && i < n; i++)
    y[i] /= length;
  for (gint64 i = 0; p->then == ROOT && i < n; i++)
    y[i] = sqrtf (y[i]);
  for (gint64 i = 0; p->then == LOGARITHM && i < n; i++)
    y[i] = logf (y[i]);
}

/* A chunk of results, by one share of what they are made of. */
static void
reduce_unit (const ReduceRun *run, gint64 unit)
{
  const ReducePlan *p = run->plan;
  const Dim *last = &p->kept[p->n_kept - 1];
  gint64 share = unit % p->shares, place = unit / p->shares, from = place % p->chunks * p->chunk;
  gint64 n = MIN (p->chunk, last->n - from), x = from * last->x, y = from * last->y;
  gfloat acc[CHUNK];
  place /= p->chunks;
  for (gint d = p->n_kept - 2; d >= 0; d--) {
    x += place % p->kept[d].n * p->kept[d].x;
    y += place % p->kept[d].n * p->kept[d].y;
    place /= p->kept[d].n;
  }
  if (p->then == PRODUCT)
    multiply (p, run->x + x, acc, n);
  else
    reduce_share (p, run->x + x, acc, n, share);
  if (p->shares == 1)
    finish (p, acc, n);
  for (gint64 i = 0; i < n; i++)
    run->y[share * p->results + y + i * last->y] = acc[i];
}

static void
reduce_units (gpointer data, gint64 first, gint64 end)
{
  for (gint64 unit = first; unit < end; unit++)
    reduce_unit (data, unit);
}

static void
run_reduce (const CpuStep *step, const CpuInstance *instance)
{
  const ReducePlan *p = step->data;
  gint64 units = p->outer * p->chunks * p->shares;
  gfloat *y = cpu_tensor_data (instance, step->out[0]);
  ReduceRun run = { .plan = p,
                    .x = cpu_tensor_data (instance, step->in[0]),
                    .y = p->shares > 1 ? cpu_tensor_data (instance, step->out[1]) : y };
  cpu_parallel_ranges (units, PARALLEL * units / (p->results * p->length) + 1, reduce_units, &run);
  if (p->shares == 1)
    return;
  for (gint64 i = 0; i < p->results; i++)
    y[i] = p->reducer->start;
  p->join (y, run.y, p->results, p->shares, p->results);
  finish (p, y, p->results);
}

/* FALSE: the axes are not constant. */
static gboolean
mark_axes (const AxonNode *node, gint rank, gboolean *marks)
{
  gint64 axes[AXON_MAX_RANK];
  guint n;
  if (!cpu_node_axes (node, axes, &n))
    return FALSE;
  for (gint d = 0; d < rank; d++)
    marks[d] = n == 0 && axon_node_get_int (node, "noop_with_empty_axes") == 0;
  for (guint i = 0; i < n; i++)
    marks[axes[i] < 0 ? axes[i] + rank : axes[i]] = TRUE;
  return TRUE;
}

/* Strides of the result by dimensions of the source. */
static void
result_strides (const AxonShape *x, const gboolean *marks, const AxonShape *shape, const CpuMd *md,
                gint64 *strides)
{
  gint64 own[AXON_MAX_RANK];
  gint at = 0;
  cpu_md_get_strides (md, shape, own);
  for (gint d = 0; d < x->rank; d++) {
    gboolean dropped = marks[d] && shape->rank < x->rank;
    strides[d] = dropped ? 0 : own[at];
    at += !dropped;
  }
}

static void
add_dim (Dim *dims, gint *n, Dim dim)
{
  Dim *last = &dims[*n - 1];
  if (*n > 0 && last->x == dim.x * dim.n && last->y == dim.y * dim.n)
    *last = (Dim){ last->n * dim.n, dim.x, dim.y };
  else
    dims[(*n)++] = dim;
}

static void
set_dims (ReducePlan *p, const Source *s)
{
  gint order[AXON_MAX_RANK], n = cpu_sort_dims (&s->shape, s->x, order);
  for (gint i = 0; i < n; i++) {
    gint d = order[i];
    if (s->marks[d])
      add_dim (p->reduced, &p->n_reduced, (Dim){ s->shape.dims[d], s->x[d], 0 });
    else
      add_dim (p->kept, &p->n_kept, (Dim){ s->shape.dims[d], s->x[d], s->y[d] });
  }
  p->planes = n > 0 && !s->marks[order[n - 1]];
  if (p->n_reduced == 0)
    p->reduced[p->n_reduced++] = (Dim){ 1, 0, 0 };
  if (p->n_kept == 0)
    p->kept[p->n_kept++] = (Dim){ 1, 0, 0 };
}

/* Shares only where they have enough to do. */
static void
set_units (ReducePlan *p, guint n_threads)
{
  gint64 last = p->kept[p->n_kept - 1].n, most;
  p->outer = p->length = p->shares = 1;
  for (gint d = 0; d < p->n_kept - 1; d++)
    p->outer *= p->kept[d].n;
  for (gint d = 0; d < p->n_reduced; d++)
    p->length *= p->reduced[d].n;
  p->results = p->outer * last;
  most = p->planes ? (last > 4 * CHUNK ? CHUNK : CHUNK / 4) : PARALLEL / p->length;
  p->chunk = CLAMP (most, 1, MIN (last, CHUNK));
  p->chunks = (last + p->chunk - 1) / p->chunk;
  if (p->then != PRODUCT && n_threads > 1 && p->outer * p->chunks < SHARES &&
      p->length * p->results > 4 * PARALLEL)
    p->shares = MIN (SHARES, p->reduced[0].n);
}

/* Channels of a block of the source, where they are whole, and all that is kept; 0: otherwise. */
static gint64
block_of (CpuPlan *plan, const AxonNode *node, const gboolean *marks)
{
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  gint64 block = cpu_md_get_block (x->md, x->dtype, &x->shape);
  for (gint d = 0; d < x->shape.rank; d++)
    if (marks[d] != (d > 1) && x->shape.dims[d] != 1)
      return 0;
  return block > 0 && x->shape.dims[1] % block == 0 ? block : 0;
}

/* A result for each channel, of whatever shape: one behind the other. */
static CpuTensor *
read_blocks (CpuPlan *plan, const AxonNode *node, gint64 block, Source *s)
{
  CpuTensor *x = cpu_plan_input (plan, node, 0);
  const gint64 *dims = x->shape.dims;
  gint64 places = axon_shape_get_numel (&x->shape) / (dims[0] * dims[1]);
  *s = (Source){ .shape = AXON_SHAPE (dims[0], dims[1] / block, places, block),
                 .x = { dims[1] * places, block * places, block, 1 },
                 .y = { dims[1], block, 0, 1 },
                 .marks = { FALSE, FALSE, TRUE, FALSE } };
  return x;
}

static CpuTensor *
read_dense (CpuPlan *plan, const AxonNode *node, const gboolean *marks, Source *s, CpuMd **md)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  g_autoptr (CpuMd) same = NULL;
  CpuTensor *x = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &same);
  *md = cpu_rows_result (x, AXON_DTYPE_F32, y);
  s->shape = x->shape;
  memcpy (s->marks, marks, (gsize)x->shape.rank * sizeof *marks);
  cpu_md_get_strides (x->md, &x->shape, s->x);
  result_strides (&x->shape, marks, y, *md, s->y);
  return x;
}

static gboolean
add_reduce (CpuPlan *plan, const AxonNode *node, const gboolean *marks)
{
  const Reduction *reduction = plan->row->data;
  const CpuReducer *by = cpu_isa_get ()->vector->reduce->by;
  ReducePlan p = { .reducer = &by[reduction->how], .then = reduction->then };
  gint64 block = block_of (plan, node, marks);
  g_autoptr (CpuMd) md = NULL;
  Source source = { 0 };
  CpuTensor *out[2], *src = block > 0 ? read_blocks (plan, node, block, &source)
                                      : read_dense (plan, node, marks, &source, &md);
  p.join = by[p.reducer->join].planes;
  set_dims (&p, &source);
  set_units (&p, plan->n_threads);
  out[0] = cpu_plan_output (plan, node, 0, md);
  out[1] = p.shares > 1
               ? cpu_plan_scratch_bytes (plan, (gsize)(p.shares * p.results) * sizeof (gfloat))
               : NULL;
  cpu_plan_add_step (plan, run_reduce, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, out,
                     p.shares > 1 ? 2 : 1);
  return TRUE;
}

static gboolean
build_reduce (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gboolean marks[AXON_MAX_RANK];
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_shape_get_numel (x) > 0 &&
         mark_axes (node, x->rank, marks) && add_reduce (plan, node, marks);
}

static gboolean
build_global (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gboolean marks[AXON_MAX_RANK];
  for (gint d = 0; d < x->rank; d++)
    marks[d] = d > 1;
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_shape_get_numel (x) > 0 &&
         add_reduce (plan, node, marks);
}

/* Of the powers 1 and 2. */
static gboolean
build_global_lp (CpuPlan *plan, const AxonNode *node, GError **error)
{
  return axon_node_get_int (node, "p") == plan->row->kind && build_global (plan, node, error);
}

#define REDUCE(how_, then_)                                                                        \
  .impl = "own", .build = build_reduce, .data = &(const Reduction)                                 \
  {                                                                                                \
    CPU_REDUCE_##how_, then_                                                                       \
  }

const CpuKernel cpu_reduce_kernels[] = {
  { .name = "ReduceMean", REDUCE (SUM, MEAN) },
  { .name = "ReduceSum", REDUCE (SUM, AS_IS) },
  { .name = "ReduceMax", REDUCE (MAX, AS_IS) },
  { .name = "ReduceMin", REDUCE (MIN, AS_IS) },
  { .name = "ReduceProd", REDUCE (SUM, PRODUCT) },
  { .name = "ReduceL1", REDUCE (ABS, AS_IS) },
  { .name = "ReduceL2", REDUCE (SQUARE, ROOT) },
  { .name = "ReduceSumSquare", REDUCE (SQUARE, AS_IS) },
  { .name = "ReduceLogSum", REDUCE (SUM, LOGARITHM) },
  { 0 },
};

/* Behind oneDNN's, which leave blocks that channels do not fill as they are. */
#define GLOBAL(how_, then_)                                                                        \
  .impl = "own", .build = build_global, .data = &(const Reduction)                                 \
  {                                                                                                \
    CPU_REDUCE_##how_, then_                                                                       \
  }

const CpuKernel cpu_global_pool_kernels[] = {
  { .name = "GlobalAveragePool", GLOBAL (SUM, MEAN) },
  { .name = "GlobalMaxPool", GLOBAL (MAX, AS_IS) },
  { .name = "GlobalLpPool",
    .impl = "own",
    .build = build_global_lp,
    .kind = 1,
    .data = &(const Reduction){ CPU_REDUCE_ABS, AS_IS } },
  { .name = "GlobalLpPool",
    .impl = "own",
    .build = build_global_lp,
    .kind = 2,
    .data = &(const Reduction){ CPU_REDUCE_SQUARE, ROOT } },
  { 0 },
};
