/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels for convolutions of floats, every table by itself. Numbers are small integers, so
 * that every sum is exact, whatever its order. */
#include "kerneltables.h"
#include "randomconv.h"
#include "../../plugins/cpu/kernels/convparts.h"
#include "../../plugins/cpu/kernels/winograd-private.h"

#include <math.h>
#include <string.h>

#define MANY 1500 /* channels, whose weights are more than a cache holds at once */
#define GAP 3     /* elements beyond the source and between the pixels of both */

typedef struct {
  CpuConv conv;
  gint all_in, all_out; /* channels of all groups */
  gfloat *x, *w, *bias, *slopes, *residual, *y;
  gsize n_x, n_y;
  gboolean has_slopes, slopes_last, has_residual;
  CpuPost before, after;
  gfloat tolerance;
} Case;

static gfloat *
small_numbers (GRand *rand, gsize n)
{
  gfloat *v = g_new (gfloat, n);
  for (gsize i = 0; i < n; i++)
    v[i] = (gfloat)g_rand_int_range (rand, -4, 5);
  return v;
}

static CpuPost
any_post (GRand *rand)
{
  static const CpuPost posts[] = { { CPU_POST_NONE, 0, 0 },
                                   { CPU_POST_RELU, 0, 0 },
                                   { CPU_POST_CLIP, -3, 6 },
                                   { CPU_POST_LEAKY, 0.5f, 0 },
                                   { CPU_POST_HARD_SWISH, 0, 0 } };
  return posts[g_rand_int_range (rand, 0, G_N_ELEMENTS (posts))];
}

/* Pixels of a view are further apart than its channels, with something else between them. */
static void
spread (CpuConv *v)
{
  v->x_pixel += GAP;
  v->x_row = v->x_pixel * (gsize)v->in_w;
  v->x_frame = v->x_row * (gsize)v->in_h;
  v->y_pixel += GAP;
  v->y_row = v->y_pixel * (gsize)v->out_w;
  v->y_frame = v->y_row * (gsize)v->out_h;
}

/* Pixels of the result of a filter of 3, with more or less padding behind, too. */
static gint
end_of_3 (GRand *rand, gint pixels, gint pad, gint stride, gint dilation)
{
  gint places = pixels + pad - 2 * dilation + g_rand_int_range (rand, 0, 3);
  return MAX ((places - 1) / stride + 1, 1);
}

/* What Winograd takes: strides of 2, or dilated or not; any stride along which there is one tap. */
static void
filters_of_3 (CpuConv *v, GRand *rand)
{
  gint kind = g_rand_int_range (rand, 0, 4), stride = g_rand_int_range (rand, 1, 3);
  v->groups = 1;
  v->kernel_h = kind == 1 ? 1 : 3;
  v->kernel_w = kind == 2 ? 1 : 3;
  v->stride_h = v->kernel_h == 1 ? g_rand_int_range (rand, 1, 4) : stride;
  v->stride_w = v->kernel_w == 1 ? g_rand_int_range (rand, 1, 4) : stride;
  v->dilation_h = stride == 2 || g_rand_boolean (rand) ? 1 : g_rand_int_range (rand, 2, 7);
  v->dilation_w = stride == 2 || g_rand_boolean (rand) ? 1 : g_rand_int_range (rand, 2, 7);
  v->pad_top = g_rand_int_range (rand, 0, 2 * v->dilation_h + 1);
  v->pad_left = g_rand_int_range (rand, 0, 2 * v->dilation_w + 1);
  v->out_h = end_of_3 (rand, v->in_h, v->pad_top, v->stride_h, v->dilation_h);
  v->out_w = end_of_3 (rand, v->in_w, v->pad_left, v->stride_w, v->dilation_w);
  dense_conv (v);
}

/* Depthwise by filters of 3, 5 and 7 columns, whose rows are computed as a whole: of every length
 * of tiles, and padded by up to all of the filter, also to the right. */
static void
long_rows (CpuConv *v, GRand *rand)
{
  static const gint channels[] = { 16, 24, 40, 64, 72, 131 };
  v->channels = one_of (rand, channels, G_N_ELEMENTS (channels));
  v->in_h = g_rand_int_range (rand, 3, 10);
  v->in_w = g_rand_int_range (rand, 1, 60);
  v->kernel_h = v->kernel_w = 3 + 2 * g_rand_int_range (rand, 0, 3);
  v->dilation_w = 1;
  v->pad_top = g_rand_int_range (rand, 0, v->kernel_h);
  v->pad_left = g_rand_int_range (rand, 0, v->kernel_w);
  v->out_h = window_end (v->in_h, v->pad_top, v->kernel_h, v->stride_h, v->dilation_h);
  v->out_w = window_end (v->in_w, v->pad_left, v->kernel_w, v->stride_w, v->dilation_w);
  v->out_h = MAX (v->out_h, 1);
  v->out_w = MAX (v->out_w + g_rand_int_range (rand, -1, 2), 1);
  dense_conv (v);
}

