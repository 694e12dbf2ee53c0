/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MatMul and Gemm: kernels that read b row by row; a transposed b is turned first. */
#include "kernels.h"

#define ROWS_OF_AN_ITEM 8
#define MOST_SINGLE_ROWS 32 /* from here on tiles are filled */
#define MOST_ROW_SLICES 16

typedef struct {
  gint64 rows, columns, depth;
  gint64 row_step, depth_step; /* of a */
  gint64 c_row, c_column;      /* steps of c */
  gint batches;
  gint64 size[AXON_MAX_RANK], a_step[AXON_MAX_RANK], b_step[AXON_MAX_RANK];
  gdouble alpha, beta;
} Product;

static gchar *
number_text (gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  g_ascii_formatd (digits, sizeof digits, "%.9g", value);
  return g_strdup (digits);
}

typedef struct {
  const gchar *family;
  GpuTile tile; /* width: rows of an item, of those without tiles */
  gint64 items[3];
} Kernel;

static gint64
blocks (gint64 n, gint64 of)
{
  return (n + of - 1) / of;
}

static Kernel
choose_kernel (const GpuPlan *plan, const Product *m, gint64 batch)
{
  Kernel k = { "matmul",
               { ROWS_OF_AN_ITEM, 1 },
               { blocks (m->columns, 8), blocks (m->rows, ROWS_OF_AN_ITEM), batch } };
  GpuTile tile;
  if (m->rows >= MOST_SINGLE_ROWS &&
      gpu_choose_tile (plan, m->rows, m->columns, blocks (m->depth, GPU_TILE_DEPTH), batch,
                       G_MAXDOUBLE, &tile)) {
    k.family = "matmultile";
    k.tile = tile;
    k.items[0] = gpu_tiles (m->columns, tile.width) * GPU_GROUP;
    k.items[1] = blocks (m->rows, GPU_TILE_ROWS);
  } else if (plan->options.local && m->rows < MOST_SINGLE_ROWS) {
    k.family = "matmulrow";
    k.tile.width = (gint)CLAMP (m->rows, 1, ROWS_OF_AN_ITEM);
    k.tile.slices = gpu_most_slices (plan, MOST_ROW_SLICES);
    k.items[0] = blocks (m->columns, GPU_GROUP) * GPU_GROUP;
    k.items[1] = blocks (m->rows, k.tile.width);
  }
  return k;
}

/* The family with its tile, scales and type. */
static gchar *
kernel_name (const Kernel *k, const Product *m, AxonDType dtype)
{
  g_autofree gchar *alpha = number_text (m->alpha);
  g_autofree gchar *beta = number_text (m->beta);
  g_autofree gchar *scales = g_strdup_printf ("%s %s", alpha, beta);
  g_autofree gchar *id = gpu_text_id (scales);
  GString *name = g_string_new (k->family);
  if (!g_str_equal (k->family, "matmul"))
    g_string_append_printf (name, "%d", k->tile.width);
  if (k->tile.slices > 1)
    g_string_append_printf (name, "x%d", k->tile.slices);
  if (m->alpha != 1 || m->beta != 1)
    g_string_append_printf (name, "_%s", id);
  g_string_append_printf (name, "_%s", gpu_type_name (dtype));
  return g_string_free (name, FALSE);
}

static GPtrArray *
product_words (const Kernel *k, const Product *m, AxonDType dtype)
{
  g_autofree gchar *alpha = number_text (m->alpha);
  g_autofree gchar *beta = number_text (m->beta);
  g_autofree gchar *width = g_strdup_printf ("%d", k->tile.width);
  g_autofree gchar *slices = g_strdup_printf ("%d", k->tile.slices);
  return gpu_words_for (dtype, "ALPHA", alpha, "BETA", beta, "TILE", width, "SLICES", slices, "MAC",
                        axon_dtype_is_float (dtype) ? "mad(a, b, c)" : "((a) * (b) + (c))", NULL);
}

static gint32
product_params (GpuPlan *plan, const Product *m)
{
  GpuProductParams params = { .rows = gpu_int (m->rows),
                              .columns = gpu_int (m->columns),
                              .depth = gpu_int (m->depth),
                              .a_row = gpu_int (m->row_step),
                              .a_depth = gpu_int (m->depth_step),
                              .c_row = gpu_int (m->c_row),
                              .c_column = gpu_int (m->c_column),
                              .batches = m->batches };
  gpu_ints (m->size, m->batches, params.size);
  gpu_ints (m->a_step, m->batches, params.a_step);
  gpu_ints (m->b_step, m->batches, params.b_step);
  return GPU_PARAMS_OF (plan, params);
}

static void
add_product (GpuPlan *plan, const Product *m, const GpuTensor *a, const GpuTensor *b,
             const GpuTensor *c, const GpuTensor *y)
{
  gint64 batch = 1;
  GpuStep *step;
  for (gint d = 0; d < m->batches; d++)
    batch *= m->size[d];
  const Kernel k = choose_kernel (plan, m, batch);
  g_autofree gchar *name = kernel_name (&k, m, a->dtype);
  step = gpu_plan_draft (plan, name, k.family, product_words (&k, m, a->dtype), NULL,
                         product_params (plan, m), k.items);
  gpu_step_slice (step, k.tile.slices);
  gpu_step_read (plan, step, a);
  gpu_step_read (plan, step, b);
  gpu_step_read (plan, step, c);
  gpu_step_write (plan, step, y);
  gpu_step_number (step, c != NULL);
}

