/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Concat of parts that follow each other in memory, such as rows of one picture channels last, or
 * whole blocks of its channels: who makes a part writes it into the whole, also where it gets
 * another shape on the way. What is not there yet (it was made in place, stands in another whole,
 * or lies otherwise) is copied. */
#include "placed.h"
#include "kernels.h"
#include "../cputensors.h"
#include "../onednn/cpudnn.h"

#define FAMILY "placed"

typedef enum { ROW_MAJOR, CHANNELS_LAST, BLOCKS } Order;

typedef struct {
  Order order;
  gint64 block; /* channels */
} Layout;

static gboolean
find_layout (AxonDType dtype, const AxonShape *shape, const CpuMd *md, Layout *layout)
{
  g_autoptr (CpuMd) last = NULL;
  *layout = (Layout){ ROW_MAJOR, cpu_md_get_block (md, dtype, shape) };
  if (cpu_md_is_row_major (md, shape))
    return TRUE;
  layout->order = layout->block > 0 ? BLOCKS : CHANNELS_LAST;
  if (layout->block > 0)
    return TRUE;
  last = shape->rank > 2 ? cpu_md_channels_last (dtype, shape) : NULL;
  return last != NULL && cpu_md_equal (md, last);
}

/* NULL: row-major */
static CpuMd *
make_layout (AxonDType dtype, const AxonShape *shape, const Layout *layout)
{
  return layout->order == BLOCKS          ? cpu_md_channel_blocks (dtype, shape, layout->block)
         : layout->order == CHANNELS_LAST ? cpu_md_channels_last (dtype, shape)
                                          : NULL;
}

/* TRUE if nothing but what @axis divides lies before it. */
static gboolean
is_outermost (const AxonShape *shape, gint axis, const Layout *layout)
{
  for (gint d = 0; d < shape->rank; d++) {
    gboolean before = layout->order == CHANNELS_LAST && d == 1      ? FALSE
                      : layout->order == CHANNELS_LAST && axis == 1 ? d != 1
                                                                    : d < axis;
    if (before && shape->dims[d] != 1)
      return FALSE;
  }
  return layout->order != BLOCKS || axis == 1;
}

static gint
axis_of (const AxonNode *concat)
{
  gint axis = (gint)axon_node_get_int (concat, "axis");
  return axis < 0 ? axis + concat->outputs[0]->type.shape.rank : axis;
}

/* Bytes before input @index, where those before it leave none of their blocks partly empty. */
static gboolean
find_offset (const AxonNode *concat, guint index, const Layout *layout, gsize *offset)
{
  *offset = 0;
  for (guint i = 0; i <= index; i++) {
    const AxonTypeInfo *part = &concat->inputs[i]->type;
    if (layout->order == BLOCKS && part->shape.dims[1] % layout->block != 0)
      return FALSE;
    if (i < index)
      *offset += (gsize)axon_shape_get_numel (&part->shape) * axon_dtype_get_size (part->dtype);
  }
  return TRUE;
}

static gboolean
has_extension (const CpuPlan *plan, const AxonNode *node)
{
  return axon_extensions_find_impl (plan->extensions, node, "CPU") != NULL;
}

static const AxonNode *
find_direct (const AxonValue *value, guint *index)
{
  for (guint u = 0; u < value->users->len; u++) {
    const AxonNode *user = g_ptr_array_index (value->users, u);
    gboolean is_full = axon_node_is (user, "Concat");
    for (guint i = 0; is_full && i < user->n_inputs; i++)
      is_full = axon_shape_get_numel (&user->inputs[i]->type.shape) > 0;
    for (*index = 0; is_full && *index < user->n_inputs; ++*index)
      if (user->inputs[*index] == value)
        return user;
  }
  return NULL;
}

static const AxonValue *
find_view (const CpuPlan *plan, const AxonValue *value)
{
  for (guint u = 0; u < value->users->len; u++) {
    const AxonNode *user = g_ptr_array_index (value->users, u);
    if ((user->op->flags & AXON_OP_VIEW) != 0 && user->inputs[0] == value &&
        !user->outputs[0]->is_output && !has_extension (plan, user))
      return user->outputs[0];
  }
  return NULL;
}

