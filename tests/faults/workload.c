/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What faults.py makes fail: a model is read, compiled twice through a cache, and run. Exit status:
 * 0 the right result, 2 an error that says why, 3 a wrong result, an error without words or a
 * silent failure. Usage: fault-workload MODEL DEVICE CACHE */
#include <axon/axon.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { RIGHT, REFUSED = 2, WRONG };

static int
refused (const GError *error)
{
  if (error == NULL || strlen (error->message) < 10)
    return WRONG;
  g_print ("%s\n", error->message);
  return REFUSED;
}

/* Sum of the outputs, of an input that is always the same. */
static int
infer (AxonCompiledModel *compiled, gdouble *sum)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) input =
      axon_tensor_new (axon_compiled_model_get_input_dtype (compiled, 0),
                       axon_compiled_model_get_input_shape (compiled, 0), &error);
  *sum = 0;
  if (input == NULL)
    return refused (error);
  for (gsize i = 0; i < axon_tensor_get_numel (input); i++)
    axon_dtype_store (axon_tensor_get_dtype (input), axon_tensor_get_data (input), i,
                      (gdouble)(i % 251) / 251);
  if (!axon_infer_request_set_input_tensor (request, 0, input, &error) ||
      !axon_infer_request_infer (request, &error))
    return refused (error);
  for (guint o = 0; o < axon_compiled_model_get_n_outputs (compiled); o++) {
    g_autoptr (AxonTensor) output = axon_infer_request_get_output_tensor (request, o);
    for (gsize i = 0; i < axon_tensor_get_numel (output); i++)
      *sum += axon_tensor_get_value (output, i) * (gdouble)(i % 7 + 1);
  }
  return RIGHT;
}

static int
work (AxonCore *core, char **argv)
{
  gdouble sums[2] = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) config =
      g_variant_ref_sink (g_variant_new_parsed ("{'CACHE_DIR': <%s>}", argv[3]));
  for (guint i = 0; i < G_N_ELEMENTS (sums); i++) {
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model_from_file (
        core, argv[1], argv[2], config, NULL, NULL, NULL, &error);
    int status = compiled ? infer (compiled, &sums[i]) : refused (error);
    if (status != RIGHT)
      return status;
  }
  if (!(fabs (sums[0] - sums[1]) <= 1e-3 * fabs (sums[0])))
    return WRONG;
  g_print ("%.4g\n", sums[0]);
  return RIGHT;
}

int
main (int argc, char **argv)
{
  g_autoptr (AxonCore) core = axon_core_new ();
  void (*fault_begin) (void) = dlsym (RTLD_DEFAULT, "fault_begin"); /* of interpose.c, or none */
  if (argc != 4)
    return WRONG;
  if (fault_begin != NULL)
    fault_begin ();
  return work (core, argv);
}