void
gpu_products (GpuPlan *plan, const GpuTensor *a, gboolean turned, const GpuTensor *b,
              const GpuTensor *y, gint64 n, gint64 rows, gint64 depth, gint64 columns)
{
  const Product m = { .rows = rows,
                      .columns = columns,
                      .depth = depth,
                      .row_step = turned ? 1 : depth,
                      .depth_step = turned ? rows : 1,
                      .batches = 1,
                      .size = { n },
                      .a_step = { rows * depth },
                      .b_step = { depth * columns },
                      .alpha = 1,
                      .beta = 1 };
  add_product (plan, &m, a, b, NULL, y);
}

static GpuTensor *
transposed (GpuPlan *plan, GpuTensor *b)
{
  const AxonShape shape = AXON_SHAPE (b->shape.dims[1], b->shape.dims[0]);
  const gint64 xs[] = { 1, b->shape.dims[1] }, ys[] = { b->shape.dims[0], 1 };
  GpuTensor *t = b->buffer->place == GPU_CONSTANT ? gpu_plan_prepared (plan, b->dtype, &shape)
                                                  : gpu_plan_scratch (plan, b->dtype, &shape);
  gpu_move (plan, b, 0, t, 0, 2, shape.dims, xs, ys);
  return t;
}

void
gpu_dense (GpuPlan *plan, const GpuTensor *x, GpuTensor *w, const GpuTensor *bias,
           const GpuTensor *y, gint64 batch)
{
  const Product m = { .rows = batch,
                      .columns = w->shape.dims[0],
                      .depth = w->shape.dims[1],
                      .row_step = w->shape.dims[1],
                      .depth_step = 1,
                      .c_column = 1,
                      .alpha = 1,
                      .beta = 1 };
  add_product (plan, &m, x, transposed (plan, w), bias, y);
}

/* Steps of the batch axes of @shape over those of the result; 0 where it broadcasts. */
static void
batch_steps (const AxonShape *shape, gint batches, gint64 *steps)
{
  gint own = MAX (shape->rank - 2, 0);
  gint64 stride[AXON_MAX_RANK];
  gpu_strides (shape, stride);
  for (gint d = 0; d < batches; d++) {
    gint at = d - (batches - own);
    steps[d] = at >= 0 && shape->dims[at] > 1 ? stride[at] : 0;
  }
}

static gboolean
has_matmul_type (AxonDType dtype)
{
  return axon_dtype_is_float (dtype) || dtype == AXON_DTYPE_I32 || dtype == AXON_DTYPE_I64 ||
         dtype == AXON_DTYPE_U32 || dtype == AXON_DTYPE_U64;
}

static gboolean
build_matmul (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  const AxonShape *as = &node->inputs[0]->type.shape, *bs = &node->inputs[1]->type.shape;
  const AxonShape *ys = &node->outputs[0]->type.shape;
  Product m = { .rows = as->rank > 1 ? as->dims[as->rank - 2] : 1,
                .columns = bs->rank > 1 ? bs->dims[bs->rank - 1] : 1,
                .depth = as->dims[as->rank - 1],
                .depth_step = 1,
                .alpha = 1,
                .beta = 1 };
  if (!has_matmul_type (node->inputs[0]->type.dtype)) {
    *why = g_strdup ("no kernel for this type");
    return FALSE;
  }
  m.row_step = m.depth;
  m.batches = MAX (MAX (as->rank, bs->rank) - 2, 0);
  for (gint d = 0; d < m.batches; d++)
    m.size[d] = ys->dims[d];
  batch_steps (as, m.batches, m.a_step);
  batch_steps (bs, m.batches, m.b_step);
  add_product (plan, &m, gpu_plan_input (plan, node, 0), gpu_plan_input (plan, node, 1), NULL,
               gpu_plan_output (plan, node, 0));
  return TRUE;
}

static gboolean
build_gemm (GpuPlan *plan, const AxonNode *node, gchar **why)
{
  gboolean turn_a = axon_node_get_int (node, "transA") != 0;
  gboolean turn_b = axon_node_get_int (node, "transB") != 0;
  GpuTensor *a, *b, *c, *y;
  Product m = { .alpha = axon_node_get_float (node, "alpha"),
                .beta = axon_node_get_float (node, "beta") };
  if (!has_matmul_type (node->inputs[0]->type.dtype) ||
      (!axon_dtype_is_float (node->inputs[0]->type.dtype) && (m.alpha != 1 || m.beta != 1))) {
    *why = g_strdup ("no kernel for this type");
    return FALSE;
  }
  a = gpu_plan_input (plan, node, 0);
  b = gpu_plan_input (plan, node, 1);
  c = gpu_plan_input (plan, node, 2);
  y = gpu_plan_output (plan, node, 0);
  m.rows = y->shape.dims[0];
  m.columns = y->shape.dims[1];
  m.depth = a->shape.dims[turn_a ? 0 : 1];
  m.row_step = turn_a ? 1 : m.depth;
  m.depth_step = turn_a ? m.rows : 1;
  if (c != NULL) {
    gint rank = c->shape.rank;
    gint64 columns = rank > 0 ? c->shape.dims[rank - 1] : 1;
    m.c_column = columns > 1 ? 1 : 0;
    m.c_row = rank > 1 && c->shape.dims[rank - 2] > 1 ? columns : 0;
  }
  add_product (plan, &m, a, turn_b ? transposed (plan, b) : b, c, y);
  return TRUE;
}

static const GpuKernel rows[] = {
  { .name = "MatMul", .impl = "matmul", .build = build_matmul },
  { .name = "Gemm", .impl = "matmul", .build = build_gemm },
};

GPU_DEFINE_FAMILY (matmul, rows)
