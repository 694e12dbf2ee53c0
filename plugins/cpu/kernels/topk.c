/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* TopK of f32 along any axis, channels last and row-major. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>

/* Elements that are worth a thread. */
#define PARALLEL 16384

/* A heap of the k best, the worst of them on top. */
typedef struct {
  CpuLines lines;
  gint64 k, step; /* step: from one element of a line to the next */
  gfloat sign;
  gboolean values, indices; /* which outputs are wanted */
  const CpuReduce *loops;
} TopPlan;

/* Value and index as one number, the larger the better. */
typedef guint64 Entry;

/* The bits of floats are in order, those of negative ones backwards. NaN is above every number, so
 * the last of the smallest; of equal values the lower index is better, and 0 is no more than -0. */
static inline Entry
make_entry (gfloat value, gint64 index, gboolean smallest)
{
  union {
    gfloat value;
    guint32 bits;
  } f = { value + 0.0f };
  guint32 order = isnan (value) ? G_MAXUINT32 : f.bits >> 31 ? ~f.bits : f.bits | 1u << 31;
  return (Entry)(smallest ? ~order : order) << 32 | (guint32)~index;
}

static inline gint64
index_of (Entry e)
{
  return (guint32)~e;
}

static void
sift_down (Entry *heap, gint64 n, gint64 at)
{
  Entry moved = heap[at];
  for (gint64 child = 2 * at + 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n)
      child += heap[child + 1] < heap[child];
    if (moved <= heap[child])
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = moved;
}

/* The first from @i on that may be better than the worst of @heap. */
static inline gint64
next_better (const TopPlan *p, const gfloat *x, gint64 i, const Entry *heap)
{
  if (p->step != 1)
    return i;
  return i + p->loops->find_above (x + i, p->lines.n - i, p->sign, x[index_of (heap[0])] * p->sign);
}

static void
top_of_line (const TopPlan *p, const gfloat *x, Entry *heap)
{
  gboolean smallest = p->sign < 0;
  gint64 step = p->step;
  for (gint64 i = 0; i < p->k; i++)
    heap[i] = make_entry (x[i * step], i, smallest);
  for (gint64 i = p->k / 2; i-- > 0;)
    sift_down (heap, p->k, i);
  for (gint64 i = p->k; p->k > 0 && (i = next_better (p, x, i, heap)) < p->lines.n; i++) {
    Entry e = make_entry (x[i * step], i, smallest);
    if (e < heap[0])
      continue;
    heap[0] = e;
    sift_down (heap, p->k, 0);
  }
  for (gint64 n = p->k; n > 1; n--) { /* the worst goes last */
    Entry worst = heap[0];
    heap[0] = heap[n - 1];
    heap[n - 1] = worst;
    sift_down (heap, n - 1, 0);
  }
}

/* Of one run. */
typedef struct {
  const TopPlan *plan;
  const gfloat *x;
  Entry *heaps; /* by thread */
  gfloat *values;
  gint64 *indices;
} TopRun;

static void
top_of_lines (gpointer data, gint64 first, gint64 end)
{
  const TopRun *run = data;
  const TopPlan *p = run->plan;
  const CpuLines *l = &p->lines;
  Entry *heap = run->heaps + (gint64)cpu_parallel_thread () * p->k;
  for (gint64 line = first; line < end; line++) {
    gint64 within =
        p->step == 1 ? line * l->n : line / l->inner * l->n * l->inner + line % l->inner;
    const gfloat *x = run->x + within;
    gint64 y = line / l->inner * p->k * l->inner + line % l->inner;
    top_of_line (p, x, heap);
    for (gint64 i = 0; i < p->k; i++, y += l->inner) {
      if (run->values != NULL)
        run->values[y] = x[index_of (heap[i]) * p->step];
      if (run->indices != NULL)
        run->indices[y] = index_of (heap[i]);
    }
  }
}

static void
run_top (const CpuStep *step, const CpuInstance *instance)
{
  const TopPlan *p = step->data;
  TopRun run = { .plan = p,
                 .x = cpu_tensor_data (instance, step->in[0]),
                 .heaps = cpu_tensor_data (instance, step->out[0]) };
  if (p->values)
    run.values = cpu_tensor_data (instance, step->out[1]);
  if (p->indices)
    run.indices = cpu_tensor_data (instance, step->out[p->values ? 2 : 1]);
  cpu_parallel_ranges (p->lines.outer * p->lines.inner, PARALLEL / p->lines.n + 1, top_of_lines,
                       &run);
}

static gboolean
build_topk (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  TopPlan p = { .sign = axon_node_get_int (node, "largest") != 0 ? 1 : -1,
                .values = node->outputs[0] != NULL,
                .loops = cpu_isa_get ()->vector->reduce,
                .indices = node->n_outputs > 1 && node->outputs[1] != NULL };
  guint result = p.values ? 0 : 1, n_out = 1;
  CpuTensor *src, *out[3];
  gboolean last;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank < 1 ||
      x->dims[axis < 0 ? axis + x->rank : axis] > G_MAXINT32 ||
      (src = cpu_axis_input (plan, node, &p.lines, &last)) == NULL)
    return FALSE;
  p.step = last ? 1 : p.lines.inner;
  p.k = node->outputs[result]->type.shape.dims[axis < 0 ? axis + x->rank : axis];
  out[0] = cpu_plan_scratch_bytes (plan, plan->n_threads * (gsize)MAX (p.k, 1) * sizeof (Entry));
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL)
      out[n_out++] = cpu_plan_output (plan, node, i, NULL);
  cpu_plan_add_step (plan, run_top, g_memdup2 (&p, sizeof p), g_free, "own", &src, 1, out, n_out);
  return TRUE;
}

const CpuKernel cpu_topk_kernels[] = {
  { .name = "TopK", .impl = "own", .build = build_topk },
  { 0 },
};
