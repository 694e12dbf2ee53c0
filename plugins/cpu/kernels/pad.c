/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pad, in every mode: where each place comes from. */
#include "kernels.h"
#include "remap.h"

#include <string.h>

/* Source of place @i in a dimension of @n; -1: the value. */
typedef gint64 (*SourceFunc) (gint64 i, gint64 n);

static gint64
source_constant (G_GNUC_UNUSED gint64 i, G_GNUC_UNUSED gint64 n)
{
  return -1;
}

static gint64
source_edge (gint64 i, gint64 n)
{
  return i < 0 ? 0 : n - 1;
}

static gint64
source_reflect (gint64 i, gint64 n)
{
  return i < 0 ? -i : 2 * (n - 1) - i;
}

static gint64
source_wrap (gint64 i, gint64 n)
{
  return (i % n + n) % n;
}

static const struct {
  const gchar *mode;
  SourceFunc source;
} modes[] = { { "constant", source_constant },
              { "edge", source_edge },
              { "reflect", source_reflect },
              { "wrap", source_wrap } };

static SourceFunc
find_source (const AxonNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (g_str_equal (axon_node_get_string (node, "mode"), modes[i].mode))
      return modes[i].source;
  return NULL;
}

/* Of each dimension, before its first place. */
static gboolean
get_pads (const AxonNode *node, gint64 *pads)
{
  const AxonTensor *input = cpu_node_constant (node, 1), *axes = cpu_node_constant (node, 3);
  gint rank = node->inputs[0]->type.shape.rank;
  guint n;
  const gchar *name = axon_node_has_form (node, AXON_FORM_PADDINGS) ? "paddings" : "pads";
  const gint64 *attr = axon_node_get_ints (node, name, &n);
  if (attr != NULL) {
    memcpy (pads, attr, (gsize)rank * sizeof *pads);
    return TRUE;
  }
  if (input == NULL || (axon_node_get_input (node, 3) != NULL && axes == NULL))
    return FALSE;
  n = axes ? (guint)axon_tensor_get_numel (axes) : (guint)rank;
  for (guint i = 0; i < n; i++) {
    gint64 d =
        axes ? axon_dtype_load_int (axon_tensor_get_dtype (axes), axon_tensor_get_data (axes), i)
             : i;
    pads[d < 0 ? d + rank : d] =
        axon_dtype_load_int (axon_tensor_get_dtype (input), axon_tensor_get_data (input), i);
  }
  return TRUE;
}

/* The pad value, of the type of the data. */
static CpuTensor *
value_of (CpuPlan *plan, const AxonNode *node)
{
  static const AxonShape one = { .rank = 0 };
  AxonDType dtype = node->inputs[0]->type.dtype;
  const AxonValue *input = axon_node_get_input (node, 2);
  guint64 *value;
  if (input != NULL)
    return cpu_plan_input_as (plan, node, 2, NULL);
  value = g_new0 (guint64, 1);
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    axon_dtype_store (dtype, value, 0, axon_node_get_float (node, "value"));
  return cpu_plan_constant (plan, dtype, &one, value);
}

static gboolean
build_pad (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 pads[AXON_MAX_RANK] = { 0 };
  gint32 *maps[AXON_MAX_RANK] = { NULL };
  SourceFunc source = find_source (node);
  if (source == NULL || !cpu_can_remap (node) || !get_pads (node, pads))
    return FALSE;
  for (gint d = 0; d < x->rank; d++) {
    if (pads[d] == 0 && x->dims[d] == y->dims[d])
      continue;
    maps[d] = g_new (gint32, (gsize)y->dims[d]);
    for (gint64 i = 0; i < y->dims[d]; i++) {
      gint64 at = i - pads[d];
      maps[d][i] = (gint32)(at >= 0 && at < x->dims[d] ? at : source (at, x->dims[d]));
    }
  }
  cpu_add_remap (plan, node, maps, value_of (plan, node));
  return TRUE;
}

const CpuKernel cpu_pad_kernels[] = {
  { .name = "Pad", .impl = "own", .build = build_pad },
  { 0 },
};
