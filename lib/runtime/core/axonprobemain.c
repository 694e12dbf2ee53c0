/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The helper process: one device of one plugin is made and runs a model of one node. Where
 * the device is not there, or refuses, no harm is done either. */
#include "axonloader-private.h"
#include "axonprobe-private.h"
#include <axon/axon.h>
#include <axon/axon-plugin.h>

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <unistd.h>

static const gchar *the_subject; /* set once, by the helper's main() */

const gchar *
axon_probe_get_subject (void)
{
  return the_subject;
}

/* x f32[1,4] -> Relu */
static AxonModel *
small_model (AxonCore *core)
{
  static const guint8 bytes[] = {
    0x08, 0x08, 0x3a, 0x33,                                                            /* graph */
    0x0a, 0x0c, 0x0a, 0x01, 'x',  0x12, 0x01, 'y',  0x22, 0x04, 'R',  'e',  'l',  'u', /* node */
    0x12, 0x01, 'g',                                                                   /* name */
    0x5a, 0x0f, 0x0a, 0x01, 'x',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a,
    0x02, 0x08, 0x04, /* input */
    0x62, 0x0f, 0x0a, 0x01, 'y',  0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a,
    0x02, 0x08, 0x04,                  /* output */
    0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d /* opset 13 */
  };
  g_autoptr (GBytes) model = g_bytes_new_static (bytes, sizeof bytes);
  return axon_core_read_model_from_bytes (core, model, NULL, NULL);
}

static void
run (AxonCore *core, const gchar *name)
{
  g_autoptr (AxonModel) model = small_model (core);
  g_autoptr (AxonCompiledModel) compiled =
      model ? axon_core_compile_model (core, model, name, NULL, NULL, NULL, NULL, NULL) : NULL;
  g_autoptr (AxonInferRequest) request =
      compiled ? axon_compiled_model_create_infer_request (compiled) : NULL;
  g_autoptr (AxonTensor) input = request ? axon_infer_request_get_input_tensor (request, 0) : NULL;
  if (input != NULL)
    axon_infer_request_infer (request, NULL);
}

static void
limit (void)
{
  const struct rlimit no_core = { 0, 0 };
  setrlimit (RLIMIT_CORE, &no_core);
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

gint
axon_probe_main (gint argc, gchar **argv)
{
  g_autoptr (AxonCore) core = NULL;
  g_autoptr (GError) error = NULL;
  const AxonPluginInfo *info;
  if (argc != 4)
    return AXON_PROBE_UNABLE;
  limit ();
  the_subject = argv[3];
  info = axon_loader_open_library (argv[1], NULL, &error);
  if (info == NULL) {
    gssize n = write (AXON_PROBE_TEXT_FD, error->message, MIN (strlen (error->message), 4000));
    return n > 0 ? AXON_PROBE_REFUSED : AXON_PROBE_UNABLE;
  }
  core = axon_core_new ();
  axon_core_set_property (core, NULL, "ISOLATE_PROBE", g_variant_new_boolean (FALSE), NULL);
  /* A virtual device would run others, and they are not what is tried. */
  if (axon_core_register_plugin (core, argv[1], "PROBED", NULL) &&
      !(info->flags & AXON_PLUGIN_VIRTUAL))
    run (core, "PROBED");
  _exit (AXON_PROBE_DONE); /* what drivers do at the end is not what is tried, either */
}
