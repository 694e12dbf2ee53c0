/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What builders share: parameters, words, tiles, lines. */
#include "kernels.h"

#define MOST_PLACES ((gint64)1 << 30) /* that a window spans */
#define ITEMS_AT_ONCE 1024            /* that a unit has */

gint32
gpu_int (gint64 value)
{
  return (gint32)CLAMP (value, G_MININT32, G_MAXINT32);
}

void
gpu_ints (const gint64 *values, gint n, gint32 *to)
{
  for (gint i = 0; i < n; i++)
    to[i] = gpu_int (values[i]);
}

gboolean
gpu_window_fits (const AxonWindow *w, gchar **why)
{
  for (gint d = 0; d < 3; d++)
    if (w->in[d] + w->pad[d] + w->pad_end[d] + w->stride[d] + w->kernel[d] * w->dilation[d] >
        MOST_PLACES) {
      *why = g_strdup_printf ("a window of %" G_GINT64_FORMAT " taps that are %" G_GINT64_FORMAT
                              " apart, or its padding, reaches too far",
                              w->kernel[d], w->dilation[d]);
      return FALSE;
    }
  return TRUE;
}

GpuWindow
gpu_window (const AxonWindow *w)
{
  GpuWindow window = { .in = { 0 } };
  gpu_ints (w->in, 3, window.in);
  gpu_ints (w->kernel, 3, window.taps);
  gpu_ints (w->stride, 3, window.stride);
  gpu_ints (w->dilation, 3, window.dilation);
  gpu_ints (w->pad, 3, window.pad);
  gpu_ints (w->out, 3, window.out);
  return window;
}

const gchar *
gpu_size_type (AxonDType dtype)
{
  switch (axon_dtype_get_size (dtype)) {
  case 1:
    return "uchar";
  case 2:
    return "ushort";
  case 4:
    return "uint";
  default:
    return "ulong";
  }
}

static void
add_word (GPtrArray *words, const gchar *word, const gchar *text)
{
  g_ptr_array_add (words, g_strdup (word));
  g_ptr_array_add (words, g_strdup (text));
}

static GPtrArray *
collect_words (AxonDType dtype, va_list args)
{
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);
  const gchar *word;
  add_word (words, "N", gpu_type_name (dtype));
  add_word (words, "T", gpu_type_stored (dtype));
  add_word (words, "C", gpu_type_computed (dtype));
  add_word (words, "S", gpu_size_type (dtype));
  while ((word = va_arg (args, const gchar *)) != NULL)
    add_word (words, word, va_arg (args, const gchar *));
  return words;
}

GPtrArray *
gpu_words_for (AxonDType dtype, ...)
{
  GPtrArray *words;
  va_list args;
  va_start (args, dtype);
  words = collect_words (dtype, args);
  va_end (args);
  return words;
}

gchar *
gpu_kernel_for (GpuPlan *plan, const gchar *name, const gchar *family, AxonDType dtype, ...)
{
  g_autoptr (GPtrArray) words = NULL;
  gchar *full = g_strdup_printf ("%s_%s", name, gpu_type_name (dtype));
  va_list args;
  va_start (args, dtype);
  words = collect_words (dtype, args);
  va_end (args);
  g_ptr_array_add (words, NULL);
  gpu_plan_template (plan, full, family, (const gchar *const *)words->pdata);
  return full;
}

gint
gpu_wanted_variant (const GpuPlan *plan)
{
  if (plan->options.variant != 0 || plan->options.tuned == NULL)
    return plan->options.variant;
  return GPOINTER_TO_INT (
      g_hash_table_lookup ((GHashTable *)plan->options.tuned, plan->node->name));
}

gint
gpu_most_slices (const GpuPlan *plan, gint most)
{
  while (most > 1 && (guint)most * GPU_GROUP > plan->device->most_items)
    most /= 2;
  return most;
}

void
gpu_step_slice (GpuStep *step, gint slices)
{
  step->global[0] *= (gsize)slices;
  step->local[0] = (gsize)slices * GPU_GROUP;
}

/* Microseconds of a product, as measured on an H200: a turn waits for memory, and multiplies in
 * all slices of a unit, which has so many items at once. */
