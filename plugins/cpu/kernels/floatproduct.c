/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* MatMul and Gemm of two results: the matrices of B are packed in each run as constant ones are at
 * compile time, then each matrix of A is multiplied with its own.
 *
 * Where oneDNN has code for the processor, it multiplies all of these that it takes. */
#include "convparts.h"
#include "floatconv-private.h"
#include "floatposts.h"
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <stdlib.h>
#include <string.h>

#define MATRICES_PER_THREAD 2 /* of which none is cut */

/* Which matrix of A and which of B a matrix of the result is made of. */
typedef struct {
  gint a, b;
} Pair;

typedef struct {
  const CpuFloatConvKernels *kernels;
  CpuConv conv; /* of one matrix */
  CpuFloatWeights weights;
  CpuFloatPosts posts;
  Pair *pairs;
  gint n_pairs, n_b, n_parts; /* parts: of a matrix */
  gsize size;                 /* elements of a packed matrix */
  gfloat *bias;               /* packed */
} Product;

static void
product_free (gpointer data)
{
  Product *self = data;
  free (self->bias);
  g_free (self->pairs);
  g_free (self);
}

/* Of one run. */
typedef struct {
  const Product *plan;
  const gfloat *a, *b, *residual;
  gfloat *packed, *y;
  guint8 *scratch;
} Run;

static gsize
matrix_size (const CpuConv *c)
{
  return (gsize)c->channels * (gsize)c->out_channels;
}

static void
pack_part (gpointer data, gint64 index)
{
  const Run *r = data;
  const Product *p = r->plan;
  gint matrix = (gint)index / p->conv.n_panels, panel = (gint)index % p->conv.n_panels;
  CpuFloatWeights weights = p->weights;
  weights.data = r->b + (gsize)matrix * matrix_size (&p->conv);
  cpu_float_panel_pack (&p->conv, &weights, p->kernels, 0, panel,
                        r->packed + (gsize)matrix * p->size);
}

static void
run_part (gpointer data, gint64 index)
{
  const Run *r = data;
  const Product *p = r->plan;
  const CpuConv *c = &p->conv;
  gint matrix = (gint)index / p->n_parts;
  gsize at = (gsize)matrix * c->y_frame;
  CpuConvPart part = cpu_conv_get_part (c, (gint)index % p->n_parts);
  CpuFloatConvRun run = { .x = r->a + (gsize)p->pairs[matrix].a * c->x_frame,
                          .y = r->y + at,
                          .residual = r->residual ? r->residual + at : NULL,
                          .weights = r->packed + (gsize)p->pairs[matrix].b * p->size,
                          .bias = p->bias,
                          .before = p->posts.before,
                          .after = p->posts.after };
  p->kernels->dense (c, &run, &part, r->scratch + (gsize)cpu_parallel_thread () * c->scratch);
}

static void
run_product (const CpuStep *step, const CpuInstance *instance)
{
  const Product *p = step->data;
  Run run = { .plan = p,
              .a = cpu_tensor_data (instance, step->in[0]),
              .b = cpu_tensor_data (instance, step->in[1]),
              .residual = step->n_in > 2 ? cpu_tensor_data (instance, step->in[2]) : NULL,
              .packed = cpu_tensor_data (instance, step->out[1]),
              .y = cpu_tensor_data (instance, step->out[0]),
              .scratch = cpu_tensor_data (instance, step->out[2]) };
  cpu_parallel ((gint64)p->n_b * p->conv.n_panels, pack_part, &run);
  cpu_parallel ((gint64)p->n_pairs * p->n_parts, run_part, &run);
}

/* A vector counts as a matrix of one row, or column. */
static AxonShape
matrix_shape (const AxonNode *node, guint input)
{
  const AxonShape *s = &node->inputs[input]->type.shape;
  if (s->rank != 1)
    return *s;
  return input == 0 ? AXON_SHAPE (1, s->dims[0]) : AXON_SHAPE (s->dims[0], 1);
}

/* Matrices from one index to the next along each leading dimension of @all. */
static void
set_steps (const AxonShape *s, const AxonShape *all, gint64 *steps)
{
  gint64 at = 1;
  for (gint d = all->rank - 1; d >= 0; d--) {
    gint from = d - (all->rank - s->rank);
    gint64 n = from >= 0 ? s->dims[from] : 1;
    steps[d] = n > 1 ? at : 0;
    at *= n;
  }
}

