/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Conv of floats to few output channels, as the last one of networks that make pictures has them:
 * ../vector/floatcolumns.c. */
#include "convparts.h"
#include "convshape.h"
#include "floatconv-private.h"
#include "floatposts.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  const CpuFloatConvKernels *kernels;
  CpuFloatColumns columns;
  CpuFloatPosts posts;
  gfloat *weights, *bias; /* in one piece of memory, which begins with the weights */
} Columns;

static void
columns_free (gpointer data)
{
  Columns *self = data;
  free (self->weights);
  g_free (self);
}

/* Of one run. */
typedef struct {
  const Columns *plan;
  CpuFloatConvRun run;
  guint8 *scratch;
} Run;

static void
run_part (gpointer data, gint64 index)
{
  const Run *r = data;
  const CpuFloatColumns *c = &r->plan->columns;
  CpuConvPart part = cpu_conv_get_part (&c->conv, (gint)index);
  r->plan->kernels->columns (c, &r->run, &part,
                             r->scratch + (gsize)cpu_parallel_thread () * c->conv.scratch);
}

static void
run_columns (const CpuStep *step, const CpuInstance *instance)
{
  const Columns *p = step->data;
  Run run = { .plan = p,
              .run = { .x = cpu_tensor_data (instance, step->in[0]),
                       .residual = step->n_in > 1 ? cpu_tensor_data (instance, step->in[1]) : NULL,
                       .y = cpu_tensor_data (instance, step->out[0]),
                       .weights = p->weights,
                       .bias = p->bias,
                       .before = p->posts.before,
                       .after = p->posts.after },
              .scratch = cpu_tensor_data (instance, step->out[1]) };
  cpu_parallel (cpu_conv_count_parts (&p->columns.conv), run_part, &run);
}

/* Vectors of products a pixel of the result takes: of two kinds of kernel, and what they cost
 * besides. */
#define OF_SUM 2    /* of one product to the others */
#define OF_LAYOUT 2 /* of a vector of the source that lies in blocks */
#define GAIN 0.75   /* that is worth it */

static gboolean
is_faster (CpuPlan *plan, const AxonNode *node, const CpuConv *c, gint lanes)
{
  gdouble run = (gdouble)c->channels * c->kernel_h, wide = (gdouble)c->in_w / c->out_w;
  gdouble definition = run * c->kernel_w * cpu_ceil_div (c->out_channels, lanes);
  gdouble columns =
      run * wide * cpu_ceil_div (c->out_channels * c->kernel_w, lanes) + OF_SUM * (c->kernel_w + 1);
  const CpuTensor *x = cpu_plan_input (plan, node, 0);
  if (x->md != NULL && cpu_md_get_block (x->md, x->dtype, &x->shape) > 0)
    columns += OF_LAYOUT * wide * cpu_ceil_div (c->channels, lanes) * c->in_h / c->out_h;
  return columns < GAIN * definition;
}

/* One row has no bands, and filters of one row would be taken for products. */
static gboolean
fits (const CpuConv *c, gint lanes)
{
  return c->groups == 1 && !c->depthwise && c->out_channels < lanes && c->kernel_w > 1 &&
         c->kernel_h > 1 && c->out_h > 1;
}

/* @from: [out][in][row][column]; as products have them: [column][out][in][row] (g_free);
 * NULL: there is no memory */
static gfloat *
turn_weights (const CpuFloatColumns *columns, const gfloat *from)
{
  const CpuConv *c = &columns->conv;
  gsize run = (gsize)(c->channels * c->kernel_h), out = (gsize)c->out_channels;
  gsize columns_of_filter = (gsize)c->kernel_w;
  gfloat *to = g_try_new0 (gfloat, (gsize)columns->products.out_channels * run);
  if (to == NULL)
    return NULL;
  for (gsize o = 0; o < out; o++)
    for (gsize i = 0; i < run; i++)
      for (gsize k = 0; k < columns_of_filter; k++)
        to[(k * out + o) * run + i] = *from++;
  return to;
}

/* FALSE: there is no memory. */
static gboolean
pack (Columns *self, const AxonNode *node)
{
  const CpuConv *c = &self->columns.conv, *p = &self->columns.products;
  g_autofree gfloat *turned = turn_weights (&self->columns, cpu_float_constant (node, 1));
  const CpuFloatWeights weights = {
    .data = turned, .out = (gsize)(c->channels * c->kernel_h), .in = (gsize)c->kernel_h, .tap = 1
  };
  gsize n_bytes = cpu_float_weights_size (p);
  gsize n_bias = (gsize)(self->kernels->lanes + p->padded) * sizeof (gfloat);
  const gfloat *bias = cpu_float_constant (node, 2);
  gpointer memory = NULL;
  if (turned == NULL || posix_memalign (&memory, 64, n_bytes + n_bias) != 0)
    return FALSE;
  self->weights = memory;
  self->bias = self->weights + n_bytes / sizeof (gfloat);
  cpu_float_weights_pack (p, &weights, self->kernels, self->weights);
  memset (self->bias, 0, n_bias);
  if (bias != NULL)
    memcpy (self->bias, bias, (gsize)c->out_channels * sizeof *bias);
  return TRUE;
}

static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const CpuFloatConvKernels *kernels = &cpu_isa_get ()->vector->floats;
  const AxonValue *y = node->outputs[0];
  CpuTensor *in[2] = { NULL, NULL }, *out[2];
  g_autoptr (CpuMd) md = NULL;
  CpuFloatPosts posts;
  Columns *self;
  CpuConv conv;
  if (!cpu_float_conv_has_constants (node) ||
      !cpu_conv_init (&conv, node, axon_tensor_get_shape (cpu_node_constant (node, 1))) ||
      !fits (&conv, kernels->lanes) ||
      (plan->choice != CPU_COLUMNS && !is_faster (plan, node, &conv, kernels->lanes)) ||
      !cpu_float_posts_init (&posts, node) || posts.has_slopes)
    return FALSE;
  self = g_new0 (Columns, 1);
  *self = (Columns){ .kernels = kernels, .columns = { .conv = conv }, .posts = posts };
  in[0] = cpu_conv_source (plan, node, 0, &self->columns.conv);
  cpu_float_columns_setup (&self->columns, kernels, plan->n_threads);
  plan->lacks_memory |= !pack (self, node);
  md = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  out[0] = cpu_float_destination (plan, node, &posts, md, &in[1]);
  out[1] = cpu_plan_scratch_bytes (plan, self->columns.conv.scratch * plan->n_threads + 64);
  cpu_plan_add_step (plan, run_columns, self, columns_free, "own:columns", in,
                     in[1] != NULL ? 2 : 1, out, 2);
  return TRUE;
}

const CpuKernel cpu_columns_kernels[] = {
  { .name = "Conv", .impl = "own:columns", .build = build_conv },
  { 0 },
};
