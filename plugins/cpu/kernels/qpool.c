/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QLinearAveragePool and QLinearGlobalAveragePool, channels last: exact sums, then the mean in the
 * arithmetic of the reference kernel. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

/* Bytes to be added that are worth a thread, channels that are summed at a time, and sums that
 * wait. */
#define PARALLEL 16384
#define BLOCK 256
#define MOST 1024

/* Which of a window's places count where it lies in one dimension. */
typedef struct {
  gint64 first, n; /* elements of the source, @first within it */
  gint64 padded;   /* with those of the padding */
} Taps;

typedef struct {
  AxonWindow window;
  gint64 batch, channels;
  gint64 x_frame, x_step[3]; /* in elements, along the window's dimensions; channels follow */
  Taps *taps[3];             /* of each output */
  gint32 x_zero;
  gboolean include_pad;
  CpuByteWindow elements; /* but for how many */
  CpuQuantMean mean;      /* but for what depends on the place */
  void (*sum) (gint32 *sum, gconstpointer x, gint64 n, const CpuByteWindow *window);
  void (*finish) (guint8 *restrict y, const gint32 *restrict sum, gint64 n,
                  const CpuQuantMean *mean);
} Plan;

static void
plan_free (gpointer data)
{
  Plan *p = data;
  for (gint d = 0; d < 3; d++)
    g_free (p->taps[d]);
  g_free (p);
}

/* Where the window's first element is; which others there are, and what the mean makes of them. */
static gint64
place_window (const Plan *p, const gint64 *o, CpuByteWindow *elements, CpuQuantMean *mean)
{
  gint64 count = 1, at = 0;
  gdouble padded = 1;
  *elements = p->elements;
  *mean = p->mean;
  for (gint d = 0; d < 3; d++) {
    const Taps *taps = &p->taps[d][o[d]];
    at += taps->first * p->x_step[d];
    elements->count[d] = taps->n;
    count *= taps->n;
    padded *= (gdouble)taps->padded;
  }
  mean->divisor = MAX (p->include_pad ? padded : (gdouble)count, 1);
  mean->offset = -(gint32)count * p->x_zero;
  return at;
}

/* Of one run. */
typedef struct {
  const Plan *plan;
  guint8 *y;
  const guint8 *x;
  gint64 blocks; /* of channels */
} PoolRun;

/* Sums of neighbours that are divided by the same number. */
typedef struct {
  gint32 sum[MOST];
  gint64 n;
  CpuQuantMean mean;
} Sums;

/* Gives where the next ones go. */
static guint8 *
finish (const Plan *p, guint8 *y, Sums *s)
{
  p->finish (y, s->sum, s->n, &s->mean);
  y += s->n;
  s->n = 0;
  return y;
}

/* Blocks of channels of all output places, which lie one behind the other. */
static void
pool_blocks (gpointer data, gint64 first, gint64 end)
{
  const PoolRun *run = data;
  const Plan *p = run->plan;
  const gint64 *out = p->window.out;
  guint8 *y = run->y + first / run->blocks * p->channels + first % run->blocks * BLOCK;
  Sums s = { .n = 0 };
  for (gint64 i = first; i < end; i++) {
    gint64 pixel = i / run->blocks, channel = i % run->blocks * BLOCK, row = pixel / out[2];
    gint64 o[] = { row / out[1] % out[0], row % out[1], pixel % out[2] };
    gint64 n = MIN (BLOCK, p->channels - channel);
    CpuByteWindow elements;
    CpuQuantMean mean;
    const guint8 *x = run->x + row / out[1] / out[0] * p->x_frame + channel +
                      place_window (p, o, &elements, &mean);
    if (s.n + n > MOST || mean.divisor != s.mean.divisor || mean.offset != s.mean.offset)
      y = finish (p, y, &s);
    s.mean = mean;
    p->sum (s.sum + s.n, x, n, &elements);
    s.n += n;
  }
  finish (p, y, &s);
}

static void
run_pool (const CpuStep *step, const CpuInstance *instance)
{
  const Plan *p = step->data;
  const AxonWindow *w = &p->window;
  guint8 *y = cpu_tensor_data (instance, step->out[0]);
  const guint8 *x = cpu_tensor_data (instance, step->in[0]);
  gint64 pixels = p->batch * w->out[0] * w->out[1] * w->out[2];
  gint64 work = MIN (p->channels, BLOCK) * axon_window_reach (w, 0) * axon_window_reach (w, 1) *
                axon_window_reach (w, 2);
  PoolRun run = { p, y, x, (p->channels + BLOCK - 1) / BLOCK };
  cpu_parallel_ranges (pixels * run.blocks, PARALLEL / work + 1, pool_blocks, &run);
}

