/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat, along channels, of views that are neither row-major nor channels last, such as every
 * second column of every second row (the first layer of YOLOv5's first versions and of YOLOX, their
 * "Focus"): channels last, a row of the result at a time. Blocks of channels are oneDNN's
 * (onednn/concat.c), of other parts copying runs is faster (concat.c). */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#define PARALLEL_BYTES (1 << 16)

/* Bytes from one frame, channel, row and column to the next. */
typedef struct {
  gint64 channels, steps[4];
} Part;

typedef struct {
  gint64 frames, channels, h, w; /* of the result */
  gsize size;                    /* bytes of an element */
  const CpuMove *move;
  guint n_parts;
  Part parts[];
} Scattered;

/* Of one run. */
typedef struct {
  const CpuStep *step;
  const CpuInstance *instance;
} Run;

/* Columns of each channel side by side, then channels of each column. */
static void
join_row (const Run *run, gint64 row, guint8 *side_by_side)
{
  const Scattered *p = run->step->data;
  guint8 *y = cpu_tensor_data (run->instance, run->step->out[0]), *to = side_by_side;
  gsize line = (gsize)p->w * p->size;
  for (guint i = 0; i < p->n_parts; i++) {
    const Part *part = &p->parts[i];
    const guint8 *x = cpu_tensor_data (run->instance, run->step->in[i]);
    x += row / p->h * part->steps[0] + row % p->h * part->steps[2];
    for (gint64 c = 0; c < part->channels; c++, to += line)
      p->move->copy_runs (to, p->size, x + c * part->steps[1], (gsize)part->steps[3], p->size,
                          p->w);
  }
  p->move->interleave[p->size](y + (gsize)row * line * (gsize)p->channels, side_by_side,
                               p->channels, p->w, p->w);
}

static void
join_rows (gpointer data, gint64 first, gint64 end)
{
  const Run *run = data;
  const Scattered *p = run->step->data;
  guint8 *scratch = cpu_tensor_data (run->instance, run->step->out[1]);
  scratch += cpu_parallel_thread () * (gsize)(p->channels * p->w) * p->size;
  for (gint64 i = first; i < end; i++)
    join_row (run, i, scratch);
}

static void
run_scattered (const CpuStep *step, const CpuInstance *instance)
{
  const Scattered *p = step->data;
  Run run = { step, instance };
  cpu_parallel_ranges (p->frames * p->h,
                       PARALLEL_BYTES / (p->channels * p->w * (gint64)p->size) + 1, join_rows,
                       &run);
}

/* FALSE for what is row-major, or channels last, or in blocks. */
static gboolean
is_scattered (const CpuTensor *t, gint64 *strides)
{
  return t->md != NULL && cpu_md_get_strides (t->md, &t->shape, strides) && strides[1] != 1;
}

static Scattered *
scattered_new (CpuPlan *plan, const AxonNode *node)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  Scattered *p = g_malloc0 (sizeof *p + node->n_inputs * sizeof *p->parts);
  p->frames = y->dims[0];
  p->channels = y->dims[1];
  p->h = y->dims[2];
  p->w = y->dims[3];
  p->size = axon_dtype_get_size (node->inputs[0]->type.dtype);
  p->move = cpu_isa_get ()->vector->move;
  p->n_parts = node->n_inputs;
  for (guint i = 0; i < p->n_parts; i++) {
    const CpuTensor *x = cpu_plan_input (plan, node, i);
    gint64 strides[AXON_MAX_RANK];
    if (!is_scattered (x, strides)) {
      g_free (p);
      return NULL;
    }
    p->parts[i].channels = x->shape.dims[1];
    for (gint d = 0; d < 4; d++)
      p->parts[i].steps[d] = strides[d] * (gint64)p->size;
  }
  return p;
}

static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  AxonDType dtype = node->inputs[0]->type.dtype;
  gint axis = (gint)axon_node_get_int (node, "axis");
  gsize size = axon_dtype_get_size (dtype);
  g_autofree CpuTensor **in = g_new (CpuTensor *, node->n_inputs + 1);
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *out[2];
  Scattered *p;
  if (y->rank != 4 || (axis != 1 && axis != -3) || !cpu_dnn_has_type (dtype) ||
      cpu_isa_get ()->vector->move->interleave[size] == NULL || axon_shape_get_numel (y) < 1)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) < 1)
      return FALSE;
  p = scattered_new (plan, node);
  if (p == NULL)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = cpu_plan_input (plan, node, i);
  md = cpu_md_channels_last (dtype, y);
  out[0] = cpu_plan_output (plan, node, 0, md);
  out[1] = cpu_plan_scratch_bytes (plan, (gsize)(p->channels * p->w) * size * plan->n_threads);
  cpu_plan_add_step (plan, run_scattered, p, g_free, "own", in, node->n_inputs, out, 2);
  return TRUE;
}

const CpuKernel cpu_scattered_kernels[] = {
  { .name = "Concat", .impl = "own", .build = build_concat },
  { 0 },
};
