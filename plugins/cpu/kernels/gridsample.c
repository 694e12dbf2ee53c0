/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GridSample of floats, channels last or row-major: the taps of some hundred places, then all
 * channels of them. Few channels of a picture of which most is read are put side by side before:
 * places that lie anywhere find them in one line of the cache, not in one a channel. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define PARALLEL 16384
#define CHUNK 512          /* places */
#define FARTHEST (1 << 22) /* pixels: of fewer, a float tells halves */
#define MOST_BESIDE 4      /* channels side by side */

typedef enum { ONE_BY_ONE, IN_PAIRS, SIDE_BY_SIDE, CHANNELS_LAST } Way;

typedef struct {
  CpuSampler sampler;
  const CpuSample *loops;
  const CpuMove *move;
  Way way;
  gint64 frames, channels, plane, points;
  gsize beside; /* floats of the scratch before pixels side by side */
} Sample;

typedef struct {
  const Sample *plan;
  const gfloat *x, *grid;
  gfloat *y, *scratch;
} SampleRun;

/* Of a thread: as many indices, and weights. */
static gsize
taps_of_chunk (const Sample *s)
{
  return CHUNK * (gsize)s->sampler.taps;
}

static void
sample_pixels (const Sample *s, const gfloat *x, const gfloat *grid, gint64 n, gint32 *at,
               gfloat *weight, gfloat *y)
{
  gint taps = s->sampler.taps;
  s->loops->locate (&s->sampler, grid, n, taps, 1, -1, at, weight);
  memset (y, 0, (gsize)(n * s->channels) * sizeof *y);
  for (gint64 i = 0; i < n; i++)
    s->loops->add_pixels (y + i * s->channels, x, at + i * taps, weight + i * taps, taps,
                          s->channels);
}

/* @x: planes of a frame; @beside: its pixels side by side. */
static void
sample_planes (const Sample *s, const gfloat *x, const gfloat *beside, const gfloat *grid, gint64 n,
               gint32 *at, gfloat *weight, gfloat *y)
{
  const CpuSampler *sampler = &s->sampler;
  gboolean in_pairs = s->way != ONE_BY_ONE;
  if (in_pairs)
    s->loops->locate_pairs (sampler, grid, n, at, weight);
  else
    s->loops->locate (sampler, grid, n, 1, n, 0, at, weight);
  if (s->way == SIDE_BY_SIDE &&
      s->loops->mix_pixels (y, s->points, beside, s->channels, at, weight, sampler->taps, n))
    return;
  for (gint64 c = 0; c < s->channels; c++)
    (in_pairs ? s->loops->pairs : s->loops->columns) (y + c * s->points, x + c * s->plane, at,
                                                      weight, sampler->taps, n);
}

static void
sample_chunk (const SampleRun *run, gint64 first, gint64 n)
{
  const Sample *s = run->plan;
  gint64 frame = first / s->points, p = first % s->points, pixels = frame * s->channels * s->plane;
  const gfloat *x = run->x + pixels, *grid = run->grid + first * s->sampler.rank;
  gfloat *y = run->y + frame * s->channels * s->points;
  gfloat *weight = run->scratch + cpu_parallel_thread () * 2 * taps_of_chunk (s);
  gint32 *at = (gint32 *)(gpointer)(weight + taps_of_chunk (s));
  if (s->way == CHANNELS_LAST)
    sample_pixels (s, x, grid, n, at, weight, y + p * s->channels);
  else
    sample_planes (s, x, run->scratch + s->beside + pixels, grid, n, at, weight, y + p);
}

static void
sample_range (gpointer data, gint64 first, gint64 end)
{
  const SampleRun *run = data;
  while (first < end) {
    gint64 left = run->plan->points - first % run->plan->points;
    gint64 n = MIN (MIN (CHUNK, left), end - first);
    sample_chunk (run, first, n);
    first += n;
  }
}

static void
put_beside (gpointer data, gint64 first, gint64 end)
{
  const SampleRun *run = data;
  const Sample *s = run->plan;
  while (first < end) {
    gint64 at = first % s->plane, n = MIN (s->plane - at, end - first);
    s->move->interleave[sizeof *run->x](run->scratch + s->beside + first * s->channels,
                                        run->x + (first - at) * s->channels + at, s->channels,
                                        s->plane, n);
    first += n;
  }
}

