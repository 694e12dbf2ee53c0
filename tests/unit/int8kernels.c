/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels for products of bytes, every table by itself. */
#include "kerneltables.h"
#include "randomconv.h"
#include "../../plugins/cpu/kernels/convparts.h"
#include "../../plugins/cpu/kernels/int8-private.h"

#include <math.h>
#include <string.h>

typedef struct {
  CpuInt8Conv conv;
  gint all_in, all_out; /* channels of all groups */
  guint8 *x, *w;
  gint32 *bias;
  gfloat *scale;
  CpuInt8Spec spec;
} Case;

/* Bytes of the kinds that saturate somewhere: all the largest, all the smallest, both, any. */
static void
fill (GRand *rand, guint8 *to, gsize n, gboolean is_signed)
{
  gint kind = g_rand_int_range (rand, 0, 4);
  guint8 largest = is_signed ? 127 : 255, smallest = is_signed ? 128 : 0;
  for (gsize i = 0; i < n; i++)
    to[i] = kind == 0   ? largest
            : kind == 1 ? smallest
            : kind == 2 ? (g_rand_boolean (rand) ? largest : smallest)
                        : (guint8)g_rand_int_range (rand, 0, 256);
}

static void
set_geometry (Case *c, GRand *rand, gboolean depthwise)
{
  CpuInt8Conv *v = &c->conv;
  *v = (CpuInt8Conv){ .is_signed = g_rand_boolean (rand) };
  random_conv (&v->shape, rand, depthwise);
  c->all_in = v->shape.groups * v->shape.channels;
  c->all_out = depthwise ? v->shape.channels : v->shape.groups * v->shape.out_channels;
}

static Case *
case_new (GRand *rand, gboolean depthwise, const CpuInt8Kernels *k)
{
  Case *c = g_new0 (Case, 1);
  CpuInt8Weights *w = &c->spec.weights;
  gsize taps, in;
  set_geometry (c, rand, depthwise);
  taps = (gsize)(c->conv.shape.kernel_h * c->conv.shape.kernel_w);
  in = depthwise ? 1 : (gsize)c->conv.shape.channels;
  c->x = g_malloc (c->conv.shape.x_frame * (gsize)c->conv.shape.frames);
  c->w = g_malloc ((gsize)c->all_out * in * taps);
  c->bias = g_new (gint32, c->all_out);
  c->scale = g_new (gfloat, c->all_out);
  *w = (CpuInt8Weights){
    .data = c->w, .is_signed = g_rand_boolean (rand), .out = in * taps, .in = taps, .tap = 1
  };
  fill (rand, c->x, c->conv.shape.x_frame * (gsize)c->conv.shape.frames, c->conv.is_signed);
  fill (rand, c->w, (gsize)c->all_out * in * taps, w->is_signed);
  for (gint o = 0; o < c->all_out; o++) {
    c->bias[o] = g_rand_int_range (rand, -20000, 20000);
    c->scale[o] = (gfloat)pow (10, g_rand_double_range (rand, -4, 0));
  }
  c->spec.bias = c->bias;
  c->spec.scale = c->scale;
  c->spec.n_scale = (guint)c->all_out;
  c->spec.x_zero =
      c->conv.is_signed ? g_rand_int_range (rand, -128, 128) : g_rand_int_range (rand, 0, 256);
  c->spec.conv = c->conv;
  c->conv.pairs = !k->dot4 || !cpu_int8_fits_s8 (&c->spec) || g_rand_boolean (rand);
  return c;
}

static void
case_free (Case *c)
{
  g_free (c->x);
  g_free (c->w);
  g_free (c->bias);
  g_free (c->scale);
  g_free (c);
}

/* The sum by its definition. */
static gint32
sum_at (const Case *c, gint f, gint o, gint oy, gint ox)
{
  const CpuInt8Conv *v = &c->conv;
  const CpuInt8Weights *w = &c->spec.weights;
  gint in = v->shape.depthwise ? 1 : v->shape.channels,
       first = v->shape.depthwise ? o : o / v->shape.out_channels * in;
  gint64 sum = c->bias[o];
  for (gint i = 0; i < in; i++)
    for (gint t = 0; t < v->shape.kernel_h * v->shape.kernel_w; t++) {
      gint y =
          oy * v->shape.stride_h + t / v->shape.kernel_w * v->shape.dilation_h - v->shape.pad_top;
      gint x =
          ox * v->shape.stride_w + t % v->shape.kernel_w * v->shape.dilation_w - v->shape.pad_left;
      guint8 a, b = w->data[(gsize)o * w->out + (gsize)i * w->in + (gsize)t];
      if (y < 0 || x < 0 || y >= v->shape.in_h || x >= v->shape.in_w)
        continue;
      a = c->x[(gsize)f * v->shape.x_frame + (gsize)y * v->shape.x_row +
               (gsize)x * v->shape.x_pixel + (gsize)(first + i)];
      sum += (gint64)((v->is_signed ? (gint)(gint8)a : (gint)a) - c->spec.x_zero) *
             (w->is_signed ? (gint)(gint8)b : (gint)b);
    }
  return (gint32)sum;
}

