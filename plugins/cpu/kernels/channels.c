/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* BatchNormalization and PRelu of f32 in the order of their source. Where channels follow each
 * other, all or those of a block, parameters are repeated for some pixels, so that few channels
 * fill vectors, too. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>

/* Elements that are worth a thread; of parameters, at least, if they are repeated. */
#define PARALLEL 16384
#define REPEATED 256

/* Planes of pixels of @run channels, with parameters of @sets such runs one after the other. */
typedef struct {
  gint64 planes, pixels, run, sets;
  gint64 repeats; /* of a set: pixels at a time */
  gfloat *a, *b;  /* b: in the memory of a */
  CpuChannelFunction func;
} ChannelPlan;

static void
channel_plan_free (gpointer data)
{
  ChannelPlan *p = data;
  g_free (p->a);
  g_free (p);
}

/* Of one run. */
typedef struct {
  const ChannelPlan *plan;
  const gfloat *x;
  gfloat *y;
} ChannelRun;

/* Pixels, counted through all planes. */
static void
change_pixels (gpointer data, gint64 first, gint64 end)
{
  const ChannelRun *run = data;
  const ChannelPlan *p = run->plan;
  for (gint64 i = first, some; i < end; i += some) {
    gint64 left = MIN (end - i, p->pixels - i % p->pixels), at = i * p->run;
    gint64 set = i / p->pixels % p->sets * p->run * p->repeats;
    some = p->run == 1 ? left : MIN (left, p->repeats);
    if (p->run == 1)
      p->func.plane (run->y + at, run->x + at, some, p->a[set], p->b[set]);
    else
      p->func.each (run->y + at, run->x + at, some * p->run, p->a + set, p->b + set);
  }
}

static void
run_channels (const CpuStep *step, const CpuInstance *instance)
{
  const ChannelPlan *p = step->data;
  ChannelRun run = { p, cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (p->planes * p->pixels, PARALLEL / p->run + 1, change_pixels, &run);
}

/* @a and @b (nullable): of @n channels; what the last block lacks is 0. */
static void
set_parameters (ChannelPlan *p, gint64 n, const gfloat *a, const gfloat *b)
{
  gint64 each = p->run * p->repeats;
  p->a = g_new0 (gfloat, 2 * p->sets * each);
  p->b = p->a + p->sets * each;
  for (gint64 i = 0; i < p->sets * each; i++) {
    gint64 c = i / each * p->run + i % p->run;
    p->a[i] = c < n ? a[c] : 0;
    p->b[i] = c < n && b != NULL ? b[c] : 0;
  }
}

/* How @x lies for parameters of @n channels; one: of all elements. */
static void
set_planes (ChannelPlan *p, const CpuTensor *x, gint64 n, gint64 block)
{
  CpuLines l = { axon_shape_get_numel (&x->shape), 1, 1 };
  gint64 sets = block > 0 ? (x->shape.dims[1] + block - 1) / block : 1;
  if (n > 1 && block == 0)
    cpu_lines_init (&l, x, 1);
  if (block > 0)
    *p = (ChannelPlan){ .planes = x->shape.dims[0] * sets,
                        .pixels = axon_shape_get_numel (&x->shape) /
                                  (x->shape.dims[0] * x->shape.dims[1]),
                        .run = block,
                        .sets = sets };
  else if (l.inner > 1)
    *p = (ChannelPlan){ .planes = l.outer * l.n, .pixels = l.inner, .run = 1, .sets = n };
  else
    *p = (ChannelPlan){ .planes = 1, .pixels = l.outer, .run = n, .sets = 1 };
  p->repeats = p->run > 1 ? MAX (REPEATED / p->run, 1) : 1;
}

/* @a and @b (nullable): parameters of @n channels; one: of all elements. */
static gboolean
add_channels (CpuPlan *plan, const AxonNode *node, gint64 n, const gfloat *a, const gfloat *b)
{
  ChannelPlan *p = g_new0 (ChannelPlan, 1);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *x = cpu_plan_input (plan, node, 0), *y;
  gint64 block = n > 1 ? cpu_md_get_block (x->md, x->dtype, &x->shape) : 0;
  if (block > 0)
    md = cpu_md_copy (x->md);
  else
    x = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  set_planes (p, x, n, block);
  set_parameters (p, n, a, b);
  p->func = cpu_isa_get ()->vector->channels->by[plan->row->kind];
  y = cpu_plan_is_last_use (plan, x) ? cpu_plan_alias (plan, node, 0, x, md)
                                     : cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_channels, p, channel_plan_free, "own", &x, 1, &y, 1);
  return TRUE;
}

