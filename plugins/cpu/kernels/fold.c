/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Col2Im of row-major f32: each plane of the image by itself, to which the patches' rows are added
 * tap by tap. */
#include "kernels.h"
#include "../cpupool.h"

#include <string.h>

#define PARALLEL 16384

typedef struct {
  AxonWindow window;                 /* its input is the image */
  gint64 planes, plane, taps, count; /* elements of a plane; places of the window */
} Fold;

typedef struct {
  const Fold *plan;
  const gfloat *x;
  gfloat *y;
} FoldRun;

/* Places of the window along an axis at which a tap is within the image, and where it is at 0. */
typedef struct {
  gint64 first, end, at, step;
} Inside;

static Inside
places_inside (const AxonWindow *w, gint d, gint64 tap)
{
  gint64 at = tap * w->dilation[d] - w->pad[d], step = w->stride[d];
  gint64 last = w->in[d] - 1 - at;
  return (Inside){ .first = at < 0 ? (-at + step - 1) / step : 0,
                   .end = last < 0 ? 0 : MIN (last / step + 1, w->out[d]),
                   .at = at,
                   .step = step };
}

static void
add_row (gfloat *restrict y, const gfloat *restrict x, gint64 n, gint64 step)
{
  if (step == 1)
    for (gint64 i = 0; i < n; i++)
      y[i] += x[i];
  else
    for (gint64 i = 0; i < n; i++)
      y[i * step] += x[i];
}

static void
add_tap (const AxonWindow *w, const gint64 *tap, const gfloat *x, gfloat *y)
{
  Inside z = places_inside (w, 0, tap[0]), r = places_inside (w, 1, tap[1]);
  Inside c = places_inside (w, 2, tap[2]);
  for (gint64 i = z.first; i < z.end; i++)
    for (gint64 j = r.first; j < r.end && c.first < c.end; j++)
      add_row (y + ((z.at + i * z.step) * w->in[1] + r.at + j * r.step) * w->in[2] + c.at +
                   c.first * c.step,
               x + (i * w->out[1] + j) * w->out[2] + c.first, c.end - c.first, c.step);
}

static void
fold_planes (gpointer data, gint64 first, gint64 end)
{
  const FoldRun *run = data;
  const Fold *f = run->plan;
  const gint64 *kernel = f->window.kernel;
  for (gint64 p = first; p < end; p++) {
    gfloat *y = run->y + p * f->plane;
    memset (y, 0, (gsize)f->plane * sizeof *y);
    for (gint64 t = 0; t < f->taps; t++) {
      const gint64 tap[] = { t / kernel[2] / kernel[1], t / kernel[2] % kernel[1], t % kernel[2] };
      add_tap (&f->window, tap, run->x + (p * f->taps + t) * f->count, y);
    }
  }
}

static void
run_fold (const CpuStep *step, const CpuInstance *instance)
{
  const Fold *f = step->data;
  FoldRun run = { f, cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (f->planes, PARALLEL / (f->taps * f->count + f->plane) + 1, fold_planes,
                       &run);
}

static gboolean
build_fold (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *y = &node->outputs[0]->type.shape;
  const AxonTensor *block = cpu_node_constant (node, 2);
  gint64 kernel[AXON_MAX_RANK];
  CpuTensor *src, *dst;
  Fold f = { .taps = 1, .count = 1 };
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || block == NULL ||
      axon_shape_get_numel (&node->inputs[0]->type.shape) < 1 || axon_shape_get_numel (y) < 1)
    return FALSE;
  for (gint d = 0; d < y->rank - 2; d++)
    kernel[d] = (gint64)axon_tensor_get_value (block, (gsize)d);
  if (!axon_window_init (&f.window, node, y, kernel, FALSE, NULL))
    return FALSE;
  for (gint d = 0; d < 3; d++) {
    f.taps *= f.window.kernel[d];
    f.count *= f.window.out[d];
  }
  f.planes = y->dims[0] * y->dims[1];
  f.plane = axon_shape_get_numel (y) / f.planes;
  src = cpu_plan_input_as (plan, node, 0, NULL);
  dst = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run_fold, g_memdup2 (&f, sizeof f), g_free, "own", &src, 1, &dst, 1);
  return TRUE;
}

const CpuKernel cpu_fold_kernels[] = {
  { .name = "Col2Im", .impl = "own", .build = build_fold },
  { 0 },
};
