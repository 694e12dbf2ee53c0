/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Layer, RMS, Instance and Group normalisation of row-major f32: two passes over each set of
 * elements that share a mean, then one that scales. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"

#include <math.h>

/* Elements that are worth a thread. */
#define PARALLEL 16384

typedef struct {
  gint64 sets, n;      /* sets of n elements each */
  gint64 plane, cycle; /* parameter of element i of set s: (s * n + i) / plane % cycle */
  gfloat epsilon;
  gboolean centred;
  void (*sum) (gfloat *restrict acc, const gfloat *restrict x, gint64 rows, gint64 n,
               gint64 stride);
  const CpuNormalize *loops;
} NormPlan;

/* Of planes, which have a parameter each. */
static void
normalize_set (const NormPlan *p, gint64 set, const gfloat *x, gfloat *y, const gfloat *scale,
               const gfloat *bias)
{
  gfloat mean = 0, rate;
  if (p->centred)
    p->sum (&mean, x, 1, p->n, p->n);
  mean /= (gfloat)p->n;
  rate = 1 / sqrtf (p->loops->square_sum (x, p->n, mean) / (gfloat)p->n + p->epsilon);
  for (gint64 i = 0; i < p->n; i += p->plane) {
    gint64 k = (set * p->n + i) / p->plane % p->cycle;
    gfloat factor = rate * scale[k];
    p->loops->scale_plane (y + i, x + i, p->plane, factor, (bias ? bias[k] : 0) - mean * factor);
  }
}

/* Of one run. */
typedef struct {
  const NormPlan *plan;
  const gfloat *x, *scale, *bias;
  gfloat *y;
} NormRun;

static void
normalize_sets (gpointer data, gint64 first, gint64 end)
{
  const NormRun *run = data;
  const NormPlan *p = run->plan;
  gint64 n = p->n;
  if (p->plane == 1) {
    p->loops->scale_rows (run->y + first * n, run->x + first * n, run->scale, run->bias,
                          end - first, n, p->epsilon, p->centred);
    return;
  }
  for (gint64 s = first; s < end; s++)
    normalize_set (p, s, run->x + s * n, run->y + s * n, run->scale, run->bias);
}

static void
run_normalize (const CpuStep *step, const CpuInstance *instance)
{
  const NormPlan *p = step->data;
  NormRun run = { .plan = p,
                  .x = cpu_tensor_data (instance, step->in[0]),
                  .scale = cpu_tensor_data (instance, step->in[1]),
                  .bias = step->n_in > 2 ? cpu_tensor_data (instance, step->in[2]) : NULL,
                  .y = cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (p->sets, PARALLEL / MAX (p->n, 1) + 1, normalize_sets, &run);
}

static gint64
product (const AxonShape *s, gint from, gint to)
{
  gint64 n = 1;
  for (gint d = from; d < to; d++)
    n *= s->dims[d];
  return n;
}

enum { LAYER, RMS, INSTANCE, GROUP };

/* Over the dimensions from axis on; scale and bias have exactly their shape. */
static gboolean
plan_layer (NormPlan *p, const AxonNode *node, const AxonShape *x, gint kind)
{
  gint axis = (gint)axon_node_get_int (node, "axis");
  axis += axis < 0 ? x->rank : 0;
  p->sets = product (x, 0, axis);
  p->n = p->cycle = product (x, axis, x->rank);
  p->plane = 1;
  p->centred = kind == LAYER;
  for (guint i = 1; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && !axon_shape_is_tail (&node->inputs[i]->type.shape, x, axis))
      return FALSE;
  return TRUE;
}

/* Over a group of channels of one sample; a parameter for each channel. */
static gboolean
plan_group (NormPlan *p, const AxonNode *node, const AxonShape *x, gint kind)
{
  gint64 channels = x->rank > 1 ? x->dims[1] : 0;
  gint64 groups = kind == GROUP ? axon_node_get_int (node, "num_groups") : channels;
  if (groups < 1)
    return FALSE;
  p->sets = x->dims[0] * groups;
  p->plane = product (x, 2, x->rank);
  p->cycle = channels;
  p->n = channels / groups * p->plane;
  p->centred = TRUE;
  for (guint i = 1; i < 3; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) != channels)
      return FALSE;
  /* A plane of one element looks like the other kind, whose parameters do not repeat by channel. */
  return p->plane > 1;
}

static gboolean
build_normalize (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint kind = plan->row->kind;
  const CpuVector *vector = cpu_isa_get ()->vector;
  NormPlan p = { .epsilon = (gfloat)axon_node_get_float (node, "epsilon"),
                 .sum = vector->reduce->by[CPU_REDUCE_SUM].rows,
                 .loops = vector->normalize };
  CpuTensor *in[3] = { NULL }, *out;
  guint n_in = 0;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL && node->inputs[i]->type.dtype != AXON_DTYPE_F32)
      return FALSE;
  for (guint i = 1; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      return FALSE;
  if (axon_shape_get_numel (x) == 0 ||
      !(kind == LAYER || kind == RMS ? plan_layer (&p, node, x, kind)
                                     : plan_group (&p, node, x, kind)))
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i] != NULL)
      in[n_in++] = cpu_plan_input_as (plan, node, i, NULL);
  out = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_normalize, g_memdup2 (&p, sizeof p), g_free, "own", in, n_in, &out,
                     1);
  return TRUE;
}

const CpuKernel cpu_normalize_kernels[] = {
  { .name = "LayerNormalization", .impl = "own", .build = build_normalize, .kind = LAYER },
  { .name = "RMSNormalization", .impl = "own", .build = build_normalize, .kind = RMS },
  { .name = "InstanceNormalization", .impl = "own", .build = build_normalize, .kind = INSTANCE },
  { .name = "GroupNormalization", .impl = "own", .build = build_normalize, .kind = GROUP },
  { 0 },
};