static gboolean
build_batch_norm (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gdouble epsilon = axon_node_get_float (node, "epsilon");
  gint64 n = x->rank > 1 ? x->dims[1] : 1;
  g_autofree gfloat *factor = g_new (gfloat, n + 1), *shift = g_new (gfloat, n + 1);
  const AxonTensor *params[5] = { NULL };
  for (guint i = 1; i < G_N_ELEMENTS (params); i++)
    if ((params[i] = cpu_node_constant (node, i)) == NULL)
      return FALSE;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || axon_shape_get_numel (x) == 0 ||
      axon_node_get_int (node, "training_mode") != 0)
    return FALSE;
  for (gint64 c = 0; c < n; c++) {
    gdouble scale = axon_tensor_get_value (params[1], (gsize)c) /
                    sqrt (axon_tensor_get_value (params[4], (gsize)c) + epsilon);
    factor[c] = (gfloat)scale;
    shift[c] = (gfloat)(axon_tensor_get_value (params[2], (gsize)c) -
                        axon_tensor_get_value (params[3], (gsize)c) * scale);
  }
  return add_channels (plan, node, n, factor, shift);
}

/* PRelu with any slopes. */
typedef struct {
  CpuRows rows;
  CpuChannelFunction func;
} SlopePlan;

/* Of one run. */
typedef struct {
  const SlopePlan *plan;
  const gfloat *x, *slope;
  gfloat *y;
} SlopeRun;

static void
slope_row (gpointer data, const gint64 *at, const gint64 *step, gint64 n)
{
  const SlopeRun *run = data;
  const CpuChannelFunction *func = &run->plan->func;
  const gfloat *slope = run->slope + at[2];
  if (step[2] == 0)
    func->plane (run->y + at[0], run->x + at[1], n, *slope, 0);
  else
    func->each (run->y + at[0], run->x + at[1], n, slope, slope);
}

static void
run_slopes (const CpuStep *step, const CpuInstance *instance)
{
  const SlopePlan *p = step->data;
  SlopeRun run = { p, cpu_tensor_data (instance, step->in[0]),
                   cpu_tensor_data (instance, step->in[1]),
                   cpu_tensor_data (instance, step->out[0]) };
  cpu_rows_run (&p->rows, slope_row, &run);
}

static gboolean
build_slopes (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  SlopePlan p = { .func = cpu_isa_get ()->vector->channels->by[plan->row->kind] };
  gint64 strides[3][AXON_MAX_RANK];
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2], *y;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || axon_shape_get_numel (x) == 0 ||
      node->inputs[1]->type.shape.rank > x->rank)
    return FALSE;
  in[0] = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  y = cpu_plan_output (plan, node, 0, md);
  in[1] = cpu_rows_convert (plan, node, 1, y);
  cpu_rows_broadcast (y, x, strides[0]);
  cpu_rows_broadcast (in[0], x, strides[1]);
  cpu_rows_broadcast (in[1], x, strides[2]);
  cpu_rows_init (&p.rows, x, strides, 3);
  cpu_plan_add_step (plan, run_slopes, g_memdup2 (&p, sizeof p), g_free, "own", in, 2, &y, 1);
  return TRUE;
}

/* One slope, or one for each channel. */
static gboolean
build_prelu (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const AxonTensor *slope = cpu_node_constant (node, 1);
  gint64 n = slope ? (gint64)axon_tensor_get_numel (slope) : 0;
  const AxonShape *s = slope ? axon_tensor_get_shape (slope) : NULL;
  gint at = s ? s->rank - x->rank + 1 : 0; /* where slopes have channels */
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || n < 1 || axon_shape_get_numel (x) == 0 ||
      (n > 1 && (at < 0 || x->rank < 2 || s->dims[at] != n || x->dims[1] != n)))
    return FALSE;
  return add_channels (plan, node, n, axon_tensor_get_data ((AxonTensor *)slope), NULL);
}

const CpuKernel cpu_channels_kernels[] = {
  { .name = "BatchNormalization",
    .impl = "own",
    .build = build_batch_norm,
    .kind = CPU_CHANNELS_AFFINE },
  { .name = "PRelu", .impl = "own", .build = build_prelu, .kind = CPU_CHANNELS_PRELU },
  { .name = "PRelu", .impl = "own", .build = build_slopes, .kind = CPU_CHANNELS_PRELU },
  { 0 },
};
