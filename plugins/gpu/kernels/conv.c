/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions over one to three dimensions: which kernel makes them, and of what. */
#include "conv.h"

#define MOST_PIXELS 4
#define ITEMS_OF_A_UNIT 512 /* that hide the latency of memory */

/* Sum in a register, value of x, how both meet weights, what stands outside of x, and whether that
 * counts. */
static const struct {
  const gchar *sum, *value, *load, *mac, *padding, *padded;
} kinds[] = {
  [GPU_CONV_REAL] = { "float", "float", "LD_%s(x, i)", "mad(a, (float8)(b), c)", "0", "0" },
  [GPU_CONV_WHOLE] = { "int", "int", "(LD_%s(x, i) - x_zero)", "((a) * (b) + (c))", "0", "0" },
  [GPU_CONV_DOT] = { "int", "uint", "x[i]", "dot8(a, b, c)", "as_uint(x_zero)", "1" },
};

static gboolean
has_conv_type (const AxonNode *node, gchar **why)
{
  AxonDType dtype = node->inputs[0]->type.dtype;
  if (dtype == AXON_DTYPE_F32 || dtype == AXON_DTYPE_F16 || dtype == AXON_DTYPE_BF16)
    return TRUE;
  *why = g_strdup_printf ("no kernel for %s", axon_dtype_get_name (dtype));
  return FALSE;
}

/* How a node's weights lie, and how many there are. */
typedef struct {
  gint64 groups, inputs, outputs, taps; /* inputs and outputs of a group */
  gint64 group_step, output_step, input_step;
} Weights;

/* As blocks of 8 outputs, in the type of the sum: constants are packed once, and dot products come
 * packed. */
static GpuTensor *
pack (GpuPlan *plan, const Weights *w, const GpuConvOperands *o)
{
  gint64 depth = w->inputs * w->taps, blocks = (w->outputs + 7) / 8;
  gint64 n = w->groups * blocks * depth * 8;
  const AxonShape shape = AXON_SHAPE (n);
  const GpuPackWeightsParams params = { .outputs = gpu_int (w->outputs),
                                        .depth = gpu_int (depth),
                                        .taps = gpu_int (w->taps),
                                        .group_step = gpu_int (w->group_step),
                                        .output_step = gpu_int (w->output_step),
                                        .input_step = gpu_int (w->input_step),
                                        .tap_step = 1 };
  AxonDType dtype = o->kind == GPU_CONV_REAL ? AXON_DTYPE_F32 : AXON_DTYPE_I32;
  const gchar *sum = kinds[o->kind].sum;
  GpuTensor *y;
  if (o->kind == GPU_CONV_DOT)
    return o->w;
  y = o->w->buffer->place == GPU_CONSTANT ? gpu_plan_prepared (plan, dtype, &shape)
                                          : gpu_plan_scratch (plan, dtype, &shape);
  g_autofree gchar *base = g_strdup_printf ("packweights_%s", sum);
  g_autofree gchar *name = gpu_kernel_for (plan, base, "packweights", o->w->dtype, "A", sum, NULL);
  GpuStep *step = gpu_plan_step (plan, name, GPU_PARAMS_OF (plan, params), n, 1, 1);
  gpu_step_read (plan, step, o->w);
  gpu_step_write (plan, step, y);
  return y;
}

/* What a kernel has to make: @rows of @row pixels, of so many channels of each group, in a batch.
 */
typedef struct {
  gint64 row, rows, outputs, groups, batch;
} Grid;

static gint64
blocks_of (const Grid *grid)
{
  return (grid->outputs + 7) / 8;
}

/* Pixels of an item: what was measured, else as many as reuse a weight well, as long as all units
 * have enough items. */
static gint
choose_pixels (const GpuPlan *plan, const Grid *grid)
{
  gint64 others = grid->rows * blocks_of (grid) * grid->groups * grid->batch;
  gint64 wanted = (gint64)plan->device->units * ITEMS_OF_A_UNIT;
  gint pixels = MOST_PIXELS, variant = gpu_wanted_variant (plan);
  if (variant != 0 && !(variant & GPU_IN_LOCAL))
    return variant;
  while (pixels > 1 && (grid->row + pixels - 1) / pixels * others < wanted)
    pixels /= 2;
  return pixels;
}

