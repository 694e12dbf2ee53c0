/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat of data of any type that lies row-major, or channels last: runs are copied. Channels-last
 * parts of channels may be views, whose pixels are further apart. What lies otherwise goes straight
 * to its place in a row-major whole by a step of its own. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#define PARALLEL_BYTES (1 << 18)
#define BLOCK_BYTES (1 << 14) /* of the output, from all inputs, then the next ones */

typedef struct {
  gsize bytes, step; /* of a run of an input, from one run to the next */
  gsize at;          /* where it is in a run of the output */
} Part;

typedef struct {
  gint64 outer, block; /* runs of each input, those that are copied at a time */
  gsize row;           /* bytes of a run of the output */
  CpuCopyRunsFunc copy;
  Part parts[];
} ConcatPlan;

/* Of one run. */
typedef struct {
  const CpuStep *step;
  const CpuInstance *instance;
} ConcatRun;

static void
concat_block (const ConcatRun *run, gint64 first, gint64 n)
{
  const ConcatPlan *p = run->step->data;
  guint8 *y = cpu_tensor_data (run->instance, run->step->out[0]);
  y += (gsize)first * p->row;
  for (guint i = 0; i < run->step->n_in; i++) {
    const guint8 *x = cpu_tensor_data (run->instance, run->step->in[i]);
    const Part *part = &p->parts[i];
    p->copy (y + part->at, p->row, x + (gsize)first * part->step, part->step, part->bytes, n);
  }
}

static void
concat_rows (gpointer data, gint64 first, gint64 end)
{
  const ConcatRun *run = data;
  const ConcatPlan *p = run->step->data;
  for (gint64 o = first; o < end; o += p->block)
    concat_block (run, o, MIN (p->block, end - o));
}

static void
run_concat (const CpuStep *step, const CpuInstance *instance)
{
  const ConcatPlan *p = step->data;
  ConcatRun run = { step, instance };
  cpu_parallel_ranges (p->outer, PARALLEL_BYTES / (gint64)MAX (p->row, 1) + 1, concat_rows, &run);
}

/* TRUE if channels are side by side, and all pixels @pixel elements apart. */
static gboolean
has_pixels (const CpuTensor *t, gint64 *pixel)
{
  const gint64 *dims = t->shape.dims;
  gint64 strides[AXON_MAX_RANK];
  if (t->md == NULL || t->shape.rank != 4 || !cpu_md_get_strides (t->md, &t->shape, strides))
    return FALSE;
  *pixel = strides[3];
  return strides[1] == 1 && (dims[2] == 1 || strides[2] == dims[3] * *pixel) &&
         (dims[0] == 1 || strides[0] == dims[2] * dims[3] * *pixel);
}

/* The first input says how the result lies; its channels may be some apart. */
static gboolean
is_channels_last (CpuPlan *plan, const AxonNode *node)
{
  gint64 strides[AXON_MAX_RANK];
  const CpuTensor *t = cpu_plan_input (plan, node, 0);
  return t->md != NULL && t->shape.rank == 4 &&
         axon_shape_get_numel (&node->outputs[0]->type.shape) > 0 &&
         cpu_md_get_strides (t->md, &t->shape, strides) &&
         cpu_channels_are_inner (&t->shape, strides);
}

/* TRUE for a view of another order whose runs lie as those of the result do. */
static gboolean
has_own_order (const CpuTensor *t, gint axis)
{
  gint64 strides[AXON_MAX_RANK], rows[AXON_MAX_RANK];
  gboolean same = TRUE;
  if (t->md == NULL || axon_shape_get_numel (&t->shape) == 0 ||
      !cpu_md_get_strides (t->md, &t->shape, strides))
    return FALSE;
  cpu_md_get_strides (NULL, &t->shape, rows);
  for (gint d = 0; d < t->shape.rank; d++) {
    gboolean differs = t->shape.dims[d] > 1 && strides[d] != rows[d];
    if (differs && d >= axis)
      return FALSE;
    same = same && !differs;
  }
  return !same;
}

/* Input @index in the result's order; what is empty has no layout. NULL: add_reorders() takes it.
 */
static CpuTensor *
read_part (CpuPlan *plan, const AxonNode *node, guint index, gboolean last, gint axis,
           ConcatPlan *p, Part *part)
{
  CpuTensor *t = cpu_plan_input (plan, node, index);
  gsize size = axon_dtype_get_size (t->dtype), n = (gsize)axon_shape_get_numel (&t->shape);
  g_autoptr (CpuMd) md = last && n > 0 ? cpu_md_channels_last (t->dtype, &t->shape) : NULL;
  gint64 pixel;
  part->bytes = part->step = n / (gsize)MAX (p->outer, 1) * size;
  part->at = p->row;
  p->row += part->bytes;
  if (!last && has_own_order (t, axis))
    return NULL;
  if (n == 0 || !last || axis != 1 || !has_pixels (t, &pixel))
    return cpu_plan_input_as (plan, node, index, md);
  part->step = (gsize)pixel * size;
  return t;
}

/* The parts that read_part() left out. */
static void
add_reorders (CpuPlan *plan, const AxonNode *node, gint axis, CpuTensor *out)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint64 strides[AXON_MAX_RANK], at = 0;
  cpu_md_get_strides (NULL, y, strides);
  for (guint i = 0; i < node->n_inputs; i++) {
    CpuTensor *t = cpu_plan_input (plan, node, i);
    if (has_own_order (t, axis))
      cpu_dnn_add_reorder (plan, t,
                           cpu_dnn_view (plan, out, &t->shape,
                                         cpu_md_strided (t->dtype, &t->shape, strides),
                                         at * strides[axis]));
    at += t->shape.dims[axis];
  }
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  static const gint places[] = { 0, 3, 1, 2 }; /* where dimensions lie, channels last */
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint axis = (gint)axon_node_get_int (node, "axis");
  g_autofree CpuTensor **in = g_new0 (CpuTensor *, node->n_inputs);
  ConcatPlan *p = g_malloc0 (sizeof *p + node->n_inputs * sizeof *p->parts);
  gboolean last = is_channels_last (plan, node);
  g_autoptr (CpuMd) md = last ? cpu_md_channels_last (node->outputs[0]->type.dtype, y) : NULL;
  CpuTensor *out;
  guint n = 0;
  axis += axis < 0 ? y->rank : 0;
  p->outer = 1;
  for (gint d = 0; d < y->rank; d++)
    if (last ? places[d] < places[axis] : d < axis)
      p->outer *= y->dims[d];
  for (guint i = 0; i < node->n_inputs; i++) {
    in[n] = read_part (plan, node, i, last, axis, p, &p->parts[n]);
    n += in[n] != NULL;
  }
  p->block = MAX (BLOCK_BYTES / (gint64)MAX (p->row, 1), 1);
  p->copy = cpu_isa_get ()->vector->move->copy_runs;
  out = cpu_plan_output (plan, node, 0, md);
  if (!last)
    add_reorders (plan, node, axis, out);
  if (n == 0) {
    g_free (p);
    return TRUE;
  }
  cpu_plan_add_step (plan, run_concat, p, g_free, "own", in, n, &out, 1);
  return TRUE;
}

const CpuKernel cpu_concat_kernels[] = {
  { .name = "Concat", .impl = "own", .build = build_concat },
  { 0 },
};
