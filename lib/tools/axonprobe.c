/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-probe: tries code of others, so that it does not end an application. Run by the library
 * (ISOLATE_PROBE). Usage: axon-probe PLUGIN NAME SUBJECT */
#include <axon/axon-plugin.h>

int
main (int argc, char **argv)
{
  return axon_probe_main (argc, argv);
}