typedef enum { DENSE, DEPTHWISE, LONG_ROWS, MANY_CHANNELS, WINOGRAD } Kind;

/* Channels of some sources are planes with something else between them. Returns the elements. */
static gsize
place_source (CpuConv *v, GRand *rand, Kind kind)
{
  gboolean is_dense = kind == DENSE || kind == MANY_CHANNELS;
  gint channels = v->groups * v->channels;
  if (!is_dense || v->groups > 1 || channels == 1 || g_rand_boolean (rand))
    return v->x_frame * (gsize)v->frames - (v->x_pixel - (gsize)channels);
  v->x_pixel = 1;
  v->x_row = (gsize)v->in_w;
  v->x_plane = v->x_row * (gsize)v->in_h + GAP;
  v->x_frame = v->x_plane * (gsize)v->channels;
  return v->x_frame * (gsize)v->frames - GAP;
}

static Case *
case_new (GRand *rand, Kind kind)
{
  gboolean depthwise = kind == DEPTHWISE || kind == LONG_ROWS;
  Case *c = g_new0 (Case, 1);
  CpuConv *v = &c->conv;
  gsize taps, inputs;
  random_conv (v, rand, depthwise);
  if (kind == MANY_CHANNELS) {
    v->channels = MANY;
    dense_conv (v);
  } else if (kind == LONG_ROWS) {
    long_rows (v, rand);
  } else if (kind == WINOGRAD) {
    filters_of_3 (v, rand);
  }
  /* numbers are no integers after Winograd */
  c->tolerance = kind == WINOGRAD ? 1e-3f * (gfloat)v->channels : 1e-5f;
  c->all_in = v->groups * v->channels;
  c->all_out = depthwise ? v->channels : v->groups * v->out_channels;
  if (g_rand_boolean (rand))
    spread (v);
  taps = (gsize)(v->kernel_h * v->kernel_w);
  inputs = depthwise ? 1 : (gsize)v->channels;
  c->n_x = place_source (v, rand, kind);
  c->n_y = v->y_frame * (gsize)v->frames;
  c->x = small_numbers (rand, c->n_x); /* ends where its last channel ends: sanitizers look */
  c->y = small_numbers (rand, c->n_y);
  c->residual = small_numbers (rand, c->n_y);
  c->w = small_numbers (rand, (gsize)c->all_out * inputs * taps);
  c->bias = small_numbers (rand, (gsize)c->all_out);
  c->slopes = small_numbers (rand, (gsize)c->all_out);
  c->has_residual = g_rand_boolean (rand);
  c->has_slopes = g_rand_int_range (rand, 0, 4) == 0;
  c->slopes_last = c->has_residual && g_rand_boolean (rand);
  c->before = c->has_slopes && !c->slopes_last ? (CpuPost){ CPU_POST_NONE, 0, 0 } : any_post (rand);
  c->after = c->has_residual ? any_post (rand) : (CpuPost){ CPU_POST_NONE, 0, 0 };
  return c;
}

static void
case_free (Case *c)
{
  g_free (c->x);
  g_free (c->y);
  g_free (c->residual);
  g_free (c->w);
  g_free (c->bias);
  g_free (c->slopes);
  g_free (c);
}

static gfloat
post_of (const CpuPost *post, gfloat x)
{
  switch ((gint)post->kind) {
  case CPU_POST_RELU:
    return MAX (x, 0);
  case CPU_POST_CLIP:
    return CLAMP (x, post->alpha, post->beta);
  case CPU_POST_LEAKY:
    return x < 0 ? post->alpha * x : x;
  case CPU_POST_HARD_SWISH:
    return x * CLAMP (x / 6 + 0.5f, 0, 1);
  default:
    return x;
  }
}

static gfloat
slope_of (const Case *c, gint o, gfloat x)
{
  return x < 0 ? c->slopes[o] * x : x;
}

/* The sum of output channel @o at one place. */
static gfloat
sum_at (const Case *c, gint f, gint o, gint oy, gint ox)
{
  const CpuConv *v = &c->conv;
  gint inputs = v->depthwise ? 1 : v->channels;
  gint first = v->depthwise ? o : o / v->out_channels * v->channels;
  gsize next = v->x_plane > 0 ? v->x_plane : 1; /* from one channel to the next */
  gfloat sum = c->bias[o];
  for (gint k = 0; k < v->kernel_h * v->kernel_w; k++) {
    gint y = oy * v->stride_h - v->pad_top + k / v->kernel_w * v->dilation_h;
    gint x = ox * v->stride_w - v->pad_left + k % v->kernel_w * v->dilation_w;
    if (y < 0 || y >= v->in_h || x < 0 || x >= v->in_w)
      continue;
    for (gint i = 0; i < inputs; i++)
      sum += c->x[(gsize)f * v->x_frame + (gsize)y * v->x_row + (gsize)x * v->x_pixel +
                  (gsize)(first + i) * next] *
             c->w[(o * inputs + i) * v->kernel_h * v->kernel_w + k];
  }
  return sum;
}

