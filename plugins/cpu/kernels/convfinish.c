/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows a convolution of oneDNN's: activations for which it has no fast code, and a
 * residual. In place and in any layout, some thousand elements at a time, so that all of it
 * but the first happens in the nearest cache. */
#include "convfinish.h"

#include "floatposts.h"

#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#define PARALLEL 16384 /* elements that are worth a thread */
#define PIECE 2048

typedef struct {
  CpuFloatPosts posts;
  const CpuEltwise *loops;
  gint64 n;
} Finish;

typedef struct {
  const Finish *plan;
  gfloat *y;
  const gfloat *residual;
} FinishRun;

static void
finish (const Finish *f, gfloat *y, const gfloat *residual, gint64 n)
{
  if (f->posts.before.kind != CPU_POST_NONE)
    f->loops->post (y, y, n, &f->posts.before);
  if (residual != NULL)
    f->loops->pair[CPU_PAIR_ADD](y, y, residual, n, 1, 1);
  if (f->posts.after.kind != CPU_POST_NONE)
    f->loops->post (y, y, n, &f->posts.after);
}

static void
finish_elements (gpointer data, gint64 first, gint64 end)
{
  const FinishRun *run = data;
  for (gint64 n; first < end; first += n) {
    n = MIN (PIECE, end - first);
    finish (run->plan, run->y + first, run->residual ? run->residual + first : NULL, n);
  }
}

static void
run_finish (const CpuStep *step, const CpuInstance *instance)
{
  const Finish *f = step->data;
  FinishRun run = { f, cpu_tensor_data (instance, step->out[0]),
                    step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL };
  cpu_parallel_ranges (f->n, PARALLEL, finish_elements, &run);
}

static gboolean
finish_init (Finish *f, const AxonNode *node)
{
  *f = (Finish){ .loops = cpu_isa_get ()->vector->eltwise };
  return cpu_float_posts_init (&f->posts, node) && !f->posts.has_slopes;
}

/* What fills the last block of channels has to stay 0, for oneDNN adds it up. */
gboolean
cpu_can_finish_conv (const AxonNode *node)
{
  Finish f;
  gfloat zero = 0;
  if (!finish_init (&f, node))
    return FALSE;
  if (cpu_dnn_is_channels_last ())
    return TRUE;
  finish (&f, &zero, NULL, 1);
  return zero == 0 || node->outputs[0]->type.shape.dims[1] % CPU_DNN_BLOCK == 0;
}

void
cpu_finish_conv (CpuPlan *plan, const AxonNode *node, CpuTensor *y)
{
  Finish f;
  CpuTensor *in[2] = { y, NULL };
  finish_init (&f, node);
  if (f.posts.has_sum)
    in[1] = cpu_plan_input_as (plan, node, CPU_CONV_RESIDUAL, y->md);
  f.n = (gint64)(cpu_tensor_get_bytes (y) / sizeof (gfloat));
  cpu_plan_add_step (plan, run_finish, g_memdup2 (&f, sizeof f), g_free, "own", in,
                     f.posts.has_sum ? 2 : 1, &y, 1);
}
