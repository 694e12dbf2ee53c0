/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Instance and Group normalisation of f32 that lies channels last. Bands of pixels give sums and
 * squares of what differs from the band's own means; bands, then channels of a group, are joined as
 * Chan, Golub and LeVeque (1983) do; then every pixel is scaled. */
#include "kernels.h"
#include "rows.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>
#include <string.h>

/* Elements of a band, that lie in the cache together; of factors, at least. */
#define BAND 8192
#define REPEATED 256

typedef struct {
  gint64 samples, pixels, channels, groups;
  gint64 band, bands; /* pixels of a band; bands of a sample */
  gint64 repeats;     /* of a sample's factors: pixels at a time */
  gfloat epsilon;
  const CpuReducer *sum;
  const CpuNormalize *loops;
  CpuChannelFunction affine;
} GroupPlan;

/* Of one run. Of each band: means by channel, squares; of each sample: factors and shifts. */
typedef struct {
  const GroupPlan *plan;
  const gfloat *x, *scale, *bias;
  gfloat *y, *bands, *factors;
} GroupRun;

static gint64
band_pixels (const GroupPlan *p, gint64 band)
{
  return MIN (p->band, p->pixels - band % p->bands * p->band);
}

static gint64
band_offset (const GroupPlan *p, gint64 band)
{
  return (band / p->bands * p->pixels + band % p->bands * p->band) * p->channels;
}

static void
measure_band (gpointer data, gint64 band)
{
  const GroupRun *run = data;
  const GroupPlan *p = run->plan;
  const gfloat *x = run->x + band_offset (p, band);
  gfloat *mean = run->bands + band * 2 * p->channels, *square = mean + p->channels;
  gint64 n = band_pixels (p, band);
  memset (mean, 0, 2 * (gsize)p->channels * sizeof *mean);
  p->sum->planes (mean, x, p->channels, n, p->channels);
  for (gint64 c = 0; c < p->channels; c++)
    mean[c] /= (gfloat)n;
  p->loops->square_planes (square, x, mean, p->channels, n);
}

/* Mean and 1 / standard deviation of a group of a sample. */
static void
join_bands (const GroupRun *run, gint64 sample, gint64 group, gdouble *mean, gdouble *rate)
{
  const GroupPlan *p = run->plan;
  gint64 each = p->channels / p->groups, first = group * each;
  gdouble sum = 0, square = 0, n = (gdouble)(p->pixels * each);
  for (gint64 b = sample * p->bands; b < (sample + 1) * p->bands; b++)
    for (gint64 c = first; c < first + each; c++)
      sum += (gdouble)run->bands[b * 2 * p->channels + c] * (gdouble)band_pixels (p, b);
  *mean = sum / n;
  for (gint64 b = sample * p->bands; b < (sample + 1) * p->bands; b++)
    for (gint64 c = first; c < first + each; c++) {
      const gfloat *band = run->bands + b * 2 * p->channels + c;
      gdouble apart = band[0] - *mean;
      square += band[p->channels] + apart * apart * (gdouble)band_pixels (p, b);
    }
  *rate = 1 / sqrt (square / n + p->epsilon);
}

/* Factors and shifts of a sample, repeated for some pixels. */
static void
set_factors (const GroupRun *run, gint64 sample)
{
  const GroupPlan *p = run->plan;
  gint64 n = p->channels * p->repeats;
  gfloat *factor = run->factors + sample * 2 * n, *shift = factor + n;
  for (gint64 g = 0; g < p->groups; g++) {
    gdouble mean, rate;
    join_bands (run, sample, g, &mean, &rate);
    for (gint64 c = g * (p->channels / p->groups); c < (g + 1) * (p->channels / p->groups); c++) {
      gdouble scale = rate * run->scale[c];
      factor[c] = (gfloat)scale;
      shift[c] = (gfloat)(run->bias[c] - mean * scale);
    }
  }
  for (gint64 c = p->channels; c < n; c++) {
    factor[c] = factor[c - p->channels];
    shift[c] = shift[c - p->channels];
  }
}

