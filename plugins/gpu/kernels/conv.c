/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions, pooling and resizing: windows over one to three dimensions. */
#include "kernels.h"

#define MOST_PIXELS 4
#define ITEMS_OF_A_UNIT 512 /* that hide the latency of memory */

static gboolean
has_conv_type (const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[0]->type.dtype;
  if (dtype == AXON_DTYPE_F32 || dtype == AXON_DTYPE_F16 || dtype == AXON_DTYPE_BF16)
    return TRUE;
  *why = g_strdup_printf ("no kernel for %s", axon_dtype_get_name (dtype));
  return FALSE;
}

static void
add_window (GpuNumbers *numbers, const AxonWindow *w)
{
  const gint64 *const rows[] = { w->in, w->kernel, w->stride, w->dilation, w->pad, w->out };
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    for (guint d = 0; d < 3; d++)
      gpu_numbers_add (numbers, rows[r][d]);
}

/* How a node's weights lie, and how many there are. */
typedef struct {
  gint64 groups, inputs, outputs, taps; /* inputs and outputs of a group */
  gint64 group_step, output_step, input_step;
} Weights;

/* Inputs of the node, and what is different where it is quantised. */
typedef struct {
  guint x, w, w_zero, bias; /* G_MAXUINT: the operator has none */
  const gchar *sum;         /* type that is summed in */
  gint32 x_zero, y_zero;
  GpuTensor *scale; /* NULL: not quantised */
} Operands;

static const Operands real = { 0, 1, G_MAXUINT, 2, "float", 0, 0, NULL };

static GpuTensor *
operand (GpuPlan *plan, const AxonNode *node, guint index)
{
  return index == G_MAXUINT ? NULL : gpu_plan_input (plan, node, index);
}

/* As blocks of 8 outputs, in the type of the sum: constants are packed once. */
static GpuTensor *
pack (GpuPlan *plan, const AxonNode *node, const Weights *w, const Operands *o)
{
  gint64 depth = w->inputs * w->taps, blocks = (w->outputs + 7) / 8;
  gint64 n = w->groups * blocks * depth * 8;
  const AxonShape shape = AXON_SHAPE (n);
  const gint64 numbers[] = { w->outputs,     depth,         w->taps, w->group_step,
                             w->output_step, w->input_step, 1 };
  AxonDType dtype = o->scale ? AXON_DTYPE_I32 : AXON_DTYPE_F32;
  GpuTensor *x = gpu_plan_input (plan, node, o->w), *zero = operand (plan, node, o->w_zero);
  GpuTensor *y = x->buffer->place == GPU_CONSTANT ? gpu_plan_prepared (plan, dtype, &shape)
                                                  : gpu_plan_scratch (plan, dtype, &shape);
  g_autofree gchar *base = g_strdup_printf ("packweights_%s", o->sum);
  g_autofree gchar *name = gpu_kernel_for (plan, base, "packweights", x->dtype, "A", o->sum, NULL);
  GpuStep *step = gpu_plan_step (
      plan, name, gpu_plan_params64 (plan, numbers, G_N_ELEMENTS (numbers)), n, 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  gpu_step_read (plan, step, zero);
  gpu_step_number (step, zero == NULL ? 0 : axon_shape_get_numel (&zero->shape) == 1 ? 1 : 2);
  return y;
}

/* Kernels that sum single numbers; the others sum eight at once. */
static gboolean
one_by_one (const gchar *family)
{
  return g_str_equal (family, "depthwise");
}

/* What a kernel has to make: @rows of @row pixels, of so many blocks of channels, in a batch. */
typedef struct {
  gint64 row, rows, blocks, batch;
} Grid;

/* Pixels of an item: what was measured, else as many as reuse a weight well, as long as all units
 * have enough items. */
static gint64
choose_pixels (const GpuPlan *plan, const Grid *grid)
{
  gint64 pixels = MOST_PIXELS, wanted = (gint64)plan->device->units * ITEMS_OF_A_UNIT;
  gint measured = plan->options.tuned ? GPOINTER_TO_INT (g_hash_table_lookup (
                                            (GHashTable *)plan->options.tuned, plan->node->name))
                                      : 0;
  if (plan->options.pixels != 0 || measured != 0)
    return plan->options.pixels != 0 ? plan->options.pixels : measured;
  while (pixels > 1 &&
         (grid->row + pixels - 1) / pixels * grid->rows * grid->blocks * grid->batch < wanted)
    pixels /= 2;
  return pixels;
}

static void
add_conv (GpuPlan *plan, const AxonNode *node, const gchar *family, GpuTensor *x, GpuTensor *w,
          const Operands *o, gint32 p, const Grid *grid)
{
  gint64 pixels = g_str_equal (family, "deconv") ? 1 : choose_pixels (plan, grid);
  const gint64 items[] = { (grid->row + pixels - 1) / pixels * grid->rows, grid->blocks,
                           grid->batch };
  g_autofree gchar *pixels_text = g_strdup_printf ("%d", (gint)pixels);
  GpuTensor *bias = operand (plan, node, o->bias);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  const gchar *type = gpu_type_name (x->dtype);
  AxonDType bias_type = bias ? bias->dtype : x->dtype;
  g_autofree gchar *name =
      g_strdup_printf ("%s%s_%s_%s_%s_%s", family, pixels_text, type, gpu_type_name (w->dtype),
                       gpu_type_name (bias_type), gpu_type_name (y->dtype));
  g_autofree gchar *load =
      g_strdup_printf (o->scale ? "(LD_%s(x, i) - x_zero)" : "LD_%s(x, i)", type);
  g_autofree gchar *put =
      o->scale ? g_strdup_printf ("(y[i] = convert_%s_sat(rint((v) * scale[c]) + y_zero))",
                                  gpu_type_stored (y->dtype))
               : NULL;
  GPtrArray *words =
      gpu_words_for (x->dtype, "A", o->sum, "W", gpu_type_stored (w->dtype), "WN",
                     gpu_type_name (w->dtype), "B", gpu_type_stored (bias_type), "BN",
                     gpu_type_name (bias_type), "LOAD", load, "TILE", pixels_text, "MAC",
                     o->scale              ? "((a) * (b) + (c))"
                     : one_by_one (family) ? "mad(a, b, c)"
                                           : "mad(a, (float8)(b), c)",
                     NULL);
  GpuStep *step = gpu_plan_draft (plan, name, family, words, put, p, items);
  gpu_step_read (plan, step, x);
  gpu_step_read (plan, step, w);
  gpu_step_read (plan, step, bias);
  gpu_step_read (plan, step, o->scale);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, bias != NULL);
  gpu_step_number (step, o->x_zero);
  gpu_step_number (step, o->y_zero);
}

