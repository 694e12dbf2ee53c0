/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MaxPool with indices and MaxUnpool, its reverse, of row-major floats. */
#include "indices.h"
#include "kernels.h"
#include "../cpupool.h"

#include <math.h>
#include <string.h>

/* Elements that are worth a thread. */
#define PARALLEL 16384

typedef struct {
  const AxonNode *node;
  AxonWindow window;      /* of MaxPool */
  gint64 planes, in, out; /* elements of a plane */
} IndexPool;

/* Of one run. */
typedef struct {
  const IndexPool *plan;
  const gfloat *x;
  gfloat *y;
  gint64 *places;
  CpuIndices indices;
} Run;

/* Results of a row so far: the largest of their windows, and its place in the plane or -1. */
typedef struct {
  gfloat *largest;
  gint64 *place;
} Row;

/* Adds tap @k of the windows' rows. The first of several largest counts, but the last NaN. */
static void
add_tap (const AxonWindow *w, const gfloat *x, gint64 row, gint64 k, const Row *r)
{
  gint64 stride = w->stride[2], shift = k * w->dilation[2] - w->pad[2];
  gint64 first = shift < 0 ? (-shift + stride - 1) / stride : 0;
  gint64 end = shift < w->in[2] ? MIN ((w->in[2] - shift + stride - 1) / stride, w->out[2]) : 0;
  for (gint64 o = first; o < end; o++) {
    gint64 at = row * w->in[2] + o * stride + shift;
    gfloat v = x[at], old = r->largest[o];
    gint64 place = r->place[o], mask = -(gint64)((v > old) | (v != v) | (place < 0));
    guint32 bits, old_bits;
    memcpy (&bits, &v, sizeof bits);
    memcpy (&old_bits, &old, sizeof old_bits);
    old_bits ^= (old_bits ^ bits) & (guint32)mask; /* no branches, which nobody could predict */
    memcpy (&r->largest[o], &old_bits, sizeof old_bits);
    r->place[o] = place ^ ((place ^ at) & mask);
  }
}

static void
pool_row (const IndexPool *p, const gfloat *x, gint64 index, const Row *r)
{
  const AxonWindow *w = &p->window;
  gint64 oz = index / w->out[1] % w->out[0], oy = index % w->out[1], first[3], end[3], none;
  end[0] = axon_window_taps (w, 0, oz, 0, w->in[0], &first[0]);
  end[1] = axon_window_taps (w, 1, oy, 0, w->in[1], &first[1]);
  end[2] = axon_window_taps (w, 2, 0, 0, w->in[2], &none); /* the last at the first place */
  axon_window_taps (w, 2, w->out[2] - 1, 0, w->in[2], &first[2]);
  for (gint64 o = 0; o < w->out[2]; o++) {
    r->largest[o] = -INFINITY;
    r->place[o] = -1;
  }
  for (gint64 kz = first[0]; kz < end[0]; kz++)
    for (gint64 ky = first[1]; ky < end[1]; ky++) {
      gint64 z = oz * w->stride[0] + kz * w->dilation[0] - w->pad[0];
      gint64 y = oy * w->stride[1] + ky * w->dilation[1] - w->pad[1];
      for (gint64 kx = first[2]; kx < end[2]; kx++)
        add_tap (w, x, z * w->in[1] + y, kx, r);
    }
}

static void
pool_rows (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  const AxonWindow *w = &run->plan->window;
  for (gint64 i = first; i < end; i++) {
    Row r = { run->y + i * w->out[2], run->places + i * w->out[2] };
    gint64 plane = i / w->out[1] / w->out[0] * run->plan->in;
    pool_row (run->plan, run->x + plane, i, &r);
    for (gint64 o = 0; o < w->out[2]; o++)
      r.place[o] += plane;
  }
}

static void
run_pool (const CpuStep *step, const CpuInstance *instance)
{
  const IndexPool *p = step->data;
  const AxonWindow *w = &p->window;
  gint64 work =
      w->out[2] * axon_window_reach (w, 0) * axon_window_reach (w, 1) * axon_window_reach (w, 2);
  Run run = { .plan = p,
              .x = cpu_tensor_data (instance, step->in[0]),
              .y = cpu_tensor_data (instance, step->out[0]),
              .places = cpu_tensor_data (instance, step->out[1]) };
  cpu_parallel_ranges (p->planes * w->out[0] * w->out[1], PARALLEL / work + 1, pool_rows, &run);
}

