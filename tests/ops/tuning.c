/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Kernels of device CPU that notes ask for or that were measured. What is faster is nobody's to
 * say here: times decide nothing that is asserted. */
#include "axontest.h"

#include <axon/axon-cpu.h>
#include <glib/gstdio.h>
#include <string.h>

#define TOLERANCE 1e-4
#define TO_I64 7 /* what ONNX calls it */
#define TUNED "{'" AXON_CPU_TUNE_KERNELS "': <true>}"

/* Products have matrices. */
typedef struct {
  const gchar *name, *op;
  AxonShape x, w;
  gint64 group, pad;
} Shape;

static const Shape shapes[] = {
  { "dense", "Conv", { 4, { 1, 24, 13, 15 } }, { 4, { 24, 24, 3, 3 } }, 1, 1 },
  { "frames", "Conv", { 4, { 3, 16, 9, 8 } }, { 4, { 32, 16, 3, 3 } }, 1, 0 },
  { "of a picture", "Conv", { 4, { 1, 3, 21, 23 } }, { 4, { 16, 3, 3, 3 } }, 1, 1 },
  { "to three channels", "Conv", { 4, { 1, 16, 17, 19 } }, { 4, { 3, 16, 3, 5 } }, 1, 1 },
  { "pointwise", "Conv", { 4, { 1, 24, 7, 9 } }, { 4, { 33, 24, 1, 1 } }, 1, 0 },
  { "depthwise", "Conv", { 4, { 1, 32, 9, 8 } }, { 4, { 32, 1, 3, 3 } }, 32, 1 },
  { "grouped", "Conv", { 4, { 1, 32, 9, 8 } }, { 4, { 32, 8, 3, 3 } }, 4, 1 },
  { "a line", "Conv", { 3, { 1, 8, 40 } }, { 3, { 16, 8, 5 } }, 1, 2 },
  { "transposed", "ConvTranspose", { 4, { 1, 16, 6, 7 } }, { 4, { 16, 8, 3, 3 } }, 1, 1 },
  { "a few rows", "MatMul", { 2, { 5, 40 } }, { 2, { 40, 24 } }, 0, 0 },
  { "many rows", "MatMul", { 2, { 300, 40 } }, { 2, { 40, 24 } }, 0, 0 },
  { "a product", "Gemm", { 2, { 3, 17 } }, { 2, { 17, 33 } }, 0, 0 },
};

static const gchar *const kernels[] = {
  "own", "columns", "dots", "planes", "winograd-2x2", "winograd-4x4", "onednn", "no such kernel"
};

static AxonValue *
add (TestModel *t, const Shape *s, AxonValue *x, guint32 seed)
{
  const gint64 pads[] = { s->pad, s->pad, s->pad, s->pad };
  AxonNode *node = test_model_node (t, s->op, 2, x, test_model_random (t, &s->w, seed));
  if (s->group > 0) {
    axon_node_set_int (node, "group", s->group);
    axon_node_set_ints (node, "pads", pads, 2 * ((guint)s->w.rank - 2));
  }
  return node->outputs[0];
}

/* Two of the shape beside each other, one with an activation, and their sum. @activation: nullable
 */
static AxonModel *
model_of (const Shape *s, const gchar *activation)
{
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &s->x), *y = add (&t, s, x, 1);
  if (activation != NULL)
    y = test_model_node (&t, activation, 1, y)->outputs[0];
  y = test_model_node (&t, "Add", 2, y, add (&t, s, x, 2))->outputs[0];
  return test_model_finish (&t, y);
}

/* Two convolutions of which each may be after Winograd, one after the other. */
static AxonModel *
deep_model (void)
{
  TestModel t = test_model_new (14);
  AxonValue *x = test_model_input (&t, "x", AXON_DTYPE_F32, &shapes[0].x);
  return test_model_finish (&t, add (&t, &shapes[0], add (&t, &shapes[0], x, 1), 2));
}

static gboolean
is_ours (const AxonNode *node)
{
  return g_str_has_prefix (node->op->name, "Conv") || g_str_has_prefix (node->op->name, "Gemm") ||
         g_str_has_prefix (node->op->name, "MatMul");
}

