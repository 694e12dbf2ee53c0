/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AffineGrid of floats becomes a product: of the places of a grid, which are constant, with each
 * picture's matrix. */
#include "cpupasses.h"
#include "../cpuplan.h"

#define LARGEST (1 << 22) /* elements of the places: 16 MB */

/* Of place @i along an axis of @n, from -1 to 1: of pixels' middles, or of their corners. */
static gdouble
coordinate (gint64 i, gint64 n, gboolean align)
{
  return !align  ? -1 + (2 * (gdouble)i + 1) / (gdouble)n
         : n > 1 ? -1 + 2 * (gdouble)i / (gdouble)(n - 1)
                 : 0;
}

/* A row for each place of [N, spatial..., rank]: its coordinates, x first, and 1. */
static AxonTensor *
make_places (const AxonShape *y, gboolean align, GError **error)
{
  const gint rank = y->rank - 2;
  const gint64 n = axon_shape_get_numel (y) / y->dims[0] / rank;
  const AxonShape shape = AXON_SHAPE (n, rank + 1);
  AxonTensor *places = axon_tensor_new (AXON_DTYPE_F32, &shape, error);
  gfloat *to = places != NULL ? axon_tensor_get_data (places) : NULL;
  for (gint64 i = 0; to != NULL && i < n; i++) {
    gint64 rest = i;
    for (gint d = 0; d < rank; d++) {
      gint64 size = y->dims[rank - d];
      *to++ = (gfloat)coordinate (rest % size, size, align);
      rest /= size;
    }
    *to++ = 1;
  }
  return places;
}

static gboolean
expand (AxonModel *model, AxonNode *node, GError **error)
{
  static const gint64 turned[] = { 0, 2, 1 };
  const AxonShape *y = &node->outputs[0]->type.shape;
  g_autoptr (AxonTensor) places = NULL;
  AxonValue *in[2];
  if (!axon_node_is (node, "AffineGrid") || !cpu_pass_is_planned (node) || y->rank < 3 ||
      axon_shape_get_numel (y) / y->dims[0] > LARGEST)
    return FALSE;
  places = make_places (y, axon_node_get_int (node, "align_corners") != 0, error);
  if (places == NULL)
    return FALSE;
  in[0] = axon_model_add_constant (model, NULL, places);
  in[1] = cpu_pass_apply (model, node, "Transpose", &node->inputs[0], 1);
  axon_node_set_ints (in[1]->producer, "perm", turned, G_N_ELEMENTS (turned));
  cpu_pass_replace_reshaped (model, node,
                             cpu_pass_apply (model, node, "MatMul", in, G_N_ELEMENTS (in)));
  return TRUE;
}

gboolean
cpu_pass_expand_grid (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, expand, error);
}
