/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that give data another shape: views, also of what is not row-major where strides can
 * say it. What shuffles channels that lie last is one copy, and they stay last. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#define MOST_DIMS 6 /* that oneDNN converts fast */
#define PARALLEL 16384

/* Dimensions of more than one place. */
static gint
drop_ones (const AxonShape *shape, const gint64 *strides, gint64 *dims, gint64 *kept)
{
  gint n = 0;
  for (gint d = 0; d < shape->rank; d++)
    if (shape->dims[d] != 1) {
      kept[n] = strides[d];
      dims[n++] = shape->dims[d];
    }
  return n;
}

/* Strides of @y over the memory of @x. Both are cut into parts of as many elements; those of @x
 * must follow each other within a part. */
static gboolean
reshape_strides (const AxonShape *x, const gint64 *x_strides, const AxonShape *y, gint64 *strides)
{
  gint64 dims[AXON_MAX_RANK], old[AXON_MAX_RANK], step = 1;
  gint i = drop_ones (x, x_strides, dims, old) - 1, d = y->rank - 1;
  while (d >= 0 && i >= 0) {
    gint64 wanted = y->dims[d], given = dims[i];
    step = old[i];
    strides[d] = step;
    while (wanted != given)
      if (wanted < given && d > 0) {
        d--;
        strides[d] = strides[d + 1] * y->dims[d + 1];
        wanted *= y->dims[d];
      } else if (wanted > given && i > 0 && old[i - 1] == old[i] * dims[i]) {
        i--;
        given *= dims[i];
      } else {
        return FALSE;
      }
    step *= given;
    i--;
    d--;
  }
  for (; d >= 0; d--) /* ones */
    strides[d] = step;
  return i < 0;
}

/* A view of @src as it lies. */
static gboolean
add_view (CpuPlan *plan, const AxonNode *node, CpuTensor *src, const gint64 *strides)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  gint64 moved[AXON_MAX_RANK];
  g_autoptr (CpuMd) md = NULL;
  if (y->rank < 1 || y->rank > MOST_DIMS || !reshape_strides (&src->shape, strides, y, moved))
    return FALSE;
  md = cpu_md_strided (src->dtype, y, moved);
  if (md == NULL)
    return FALSE;
  cpu_plan_alias (plan, node, 0, src, md);
  return TRUE;
}

typedef struct {
  CpuInterleaveFunc interleave;
  gint64 h, w, streams, n, frame_step, row_step, pixel_step, stream_step;
  gsize size;
} Shuffle;

typedef struct {
  const Shuffle *plan;
  const guint8 *x;
  guint8 *y;
} ShuffleRun;

static void
shuffle_rows (gpointer data, gint64 first, gint64 end)
{
  const ShuffleRun *run = data;
  const Shuffle *s = run->plan;
  gsize pixel = (gsize)(s->streams * s->n) * s->size;
  for (gint64 r = first; r < end; r++) {
    gint64 from = r / s->h * s->frame_step + r % s->h * s->row_step;
    for (gint64 i = 0; i < s->w; i++, from += s->pixel_step)
      s->interleave (run->y + (gsize)(r * s->w + i) * pixel, run->x + (gsize)from * s->size,
                     s->streams, s->stream_step, s->n);
  }
}

static void
run_shuffle (const CpuStep *step, const CpuInstance *instance)
{
  const Shuffle *s = step->data;
  ShuffleRun run = { s, cpu_tensor_data (instance, step->in[0]),
                     cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (step->out[0]->shape.dims[0] * s->h,
                       PARALLEL / (s->w * s->streams * s->n) + 1, shuffle_rows, &run);
}

/* [frames, n, streams, height, width], of which the streams of n lie innermost, becomes [frames,
 * n * streams, height, width]. */
static gboolean
shuffle_init (Shuffle *s, const CpuTensor *src, const gint64 *strides, const AxonShape *y)
{
  const AxonShape *x = &src->shape;
  gsize size = axon_dtype_get_size (src->dtype);
  const CpuMove *loops = cpu_isa_get ()->vector->move;
  if (x->rank != 5 || y->rank != 4 || size >= G_N_ELEMENTS (loops->interleave) ||
      loops->interleave[size] == NULL || x->dims[0] != y->dims[0] || x->dims[3] != y->dims[2] ||
      x->dims[4] != y->dims[3] || strides[1] != 1 || strides[2] < x->dims[1] ||
      strides[4] < strides[2] * x->dims[2])
    return FALSE;
  *s = (Shuffle){ loops->interleave[size],
                  x->dims[3],
                  x->dims[4],
                  x->dims[2],
                  x->dims[1],
                  strides[0],
                  strides[3],
                  strides[4],
                  strides[2],
                  size };
  return TRUE;
}

static gboolean
add_shuffle (CpuPlan *plan, const AxonNode *node, CpuTensor *src, const gint64 *strides)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *dst;
  Shuffle s;
  if (!shuffle_init (&s, src, strides, y))
    return FALSE;
  md = cpu_md_channels_last (src->dtype, y);
  dst = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_shuffle, g_memdup2 (&s, sizeof s), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

static gboolean
build_view (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  gint64 strides[AXON_MAX_RANK];
  CpuTensor *src;
  if (axon_value_is_constant (node->inputs[0]))
    return FALSE;
  src = cpu_plan_input (plan, node, 0);
  if (src->md != NULL && cpu_md_get_strides (src->md, &src->shape, strides) &&
      (add_view (plan, node, src, strides) || add_shuffle (plan, node, src, strides)))
    return TRUE;
  cpu_plan_alias (plan, node, 0, cpu_plan_input_as (plan, node, 0, NULL), NULL);
  return TRUE;
}

const CpuKernel cpu_reshape_kernels[] = {
  { .name = "Reshape", .impl = "view", .build = build_view },
  { .name = "Flatten", .impl = "view", .build = build_view },
  { .name = "Squeeze", .impl = "view", .build = build_view },
  { .name = "Unsqueeze", .impl = "view", .build = build_view },
  { .name = "Identity", .impl = "view", .build = build_view },
  { 0 },
};