static void
note (AxonModel *model, const gchar *key, const gchar *text)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    if (is_ours (node))
      axon_node_set_info (node, key, text);
  }
}

static void
note_kernel (AxonModel *model, const gchar *kernel)
{
  note (model, AXON_CPU_KERNEL, kernel);
}

static AxonCompiledModel *
compile (AxonModel *model, const gchar *config)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", config ? g_variant_new_parsed (config) : NULL, NULL,
      NULL, NULL, &error);
  g_assert_no_error (error);
  return compiled;
}

/* What computes the convolutions and products, in order. */
static gchar *
kernels_of (AxonCompiledModel *compiled)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) runtime = axon_compiled_model_get_runtime_model (compiled, &error);
  GString *s = g_string_new (NULL);
  g_assert_no_error (error);
  for (guint i = 0; i < runtime->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (runtime->nodes, i);
    if (is_ours (node))
      g_string_append_printf (s, "%s ", node->exec_type);
  }
  return g_string_free (s, FALSE);
}

static gchar *
kernels_by (AxonModel *model, const gchar *config)
{
  g_autoptr (AxonCompiledModel) compiled = compile (model, config);
  return kernels_of (compiled);
}

static void
every_kernel_that_a_note_asks_for_agrees (gconstpointer data)
{
  static const gchar *const activations[] = { NULL, "Relu", "HardSwish" };
  const Shape *s = data;
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  for (guint a = 0; a < G_N_ELEMENTS (activations); a++)
    for (guint k = 0; k < G_N_ELEMENTS (kernels); k++) {
      g_autoptr (AxonModel) model = model_of (s, activations[a]);
      note_kernel (model, kernels[k]);
      test_compare_devices (model, x, TOLERANCE);
      note (model, AXON_CPU_LAYOUT, "channels-last");
      test_compare_devices (model, x, TOLERANCE);
      note (model, AXON_CPU_LAYOUT, "blocks");
      test_compare_devices (model, x, TOLERANCE);
    }
}

static void
what_was_measured_agrees (gconstpointer data)
{
  const Shape *s = data;
  g_autoptr (AxonModel) model = model_of (s, "HardSwish");
  g_autoptr (AxonTensor) x = test_random (&s->x, 7);
  g_autoptr (AxonTensor) expected = test_run (model, "TEMPLATE", NULL, x);
  g_autoptr (AxonTensor) got = test_run (model, "CPU", g_variant_new_parsed (TUNED), x);
  g_assert_cmpfloat (test_largest_difference (expected, got), <, TOLERANCE);
}