static void
check (const Case *c, const gfloat *before)
{
  const CpuConv *v = &c->conv;
  for (gint f = 0; f < v->frames; f++)
    for (gint oy = 0; oy < v->out_h; oy++)
      for (gint ox = 0; ox < v->out_w; ox++) {
        gsize at = (gsize)f * v->y_frame + (gsize)oy * v->y_row + (gsize)ox * v->y_pixel;
        for (gint o = 0; o < c->all_out; o++) {
          gfloat s = post_of (&c->before, sum_at (c, f, o, oy, ox));
          s = c->has_slopes && !c->slopes_last ? slope_of (c, o, s) : s;
          s += c->has_residual ? c->residual[at + (gsize)o] : 0;
          s = c->has_slopes && c->slopes_last ? slope_of (c, o, s) : s;
          s = post_of (&c->after, s);
          g_assert_cmpfloat_with_epsilon (c->y[at + (gsize)o], s, c->tolerance * (1 + fabsf (s)));
        }
        for (gsize i = at + (gsize)c->all_out; i < at + v->y_pixel; i++)
          g_assert_cmpfloat (c->y[i], ==, before[i]); /* what is between pixels is not ours */
      }
}

/* What is packed of a case, and a thread's memory. */
typedef struct {
  CpuConv set, wide;
  gint pixels;
  gfloat *weights[2], *bias[2], *slopes[2]; /* of set, of wide */
  gfloat *factors;                          /* halves */
  guint8 *scratch;
} Packed;

static gfloat *
pack_array (const CpuConv *set, const gfloat *from, gint period)
{
  gfloat *to = g_aligned_alloc0 ((gsize)(set->groups * set->padded), sizeof *to, 64);
  cpu_float_array_pack (set, from, period, to);
  return to;
}

static CpuFloatConvRun
run_of (const Case *c)
{
  return (CpuFloatConvRun){ .x = c->x,
                            .y = c->y,
                            .residual = c->has_residual ? c->residual : NULL,
                            .slopes_last = c->slopes_last,
                            .before = c->before,
                            .after = c->after };
}

static void
pack (Packed *p, const Case *c, const CpuFloatConvKernels *k)
{
  CpuFloatWeights weights = { .data = c->w,
                              .out = (gsize)(c->conv.kernel_h * c->conv.kernel_w) *
                                     (c->conv.depthwise ? 1 : (gsize)c->conv.channels),
                              .in = (gsize)(c->conv.kernel_h * c->conv.kernel_w),
                              .tap = 1 };
  p->set = c->conv;
  cpu_float_conv_setup (&p->set, k, 3);
  p->pixels = cpu_float_conv_widen (&p->wide, &p->set, k);
  for (guint i = 0; i < (p->pixels > 0 ? 2 : 1); i++) {
    const CpuConv *set = i == 0 ? &p->set : &p->wide;
    gint period = i == 0 ? 0 : p->set.channels;
    weights.period = (gsize)period;
    p->weights[i] = g_aligned_alloc0 (cpu_float_weights_size (set), 1, 64);
    cpu_float_weights_pack (set, &weights, k, p->weights[i]);
    p->bias[i] = pack_array (set, c->bias, period);
    p->slopes[i] = c->has_slopes ? pack_array (set, c->slopes, period) : NULL;
  }
  p->scratch = g_aligned_alloc0 (p->set.scratch + 64, 1, 64);
}

/* What pack () made, as kernels of halves read it. */
static void
pack_halves (Packed *p, const CpuFloatConvKernels *k, const CpuHalf *half)
{
  gfloat *packed = p->weights[0];
  p->weights[0] = g_aligned_alloc0 (cpu_float_weights_size (&p->set), 1, 64);
  p->factors = g_aligned_alloc0 ((gsize)(p->set.groups * p->set.padded), sizeof (gfloat), 64);
  cpu_half_weights_pack (&p->set, packed, k, half, (guint16 *)(gpointer)p->weights[0], p->factors);
  g_aligned_free (packed);
}

static void
packed_clear (Packed *p)
{
  g_aligned_free (p->factors);
  for (guint i = 0; i < 2; i++) {
    g_aligned_free (p->weights[i]);
    g_aligned_free (p->bias[i]);
    g_aligned_free (p->slopes[i]);
  }
  g_aligned_free (p->scratch);
}