static GPtrArray *
conv_words (const GpuConvOperands *o, const GpuTensor *w, AxonDType bias_type, const gchar *family,
            const GpuTile *tile, gboolean one)
{
  g_autofree gchar *load = g_strdup_printf (kinds[o->kind].load, gpu_type_name (o->x->dtype));
  g_autofree gchar *pixels = g_strdup_printf ("%d", tile->width);
  g_autofree gchar *slices = g_strdup_printf ("%d", tile->slices);
  gboolean one_by_one = g_str_equal (family, "depthwise") && o->kind == GPU_CONV_REAL;
  return gpu_words_for (o->x->dtype, "A", kinds[o->kind].sum, "X", kinds[o->kind].value, "W",
                        gpu_type_stored (w->dtype), "WN", gpu_type_name (w->dtype), "B",
                        gpu_type_stored (bias_type), "BN", gpu_type_name (bias_type), "LOAD", load,
                        "TILE", pixels, "SLICES", slices, "ONE", one ? "1" : "0", "MAC",
                        one_by_one ? "mad(a, b, c)" : kinds[o->kind].mac, "PADDING",
                        kinds[o->kind].padding, "PADDED", kinds[o->kind].padded, NULL);
}

static void
add_conv (GpuPlan *plan, const AxonNode *node, const gchar *family, const GpuTile *tile,
          gboolean one, const GpuConvOperands *o, GpuTensor *w, gint32 p, const gint64 *items)
{
  g_autofree gchar *shape = tile->slices > 1 ? g_strdup_printf ("%dx%d", tile->width, tile->slices)
                                             : g_strdup_printf ("%d", tile->width);
  GpuTensor *y = gpu_plan_output (plan, node, 0);
  AxonDType bias_type = o->bias ? o->bias->dtype : o->x->dtype;
  g_autofree gchar *name = g_strdup_printf ("%s%s%s_%s_%s_%s_%s", family, one ? "one" : "", shape,
                                            gpu_type_name (o->x->dtype), gpu_type_name (w->dtype),
                                            gpu_type_name (bias_type), gpu_type_name (y->dtype));
  g_autofree gchar *put =
      o->scale ? g_strdup_printf ("(y[i] = (%s)(nearest(min(max((v) * scale[(c) + 2], scale[0]), "
                                  "scale[1])) + y_zero))",
                                  gpu_type_stored (y->dtype))
               : NULL;
  GpuStep *step = gpu_plan_draft (plan, name, family,
                                  conv_words (o, w, bias_type, family, tile, one), put, p, items);
  gpu_step_slice (step, tile->slices);
  gpu_step_read (plan, step, o->x);
  gpu_step_read (plan, step, w);
  gpu_step_read (plan, step, o->bias);
  gpu_step_read (plan, step, o->scale);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, o->bias != NULL);
  gpu_step_number (step, o->x_zero);
  gpu_step_number (step, o->y_zero);
}