static void
a_kernel_that_takes_the_node_computes_it (void)
{
  static const struct {
    guint shape;
    const gchar *kernel, *expected;
  } rows[] = {
    { 0, "winograd-2x2", "own:winograd-2x2" },
    { 0, "winograd-4x4", "own:winograd-4x4" },
    { 0, "own", "own:dense" },
    { 3, "columns", "own:columns" },
    { 3, "dots", "own:dots" },
    { 5, "own", "own:depthwise" },
    { 9, "own", "own:dense" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (AxonModel) model = model_of (&shapes[rows[i].shape], NULL);
    g_autofree gchar *found = NULL;
    note_kernel (model, rows[i].kernel);
    found = kernels_by (model, NULL);
    g_assert_nonnull (strstr (found, rows[i].expected));
  }
}

/* A note may be anybody's: of a hostile file, too. */
static void
a_kernel_that_does_not_take_the_node_is_as_none (void)
{
  static const struct {
    guint shape;
    const gchar *kernel, *config;
  } rows[] = {
    { 4, "winograd-4x4", NULL },
    { 5, "columns", NULL },
    { 4, "dots", NULL },
    { 3, "planes", NULL },
    { 10, "winograd-2x2", NULL },
    { 0, "no such kernel", NULL },
    { 0, "", NULL },
    { 0, "winograd-4x4", "{'" AXON_CPU_WINOGRAD "': <'NO'>}" },
    { 0, "winograd-4x4", "{'" AXON_CPU_WINOGRAD "': <'2x2'>}" },
    { 0, "winograd-2x2", "{'" AXON_CPU_WINOGRAD_MEMORY "': <0>}" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (AxonModel) model = model_of (&shapes[rows[i].shape], NULL);
    g_autofree gchar *by_rule = kernels_by (model, rows[i].config), *found = NULL;
    note_kernel (model, rows[i].kernel);
    found = kernels_by (model, rows[i].config);
    g_assert_cmpstr (found, ==, by_rule);
  }
}

typedef struct {
  guint n;                   /* measurements that were told */
  GCancellable *cancellable; /* nullable: cancelled by the third */
} Watch;

static void
watch (G_GNUC_UNUSED gdouble done, const gchar *what, gpointer user_data)
{
  Watch *w = user_data;
  w->n += g_strcmp0 (what, "measuring kernels") == 0;
  if (w->n == 3 && w->cancellable != NULL)
    g_cancellable_cancel (w->cancellable);
}

static GBytes *export(AxonCompiledModel *compiled)
{
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (GError) error = NULL;
  g_assert_true (axon_compiled_model_export (compiled, stream, NULL, &error));
  g_assert_no_error (error);
  g_output_stream_close (stream, NULL, NULL);
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
}

static AxonCompiledModel *
import (GBytes *bytes, const gchar *config, Watch *w)
{
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled = axon_core_import_model (
      axon_core_get_default (), bytes, "CPU", NULL, config ? g_variant_new_parsed (config) : NULL,
      NULL, watch, w, &error);
  g_assert_no_error (error);
  return compiled;
}

static void
kernels_of_notes_survive_export_and_import (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (kernels); k++) {
    g_autoptr (AxonModel) model = deep_model ();
    g_autoptr (AxonCompiledModel) compiled = NULL, imported = NULL;
    g_autoptr (GBytes) bytes = NULL;
    g_autofree gchar *before = NULL, *after = NULL;
    Watch w = { 0 };
    note_kernel (model, kernels[k]);
    compiled = compile (model, NULL);
    bytes = export(compiled);
    imported = import (bytes, NULL, &w);
    before = kernels_of (compiled);
    after = kernels_of (imported);
    g_assert_cmpstr (before, ==, after);
    g_assert_cmpuint (w.n, ==, 0);
  }
}

static void
what_was_measured_is_kept_in_exports_and_not_measured_again (void)
{
  g_autoptr (AxonModel) model = deep_model ();
  g_autoptr (AxonCompiledModel) compiled = compile (model, TUNED);
  g_autofree gchar *before = kernels_of (compiled);
  g_autoptr (GBytes) bytes = export(compiled);
  for (guint i = 0; i < 2; i++) {
    Watch w = { 0 };
    g_autoptr (AxonCompiledModel) imported = import (bytes, i ? TUNED : NULL, &w);
    g_autofree gchar *after = kernels_of (imported);
    g_assert_cmpstr (before, ==, after);
    g_assert_cmpuint (w.n, ==, 0);
  }
}

/* Of a model whose notes say that they were measured on another processor, all are forgotten: by
 * rule, or measured here. */
static void
what_was_measured_elsewhere_is_measured_again_or_decided_by_rule (void)
{
  g_autoptr (AxonModel) model = deep_model ();
  g_autofree gchar *by_rule = kernels_by (model, NULL), *found = NULL;
  Watch w = { 0 };
  g_autoptr (AxonCompiledModel) compiled = NULL;
  note_kernel (model, "winograd-2x2");
  axon_model_set_metadata (model, AXON_CPU_TUNE_KERNELS, "a processor of tomorrow");
  found = kernels_by (model, NULL);
  g_assert_cmpstr (found, ==, by_rule);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                      g_variant_new_parsed (TUNED), NULL, watch, &w, NULL);
  g_assert_nonnull (compiled);
  g_assert_cmpuint (w.n, >, 0);
}