static gdouble
cost_of (const GpuPlan *plan, const GpuTile *tile, gint64 strips, gint64 columns, gint64 steps)
{
  gint64 groups = strips * gpu_tiles (columns, tile->width), units = plan->device->units;
  gint64 of_unit = (groups + units - 1) / units, items = of_unit * tile->slices * GPU_GROUP;
  gint64 rounds = (items + ITEMS_AT_ONCE - 1) / ITEMS_AT_ONCE;
  gint64 turns = (steps + tile->slices - 1) / tile->slices;
  return turns * (0.75 * rounds + (gdouble)(of_unit * tile->slices) * (0.03 + 0.04 * tile->width));
}

/* Rows are one vector of 8 longer than they are wide. */
static gboolean
fits (const GpuPlan *plan, const GpuTile *tile)
{
  gsize element = MAX (axon_dtype_get_size (plan->node->inputs[0]->type.dtype), sizeof (gfloat));
  gsize of_slice = GPU_TILE_DEPTH * (GPU_TILE_ROWS + 8 + 8 * (gsize)tile->width) * element;
  return gpu_most_slices (plan, tile->slices) == tile->slices &&
         of_slice * (gsize)tile->slices <= plan->device->local_memory;
}

static gdouble
best_tile (const GpuPlan *plan, gint64 strips, gint64 columns, gint64 steps, GpuTile *best)
{
  static const gint widths[] = { 8, 4, 2, 1 }, slices[] = { 1, 2, 4, 8 };
  gdouble least = G_MAXDOUBLE;
  for (guint w = 0; w < G_N_ELEMENTS (widths); w++)
    for (guint s = 0; s < G_N_ELEMENTS (slices); s++) {
      const GpuTile tile = { widths[w], slices[s] };
      gdouble cost = cost_of (plan, &tile, strips, columns, steps);
      if (cost >= least || !fits (plan, &tile) || (s > 0 && slices[s] > steps))
        continue;
      *best = tile;
      least = cost;
    }
  return least;
}

gboolean
gpu_choose_tile (const GpuPlan *plan, gint64 rows, gint64 columns, gint64 steps, gint64 batch,
                 gdouble otherwise, GpuTile *tile)
{
  gint64 strips = (rows + GPU_TILE_ROWS - 1) / GPU_TILE_ROWS * batch;
  gint wanted = gpu_wanted_variant (plan);
  if (!plan->options.local || steps < 1)
    return FALSE;
  if (wanted == 0)
    return best_tile (plan, strips, columns, steps, tile) < otherwise;
  *tile = (GpuTile){ GPU_VARIANT_WIDTH (wanted), MAX (GPU_VARIANT_SLICES (wanted), 1) };
  while (tile->slices > 1 && !fits (plan, tile))
    tile->slices /= 2;
  return (wanted & GPU_IN_LOCAL) != 0;
}

gint64
gpu_tiles (gint64 columns, gint width)
{
  return (columns + 8 * width - 1) / (8 * width);
}

GpuLines
gpu_lines (const AxonShape *shape, gint axis)
{
  GpuLines lines = { 1, shape->dims[axis], 1 };
  for (gint i = 0; i < shape->rank; i++)
    if (i < axis)
      lines.outer *= shape->dims[i];
    else if (i > axis)
      lines.inner *= shape->dims[i];
  return lines;
}

GpuLineParams
gpu_line_params (const GpuLines *lines)
{
  return (GpuLineParams){ .inner = gpu_int (lines->inner), .length = gpu_int (lines->length) };
}

gint
gpu_node_axis (const AxonNode *node, gint rank)
{
  gint64 axis = axon_node_get_int (node, "axis");
  return (gint)(axis < 0 ? axis + rank : axis);
}

void
gpu_strides (const AxonShape *shape, gint64 *strides)
{
  gint64 stride = 1;
  for (gint i = shape->rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape->dims[i];
  }
}

GpuStep *
gpu_each_element (GpuPlan *plan, const gchar *name, gint32 p, GpuTensor *const *in, guint n_in,
                  GpuTensor *y)
{
  GpuStep *step = gpu_plan_step (plan, name, p, axon_shape_get_numel (&y->shape), 1, 1);
  for (guint i = 0; i < n_in; i++)
    gpu_step_read (plan, step, in[i]);
  gpu_step_write (plan, step, y);
  return step;
}