/* Indices count in the whole tensor; those of a plane lie in it, or the reference kernel says what
 * becomes of them. */
static void
unpool_planes (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  const IndexPool *p = run->plan;
  const gint64 *indices = run->indices.data;
  gboolean fits = TRUE;
  memset (run->y + first * p->out, 0, (gsize)((end - first) * p->out) * sizeof (gfloat));
  for (gint64 i = first * p->in; i < end * p->in; i++) {
    gint64 from = i / p->in * p->out, at = indices[i];
    if (at >= from && at < from + p->out)
      run->y[at] = run->x[i];
    else
      fits = FALSE;
  }
  if (!fits)
    g_atomic_int_set (run->indices.bad, TRUE);
}

static void
run_unpool (const CpuStep *step, const CpuInstance *instance)
{
  const IndexPool *p = step->data;
  gint bad = FALSE;
  Run run = { .plan = p,
              .x = cpu_tensor_data (instance, step->in[0]),
              .y = cpu_tensor_data (instance, step->out[0]),
              .indices = { cpu_tensor_data (instance, step->in[1]), TRUE, &bad } };
  cpu_parallel_ranges (p->planes, PARALLEL / p->out + 1, unpool_planes, &run);
  if (bad)
    cpu_run_reference_kernel (p->node, step, instance);
}

static gboolean
is_full (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && axon_shape_get_numel (x) > 0 &&
         axon_shape_get_numel (y) > 0;
}

static void
set_planes (IndexPool *p, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  p->node = node;
  p->planes = x->dims[0] * x->dims[1];
  p->in = axon_shape_get_numel (x) / p->planes;
  p->out = axon_shape_get_numel (y) / p->planes;
}

static gboolean
build_pool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  IndexPool p;
  CpuTensor *x, *out[2];
  if (!is_full (node) || node->n_outputs != 2 || node->outputs[1] == NULL ||
      axon_node_get_int (node, "storage_order") != 0 ||
      !axon_window_of_node (&p.window, node, NULL))
    return FALSE;
  set_planes (&p, node);
  x = cpu_plan_input_as (plan, node, 0, NULL);
  for (guint i = 0; i < 2; i++)
    out[i] = cpu_plan_output (plan, node, i, NULL);
  cpu_plan_add_step (plan, run_pool, g_memdup2 (&p, sizeof p), g_free, "own", &x, 1, out, 2);
  return TRUE;
}

/* The result has the shape that its window says, not another output_shape. */
static gboolean
is_natural (const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  guint n, n_pads;
  const gint64 *kernel = axon_node_get_ints (node, "kernel_shape", &n);
  const gint64 *strides = axon_node_get_ints (node, "strides", &n);
  const gint64 *pads = axon_node_get_ints (node, "pads", &n_pads);
  for (gint d = 0; d < x->rank - 2; d++) {
    gint64 pad = pads ? pads[d] + pads[d + x->rank - 2] : 0, stride = strides ? strides[d] : 1;
    if (y->dims[d + 2] != (x->dims[d + 2] - 1) * stride + kernel[d] - pad)
      return FALSE;
  }
  return y->dims[0] == x->dims[0] && y->dims[1] == x->dims[1];
}

static gboolean
build_unpool (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  IndexPool p = { 0 };
  CpuTensor *in[3], *y;
  if (!is_full (node) || node->inputs[1]->type.dtype != AXON_DTYPE_I64 || !is_natural (node) ||
      axon_shape_get_numel (&node->inputs[1]->type.shape) !=
          axon_shape_get_numel (&node->inputs[0]->type.shape))
    return FALSE;
  set_planes (&p, node);
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  y = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_unpool, g_memdup2 (&p, sizeof p), g_free, "own", in, node->n_inputs,
                     &y, 1);
  return TRUE;
}

const CpuKernel cpu_index_pool_kernels[] = {
  { .name = "MaxPool", .impl = "own", .build = build_pool },
  { .name = "MaxUnpool", .impl = "own", .build = build_unpool },
  { 0 },
};
