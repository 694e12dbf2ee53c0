/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpueltwise.h"

#include <float.h>

static gboolean
clip_bound (const AxonNode *node, guint index, const gchar *attr, gdouble fallback, gfloat *out)
{
  gdouble v = fallback;
  if (node->op->max_in == 1)
    v = axon_node_get_float (node, attr);
  else if (axon_node_get_input (node, index) != NULL &&
           !axon_match_scalar (node->inputs[index], &v))
    return FALSE;
  *out = (gfloat)CLAMP (v, -(gdouble)FLT_MAX, (gdouble)FLT_MAX);
  return TRUE;
}

gboolean
cpu_eltwise_args (const AxonNode *node, gfloat *alpha, gfloat *beta)
{
  if (axon_node_is (node, "Clip"))
    return clip_bound (node, 1, "min", -(gdouble)FLT_MAX, alpha) &&
           clip_bound (node, 2, "max", (gdouble)FLT_MAX, beta);
  *alpha = (gfloat)axon_node_get_float (node, "alpha");
  *beta = (gfloat)axon_node_get_float (node, "beta");
  return TRUE;
}