static gint32
expected_at (const Case *c, gint f, gint o, gint oy, gint ox)
{
  const CpuInt8Finish *finish = &c->conv.finish;
  gint32 sum = sum_at (c, f, o, oy, ox);
  gfloat v = (gfloat)sum * c->scale[o];
  if (finish->type == CPU_INT8_I32)
    return sum;
  return (gint32)rintf (CLAMP (v, finish->lo, finish->hi)) + finish->zero;
}

static gint32
got_at (const Case *c, gconstpointer y, gsize at)
{
  switch (c->conv.finish.type) {
  case CPU_INT8_U8:
    return ((const guint8 *)y)[at];
  case CPU_INT8_I8:
    return ((const gint8 *)y)[at];
  default:
    return ((const gint32 *)y)[at];
  }
}

static void
compare (const Case *c, gconstpointer y, const gchar *name, guint32 seed)
{
  const CpuInt8Conv *v = &c->conv;
  gsize at = 0;
  for (gint f = 0; f < v->shape.frames; f++)
    for (gint oy = 0; oy < v->shape.out_h; oy++)
      for (gint ox = 0; ox < v->shape.out_w; ox++)
        for (gint o = 0; o < c->all_out; o++, at++)
          if (got_at (c, y, at) != expected_at (c, f, o, oy, ox))
            g_error (
                "%s, seed %u: %s in %s, %d channels to %d, filter %dx%d, output %d,%d channel %d: "
                "expected %d, got %d",
                name, seed, v->shape.depthwise ? "depthwise" : "dense",
                v->pairs ? "pairs" : "fours", c->all_in, c->all_out, v->shape.kernel_h,
                v->shape.kernel_w, oy, ox, o, expected_at (c, f, o, oy, ox), got_at (c, y, at));
}

static void
run (Case *c, const CpuInt8Kernels *k, const gchar *name, guint32 seed)
{
  gsize n = c->conv.shape.y_frame * (gsize)c->conv.shape.frames;
  CpuInt8Conv set = c->conv;
  CpuInt8Layer layer = { 0 };
  gpointer memory, scratch, y = g_malloc0 (n * 4);
  gint32 zero;
  CpuInt8Run go;
  cpu_int8_setup (&set, k, 2);
  zero = c->spec.x_zero + set.offset;
  memory = g_aligned_alloc (cpu_int8_layer_plan (&layer, &set), 1, 64);
  scratch = g_aligned_alloc (set.shape.scratch, 1, 64);
  cpu_int8_layer_place (&layer, memory);
  cpu_int8_layer_fill (&layer, &c->spec, k);
  for (gsize i = 0; i < layer.n; i++)
    layer.bias[i] -= zero * layer.sums[i];
  go = (CpuInt8Run){ c->x, y, layer.weights, layer.bias, layer.scale, layer.shift, c->spec.x_zero };
  for (gint i = 0; i < cpu_conv_count_parts (&set.shape); i++) {
    CpuConvPart part = cpu_conv_get_part (&set.shape, i);
    (set.shape.depthwise ? k->depthwise : k->dense) (&set, &go, &part, scratch);
  }
  compare (c, y, name, seed);
  g_aligned_free (memory);
  g_aligned_free (scratch);
  g_free (y);
}

static void
products_are_exact (gconstpointer data)
{
  gsize t = GPOINTER_TO_SIZE (data);
  const CpuInt8Kernels *k = &tables[t].vector->int8;
  if (!table_is_here (t)) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint32 seed = 0; seed < 160; seed++) {
    g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
    Case *c = case_new (rand, seed / 4 % 2 == 1, k);
    c->conv.finish = (CpuInt8Finish){ .type = seed % 4 == 0   ? CPU_INT8_I32
                                              : seed % 4 == 1 ? CPU_INT8_I8
                                                              : CPU_INT8_U8 };
    if (c->conv.finish.type != CPU_INT8_I32) {
      gint low = c->conv.finish.type == CPU_INT8_I8 ? -128 : 0;
      c->conv.finish.zero = g_rand_int_range (rand, low, low + 256);
      c->conv.finish.lo = (gfloat)(low - c->conv.finish.zero);
      c->conv.finish.hi = (gfloat)(low + 255 - c->conv.finish.zero);
    }
    run (c, k, tables[t].name, seed);
    case_free (c);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/int8-kernels/products_are_exact/%s", tables[i].name);
    g_test_add_data_func (path, GSIZE_TO_POINTER (i), products_are_exact);
  }
  return g_test_run ();
}
