/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MaxPool, AveragePool and LpPool of f32, channels last, in blocks of channels and row-major.
 * Windows are joined in two steps, of one row of the result at a time: first the rows that they
 * span, element by element, then the pixels of what comes of that. Small ones that hardly overlap
 * are joined at once. Row-major data are pictures of one channel, blocks pictures of a few. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>

/* Elements that are worth a thread; rows that are shorter are not walked along. */
#define PARALLEL 16384
#define SHORT 32

#define SMALL 9 /* places of a window that are joined at once */

typedef struct {
  CpuReduction columns;
  CpuPoolKind rows;
  gboolean average;
  gint64 power; /* of LpPool, 0 for others */
} Pooling;

/* Where along a dimension a result's window lies within the source. */
typedef struct {
  gint64 first, taps;
  gint64 counted; /* taps that an average divides by */
} Span;

typedef struct {
  Pooling how;
  const CpuReducer *columns;
  const CpuPooling *loops;
  AxonWindow window;
  gint64 planes, run;      /* run: channels that follow each other */
  gint64 inner, inner_end; /* results of a row whose windows lie within the source */
  gint64 scratch;          /* elements for a thread */
  gboolean at_once;
  Span *spans[3]; /* by dimension and place of the result */
} PoolPlan;

static void
pool_plan_free (gpointer data)
{
  PoolPlan *p = data;
  for (gint d = 0; d < 3; d++)
    g_free (p->spans[d]);
  g_free (p);
}

/* Of one run. */
typedef struct {
  const PoolPlan *plan;
  const gfloat *x;
  gfloat *y, *scratch;
} PoolRun;

/* The rows of the source that windows of one row of the result span, joined; @first of them. */
static const gfloat *
join_rows (const PoolPlan *p, const gfloat *first, const Span *z, const Span *y, gfloat *row)
{
  const AxonWindow *w = &p->window;
  gint64 n = w->in[2] * p->run;
  if (z->taps == 1 && y->taps == 1 && p->how.power == 0)
    return first;
  for (gint64 i = 0; i < n; i++)
    row[i] = p->columns->start;
  for (gint64 k = 0; k < z->taps; k++)
    p->columns->planes (row, first + k * w->dilation[0] * w->in[1] * n, n, y->taps,
                        w->dilation[1] * n);
  return row;
}

/* Where those rows lie, in elements behind the first one. Returns their number. */
static gint64
list_rows (const PoolPlan *p, const Span *z, const Span *y, gint64 *rows)
{
  const AxonWindow *w = &p->window;
  gint64 count = 0, n = w->in[2] * p->run;
  for (gint64 k = 0; k < z->taps; k++)
    for (gint64 i = 0; i < y->taps; i++)
      rows[count++] = (k * w->dilation[0] * w->in[1] + i * w->dilation[1]) * n;
  return count;
}

/* Windows within the source that overlap in short pixels: one at each pixel, then some of them. */
static void
pool_inner (const PoolPlan *p, gfloat *y, const gfloat *row, CpuWindows *w, gfloat *all)
{
  gint64 n = p->inner_end - p->inner, stride = p->window.stride[2];
  if (stride == 1 || p->run < SHORT / 2) {
    CpuWindows wide = *w;
    wide.run = ((n - 1) * stride + 1) * p->run;
    p->loops->along[p->how.rows](stride == 1 ? y : all, row, 1, &wide);
    if (stride > 1)
      p->loops->pick (y, all, n, w);
  } else
    p->loops->along[p->how.rows](y, row, n, w);
}

static void
pool_row (const PoolRun *run, gint64 index, gfloat *scratch)
{
  const PoolPlan *p = run->plan;
  const AxonWindow *w = &p->window;
  gint64 in = w->in[0] * w->in[1] * w->in[2] * p->run, n = w->out[2] * p->run;
  const Span *z = &p->spans[0][index / w->out[1] % w->out[0]];
  const Span *r = &p->spans[1][index % w->out[1]], *spans = p->spans[2];
  gfloat *y = run->y + index * n, over = (gfloat)z->counted * (gfloat)r->counted;
  const gfloat *first = run->x + index / w->out[1] / w->out[0] * in +
                        (z->first * w->in[1] + r->first) * w->in[2] * p->run;
  CpuWindows at = {
    .run = p->run, .step = w->stride[2] * p->run, .tap = w->dilation[2] * p->run, .scale = 1
  };
  gint64 rows[SMALL] = { 0 }, n_rows = 0;
  if (p->at_once)
    n_rows = list_rows (p, z, r, rows);
  else
    first = join_rows (p, first, z, r, scratch);
  for (gint64 o = 0; o < w->out[2]; o++) {
    gboolean inner = o == p->inner && o < p->inner_end;
    const gfloat *from = first + spans[o].first * p->run;
    at.taps = spans[o].taps;
    if (p->how.average)
      at.scale = 1 / MAX (over * (gfloat)spans[o].counted, 1);
    if (p->at_once)
      p->loops->at_once[p->how.rows](y + o * p->run, from, inner ? p->inner_end - o : 1, &at, rows,
                                     n_rows);
    else if (inner)
      pool_inner (p, y + o * p->run, from, &at, scratch + w->in[2] * p->run);
    else
      p->loops->along[p->how.rows](y + o * p->run, from, 1, &at);
    if (inner)
      o = p->inner_end - 1;
  }
  for (gint64 i = 0; p->how.power == 2 && i < n; i++)
    y[i] = sqrtf (y[i]);
}

static void
pool_rows (gpointer data, gint64 first, gint64 end)
{
  const PoolRun *run = data;
  gfloat *scratch = run->scratch + (gint64)cpu_parallel_thread () * run->plan->scratch;
  for (gint64 i = first; i < end; i++)
    pool_row (run, i, scratch);
}