static gint32
conv_numbers (GpuPlan *plan, const Weights *w, const AxonWindow *window)
{
  GpuNumbers numbers = { .n = 0 };
  gpu_numbers_add (&numbers, w->inputs);
  gpu_numbers_add (&numbers, w->outputs);
  gpu_numbers_add (&numbers, (w->outputs + 7) / 8);
  add_window (&numbers, window);
  gpu_numbers_add (&numbers, w->groups);
  return gpu_numbers_write (&numbers, plan);
}

static gint64
volume (const gint64 *dims)
{
  return dims[0] * dims[1] * dims[2];
}

static gboolean
is_pointwise (const AxonWindow *w)
{
  for (guint d = 0; d < 3; d++)
    if (w->kernel[d] != 1 || w->pad[d] != 0 || w->pad_end[d] != 0)
      return FALSE;
  return TRUE;
}

/* The pixels that a pointwise convolution reads: all, or a copy of every second ... */
static GpuTensor *
read_pixels (GpuPlan *plan, GpuTensor *x, const AxonWindow *w)
{
  gint64 planes = x->shape.dims[0] * x->shape.dims[1];
  const gint64 dims[] = { planes, w->out[0], w->out[1], w->out[2] };
  const gint64 xs[] = { volume (w->in), w->stride[0] * w->in[1] * w->in[2], w->stride[1] * w->in[2],
                        w->stride[2] };
  const gint64 ys[] = { volume (w->out), w->out[1] * w->out[2], w->out[2], 1 };
  const AxonShape shape = AXON_SHAPE (planes, volume (w->out));
  GpuTensor *y;
  if (w->stride[0] == 1 && w->stride[1] == 1 && w->stride[2] == 1)
    return x;
  y = gpu_plan_scratch (plan, x->dtype, &shape);
  gpu_move (plan, x, 0, y, 0, 4, dims, xs, ys);
  return y;
}

