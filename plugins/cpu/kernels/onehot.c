/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OneHot of elements of 1 to 8 bytes, whatever they mean: "off" everywhere, then "on" where the
 * indices say; one outside of the depth makes none. */
#include "kernels.h"
#include "../cpupool.h"

#define PARALLEL 16384

typedef struct {
  gint64 outer, depth, inner;
  gboolean wide; /* indices of i64, else i32 */
  void (*mark) (gpointer y, gconstpointer values, gint64 n, const gint64 *at, gint64 n_at);
} OneHot;

typedef struct {
  const OneHot *plan;
  gconstpointer indices, values;
  guint8 *y;
  gsize size;
} OneHotRun;

#define TOGETHER 256 /* indices */

/* @n elements, of which those at @at are on. Values are off and on. */
#define MARK(bits)                                                                                 \
  static void mark_##bits (gpointer y, gconstpointer values, gint64 n, const gint64 *at,           \
                           gint64 n_at)                                                            \
  {                                                                                                \
    guint##bits *to = y, off = ((const guint##bits *)values)[0];                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i] = off;                                                                                 \
    for (gint64 i = 0; i < n_at; i++)                                                              \
      to[at[i]] = ((const guint##bits *)values)[1];                                                \
  }
MARK (8)
MARK (16)
MARK (32)
MARK (64)

/* Where index @i is on, in elements from its line's first; -1: nowhere. */
static gint64
place_of (const OneHotRun *run, gint64 i)
{
  const OneHot *h = run->plan;
  gint64 at = h->wide ? ((const gint64 *)run->indices)[i] : ((const gint32 *)run->indices)[i];
  at += at < 0 ? h->depth : 0;
  return at < 0 || at >= h->depth ? -1 : at * h->inner;
}

/* Lines of which each has @inner indices. */
static void
mark_lines (gpointer data, gint64 first, gint64 end)
{
  const OneHotRun *run = data;
  const OneHot *h = run->plan;
  gint64 line = h->depth * h->inner, at[TOGETHER];
  for (gint64 o = first; o < end; o++) {
    guint8 *y = run->y + (gsize)(o * line) * run->size;
    gint64 n = 0;
    h->mark (y, run->values, line, at, 0);
    for (gint64 i = 0; i < h->inner; i++) {
      gint64 place = place_of (run, o * h->inner + i);
      if (place >= 0)
        at[n++] = place + i;
      if (n == TOGETHER || i == h->inner - 1) {
        h->mark (y, run->values, 0, at, n);
        n = 0;
      }
    }
  }
}

static void
run_one_hot (const CpuStep *step, const CpuInstance *instance)
{
  const OneHot *h = step->data;
  OneHotRun run = { h, cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->in[1]),
                    cpu_tensor_data (instance, step->out[0]),
                    axon_dtype_get_size (step->out[0]->dtype) };
  cpu_parallel_ranges (h->outer, PARALLEL / (h->depth * h->inner) + 1, mark_lines, &run);
}

static gboolean
build_one_hot (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  static void (*const marks[]) (gpointer, gconstpointer, gint64, const gint64 *,
                                gint64) = { mark_8, mark_16, mark_32, mark_64 };
  const AxonShape *y = &node->outputs[0]->type.shape;
  AxonDType index = node->inputs[0]->type.dtype, dtype = node->outputs[0]->type.dtype;
  gint word = g_bit_nth_lsf (axon_dtype_get_size (dtype), -1);
  gint axis = (gint)axon_node_get_int (node, "axis");
  OneHot h = { .outer = 1, .inner = 1, .wide = index == AXON_DTYPE_I64 };
  CpuTensor *in[2], *dst;
  if ((index != AXON_DTYPE_I32 && index != AXON_DTYPE_I64) || axon_shape_get_numel (y) < 1 ||
      word < 0 || word >= (gint)G_N_ELEMENTS (marks) || axon_dtype_is_packed (dtype) ||
      axon_dtype_is_boxed (dtype) || axon_shape_get_numel (&node->inputs[2]->type.shape) != 2)
    return FALSE;
  axis += axis < 0 ? y->rank : 0;
  h.depth = y->dims[axis];
  h.mark = marks[word];
  for (gint d = 0; d < y->rank; d++)
    *(d < axis ? &h.outer : &h.inner) *= d == axis ? 1 : y->dims[d];
  in[0] = cpu_plan_input_as (plan, node, 0, NULL);
  in[1] = cpu_plan_input_as (plan, node, 2, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_one_hot, g_memdup2 (&h, sizeof h), g_free, "own", in, 2, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_one_hot_kernels[] = {
  { .name = "OneHot", .impl = "own", .build = build_one_hot },
  { 0 },
};