static void
run_sample (const CpuStep *step, const CpuInstance *instance)
{
  const Sample *s = step->data;
  SampleRun run = { s, cpu_tensor_data (instance, step->in[0]),
                    cpu_tensor_data (instance, step->in[1]),
                    cpu_tensor_data (instance, step->out[0]),
                    cpu_tensor_data (instance, step->out[1]) };
  if (s->way == SIDE_BY_SIDE)
    cpu_parallel_ranges (s->frames * s->plane, PARALLEL, put_beside, &run);
  cpu_parallel_ranges (s->frames * s->points, PARALLEL / (s->channels * s->sampler.taps) + 1,
                       sample_range, &run);
}

/* Names of opset 16 and those since 20. */
static const struct {
  const gchar *name;
  CpuSampleMode mode;
  gint taps; /* along an axis */
} modes[] = { { "nearest", CPU_SAMPLE_NEAREST, 1 },
              { "linear", CPU_SAMPLE_LINEAR, 2 },
              { "bilinear", CPU_SAMPLE_LINEAR, 2 },
              { "cubic", CPU_SAMPLE_CUBIC, 4 },
              { "bicubic", CPU_SAMPLE_CUBIC, 4 } };

static const gchar *const paddings[] = { [CPU_SAMPLE_ZEROS] = "zeros",
                                         [CPU_SAMPLE_BORDER] = "border",
                                         [CPU_SAMPLE_REFLECTION] = "reflection" };

static gboolean
sampler_init (CpuSampler *s, const AxonNode *node)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  *s = (CpuSampler){ .rank = x->rank - 2, .align = axon_node_get_int (node, "align_corners") != 0 };
  for (gint d = 0; d < CPU_SAMPLE_AXES; d++) {
    s->size[d] = d < CPU_SAMPLE_AXES - s->rank ? 1 : x->dims[x->rank - CPU_SAMPLE_AXES + d];
    if (s->size[d] > FARTHEST)
      return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (paddings); i++)
    if (g_str_equal (axon_node_get_string (node, "padding_mode"), paddings[i]))
      s->padding = (CpuSamplePadding)i;
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (g_str_equal (axon_node_get_string (node, "mode"), modes[i].name)) {
      s->mode = modes[i].mode;
      s->taps = 1;
      for (gint d = 0; d < s->rank; d++)
        s->taps *= modes[i].taps;
    }
  return s->taps > 0;
}

static Way
find_way (const Sample *s, const CpuTensor *x)
{
  if (x->md != NULL)
    return CHANNELS_LAST;
  if (s->sampler.mode != CPU_SAMPLE_LINEAR || s->sampler.size[CPU_SAMPLE_AXES - 1] < 2)
    return ONE_BY_ONE;
  return s->channels > 1 && s->channels <= MOST_BESIDE && 2 * s->points > s->plane ? SIDE_BY_SIDE
                                                                                   : IN_PAIRS;
}

static gboolean
build_sample (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  Sample s = { .loops = cpu_isa_get ()->vector->sample, .move = cpu_isa_get ()->vector->move };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[2], *out[2];
  gsize floats;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
      node->inputs[1]->type.dtype != AXON_DTYPE_F32 || axon_shape_get_numel (x) < 1 ||
      axon_shape_get_numel (x) > G_MAXINT32 || axon_shape_get_numel (y) < 1 ||
      !sampler_init (&s.sampler, node))
    return FALSE;
  s.frames = x->dims[0];
  s.channels = x->dims[1];
  s.plane = axon_shape_get_numel (x) / (s.frames * s.channels);
  s.points = axon_shape_get_numel (y) / (s.frames * s.channels);
  in[0] = cpu_plan_input (plan, node, 0);
  s.way = find_way (&s, in[0]);
  if (s.way == CHANNELS_LAST) {
    g_autoptr (CpuMd) from = cpu_md_channels_last (AXON_DTYPE_F32, x);
    in[0] = cpu_plan_input_as (plan, node, 0, from);
    md = cpu_md_channels_last (AXON_DTYPE_F32, y);
  }
  in[1] = cpu_plan_input_as (plan, node, 1, NULL);
  out[0] = cpu_plan_output (plan, node, 0, md);
  floats = s.beside = plan->n_threads * 2 * taps_of_chunk (&s);
  if (s.way == SIDE_BY_SIDE)
    floats += (gsize)axon_shape_get_numel (x) + MOST_BESIDE;
  out[1] = cpu_plan_scratch_bytes (plan, floats * sizeof (gfloat));
  cpu_plan_add_step (plan, run_sample, g_memdup2 (&s, sizeof s), g_free, "own", in, 2, out, 2);
  return TRUE;
}

const CpuKernel cpu_gridsample_kernels[] = {
  { .name = "GridSample", .impl = "own", .build = build_sample },
  { 0 },
};