static gboolean
build_conv (GpuPlan *plan, const AxonNode *node, const Operands *o)
{
  const AxonShape *ws = &node->inputs[o->w]->type.shape, *xs = &node->inputs[o->x]->type.shape;
  gint64 groups = axon_node_get_int (node, "group"), batch = xs->dims[0];
  Weights w = { .groups = groups, .inputs = ws->dims[1], .outputs = ws->dims[0] / groups };
  gint64 blocks = (w.outputs + 7) / 8;
  AxonWindow window;
  if (!axon_window_of_node (&window, node, NULL))
    return FALSE;
  w.taps = volume (window.kernel);
  w.input_step = w.taps;
  w.output_step = w.inputs * w.taps;
  w.group_step = w.outputs * w.output_step;
  Grid grid = { window.out[2], window.out[1] * window.out[0], groups * blocks, batch };
  if (w.inputs == 1 && w.outputs == 1 && o->w_zero == G_MAXUINT) {
    grid.blocks = groups;
    add_conv (plan, node, "depthwise", gpu_plan_input (plan, node, o->x),
              gpu_plan_input (plan, node, o->w), o, conv_numbers (plan, &w, &window), &grid);
  } else if (o->scale == NULL && gpu_add_winograd (plan, node, &window)) {
    return TRUE;
  } else if (is_pointwise (&window)) {
    const gint64 numbers[] = { w.inputs, w.outputs, blocks, volume (window.out), groups };
    grid.row = volume (window.out);
    grid.rows = 1;
    add_conv (plan, node, "pointwise",
              read_pixels (plan, gpu_plan_input (plan, node, o->x), &window),
              pack (plan, node, &w, o), o,
              gpu_plan_params64 (plan, numbers, G_N_ELEMENTS (numbers)), &grid);
  } else {
    add_conv (plan, node, "conv", gpu_plan_input (plan, node, o->x), pack (plan, node, &w, o), o,
              conv_numbers (plan, &w, &window), &grid);
  }
  return TRUE;
}

gboolean
gpu_build_conv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  return has_conv_type (node, why) && build_conv (plan, node, &real);
}

/* x_scale * w_scale / y_scale, of every output. */
static GpuTensor *
scales (GpuPlan *plan, const AxonNode *node)
{
  const AxonTensor *w = gpu_node_constant (node, 4);
  gint64 n = node->outputs[0]->type.shape.dims[1];
  const AxonShape shape = AXON_SHAPE (n);
  g_autoptr (AxonTensor) t = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  gfloat x = (gfloat)axon_tensor_get_value (gpu_node_constant (node, 1), 0);
  gfloat y = (gfloat)axon_tensor_get_value (gpu_node_constant (node, 6), 0);
  gfloat *data = axon_tensor_get_data (t);
  for (gint64 i = 0; i < n; i++)
    data[i] =
        x * (gfloat)axon_tensor_get_value (w, axon_tensor_get_numel (w) > 1 ? (gsize)i : 0) / y;
  return gpu_plan_constant_tensor (plan, t);
}

static gint32
zero_point (const AxonNode *node, guint index)
{
  const AxonTensor *t = gpu_node_constant (node, index);
  return t ? (gint32)axon_tensor_get_value (t, 0) : 0;
}

gboolean
gpu_has_integer_conv (const AxonNode *node)
{
  static const guint known[] = { 1, 2, 3, 4, 5, 6, 7 };
  if (!axon_node_is (node, "QLinearConv"))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (axon_node_get_input (node, known[i]) != NULL && gpu_node_constant (node, known[i]) == NULL)
      return FALSE;
  return TRUE;
}

/* Sums of whole numbers. */
gboolean
gpu_build_qlinear_conv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  Operands o = { .x = 0, .w = 3, .w_zero = 5, .bias = 8, .sum = "int" };
  if (!gpu_has_integer_conv (node)) {
    *why = g_strdup ("scales, zero points or weights are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  o.x_zero = zero_point (node, 2);
  o.y_zero = zero_point (node, 7);
  o.scale = scales (plan, node);
  return build_conv (plan, node, &o);
}

gboolean
gpu_build_deconv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *ws = &node->inputs[1]->type.shape, *xs = &node->inputs[0]->type.shape;
  gint64 groups = axon_node_get_int (node, "group");
  Weights w = { .groups = groups, .inputs = ws->dims[0] / groups, .outputs = ws->dims[1] };
  AxonWindow window;
  if (!has_conv_type (node, why) || !axon_window_of_transposed (&window, node, NULL))
    return FALSE;
  w.taps = volume (window.kernel);
  w.output_step = w.taps;
  w.input_step = w.outputs * w.taps;
  w.group_step = w.inputs * w.input_step;
  const Grid grid = { volume (window.in), 1, groups * ((w.outputs + 7) / 8), xs->dims[0] };
  add_conv (plan, node, "deconv", gpu_plan_input (plan, node, 0), pack (plan, node, &w, &real),
            &real, conv_numbers (plan, &w, &window), &grid);
  return TRUE;
}

static const struct {
  const gchar *name, *body, *result;
} pools[] = {
  { "MaxPool", "if (best < 0 || v > a) { a = v; best = o; }", "a" },
  { "AveragePool", "a += v;", "a / count" },
  { "LpPool", "a += pow(fabs(v), (@A@)q[22]);", "pow(a, (@A@)1 / q[22])" },
};

