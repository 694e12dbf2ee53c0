/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators of floats in blocks of channels and of a number for each channel, as
 * squeeze and excite multiplies: oneDNN has none, and taking blocks apart is a pass over memory,
 * twice. The numbers of a block are repeated for some pixels, so that rows are long. */
#include "inblocks.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define PARALLEL 16384 /* elements that are worth a thread */
#define REPEATED 512   /* at most, of a block's numbers */

typedef struct {
  CpuPairFunc pair;
  gint64 planes, pixels, block;
  gint64 sets;     /* blocks of numbers: of all frames, or of each */
  gboolean turned; /* the numbers are the first operand */
} InBlocks;

/* Of one run. */
typedef struct {
  const InBlocks *plan;
  const gfloat *x, *numbers;
  gfloat *y;
} InBlocksRun;

static void
run_planes (gpointer data, gint64 first, gint64 end)
{
  const InBlocksRun *run = data;
  const InBlocks *p = run->plan;
  const gint64 all = p->pixels * p->block, some = MIN (all, REPEATED / p->block * p->block);
  gfloat repeated[REPEATED];
  for (gint64 i = first; i < end; i++) {
    const gfloat *numbers = run->numbers + i % p->sets * p->block, *x = run->x + i * all;
    gfloat *y = run->y + i * all;
    for (gint64 at = 0; at < some; at += p->block)
      memcpy (repeated + at, numbers, (gsize)p->block * sizeof *repeated);
    for (gint64 at = 0; at < all; at += some)
      p->pair (y + at, p->turned ? repeated : x + at, p->turned ? x + at : repeated,
               MIN (some, all - at), 1, 1);
  }
}

static void
run_in_blocks (const CpuStep *step, const CpuInstance *instance)
{
  const InBlocks *p = step->data;
  InBlocksRun run = { p, cpu_tensor_data (instance, step->in[0]),
                      cpu_tensor_data (instance, step->in[1]),
                      cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (p->planes, PARALLEL / (p->pixels * p->block) + 1, run_planes, &run);
}

/* Blocks of channels of input @index, which has the shape of the result, while the other one has a
 * number for each channel, of all frames or of each; 0: not so. */
static gint64
block_of (CpuPlan *plan, const AxonNode *node, guint index)
{
  const AxonShape *y = &node->outputs[0]->type.shape, *s = &node->inputs[1 - index]->type.shape;
  const CpuTensor *x = cpu_plan_input (plan, node, index);
  gint64 block;
  if (y->rank != 4 || s->rank < 3 || s->rank > 4 || !axon_shape_equal (&x->shape, y) ||
      axon_shape_get_numel (y) == 0 || s->dims[s->rank - 3] != y->dims[1] ||
      s->dims[s->rank - 2] * s->dims[s->rank - 1] != 1 ||
      (s->rank == 4 && s->dims[0] != 1 && s->dims[0] != y->dims[0]))
    return 0;
  block = cpu_md_get_block (x->md, x->dtype, &x->shape);
  return block > 0 && block <= REPEATED && y->dims[1] % block == 0 ? block : 0;
}

gboolean
cpu_pair_in_blocks (CpuPlan *plan, const AxonNode *node, CpuPairFunc pair)
{
  guint index = block_of (plan, node, 0) > 0 ? 0 : 1;
  gint64 block = block_of (plan, node, index);
  const AxonShape *y = &node->outputs[0]->type.shape, *s = &node->inputs[1 - index]->type.shape;
  CpuTensor *in[2], *out;
  InBlocks *p;
  if (block == 0 || node->outputs[0]->type.dtype != AXON_DTYPE_F32)
    return FALSE;
  p = g_new (InBlocks, 1);
  *p = (InBlocks){ .pair = pair,
                   .planes = y->dims[0] * y->dims[1] / block,
                   .pixels = y->dims[2] * y->dims[3],
                   .block = block,
                   .sets = axon_shape_get_numel (s) / block,
                   .turned = index == 1 };
  in[0] = cpu_plan_input (plan, node, index);
  in[1] = cpu_plan_input_as (plan, node, 1 - index, NULL);
  out = cpu_plan_output (plan, node, 0, in[0]->md);
  cpu_plan_add_step (plan, run_in_blocks, p, g_free, "own", in, 2, &out, 1);
  return TRUE;
}