/* The first one that reads @value, as it is or, where it is row-major, in other shapes, and whose
 * parts have memory that is planned. */
static const AxonNode *
find_concat (const CpuPlan *plan, const AxonValue *value, const Layout *layout, guint *index)
{
  const AxonNode *concat = NULL;
  while (value != NULL && !value->is_output && concat == NULL) {
    concat = find_direct (value, index);
    value = layout->order == ROW_MAJOR ? find_view (plan, value) : NULL;
  }
  return concat;
}

/* NULL: it has another layout, or there is none of this kind. */
static CpuTensor *
get_whole (CpuPlan *plan, const AxonNode *concat, const Layout *layout)
{
  const AxonValue *value = concat->outputs[0];
  const GPtrArray *reps = plan->reps[value->index];
  g_autoptr (CpuMd) md = make_layout (value->type.dtype, &value->type.shape, layout);
  CpuTensor *whole = reps != NULL ? g_ptr_array_index (reps, 0) : NULL;
  if (layout->order == BLOCKS && (md == NULL || value->type.shape.dims[1] % layout->block != 0))
    return NULL;
  if (whole == NULL)
    return cpu_plan_output (plan, concat, 0, md);
  return cpu_tensor_has_layout (whole, md) ? whole : NULL;
}

CpuTensor *
cpu_plan_place (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md)
{
  const AxonValue *value = node->outputs[index];
  const AxonTypeInfo *type = &value->type;
  const AxonNode *concat;
  CpuTensor *whole, *part;
  Layout layout;
  gsize offset;
  guint at;
  if (value->is_output || g_strv_contains ((const gchar *const *)plan->disabled, FAMILY) ||
      has_extension (plan, node) || !find_layout (type->dtype, &type->shape, md, &layout))
    return NULL;
  concat = find_concat (plan, value, &layout, &at);
  if (concat == NULL || has_extension (plan, concat) ||
      !is_outermost (&concat->inputs[at]->type.shape, axis_of (concat), &layout) ||
      !find_offset (concat, at, &layout, &offset))
    return NULL;
  whole = get_whole (plan, concat, &layout);
  if (whole == NULL)
    return NULL;
  part = cpu_plan_alias (plan, node, index, whole, md);
  part->offset += offset;
  return part;
}

/* Input @index to its place in @whole, unless it is there. */
static void
add_part (CpuPlan *plan, const AxonNode *node, guint index, CpuTensor *whole, const Layout *layout)
{
  const AxonTypeInfo *type = &node->inputs[index]->type;
  CpuMd *md = make_layout (type->dtype, &type->shape, layout);
  CpuTensor *from = cpu_plan_input (plan, node, index), *to;
  gsize offset;
  find_offset (node, index, layout, &offset);
  to = cpu_dnn_view (plan, whole, &type->shape, md, 0);
  to->offset += offset;
  if (from->buffer == to->buffer && from->offset == to->offset)
    return;
  if (cpu_tensor_has_layout (from, md))
    cpu_plan_add_copy (plan, from, to);
  else
    cpu_add_reorder (plan, from, to);
}

/* Of which a part has been placed. */
static gboolean
build_concat (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonTypeInfo *type = &node->outputs[0]->type;
  const GPtrArray *reps = plan->reps[node->outputs[0]->index];
  CpuTensor *whole = reps != NULL ? g_ptr_array_index (reps, 0) : NULL;
  Layout layout;
  if (whole == NULL)
    return FALSE;
  find_layout (type->dtype, &type->shape, whole->md, &layout);
  for (guint i = 0; i < node->n_inputs; i++)
    add_part (plan, node, i, whole, &layout);
  return TRUE;
}

const CpuKernel cpu_placed_kernels[] = {
  { .name = "Concat", .impl = "view", .build = build_concat },
  { 0 },
};
