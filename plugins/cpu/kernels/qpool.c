/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* QLinearAveragePool and QLinearGlobalAveragePool, channels last: exact sums, then the mean in the
 * arithmetic of the reference kernel. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

/* Bytes to be added that are worth a thread, and channels that are summed at a time. */
#define PARALLEL 16384
#define BLOCK 256

typedef struct {
  AxonWindow window;
  gint64 batch, channels;
  gint64 x_frame, x_step[3]; /* in elements, along the window's dimensions; channels follow */
  gint32 x_zero;
  gboolean include_pad;
  CpuQuantMean mean; /* but for what depends on the place */
  void (*sum) (gint32 *restrict sum, gconstpointer x, gint64 n);
  void (*finish) (guint8 *restrict y, const gint32 *restrict sum, gint64 n,
                  const CpuQuantMean *mean);
} Plan;

/* Adds the window's bytes; gives their number and what the mean divides by. */
static gint64
sum_window (const Plan *p, const guint8 *x, const gint64 *o, gint32 *sum, gint64 n,
            gdouble *divisor)
{
  const AxonWindow *w = &p->window;
  gint64 at[3], first[3], end[3], begin, count = 1;
  gdouble padded = 1;
  for (gint d = 0; d < 3; d++) {
    at[d] = o[d] * w->stride[d] - w->pad[d];
    end[d] = axon_window_taps (w, d, o[d], -w->pad[d], w->in[d] + w->pad_end[d], &begin);
    padded *= (gdouble)(end[d] - begin);
    end[d] = axon_window_taps (w, d, o[d], 0, w->in[d], &first[d]);
    count *= end[d] - first[d];
  }
  for (gint64 z = first[0]; z < end[0]; z++)
    for (gint64 r = first[1]; r < end[1]; r++)
      for (gint64 c = first[2]; c < end[2]; c++)
        p->sum (sum,
                x + (at[0] + z * w->dilation[0]) * p->x_step[0] +
                    (at[1] + r * w->dilation[1]) * p->x_step[1] +
                    (at[2] + c * w->dilation[2]) * p->x_step[2],
                n);
  *divisor = MAX (p->include_pad ? padded : (gdouble)count, 1);
  return count;
}

/* Channels from @first on of output place @pixel of all frames. */
static void
pool_block (const Plan *p, guint8 *y, const guint8 *x, gint64 pixel, gint64 first)
{
  const AxonWindow *w = &p->window;
  gint64 plane = w->out[0] * w->out[1] * w->out[2], place = pixel % plane, count;
  gdouble divisor;
  gint64 o[] = { place / w->out[2] / w->out[1], place / w->out[2] % w->out[1], place % w->out[2] };
  gint64 n = MIN (BLOCK, p->channels - first);
  gint32 sum[BLOCK];
  CpuQuantMean mean = p->mean;
  memset (sum, 0, (gsize)n * sizeof *sum);
  count = sum_window (p, x + pixel / plane * p->x_frame + first, o, sum, n, &divisor);
  mean.divisor = divisor;
  mean.offset = -(gint32)count * p->x_zero;
  p->finish (y + pixel * p->channels + first, sum, n, &mean);
}

/* Of one run. */
typedef struct {
  const Plan *plan;
  guint8 *y;
  const guint8 *x;
  gint64 blocks; /* of channels */
} PoolRun;

static void
pool_blocks (gpointer data, gint64 first, gint64 end)
{
  const PoolRun *run = data;
  for (gint64 i = first; i < end; i++)
    pool_block (run->plan, run->y, run->x, i / run->blocks, i % run->blocks * BLOCK);
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
  g_autofree Plan *p = g_new0 (Plan, 1);
  g_autoptr (CpuMd) in = NULL;
  g_autoptr (CpuMd) out = NULL;
  gint64 strides[AXON_MAX_RANK];
  CpuTensor *x, *y;
  if (axon_shape_get_numel (shape) == 0 || !cpu_has_qlinear (node) ||
      !set_window (&p->window, node, plan->row->kind))
    return FALSE;
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
  out = cpu_md_channels_last (dtype, &node->outputs[0]->type.shape);
  y = cpu_plan_output (plan, node, 0, out);
  cpu_plan_add_step (plan, run_pool, g_steal_pointer (&p), g_free, "own", &x, 1, &y, 1);
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
