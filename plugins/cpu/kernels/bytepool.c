/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MaxPool of bytes, channels last. Windows are joined in two steps, of one row of the result at a
 * time: first the rows that they span, then the pixels of what comes of that. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

/* Bytes that are worth a thread. */
#define PARALLEL 16384

typedef struct {
  AxonWindow window;
  gint64 batch, channels;
  guint8 lowest;
  CpuWindows along; /* the last dimension */
  void (*raise_along) (gpointer restrict y, gconstpointer x, gint64 n, const CpuWindows *w);
  void (*raise) (gpointer restrict y, gconstpointer x, gint64 n);
} BytePool;

/* Of one run. */
typedef struct {
  const BytePool *plan;
  const guint8 *x;
  guint8 *y, *scratch;
} Run;

static void
join_rows (const BytePool *p, guint8 *row, const guint8 *x, gint64 oz, gint64 oy)
{
  const AxonWindow *w = &p->window;
  gint64 n = w->in[2] * p->channels, z, first, z_end = axon_window_taps (w, 0, oz, 0, w->in[0], &z);
  gint64 y_end = axon_window_taps (w, 1, oy, 0, w->in[1], &first);
  memset (row, p->lowest, (gsize)n);
  for (; z < z_end; z++)
    for (gint64 y = first; y < y_end; y++) {
      gint64 plane = oz * w->stride[0] + z * w->dilation[0] - w->pad[0];
      gint64 line = oy * w->stride[1] + y * w->dilation[1] - w->pad[1];
      p->raise (row, x + (plane * w->in[1] + line) * n, n);
    }
}

/* Pixels @from to @end, each tap by itself. */
static void
join_pixels (const BytePool *p, guint8 *y, const guint8 *row, gint64 from, gint64 end)
{
  const AxonWindow *w = &p->window;
  gint64 n = p->channels;
  for (gint64 o = from; o < end; o++) {
    gint64 k, taps = axon_window_taps (w, 2, o, 0, w->in[2], &k);
    memset (y + o * n, p->lowest, (gsize)n);
    for (; k < taps; k++)
      p->raise (y + o * n, row + (o * w->stride[2] + k * w->dilation[2] - w->pad[2]) * n, n);
  }
}

/* Pixels whose windows have all their taps, from *@first on; none where they are too small. */
static gint64
find_whole (const BytePool *p, gint64 *first)
{
  const AxonWindow *w = &p->window;
  gint64 reach = (w->kernel[2] - 1) * w->dilation[2], end = w->in[2] + w->pad[2] - reach;
  *first = MIN ((w->pad[2] + w->stride[2] - 1) / w->stride[2], w->out[2]);
  end = end > 0 ? MIN ((end - 1) / w->stride[2] + 1, w->out[2]) : 0;
  return p->channels >= CPU_POOL_BYTES ? MAX (end, *first) : *first;
}

static void
pool_row (const Run *run, gint64 index, guint8 *row)
{
  const BytePool *p = run->plan;
  const AxonWindow *w = &p->window;
  gint64 frame = index / w->out[1] / w->out[0], n = p->channels, first, end;
  guint8 *y = run->y + index * w->out[2] * n;
  join_rows (p, row, run->x + frame * w->in[0] * w->in[1] * w->in[2] * n,
             index / w->out[1] % w->out[0], index % w->out[1]);
  end = find_whole (p, &first);
  join_pixels (p, y, row, 0, first);
  if (end > first)
    p->raise_along (y + first * n, row + (first * w->stride[2] - w->pad[2]) * n, end - first,
                    &p->along);
  join_pixels (p, y, row, end, w->out[2]);
}

static void
pool_rows (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  gint64 n = run->plan->window.in[2] * run->plan->channels;
  for (gint64 i = first; i < end; i++)
    pool_row (run, i, run->scratch + (gint64)cpu_parallel_thread () * n);
}

static void
run_pool (const CpuStep *step, const CpuInstance *instance)
{
  const BytePool *p = step->data;
  const AxonWindow *w = &p->window;
  gint64 work = w->in[2] * p->channels *
                (axon_window_reach (w, 0) * axon_window_reach (w, 1) + axon_window_reach (w, 2));
  Run run = { p, cpu_tensor_data (instance, step->in[0]), cpu_tensor_data (instance, step->out[0]),
              cpu_tensor_data (instance, step->out[1]) };
  cpu_parallel_ranges (p->batch * w->out[0] * w->out[1], PARALLEL / work + 1, pool_rows, &run);
}

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *shape = &node->inputs[0]->type.shape, *result = &node->outputs[0]->type.shape;
  AxonDType dtype = node->inputs[0]->type.dtype;
  gboolean is_signed = dtype == AXON_DTYPE_I8;
  BytePool p = { .lowest = is_signed ? 0x80 : 0 };
  g_autoptr (CpuMd) in = NULL, out = NULL;
  CpuTensor *x, *y[2];
  if ((!is_signed && dtype != AXON_DTYPE_U8) || node->n_outputs > 1 ||
      axon_shape_get_numel (shape) < 1 || axon_shape_get_numel (result) < 1 ||
      !axon_window_of_node (&p.window, node, NULL))
    return FALSE;
  p.batch = shape->dims[0];
  p.channels = shape->dims[1];
  p.raise = cpu_isa_get ()->vector->pooling->raise[is_signed];
  p.raise_along = cpu_isa_get ()->vector->pooling->raise_along[is_signed];
  p.along = (CpuWindows){ .run = p.channels,
                          .step = p.channels * p.window.stride[2],
                          .taps = p.window.kernel[2],
                          .tap = p.channels * p.window.dilation[2] };
  in = cpu_md_channels_last (dtype, shape);
  out = cpu_md_channels_last (dtype, result);
  x = cpu_plan_input_as (plan, node, 0, in);
  y[0] = cpu_plan_output (plan, node, 0, out);
  y[1] = cpu_plan_scratch_bytes (plan, plan->n_threads * (gsize)(p.window.in[2] * p.channels));
  cpu_plan_add_step (plan, run_pool, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, y, 2);
  return TRUE;
}

const CpuKernel cpu_byte_pool_kernels[] = {
  { .name = "MaxPool", .impl = "own", .build = build_pool },
  { 0 },
};
