/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "floatcase.h"
#include "randomconv.h"

#include <math.h>

#define MANY 1500 /* channels, whose weights are more than a cache holds at once */
#define GAP 3     /* elements beyond the source and between the pixels of both */

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

/* Channels of some sources are planes with something else between them. Returns the elements. */
static gsize
place_source (CpuConv *v, GRand *rand, FloatKind kind)
{
  gboolean is_dense = kind == FLOAT_DENSE || kind == FLOAT_MANY_CHANNELS;
  gint channels = v->groups * v->channels;
  if (!is_dense || v->groups > 1 || channels == 1 || g_rand_boolean (rand))
    return v->x_frame * (gsize)v->frames - (v->x_pixel - (gsize)channels);
  v->x_pixel = 1;
  v->x_row = (gsize)v->in_w;
  v->x_plane = v->x_row * (gsize)v->in_h + GAP;
  v->x_frame = v->x_plane * (gsize)v->channels;
  return v->x_frame * (gsize)v->frames - GAP;
}

FloatCase *
float_case_new (GRand *rand, FloatKind kind)
{
  gboolean depthwise = kind == FLOAT_DEPTHWISE || kind == FLOAT_LONG_ROWS;
  FloatCase *c = g_new0 (FloatCase, 1);
  CpuConv *v = &c->conv;
  gsize taps, inputs;
  random_conv (v, rand, depthwise);
  if (kind == FLOAT_MANY_CHANNELS) {
    v->channels = MANY;
    dense_conv (v);
  } else if (kind == FLOAT_LONG_ROWS) {
    long_rows (v, rand);
  } else if (kind == FLOAT_WINOGRAD) {
    filters_of_3 (v, rand);
  }
  /* numbers are no integers after Winograd */
  c->tolerance = kind == FLOAT_WINOGRAD ? 1e-3f * (gfloat)v->channels : 1e-5f;
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

void
float_case_free (FloatCase *c)
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
slope_of (const FloatCase *c, gint o, gfloat x)
{
  return x < 0 ? c->slopes[o] * x : x;
}

/* The sum of output channel @o at one place. */
static gfloat
sum_at (const FloatCase *c, gint f, gint o, gint oy, gint ox)
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

void
float_case_check (const FloatCase *c, const gfloat *before)
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

gfloat *
float_case_pack (const CpuConv *set, const gfloat *from, gint period)
{
  gfloat *to = g_aligned_alloc0 ((gsize)(set->groups * set->padded), sizeof *to, 64);
  cpu_float_array_pack (set, from, period, to);
  return to;
}

CpuFloatConvRun
float_case_run (const FloatCase *c)
{
  return (CpuFloatConvRun){ .x = c->x,
                            .y = c->y,
                            .residual = c->has_residual ? c->residual : NULL,
                            .slopes_last = c->slopes_last,
                            .before = c->before,
                            .after = c->after };
}