static void
run_case (Case *c, const CpuFloatConvKernels *k, const CpuHalf *half)
{
  g_autofree gfloat *before = g_memdup2 (c->y, c->n_y * sizeof *c->y);
  Packed p = { 0 };
  CpuFloatConvRun run = run_of (c);
  pack (&p, c, k);
  if (k->is_half)
    pack_halves (&p, k, half);
  run.weights = p.weights[0];
  run.factors = p.factors;
  run.bias = p.bias[0];
  run.slopes = p.slopes[0];
  if (p.pixels > 0)
    run.wide = (CpuFloatWide){ &p.wide, p.pixels, p.weights[1], p.bias[1], p.slopes[1] };
  for (gint i = 0; i < cpu_conv_count_parts (&p.set); i++) {
    CpuConvPart part = cpu_conv_get_part (&p.set, i);
    (p.set.depthwise ? k->depthwise : k->dense) (&p.set, &run, &part, p.scratch);
  }
  check (c, before);
  packed_clear (&p);
}

static void
run_winograd (Case *c, const CpuWinogradKernels *k, gint size, guint threads)
{
  g_autofree gfloat *before = g_memdup2 (c->y, c->n_y * sizeof *c->y);
  CpuWinogradCut cut = { 0 };
  CpuWinogradRun run = { .cut = &cut, .kernels = k, .run = run_of (c) };
  gpointer memory[4];
  cpu_winograd_init (&cut.shape, &c->conv, size);
  cpu_winograd_setup (&cut, k, threads);
  memory[0] = g_aligned_alloc0 (cpu_winograd_weights_size (&cut.shape, k->lanes), 1, 64);
  memory[1] = pack_array (&cut.shape.conv, c->bias, 0);
  memory[2] = pack_array (&cut.shape.conv, c->slopes, 0);
  memory[3] = g_aligned_alloc0 (cut.scratch, 1, 64);
  cpu_winograd_weights_pack (&cut.shape, c->w, k, memory[0]);
  run.run.weights = memory[0];
  run.run.bias = memory[1];
  run.run.slopes = c->has_slopes ? memory[2] : NULL;
  run.scratch = memory[3];
  for (gint phase = 0; phase < 2; phase++)
    for (gint i = cpu_winograd_count_parts (&cut, phase) - 1; i >= 0; i--)
      cpu_winograd_run_part (&run, phase, i, (guint)i % threads);
  check (c, before);
  for (guint i = 0; i < G_N_ELEMENTS (memory); i++)
    g_aligned_free (memory[i]);
}

static void
convolutions_are_exact_sums_with_all_that_follows_them (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  if ((tables[table].needs & ~(guint)cpu_features_get ()) != 0) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 400; i++) {
    Case *c = case_new (rand, i % 4 == 0    ? DEPTHWISE
                              : i % 4 == 2  ? LONG_ROWS
                              : i % 40 == 1 ? MANY_CHANNELS
                                            : DENSE);
    run_case (c, &tables[table].vector->floats, NULL);
    case_free (c);
  }
}

/* Halves hold these numbers and the sums of short runs of their products. */
static void
convolutions_in_half_precision_are_exact_where_halves_are (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  if ((tables[table].needs & ~(guint)cpu_features_get ()) != 0) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 200; i++) {
    Case *c = case_new (rand, i % 20 == 1 ? MANY_CHANNELS : DENSE);
    run_case (c, tables[table].vector->halves, tables[table].vector->half);
    case_free (c);
  }
}

static void
convolutions_after_winograd_are_those_sums_but_for_rounding (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  if ((tables[table].needs & ~(guint)cpu_features_get ()) != 0) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 500; i++) {
    Case *c = case_new (rand, WINOGRAD);
    run_winograd (c, tables[table].vector->winograd, i % 2 ? 2 : 4, 1 + i % 3);
    case_free (c);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/float-kernels/convolutions_are_exact_sums_with_all_that_follows_them/%s", tables[i].name);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i),
                          convolutions_are_exact_sums_with_all_that_follows_them);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *path = g_strdup_printf ("/float-kernels/"
                                              "convolutions_after_winograd_are_those_sums_but_for_"
                                              "rounding/%s",
                                              tables[i].name);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i),
                          convolutions_after_winograd_are_those_sums_but_for_rounding);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *path = g_strdup_printf (
        "/float-kernels/convolutions_in_half_precision_are_exact_where_halves_are/%s",
        tables[i].name);
    if (tables[i].vector->halves != NULL)
      g_test_add_data_func (path, GSIZE_TO_POINTER (i),
                            convolutions_in_half_precision_are_exact_where_halves_are);
  }
  return g_test_run ();
}
