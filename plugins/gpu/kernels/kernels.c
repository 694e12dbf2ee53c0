/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What builders share: parameters, words, tiles, lines. */
#include "kernels.h"

#define LEAST_TILE_ROWS 32 /* half of a tile's */
#define TILE_DEPTH 8
#define MOST_PLACES ((gint64)1 << 30) /* that a window spans */
#define TILES_OF_A_UNIT 2             /* that are worth it */

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
gpu_choose_tile (const GpuPlan *plan, gint64 rows, gint64 columns, gint64 depth, gint64 batch)
{
  gint64 strips = (rows + GPU_TILE_ROWS - 1) / GPU_TILE_ROWS * batch;
  gint wanted = gpu_wanted_variant (plan);
  if (!plan->options.local || rows < LEAST_TILE_ROWS || depth < TILE_DEPTH)
    return 0;
  if (wanted != 0)
    return wanted & GPU_IN_LOCAL ? wanted & ~GPU_IN_LOCAL : 0;
  for (gint width = 8; width > 1; width /= 2)
    if (strips * gpu_tiles (columns, width) >= (gint64)plan->device->units * TILES_OF_A_UNIT)
      return width;
  return 0;
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