static gint32
conv_params (GpuPlan *plan, const Weights *w, const AxonWindow *window)
{
  const GpuConvParams params = { .inputs = gpu_int (w->inputs),
                                 .outputs = gpu_int (w->outputs),
                                 .blocks = gpu_int ((w->outputs + 7) / 8),
                                 .groups = gpu_int (w->groups),
                                 .window = gpu_window (window) };
  return GPU_PARAMS_OF (plan, params);
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

static void
add_in_local (GpuPlan *plan, const AxonNode *node, const GpuConvOperands *o, const Weights *w,
              const AxonWindow *window, const Grid *grid, const GpuTile *tile)
{
  const gint64 items[] = { gpu_tiles (grid->row * grid->rows, tile->width) * GPU_GROUP,
                           (grid->outputs + GPU_TILE_ROWS - 1) / GPU_TILE_ROWS * grid->groups,
                           grid->batch };
  add_conv (plan, node, "convtile", tile, is_pointwise (window), o, pack (plan, w, o),
            conv_params (plan, w, window), items);
}

static void
add_pointwise (GpuPlan *plan, const AxonNode *node, const GpuConvOperands *o, const Weights *w,
               const AxonWindow *window, const Grid *grid, gint pixels)
{
  gint64 n = grid->row * grid->rows;
  const GpuPointwiseParams params = { .inputs = gpu_int (w->inputs),
                                      .outputs = gpu_int (w->outputs),
                                      .blocks = gpu_int (blocks_of (grid)),
                                      .groups = gpu_int (w->groups),
                                      .pixels = gpu_int (n) };
  const gint64 items[] = { (n + pixels - 1) / pixels, blocks_of (grid) * grid->groups,
                           grid->batch };
  GpuConvOperands dense = *o;
  dense.x = read_pixels (plan, o->x, window);
  add_conv (plan, node, "pointwise", &(const GpuTile){ pixels, 1 }, FALSE, &dense,
            pack (plan, w, o), GPU_PARAMS_OF (plan, params), items);
}

/* Microseconds, as measured on an H200: an item waits for every weight, and a unit multiplies so
 * many times. */
static gdouble
cost_without_tiles (const GpuPlan *plan, const Weights *w, const Grid *grid)
{
  gdouble depth = (gdouble)(w->inputs * w->taps);
  gdouble pixels = (gdouble)(grid->row * grid->rows * grid->batch * w->groups);
  return MAX (depth * 0.25, depth * pixels * blocks_of (grid) * 8 / plan->device->units / 2e4);
}

/* By its definition: in tiles, or an item for each few pixels. */
static void
add_direct (GpuPlan *plan, const AxonNode *node, const GpuConvOperands *o, const Weights *w,
            const AxonWindow *window)
{
  const Grid grid = { window->out[2], window->out[1] * window->out[0], w->outputs, w->groups,
                      o->x->shape.dims[0] };
  const GpuTile whole = { choose_pixels (plan, &grid), 1 };
  const gint64 items[] = { (grid.row + whole.width - 1) / whole.width * grid.rows,
                           blocks_of (&grid) * w->groups, grid.batch };
  GpuTile tile;
  if (w->inputs == 1 && w->outputs == 1 && o->kind != GPU_CONV_DOT)
    add_conv (plan, node, "depthwise", &whole, FALSE, o, o->w, conv_params (plan, w, window),
              items);
  else if (gpu_choose_tile (plan, w->outputs, grid.row * grid.rows,
                            (w->inputs + GPU_TILE_DEPTH - 1) / GPU_TILE_DEPTH * w->taps,
                            w->groups * grid.batch, cost_without_tiles (plan, w, &grid), &tile))
    add_in_local (plan, node, o, w, window, &grid, &tile);
  else if (is_pointwise (window))
    add_pointwise (plan, node, o, w, window, &grid, whole.width);
  else
    add_conv (plan, node, "conv", &whole, FALSE, o, pack (plan, w, o),
              conv_params (plan, w, window), items);
}

/* TRUE for a product of vectors with the weights. */
static gboolean
is_dense (const Weights *w, const AxonWindow *window)
{
  return w->groups == 1 && w->taps == 1 && volume (window->in) == 1 && is_pointwise (window);
}

gboolean
gpu_add_convolution (GpuPlan *plan, const AxonNode *node, const AxonShape *ws,
                     const GpuConvOperands *o, gchar **why)
{
  gint64 groups = axon_node_get_int (node, "group");
  Weights w = { .groups = groups, .inputs = ws->dims[1], .outputs = ws->dims[0] / groups };
  gboolean depthwise = w.inputs == 1 && w.outputs == 1;
  AxonWindow window;
  if (!axon_window_of_node (&window, node, NULL) || !gpu_window_fits (&window, why))
    return FALSE;
  if (!depthwise && o->kind == GPU_CONV_REAL && gpu_add_winograd (plan, node, &window))
    return TRUE;
  w.taps = volume (window.kernel);
  w.input_step = w.taps;
  w.output_step = w.inputs * w.taps;
  w.group_step = w.outputs * w.output_step;
  if (plan->options.local && o->kind == GPU_CONV_REAL && is_dense (&w, &window))
    gpu_dense (plan, o->x, o->w, o->bias, gpu_plan_output (plan, node, 0), o->x->shape.dims[0]);
  else
    add_direct (plan, node, o, &w, &window);
  return TRUE;
}

static GpuConvOperands
real_operands (GpuPlan *plan, const AxonNode *node)
{
  return (GpuConvOperands){ .kind = GPU_CONV_REAL,
                            .x = gpu_plan_input (plan, node, 0),
                            .w = gpu_plan_input (plan, node, 1),
                            .bias = gpu_plan_input (plan, node, 2) };
}

static gboolean
build_conv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  GpuConvOperands o;
  if (!has_conv_type (node, why))
    return FALSE;
  o = real_operands (plan, node);
  return gpu_add_convolution (plan, node, &o.w->shape, &o, why);
}

static gboolean
build_deconv (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *ws = &node->inputs[1]->type.shape, *xs = &node->inputs[0]->type.shape;
  gint64 groups = axon_node_get_int (node, "group");
  Weights w = { .groups = groups, .inputs = ws->dims[0] / groups, .outputs = ws->dims[1] };
  AxonWindow window;
  GpuConvOperands o;
  if (!has_conv_type (node, why) || !axon_window_of_transposed (&window, node, NULL) ||
      !gpu_window_fits (&window, why))
    return FALSE;
  o = real_operands (plan, node);
  w.taps = volume (window.kernel);
  w.output_step = w.taps;
  w.input_step = w.outputs * w.taps;
  w.group_step = w.inputs * w.input_step;
  const gint64 items[] = { volume (window.in), groups * ((w.outputs + 7) / 8), xs->dims[0] };
  add_conv (plan, node, "deconv", &(const GpuTile){ 1, 1 }, FALSE, &o, pack (plan, &w, &o),
            conv_params (plan, &w, &window), items);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "Conv", .impl = "conv", .build = build_conv },
  { .name = "ConvTranspose", .impl = "deconv", .build = build_deconv },
};

GPU_DEFINE_FAMILY (conv, rows)
