/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A model, compiled and run on CPU (or FUZZ_DEVICE), and by the reference kernels without a pass.
 * Results that differ by more than what the reference itself makes of slightly different inputs are
 * a finding.
 */
#include "fuzz.h"

#include <axon/plugin/axongraph.h>
#include <math.h>

#define CHANGE 1e-4 /* of the inputs, relative */
#define TOLERANCE 1e-2
#define LARGEST 1e9 /* constants: of larger ones f32 overflows on the way, and doubles do not */

static AxonCompiledModel *
compile (AxonModel *model, const gchar *device)
{
  g_autoptr (GVariant) config = NULL;
  g_autoptr (GError) error = NULL;
  AxonCompiledModel *compiled;
  if (g_str_equal (device, "TEMPLATE"))
    config = g_variant_ref_sink (g_variant_new_parsed ("{'DISABLE_TRANSFORMATIONS': <'YES'>}"));
  compiled = axon_core_compile_model (axon_core_get_default (), model, device, config, NULL, NULL,
                                      NULL, &error);
  fuzz_check (compiled != NULL, error);
  return compiled;
}

/* @times: what floating-point inputs are multiplied by. NULL: too large to try */
static GPtrArray *
make_inputs (AxonModel *model, gdouble times)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  for (guint i = 0; i < axon_model_get_n_inputs (model); i++) {
    AxonTensor *t = fuzz_input (model, i);
    if (t == NULL)
      return NULL;
    g_ptr_array_add (inputs, t);
    for (gsize k = 0; axon_tensor_get_dtype (t) == AXON_DTYPE_F32 && k < axon_tensor_get_numel (t);
         k++)
      ((gfloat *)axon_tensor_get_data (t))[k] *= (gfloat)times;
  }
  return g_steal_pointer (&inputs);
}

static GPtrArray *
run (AxonCompiledModel *compiled, AxonModel *model, gdouble times)
{
  g_autoptr (GPtrArray) inputs = compiled ? make_inputs (model, times) : NULL;
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs = inputs ? fuzz_run (compiled, inputs, &error) : NULL;
  if (inputs != NULL)
    fuzz_check (outputs != NULL, error);
  return outputs;
}

static GPtrArray *
run_once (AxonModel *model, const gchar *device)
{
  g_autoptr (AxonCompiledModel) compiled = compile (model, device);
  return run (compiled, model, 1);
}

static gboolean
is_comparable (const AxonTensor *a, const AxonTensor *b)
{
  AxonDType dtype = axon_tensor_get_dtype (a);
  return dtype == axon_tensor_get_dtype (b) &&
         axon_shape_equal (axon_tensor_get_shape (a), axon_tensor_get_shape (b)) &&
         dtype != AXON_DTYPE_SEQUENCE && dtype != AXON_DTYPE_OPTIONAL && dtype != AXON_DTYPE_STRING;
}

static gboolean
has_moderate_constants (AxonModel *model)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    const AxonNode *node = g_ptr_array_index (model->nodes, i);
    for (guint k = 0; k < node->n_inputs; k++) {
      AxonTensor *t = node->inputs[k] ? node->inputs[k]->type.value : NULL;
      gboolean is_real = t && (AXON_DTYPE_BIT (axon_tensor_get_dtype (t)) & AXON_DTYPES_FLOAT);
      for (gsize e = 0; is_real && e < axon_tensor_get_numel (t); e++)
        if (fabs (axon_tensor_get_value (t, e)) > LARGEST)
          return FALSE;
    }
  }
  return TRUE;
}

/* What changes when inputs change a little tells how much a difference means; where that is more
 * than the values themselves, or not a number, it means nothing. */
static void
compare (const AxonTensor *reference, const AxonTensor *nearby, const AxonTensor *got)
{
  gboolean may_round = g_getenv ("FUZZ_DEVICE") != NULL && /* without kernels for bytes */
                       AXON_DTYPE_BIT (axon_tensor_get_dtype (got)) & AXON_DTYPES_BYTE;
  gdouble largest = 1, allowed = 0;
  g_assert_true (axon_tensor_get_dtype (reference) == axon_tensor_get_dtype (got));
  if (!is_comparable (reference, nearby) || !is_comparable (reference, got))
    return;
  for (gsize i = 0; i < axon_tensor_get_numel (reference); i++) {
    gdouble a = axon_tensor_get_value (reference, i), b = axon_tensor_get_value (nearby, i);
    if (!isfinite (a) || !isfinite (b))
      return;
    largest = fmax (largest, fabs (a));
    allowed = fmax (allowed, fabs (a - b));
  }
  if (allowed > largest / 10 || largest > 1e6)
    return;
  for (gsize i = 0; i < axon_tensor_get_numel (reference); i++)
    g_assert_cmpfloat_with_epsilon (axon_tensor_get_value (reference, i),
                                    axon_tensor_get_value (got, i),
                                    may_round + TOLERANCE * largest + allowed / CHANGE * TOLERANCE);
}

static void
try_model (const guint8 *data, gsize n)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, n);
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) plain = NULL;
  g_autoptr (GPtrArray) reference = NULL;
  g_autoptr (GPtrArray) nearby = NULL;
  g_autoptr (GPtrArray) got = NULL;
  model = axon_core_read_model_from_bytes (axon_core_get_default (), bytes, NULL, &error);
  fuzz_check (model != NULL, error);
  if (model == NULL)
    return;
  got = run_once (model, g_getenv ("FUZZ_DEVICE") ? g_getenv ("FUZZ_DEVICE") : "CPU");
  plain = compile (model, "TEMPLATE");
  reference = run (plain, model, 1);
  if (reference != NULL && got != NULL && has_moderate_constants (model))
    nearby = run (plain, model, 1 + CHANGE);
  for (guint i = 0; nearby != NULL && i < reference->len; i++)
    compare (g_ptr_array_index (reference, i), g_ptr_array_index (nearby, i),
             g_ptr_array_index (got, i));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize n)
{
  try_model (data, n);
  fuzz_await_threads ();
  return 0;
}