/* Leading dimensions are broadcast. */
static void
set_pairs (Product *self, const AxonShape *a, const AxonShape *b)
{
  AxonShape of_a = *a, of_b = *b, all;
  gint64 step_a[AXON_MAX_RANK], step_b[AXON_MAX_RANK], index[AXON_MAX_RANK] = { 0 };
  of_a.rank -= 2;
  of_b.rank -= 2;
  axon_shape_broadcast (&of_a, &of_b, &all);
  set_steps (&of_a, &all, step_a);
  set_steps (&of_b, &all, step_b);
  self->n_pairs = (gint)axon_shape_get_numel (&all);
  self->n_b = (gint)axon_shape_get_numel (&of_b);
  self->pairs = g_new0 (Pair, self->n_pairs);
  for (gint i = 0; i < self->n_pairs; i++) {
    for (gint d = 0; d < all.rank; d++) {
      self->pairs[i].a += (gint)(index[d] * step_a[d]);
      self->pairs[i].b += (gint)(index[d] * step_b[d]);
    }
    for (gint d = all.rank - 1; d >= 0 && ++index[d] == all.dims[d]; d--)
      index[d] = 0;
  }
}

static gboolean
is_small (const AxonShape *s)
{
  gint64 n = axon_shape_get_numel (s);
  return n >= 1 && n <= G_MAXINT / 8;
}

static gboolean
is_ready (const AxonNode *node)
{
  return node->inputs[0]->type.dtype == AXON_DTYPE_F32 && is_small (&node->inputs[0]->type.shape) &&
         is_small (&node->inputs[1]->type.shape) && is_small (&node->outputs[0]->type.shape) &&
         cpu_float_product_is_plain (node);
}

static void
set_geometry (Product *self, const AxonNode *node, guint threads)
{
  AxonShape a = matrix_shape (node, 0), b = matrix_shape (node, 1);
  gboolean turned = axon_node_is (node, "Gemm") && axon_node_get_int (node, "transB") != 0;
  gint inner = (gint)a.dims[a.rank - 1], columns = (gint)b.dims[b.rank - (turned ? 2 : 1)];
  set_pairs (self, &a, &b);
  cpu_float_product_set (&self->conv, (gint)a.dims[a.rank - 2], inner, columns);
  self->weights = (CpuFloatWeights){ .in = turned ? 1 : (gsize)columns,
                                     .out = turned ? (gsize)inner : 1,
                                     .tap = 1 };
  /* matrices are parts already */
  cpu_float_conv_setup (&self->conv, self->kernels,
                        self->n_pairs < (gint)(MATRICES_PER_THREAD * threads) ? threads : 1);
  self->n_parts = cpu_conv_count_parts (&self->conv);
  self->size = cpu_float_weights_size (&self->conv) / sizeof (gfloat);
}

static gboolean
pack_bias (Product *self, const AxonNode *node)
{
  const gfloat *from = cpu_float_constant (node, 2);
  gsize n_bytes = (gsize)self->conv.padded * sizeof (gfloat);
  gpointer memory = NULL;
  if (posix_memalign (&memory, 64, MAX (n_bytes, 64)) != 0)
    return FALSE;
  self->bias = memset (memory, 0, n_bytes);
  if (from != NULL)
    cpu_float_array_pack (&self->conv, from, 0, self->bias);
  return TRUE;
}

static gboolean
takes (const AxonNode *node, CpuFloatPosts *posts)
{
  return is_ready (node) && cpu_float_posts_init (posts, node) && !posts->has_slopes;
}

gboolean
cpu_product_is_own (const CpuPlan *plan, const AxonNode *node)
{
  CpuFloatPosts posts;
  return (plan->choice == CPU_OWN || !cpu_dnn_has_kernels ()) && takes (node, &posts);
}

static gboolean
build_product (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuTensor *in[3], *out[3];
  CpuFloatPosts posts;
  Product *self;
  if (!takes (node, &posts))
    return FALSE;
  self = g_new0 (Product, 1);
  self->kernels = &cpu_isa_get ()->vector->floats;
  self->posts = posts;
  set_geometry (self, node, plan->n_threads);
  plan->lacks_memory |= !pack_bias (self, node);
  in[0] = cpu_plan_input_as (plan, node, 0, NULL);
  in[1] = cpu_plan_input_as (plan, node, 1, NULL);
  out[0] = cpu_float_destination (plan, node, &posts, NULL, &in[2]);
  out[1] = cpu_plan_scratch_bytes (plan, (gsize)self->n_b * self->size * sizeof (gfloat));
  out[2] = cpu_plan_scratch_bytes (plan, self->conv.scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_product, self, product_free, "own:two-sources", in,
                     in[2] != NULL ? 3 : 2, out, 3);
  return TRUE;
}

const CpuKernel cpu_float_product_kernels[] = {
  { .name = "MatMul", .impl = "own", .build = build_product },
  { .name = "Gemm", .impl = "own", .build = build_product },
  { 0 },
};
