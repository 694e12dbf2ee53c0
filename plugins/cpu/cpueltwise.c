/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpueltwise.h"

gboolean
cpu_eltwise_args (const AxonNode *node, gfloat *alpha, gfloat *beta)
{
  if (axon_node_is (node, "Clip"))
    return axon_match_clip (node, alpha, beta);
  *alpha = (gfloat)axon_node_get_float (node, "alpha");
  *beta = (gfloat)axon_node_get_float (node, "beta");
  return TRUE;
}
