/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels for convolutions of floats, every table by itself. */
#include "floatcase.h"
#include "kerneltables.h"
#include "../../plugins/cpu/kernels/convparts.h"

/* What is packed of a case, and a thread's memory. */
typedef struct {
  CpuConv set, wide;
  gint pixels;
  gfloat *weights[2], *bias[2], *slopes[2]; /* of set, of wide */
  gfloat *factors;                          /* halves */
  guint8 *scratch;
} Packed;

static void
pack (Packed *p, const FloatCase *c, const CpuFloatConvKernels *k)
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
    p->bias[i] = float_case_pack (set, c->bias, period);
    p->slopes[i] = c->has_slopes ? float_case_pack (set, c->slopes, period) : NULL;
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
run_case (FloatCase *c, const CpuFloatConvKernels *k, const CpuHalf *half)
{
  g_autofree gfloat *before = g_memdup2 (c->y, c->n_y * sizeof *c->y);
  Packed p = { 0 };
  CpuFloatConvRun run = float_case_run (c);
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
  float_case_check (c, before);
  packed_clear (&p);
}

static void
convolutions_are_exact_sums_with_all_that_follows_them (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  if (!table_is_here (table)) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 400; i++) {
    FloatCase *c = float_case_new (rand, i % 4 == 0    ? FLOAT_DEPTHWISE
                                         : i % 4 == 2  ? FLOAT_LONG_ROWS
                                         : i % 40 == 1 ? FLOAT_MANY_CHANNELS
                                                       : FLOAT_DENSE);
    run_case (c, &tables[table].vector->floats, NULL);
    float_case_free (c);
  }
}

/* Halves hold these numbers and the sums of short runs of their products. */
static void
convolutions_in_half_precision_are_exact_where_halves_are (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  if (!table_is_here (table)) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 200; i++) {
    FloatCase *c = float_case_new (rand, i % 20 == 1 ? FLOAT_MANY_CHANNELS : FLOAT_DENSE);
    run_case (c, tables[table].vector->halves, tables[table].vector->half);
    float_case_free (c);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *sums = g_strdup_printf (
        "/float-kernels/convolutions_are_exact_sums_with_all_that_follows_them/%s", tables[i].name);
    g_autofree gchar *halves = g_strdup_printf (
        "/float-kernels/convolutions_in_half_precision_are_exact_where_halves_are/%s",
        tables[i].name);
    if (table_has_floats (i))
      g_test_add_data_func (sums, GSIZE_TO_POINTER (i),
                            convolutions_are_exact_sums_with_all_that_follows_them);
    if (tables[i].vector->halves != NULL)
      g_test_add_data_func (halves, GSIZE_TO_POINTER (i),
                            convolutions_in_half_precision_are_exact_where_halves_are);
  }
  return g_test_run ();
}
