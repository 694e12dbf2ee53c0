/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tests' server for other processes: serves a model as "m" until its input ends.
 * usage: remote-serve MODEL.onnx [EXTENSIONS [DEVICE]]   prints the URL */
#include "inferenceserver.h"

#include <stdio.h>

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL;
  InferenceServerOptions options = { .extensions = argc > 2 ? argv[2] : NULL,
                                     .device = argc > 3 ? argv[3] : NULL };
  InferenceServer *server;
  g_autofree gchar *url = NULL;
  if (argc < 2)
    return 2;
  model = axon_core_read_model (axon_core_get_default (), argv[1], NULL, &error);
  if (model == NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  server = inference_server_new (model, &options);
  url = inference_server_url (server);
  printf ("%s\n", url);
  fflush (stdout);
  while (getchar () != EOF)
    continue;
  inference_server_free (server);
  return 0;
}
