/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* RotaryEmbedding of row-major f32: pairs of numbers of a head are turned by an angle that its
 * position has (Su et al. 2021). */
#include "indices.h"
#include "kernels.h"
#include "../cpupool.h"

#include <string.h>

#define PARALLEL 8192

typedef struct {
  const AxonNode *node;
  gint64 rows, size, half; /* rows of a head of @size numbers, of which 2 * @half are turned */
  gint64 length, heads;    /* positions of a head, and how many there are */
  gint64 angles;           /* rows of the caches */
  gboolean flat;           /* heads lie side by side at a position, else one behind the other */
  gboolean interleaved;
} Rotary;

typedef struct {
  const Rotary *plan;
  const gfloat *x, *cosines, *sines;
  CpuIndices positions; /* without data: in order */
  gfloat *y;
} RotaryRun;

static void
turn_halves (gfloat *restrict y, const gfloat *restrict x, const gfloat *restrict c,
             const gfloat *restrict s, gint64 half)
{
  for (gint64 d = 0; d < half; d++) {
    gfloat re = x[d], im = x[d + half];
    y[d] = c[d] * re - s[d] * im;
    y[d + half] = s[d] * re + c[d] * im;
  }
}

static void
turn_pairs (gfloat *restrict y, const gfloat *restrict x, const gfloat *restrict c,
            const gfloat *restrict s, gint64 half)
{
  for (gint64 d = 0; d < half; d++) {
    gfloat re = x[2 * d], im = x[2 * d + 1];
    y[2 * d] = c[d] * re - s[d] * im;
    y[2 * d + 1] = s[d] * re + c[d] * im;
  }
}

static void
turn_rows (gpointer data, gint64 first, gint64 end)
{
  const RotaryRun *run = data;
  const Rotary *r = run->plan;
  gint64 turned = 2 * r->half;
  for (gint64 row = first; row < end; row++) {
    gint64 at = r->flat ? row / r->heads : row / r->length / r->heads * r->length + row % r->length;
    const gfloat *x = run->x + row * r->size;
    gfloat *y = run->y + row * r->size;
    if (run->positions.data != NULL)
      at = cpu_index_at (&run->positions, at, r->angles);
    (r->interleaved ? turn_pairs : turn_halves) (y, x, run->cosines + at * r->half,
                                                 run->sines + at * r->half, r->half);
    memcpy (y + turned, x + turned, (gsize)(r->size - turned) * sizeof *y);
  }
}

static void
run_rotary (const CpuStep *step, const CpuInstance *instance)
{
  const Rotary *r = step->data;
  gint bad = FALSE;
  RotaryRun run = { .plan = r,
                    .x = cpu_tensor_data (instance, step->in[0]),
                    .cosines = cpu_tensor_data (instance, step->in[1]),
                    .sines = cpu_tensor_data (instance, step->in[2]),
                    .y = cpu_tensor_data (instance, step->out[0]) };
  if (step->n_in > 3)
    run.positions = (CpuIndices){ cpu_tensor_data (instance, step->in[3]),
                                  step->in[3]->dtype == AXON_DTYPE_I64, &bad };
  cpu_parallel_ranges (r->rows, PARALLEL / r->size + 1, turn_rows, &run);
  if (bad)
    cpu_run_reference_kernel (r->node, step, instance);
}

/* FALSE: what the caches and positions say does not fit; the reference kernel says why. */
static gboolean
rotary_init (Rotary *r, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const AxonValue *positions = axon_node_get_input (node, 3);
  gint64 angles = axon_shape_get_numel (&node->inputs[1]->type.shape), places;
  *r = (Rotary){ .node = node,
                 .flat = x->rank == 3,
                 .interleaved = axon_node_get_int (node, "interleaved") != 0 };
  r->heads = r->flat ? axon_node_get_int (node, "num_heads") : x->dims[1];
  r->length = x->dims[x->rank - 2];
  r->size = x->dims[x->rank - 1] / (r->flat ? MAX (r->heads, 1) : 1);
  r->half = axon_node_get_int (node, "rotary_embedding_dim") / 2;
  r->half = r->half > 0 ? r->half : r->size / 2;
  if (r->half < 1 || angles % r->half != 0 ||
      axon_shape_get_numel (&node->inputs[2]->type.shape) != angles)
    return FALSE;
  r->rows = axon_shape_get_numel (x) / r->size;
  r->angles = angles / r->half;
  places = positions ? axon_shape_get_numel (&positions->type.shape) : r->angles;
  return r->angles > 0 && places == x->dims[0] * r->length;
}

static gboolean
build_rotary (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  guint n_in = axon_node_get_input (node, 3) ? 4 : 3;
  CpuTensor *in[4], *dst;
  Rotary r;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
      axon_shape_get_numel (&node->inputs[0]->type.shape) < 1 || !rotary_init (&r, node))
    return FALSE;
  for (guint i = 0; i < n_in; i++)
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_rotary, g_memdup2 (&r, sizeof r), g_free, "own", in, n_in, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_rotary_kernels[] = {
  { .name = "RotaryEmbedding", .impl = "own", .build = build_rotary },
  { 0 },
};
