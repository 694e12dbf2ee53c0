/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What operators that follow indices share. */
#include "indices.h"

const gchar *
gpu_index_type (const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[1]->type.dtype;
  if (dtype == AXON_DTYPE_I32 || dtype == AXON_DTYPE_I64)
    return dtype == AXON_DTYPE_I32 ? "int" : "long";
  *why = g_strdup_printf ("indices are %s", axon_dtype_get_name (dtype));
  return NULL;
}

void
gpu_set_axes (const AxonShape *shape, gint first, gint64 length, gint32 *size, gint32 *step)
{
  gint64 strides[AXON_MAX_RANK];
  gpu_strides (shape, strides);
  gpu_ints (shape->dims + first, (gint)length, size);
  gpu_ints (strides + first, (gint)length, step);
}