static void
scale_band (gpointer data, gint64 band)
{
  const GroupRun *run = data;
  const GroupPlan *p = run->plan;
  gint64 at = band_offset (p, band), n = band_pixels (p, band) * p->channels;
  gint64 step = p->channels * p->repeats;
  const gfloat *factor = run->factors + band / p->bands * 2 * step;
  for (gint64 i = 0; i < n; i += step)
    p->affine.each (run->y + at + i, run->x + at + i, MIN (step, n - i), factor, factor + step);
}

static void
run_group (const CpuStep *step, const CpuInstance *instance)
{
  const GroupPlan *p = step->data;
  GroupRun run = { p,
                   cpu_tensor_data (instance, step->in[0]),
                   cpu_tensor_data (instance, step->in[1]),
                   cpu_tensor_data (instance, step->in[2]),
                   cpu_tensor_data (instance, step->out[0]),
                   cpu_tensor_data (instance, step->out[1]),
                   cpu_tensor_data (instance, step->out[2]) };
  cpu_parallel (p->samples * p->bands, measure_band, &run);
  for (gint64 s = 0; s < p->samples; s++)
    set_factors (&run, s);
  cpu_parallel (p->samples * p->bands, scale_band, &run);
}

static void
set_bands (GroupPlan *p, const AxonNode *node, const AxonShape *x)
{
  p->samples = x->dims[0];
  p->channels = x->dims[1];
  p->pixels = axon_shape_get_numel (x) / p->samples / p->channels;
  p->groups = g_str_equal (node->op->name, "GroupNormalization")
                  ? axon_node_get_int (node, "num_groups")
                  : p->channels;
  p->band = CLAMP (BAND / p->channels, 1, p->pixels);
  p->bands = (p->pixels + p->band - 1) / p->band;
  p->repeats = MAX (REPEATED / p->channels, 1);
}

/* Channels last as it lies; others are left to the next row. */
static gboolean
build_group (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape;
  const CpuVector *vector = cpu_isa_get ()->vector;
  GroupPlan p = { .epsilon = (gfloat)axon_node_get_float (node, "epsilon"),
                  .sum = &vector->reduce->by[CPU_REDUCE_SUM],
                  .loops = vector->normalize,
                  .affine = vector->channels->by[CPU_CHANNELS_AFFINE] };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *in[3], *out[3];
  CpuLines lines;
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 || x->rank < 3 ||
      axon_shape_get_numel (x) == 0 || cpu_plan_input (plan, node, 0)->md == NULL)
    return FALSE;
  for (guint i = 1; i < 3; i++)
    if (axon_shape_get_numel (&node->inputs[i]->type.shape) != x->dims[1])
      return FALSE;
  in[0] = cpu_dense_input (plan, node, 0, AXON_DTYPE_F32, &md);
  cpu_lines_init (&lines, in[0], 1);
  if (lines.inner != 1 || in[0]->md == NULL)
    return FALSE;
  set_bands (&p, node, x);
  for (guint i = 1; i < 3; i++)
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  out[0] = cpu_plan_output (plan, node, 0, md);
  out[1] = cpu_plan_scratch_bytes (plan,
                                   (gsize)(p.samples * p.bands * 2 * p.channels) * sizeof (gfloat));
  out[2] = cpu_plan_scratch_bytes (plan, (gsize)(p.samples * 2 * p.channels * p.repeats) *
                                             sizeof (gfloat));
  cpu_plan_add_step (plan, run_group, g_memdup2 (&p, sizeof p), g_free, "own", in, 3, out, 3);
  return TRUE;
}

const CpuKernel cpu_group_norm_kernels[] = {
  { .name = "InstanceNormalization", .impl = "own", .build = build_group },
  { .name = "GroupNormalization", .impl = "own", .build = build_group },
  { 0 },
};