gboolean
gpu_build_pool (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[0]->type.dtype;
  const gchar *type = gpu_type_computed (dtype);
  gboolean most = g_str_equal (node->op->name, "MaxPool");
  gboolean counts = axon_node_find_attr (node, "count_include_pad") != NULL &&
                    axon_node_get_int (node, "count_include_pad") != 0;
  gboolean by_column = axon_node_find_attr (node, "storage_order") != NULL &&
                       axon_node_get_int (node, "storage_order") != 0;
  GpuNumbers numbers = { .n = 0 };
  g_autofree gchar *name = NULL;
  GpuTensor *x, *y, *index;
  AxonWindow w;
  GpuStep *step;
  guint row = 0;
  if (!axon_window_of_node (&w, node, NULL) || (!most && !axon_dtype_is_float (dtype))) {
    *why = g_strdup ("no kernel for this type");
    return FALSE;
  }
  while (!g_str_equal (pools[row].name, node->op->name))
    row++;
  x = gpu_plan_input (plan, node, 0);
  y = gpu_plan_output (plan, node, 0);
  index = gpu_plan_output (plan, node, 1);
  name = gpu_kernel_for (plan, pools[row].name, "pool", dtype, "BODY", pools[row].body, "FIN",
                         pools[row].result, "A", type, NULL);
  for (guint i = 0; i < 3; i++)
    gpu_numbers_add (&numbers, 0);
  add_window (&numbers, &w);
  gpu_numbers_add (&numbers, counts);
  gpu_numbers_add (&numbers, row == 2 ? axon_node_get_int (node, "p") : 0);
  for (guint d = 0; d < 3; d++)
    gpu_numbers_add (&numbers, w.pad_end[d]);
  step = gpu_plan_step (plan, name, gpu_numbers_write (&numbers, plan),
                        axon_shape_get_numel (&y->shape), 1, 1);
  gpu_step_read (plan, step, x);
  gpu_step_write (plan, step, y);
  gpu_step_read (plan, step, index);
  gpu_step_number (step, index == NULL ? 0 : by_column ? 2 : 1);
  return TRUE;
}

static gint32
resize_numbers (GpuPlan *plan, const AxonResizeAxis *axis, gint64 inner, gdouble extrapolation)
{
  GpuNumbers numbers = { .n = 0 };
  gint32 p;
  gpu_numbers_add (&numbers, inner);
  gpu_numbers_add (&numbers, axis->n_in);
  gpu_numbers_add (&numbers, axis->n_out);
  gpu_numbers_add (&numbers, axis->n);
  gpu_numbers_add_float (&numbers, extrapolation);
  p = gpu_numbers_write (&numbers, plan);
  gpu_plan_params (plan, axis->index, (guint)axis->n_out * (guint)axis->n);
  gpu_plan_floats (plan, axis->weight, (guint)axis->n_out * (guint)axis->n);
  return p;
}

/* Axis by axis; between them the type of the tensor. */
gboolean
gpu_build_resize (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) axes = axon_resize_axes (node, &error);
  gboolean whole = !axon_dtype_is_float (node->inputs[0]->type.dtype);
  gdouble outside = axon_node_find_attr (node, "extrapolation_value") != NULL
                        ? axon_node_get_float (node, "extrapolation_value")
                        : 0;
  g_autofree gchar *name = NULL;
  GpuTensor *x;
  for (guint i = 0; axes != NULL && i < axes->len; i++)
    if (whole && g_array_index (axes, AxonResizeAxis, i).n > 1)
      error = g_error_new (AXON_ERROR, AXON_ERROR_UNSUPPORTED, "whole numbers are interpolated");
  if (error != NULL || axes == NULL) {
    *why = g_strdup (error ? error->message : "scales or sizes are " GPU_NOT_CONSTANT);
    return FALSE;
  }
  if (axes->len == 0)
    return gpu_build_view (plan, node, why);
  x = gpu_plan_input (plan, node, 0);
  name = gpu_kernel_for (plan, "resize", "resize", x->dtype, NULL);
  for (guint i = 0; i < axes->len; i++) {
    const AxonResizeAxis *axis = &g_array_index (axes, AxonResizeAxis, i);
    AxonShape shape = x->shape;
    GpuTensor *y;
    GpuStep *step;
    shape.dims[axis->axis] = axis->n_out;
    y = i + 1 == axes->len ? gpu_plan_output (plan, node, 0)
                           : gpu_plan_scratch (plan, x->dtype, &shape);
    step = gpu_plan_step (
        plan, name, resize_numbers (plan, axis, gpu_lines (&shape, axis->axis).inner, outside),
        axon_shape_get_numel (&shape), 1, 1);
    gpu_step_read (plan, step, x);
    gpu_step_write (plan, step, y);
    x = y;
  }
  return TRUE;
}