enum { WINDOW, GLOBAL };

static gboolean
set_window (AxonWindow *w, const AxonNode *node, gint kind)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  if (kind == WINDOW)
    return axon_window_of_node (w, node, NULL);
  *w = (AxonWindow){ .rank = x->rank - 2 };
  for (gint d = 0; d < 3; d++) {
    gint from = x->rank - 3 + d;
    w->in[d] = w->kernel[d] = from >= 2 ? x->dims[from] : 1;
    w->stride[d] = w->dilation[d] = w->out[d] = 1;
  }
  return TRUE;
}

static void
set_taps (Plan *p)
{
  const AxonWindow *w = &p->window;
  for (gint d = 0; d < 3; d++) {
    p->elements.step[d] = w->dilation[d] * p->x_step[d];
    p->taps[d] = g_new (Taps, w->out[d]);
    for (gint64 o = 0; o < w->out[d]; o++) {
      Taps *taps = &p->taps[d][o];
      gint64 begin, end = axon_window_taps (w, d, o, -w->pad[d], w->in[d] + w->pad_end[d], &begin);
      taps->padded = end - begin;
      end = axon_window_taps (w, d, o, 0, w->in[d], &begin);
      taps->n = end - begin;
      taps->first = taps->n > 0 ? o * w->stride[d] - w->pad[d] + begin * w->dilation[d] : 0;
    }
  }
}

static void
set_mean (Plan *p, const AxonNode *node)
{
  const CpuQuantize *kernels = cpu_isa_get ()->vector->quantize;
  gdouble x_scale, x_zero, y_scale, y_zero;
  axon_quant_scalar (node, 1, &x_scale);
  axon_quant_scalar (node, 2, &x_zero);
  axon_quant_scalar (node, 3, &y_scale);
  axon_quant_scalar (node, 4, &y_zero);
  p->x_zero = (gint32)x_zero;
  p->mean.scale = (gfloat)x_scale / (gfloat)y_scale;
  p->mean.zero = (gfloat)y_zero;
  cpu_byte_range (node, &p->mean.lo, &p->mean.hi);
  p->include_pad = axon_node_find_attr (node, "count_include_pad") != NULL &&
                   axon_node_get_int (node, "count_include_pad") != 0;
  p->sum = kernels->sum[node->outputs[0]->type.dtype == AXON_DTYPE_I8];
  p->finish = kernels->mean;
}

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->inputs[0]->type.shape;
  AxonDType dtype = node->outputs[0]->type.dtype;
  Plan *p;
  g_autoptr (CpuMd) in = NULL;
  g_autoptr (CpuMd) out = NULL;
  gint64 strides[AXON_MAX_RANK];
  CpuTensor *x, *y;
  AxonWindow window;
  if (axon_shape_get_numel (shape) == 0 || !cpu_has_qlinear (node) ||
      !set_window (&window, node, plan->row->kind))
    return FALSE;
  p = g_new (Plan, 1);
  *p = (Plan){ .window = window };
  set_mean (p, node);
  x = cpu_rows_input (plan, node, 0);
  cpu_md_get_strides (x->md, shape, strides);
  if (strides[1] != 1 && shape->dims[1] != 1) {
    in = cpu_md_channels_last (dtype, shape);
    x = cpu_plan_input_as (plan, node, 0, in);
    cpu_md_get_strides (x->md, shape, strides);
  }
  p->batch = shape->dims[0];
  p->channels = shape->dims[1];
  p->x_frame = strides[0];
  for (gint d = 5 - shape->rank; d < 3; d++)
    p->x_step[d] = strides[shape->rank - 3 + d];
  set_taps (p);
  out = cpu_md_channels_last (dtype, &node->outputs[0]->type.shape);
  y = cpu_plan_output (plan, node, 0, out);
  cpu_plan_add_step (plan, run_pool, p, plan_free, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_qlinear_pool_kernels[] = {
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearAveragePool",
    .impl = "own",
    .build = build_pool,
    .kind = WINDOW },
  { .domain = AXON_DOMAIN_MICROSOFT,
    .name = "QLinearGlobalAveragePool",
    .impl = "own",
    .build = build_pool,
    .kind = GLOBAL },
  { 0 },
};