static void
run_pool (const CpuStep *step, const CpuInstance *instance)
{
  const PoolPlan *p = step->data;
  const AxonWindow *w = &p->window;
  gint64 work = w->in[2] * p->run *
                (axon_window_reach (w, 0) * axon_window_reach (w, 1) + axon_window_reach (w, 2));
  PoolRun run = { p, cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->out[0]),
                  cpu_tensor_data (instance, step->out[1]) };
  cpu_parallel_ranges (p->planes * w->out[0] * w->out[1], PARALLEL / work + 1, pool_rows, &run);
}

static Span
span_of (const AxonWindow *w, gint d, gint64 o, gboolean include_pad)
{
  gint64 skipped, before, within = axon_window_taps (w, d, o, 0, w->in[d], &skipped);
  gint64 padded = axon_window_taps (w, d, o, -w->pad[d], w->in[d] + w->pad_end[d], &before);
  Span span = { .first = o * w->stride[d] - w->pad[d] + skipped * w->dilation[d],
                .taps = within - skipped };
  span.counted = include_pad ? padded - before : span.taps;
  if (span.taps == 0)
    span.first = 0;
  return span;
}

static void
set_spans (PoolPlan *p, const AxonNode *node)
{
  const AxonWindow *w = &p->window;
  gboolean pad = p->how.average && axon_node_get_int (node, "count_include_pad") != 0;
  for (gint d = 0; d < 3; d++) {
    p->spans[d] = g_new (Span, w->out[d]);
    for (gint64 o = 0; o < w->out[d]; o++)
      p->spans[d][o] = span_of (w, d, o, pad);
  }
  while (p->inner < w->out[2] && p->spans[2][p->inner].taps < w->kernel[2])
    p->inner++;
  p->inner_end = p->inner;
  while (p->inner_end < w->out[2] && p->spans[2][p->inner_end].taps == w->kernel[2])
    p->inner_end++;
  p->scratch = 2 * w->in[2] * p->run;
}

/* Such windows share hardly more than the rows that they span, and fill vectors. */
static gboolean
is_at_once (const PoolPlan *p)
{
  const AxonWindow *w = &p->window;
  gint64 places = 1;
  for (gint d = 0; d < 3 && places <= SMALL; d++)
    places *= MIN (w->kernel[d], SMALL + 1);
  return places <= SMALL && w->stride[2] > 1 && p->how.power == 0 &&
         p->run >= cpu_isa_get ()->vector->floats.lanes;
}

/* The source with its number of channels that follow each other: channels last, in blocks, or
 * row-major, which short rows are not left. */
static CpuTensor *
pool_input (CpuPlan *plan, const AxonNode *node, const AxonWindow *w, gint64 *run)
{
  CpuTensor *x = cpu_plan_input (plan, node, 0);
  gint64 channels = x->shape.dims[1];
  g_autoptr (CpuMd) last = cpu_md_channels_last (x->dtype, &x->shape);
  *run = cpu_md_get_block (x->md, x->dtype, &x->shape);
  if (*run > 1)
    return x;
  x = cpu_rows_input (plan, node, 0);
  *run = x->md == NULL && (w->in[2] >= SHORT || channels < SHORT / 2) ? 1 : channels;
  return *run == 1 && x->md == NULL ? x : cpu_plan_input_as (plan, node, 0, last);
}

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->inputs[0]->type.shape, *result = &node->outputs[0]->type.shape;
  const Pooling *how = plan->row->data;
  g_autoptr (CpuMd) md = NULL;
  AxonWindow window;
  gint64 run;
  CpuTensor *x, *out[2];
  PoolPlan *p;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || node->n_outputs > 1 ||
      axon_shape_get_numel (result) < 1 || axon_shape_get_numel (shape) < 1 ||
      (how->power != 0 && axon_node_get_int (node, "p") != how->power) ||
      !axon_window_of_node (&window, node, NULL))
    return FALSE;
  x = pool_input (plan, node, &window, &run);
  p = g_new0 (PoolPlan, 1);
  p->how = *how;
  p->window = window;
  p->run = run;
  p->planes = shape->dims[0] * ((shape->dims[1] + run - 1) / run);
  p->columns = &cpu_isa_get ()->vector->reduce->by[how->columns];
  p->loops = cpu_isa_get ()->vector->pooling;
  p->at_once = is_at_once (p);
  set_spans (p, node);
  md = run == shape->dims[1] ? cpu_md_channels_last (AXON_DTYPE_F32, result)
       : run > 1             ? cpu_md_channel_blocks (AXON_DTYPE_F32, result, run)
                             : NULL;
  out[0] = cpu_plan_output (plan, node, 0, md);
  out[1] = cpu_plan_scratch_bytes (plan, plan->n_threads * (gsize)p->scratch * sizeof (gfloat));
  cpu_plan_add_step (plan, run_pool, p, pool_plan_free, "own", &x, 1, out, 2);
  return TRUE;
}

#define POOL(...)                                                                                  \
  .impl = "own", .build = build_pool, .data = &(const Pooling)                                     \
  {                                                                                                \
    __VA_ARGS__                                                                                    \
  }

const CpuKernel cpu_pool_kernels[] = {
  { .name = "MaxPool", POOL (CPU_REDUCE_MAX, CPU_POOL_MAX, FALSE, 0) },
  { .name = "AveragePool", POOL (CPU_REDUCE_SUM, CPU_POOL_SUM, TRUE, 0) },
  { .name = "LpPool", POOL (CPU_REDUCE_ABS, CPU_POOL_SUM, FALSE, 1) },
  { .name = "LpPool", POOL (CPU_REDUCE_SQUARE, CPU_POOL_SUM, FALSE, 2) },
  { 0 },
};