/* Measured for two threads, imported for one. */
static void
what_was_measured_holds_for_its_number_of_threads (void)
{
  static const gchar *const two =
      "{'" AXON_CPU_TUNE_KERNELS "': <true>, 'INFERENCE_NUM_THREADS': <2>}";
  static const gchar *const one =
      "{'" AXON_CPU_TUNE_KERNELS "': <true>, 'INFERENCE_NUM_THREADS': <1>}";
  g_autoptr (AxonModel) model = deep_model ();
  g_autoptr (AxonCompiledModel) compiled = NULL, same = NULL, other = NULL;
  g_autoptr (GBytes) bytes = NULL;
  Watch w = { 0 };
  g_setenv ("AXON_CPU_ALL_THREADS", "1", TRUE);
  compiled = compile (model, two);
  bytes = export(compiled);
  same = import (bytes, two, &w);
  g_assert_cmpuint (w.n, ==, 0);
  other = import (bytes, one, &w);
  g_assert_cmpuint (w.n, >, 0);
  g_unsetenv ("AXON_CPU_ALL_THREADS");
}

static void
remove_all (const gchar *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const gchar *name;
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
}

static void
the_cache_keeps_what_was_measured (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-tuning-XXXXXX", NULL);
  g_autofree gchar *config =
      g_strdup_printf ("{'" AXON_CPU_TUNE_KERNELS "': <true>, 'CACHE_DIR': <'%s'>}", folder);
  g_autofree gchar *found[2] = { NULL, NULL };
  for (guint i = 0; i < 2; i++) {
    g_autoptr (AxonModel) model = deep_model ();
    Watch w = { 0 };
    g_autoptr (AxonCompiledModel) compiled =
        axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                 g_variant_new_parsed (config), NULL, watch, &w, NULL);
    g_autoptr (GVariant) cached =
        axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
    g_assert_cmpint (g_variant_get_boolean (cached), ==, i);
    g_assert_cmpint (w.n > 0, ==, i == 0);
    found[i] = kernels_of (compiled);
  }
  g_assert_cmpstr (found[0], ==, found[1]);
  remove_all (folder);
  g_free (g_steal_pointer (&found[1]));
}

