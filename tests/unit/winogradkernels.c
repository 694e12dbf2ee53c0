/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernels for convolutions after Winograd, every table by itself. */
#include "floatcase.h"
#include "kerneltables.h"
#include "../../plugins/cpu/kernels/winograd-private.h"

static void
run_winograd (FloatCase *c, const CpuWinogradKernels *k, gint size, guint threads)
{
  g_autofree gfloat *before = g_memdup2 (c->y, c->n_y * sizeof *c->y);
  CpuWinogradCut cut = { 0 };
  CpuWinogradRun run = { .cut = &cut, .kernels = k, .run = float_case_run (c) };
  gpointer memory[4];
  cpu_winograd_init (&cut.shape, &c->conv, size);
  cpu_winograd_setup (&cut, k, threads);
  memory[0] = g_aligned_alloc0 (cpu_winograd_weights_size (&cut.shape, k->lanes), 1, 64);
  memory[1] = float_case_pack (&cut.shape.conv, c->bias, 0);
  memory[2] = float_case_pack (&cut.shape.conv, c->slopes, 0);
  memory[3] = g_aligned_alloc0 (cut.scratch, 1, 64);
  cpu_winograd_weights_pack (&cut.shape, c->w, k, memory[0]);
  run.run.weights = memory[0];
  run.run.bias = memory[1];
  run.run.slopes = c->has_slopes ? memory[2] : NULL;
  run.scratch = memory[3];
  for (gint phase = 0; phase < 2; phase++)
    for (gint i = cpu_winograd_count_parts (&cut, phase) - 1; i >= 0; i--)
      cpu_winograd_run_part (&run, phase, i, (guint)i % threads);
  float_case_check (c, before);
  for (guint i = 0; i < G_N_ELEMENTS (memory); i++)
    g_aligned_free (memory[i]);
}

static void
convolutions_after_winograd_are_those_sums_but_for_rounding (gconstpointer data)
{
  gsize table = GPOINTER_TO_SIZE (data);
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  if (!table_is_here (table)) {
    g_test_skip ("this processor has no such instructions");
    return;
  }
  for (guint i = 0; i < 500; i++) {
    FloatCase *c = float_case_new (rand, FLOAT_WINOGRAD);
    run_winograd (c, tables[table].vector->winograd, i % 2 ? 2 : 4, 1 + i % 3);
    float_case_free (c);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (tables); i++) {
    g_autofree gchar *path = g_strdup_printf ("/winograd-kernels/"
                                              "convolutions_after_winograd_are_those_sums_but_for_"
                                              "rounding/%s",
                                              tables[i].name);
    if (table_has_floats (i))
      g_test_add_data_func (path, GSIZE_TO_POINTER (i),
                            convolutions_after_winograd_are_those_sums_but_for_rounding);
  }
  return g_test_run ();
}