static void
measuring_can_be_cancelled (void)
{
  g_autoptr (AxonModel) model = deep_model ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Watch w = { 0, cancellable };
  g_assert_null (axon_core_compile_model (axon_core_get_default (), model, "CPU",
                                          g_variant_new_parsed (TUNED), cancellable, watch, &w,
                                          &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_cmpuint (w.n, ==, 3);
}

static void
nothing_is_measured_unless_asked_for (void)
{
  g_autoptr (AxonModel) model = deep_model ();
  g_autoptr (GError) error = NULL;
  Watch w = { 0 };
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, watch, &w, &error);
  g_assert_no_error (error);
  g_assert_nonnull (compiled);
  g_assert_cmpuint (w.n, ==, 0);
}

static void
a_graph_of_nothing_to_choose_is_not_measured (void)
{
  g_autoptr (AxonModel) model = test_relu_model ();
  Watch w = { 0 };
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", g_variant_new_parsed (TUNED), NULL, watch, &w, NULL);
  g_assert_nonnull (compiled);
  g_assert_cmpuint (w.n, ==, 0);
}

/* Rows of a table: noise gives indices far beyond it. */
static AxonModel *
model_of_rows (const AxonShape *indices)
{
  static const gfloat far = 1e6f;
  AxonShape table = AXON_SHAPE (4, 16), w = AXON_SHAPE (16, 8), one = AXON_SHAPE (1);
  TestModel t = test_model_new (14);
  AxonNode *n = test_model_node (&t, "Mul", 2, test_model_input (&t, "x", AXON_DTYPE_F32, indices),
                                 test_model_constant (&t, &one, &far));
  n = test_model_node (&t, "Cast", 1, n->outputs[0]);
  axon_node_set_int (n, "to", TO_I64);
  n = test_model_node (&t, "Gather", 2, test_model_random (&t, &table, 1), n->outputs[0]);
  n = test_model_node (&t, "MatMul", 2, n->outputs[0], test_model_random (&t, &w, 2));
  return test_model_finish (&t, n->outputs[0]);
}

static void
a_step_that_fails_on_noise_is_no_failure (void)
{
  static const gfloat zeros[3] = { 0 };
  AxonShape indices = AXON_SHAPE (3);
  g_autoptr (AxonModel) model = model_of_rows (&indices);
  g_autoptr (AxonTensor) x = test_tensor (&indices, zeros);
  g_autoptr (AxonTensor) expected = test_run (model, "TEMPLATE", NULL, x);
  g_autoptr (AxonTensor) got = test_run (model, "CPU", g_variant_new_parsed (TUNED), x);
  g_assert_cmpfloat (test_largest_difference (expected, got), <, TOLERANCE);
}

static gboolean
compiles_within (AxonModel *model, guint mebibytes, gboolean tuned)
{
  g_autofree gchar *config =
      g_strdup_printf ("{'MAX_MEMORY': <%u>, '" AXON_CPU_TUNE_KERNELS "': <%s>}", mebibytes,
                       tuned ? "true" : "false");
  g_autoptr (AxonCompiledModel) compiled =
      axon_core_compile_model (axon_core_get_default (), model, "CPU",
                               g_variant_new_parsed (config), NULL, NULL, NULL, NULL);
  return compiled != NULL;
}

/* Where there is no memory for two plans, there may be for one. */
static void
measuring_needs_no_memory_that_the_model_does_not (void)
{
  static const Shape wide = {
    "", "Conv", { 4, { 1, 128, 9, 9 } }, { 4, { 128, 128, 3, 3 } }, 1, 1
  };
  g_autoptr (AxonModel) model = model_of (&wide, NULL);
  gboolean first = compiles_within (model, 1, FALSE), last = FALSE;
  for (guint i = 1; i <= 8; i++) {
    last = compiles_within (model, i, FALSE);
    g_assert_cmpint (compiles_within (model, i, TRUE), ==, last);
  }
  g_assert_false (first);
  g_assert_true (last);
}

typedef struct {
  const gchar *name;
  GTestDataFunc func;
} OfShapes;

int
main (int argc, char **argv)
{
  static const OfShapes of_shapes[] = {
    { "every_kernel_that_a_note_asks_for_agrees", every_kernel_that_a_note_asks_for_agrees },
    { "what_was_measured_agrees", what_was_measured_agrees },
  };
  static const struct {
    const gchar *path;
    GTestFunc func;
  } tests[] = {
    { "/tuning/a_kernel_that_takes_the_node_computes_it",
      a_kernel_that_takes_the_node_computes_it },
    { "/tuning/a_kernel_that_does_not_take_the_node_is_as_none",
      a_kernel_that_does_not_take_the_node_is_as_none },
    { "/tuning/kernels_of_notes_survive_export_and_import",
      kernels_of_notes_survive_export_and_import },
    { "/tuning/what_was_measured_is_kept_in_exports_and_not_measured_again",
      what_was_measured_is_kept_in_exports_and_not_measured_again },
    { "/tuning/what_was_measured_elsewhere_is_measured_again_or_decided_by_rule",
      what_was_measured_elsewhere_is_measured_again_or_decided_by_rule },
    { "/tuning/what_was_measured_holds_for_its_number_of_threads",
      what_was_measured_holds_for_its_number_of_threads },
    { "/tuning/the_cache_keeps_what_was_measured", the_cache_keeps_what_was_measured },
    { "/tuning/measuring_can_be_cancelled", measuring_can_be_cancelled },
    { "/tuning/nothing_is_measured_unless_asked_for", nothing_is_measured_unless_asked_for },
    { "/tuning/a_graph_of_nothing_to_choose_is_not_measured",
      a_graph_of_nothing_to_choose_is_not_measured },
    { "/tuning/measuring_needs_no_memory_that_the_model_does_not",
      measuring_needs_no_memory_that_the_model_does_not },
    { "/tuning/a_step_that_fails_on_noise_is_no_failure",
      a_step_that_fails_on_noise_is_no_failure },
  };
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (of_shapes); i++)
    for (gsize k = 0; k < G_N_ELEMENTS (shapes); k++) {
      g_autofree gchar *path = g_strdup_printf ("/tuning/%s/%s", of_shapes[i].name, shapes[k].name);
      g_test_add_data_func (path, &shapes[k], of_shapes[i].func);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add_func (tests[i].path, tests[i].func);
  return g_test_run ();
}
