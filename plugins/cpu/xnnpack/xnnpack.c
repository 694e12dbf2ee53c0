/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Convolutions and products of floats with constant weights by XNNPACK, channels last, with a bias
 * and a clamp; what else was fused into a node leaves it to the next row of the table.
 *
 * An operator of XNNPACK holds packed weights and the pointers of its run: each stream has one of
 * its own, and runs it on its threads (xnnthreads.c). There are two generations of the interface
 * (docs/design/xnnpack.md). */
#include "cpuxnnpack.h"
#include "../cpuplan.h"
#include "../kernels/convchoice.h"
#include "../kernels/convshape.h"
#include "../kernels/floatconv-private.h"
#include "../kernels/floatposts.h"
#include "../onednn/cpudnn.h"

#include <axon/axon-cpu.h>

#include "config.h"
#include <glib/gi18n-lib.h>
#include <math.h>
#include <xnnpack.h>

#define ALIGNMENT 64 /* of memory in the arena */

typedef struct {
  CpuConv conv; /* of a product: of pixels by 1x1 */
  CpuFloatWeights weights;
  gboolean is_product;
  const gfloat *bias; /* nullable; as the weights, of the plan's model */
  gfloat lo, hi;
  gsize n_bytes;        /* of weights and bias */
  gsize workspace;      /* bytes */
  xnn_operator_t spare; /* atomic: what building made, for the first stream */
} Layer;

/* Of one stream. */
typedef struct {
  xnn_operator_t op;
  AxonBudget *budget; /* of which n_taken is for packed weights */
  gsize n_taken;
  GError *error; /* why there is no operator */
} Stream;

static gboolean
is_ready (void)
{
  static gsize once;
  if (g_once_init_enter (&once))
    g_once_init_leave (&once, xnn_initialize (NULL) == xnn_status_success ? 1 : 2);
  return once == 1;
}

gboolean
cpu_xnnpack_is_wanted (AxonPlugin *plugin, const AxonConfig *config)
{
  if (!axon_config_get_bool (config, AXON_CPU_XNNPACK))
    return FALSE;
  if (!is_ready ())
    axon_plugin_log (plugin, config, "LOG_WARNING",
                     AXON_CPU_XNNPACK ": XNNPACK does not run on this processor, its kernels are "
                                      "left out");
  return is_ready ();
}

static gint
missing_pixels (gint out, gint stride, gint taps, gint dilation, gint in, gint pad)
{
  return MAX (0, (out - 1) * stride + (taps - 1) * dilation + 1 - in - pad);
}

/* From [out][in][row][column] to [out][row][column][in] (g_free); NULL: there is no memory. */
static gfloat *
turn_weights (const gfloat *from, gsize outs, gsize ins, gsize taps)
{
  gfloat *to = g_try_new (gfloat, outs * ins * taps);
  for (gsize o = 0; to != NULL && o < outs; o++)
    for (gsize i = 0; i < ins; i++)
      for (gsize t = 0; t < taps; t++)
        to[(o * taps + t) * ins + i] = *from++;
  return to;
}

/* What differs between the generations. The later one keeps packed weights and code in caches if
 * there are any, is told shapes and pointers apart, and asks for memory. */
#ifdef AXON_XNNPACK_RESHAPES
#define NO_CACHES NULL, NULL,

static enum xnn_status
set_shape (const Layer *self, xnn_operator_t op, gsize *workspace)
{
  const CpuConv *c = &self->conv;
  gsize alignment = 1, height, width;
  enum xnn_status status;
  *workspace = 0;
  if (self->is_product)
    return xnn_reshape_fully_connected_nc_f32 (op, (gsize)c->in_w, NULL);
  status = xnn_reshape_convolution2d_nhwc_f32 (op, (gsize)c->frames, (gsize)c->in_h, (gsize)c->in_w,
                                               workspace, &alignment, &height, &width, NULL);
  return status == xnn_status_success && alignment > ALIGNMENT ? xnn_status_unsupported_parameter
                                                               : status;
}

static enum xnn_status
set_pointers (const Layer *self, xnn_operator_t op, gpointer workspace, const gfloat *x, gfloat *y)
{
  return self->is_product ? xnn_setup_fully_connected_nc_f32 (op, x, y)
                          : xnn_setup_convolution2d_nhwc_f32 (op, workspace, x, y);
}
#else
#define NO_CACHES

static enum xnn_status
set_pointers (const Layer *self, xnn_operator_t op, G_GNUC_UNUSED gpointer workspace,
              const gfloat *x, gfloat *y)
{
  const CpuConv *c = &self->conv;
  return self->is_product ? xnn_setup_fully_connected_nc_f32 (op, (gsize)c->in_w, x, y, NULL)
                          : xnn_setup_convolution2d_nhwc_f32 (op, (gsize)c->frames, (gsize)c->in_h,
                                                              (gsize)c->in_w, x, y, NULL);
}

/* Tables of pointers are made for the first ones, and are moved for others: no run allocates. */
static enum xnn_status
set_shape (const Layer *self, xnn_operator_t op, gsize *workspace)
{
  static gfloat anywhere;
  *workspace = 0;
  return set_pointers (self, op, NULL, &anywhere, &anywhere);
}
#endif

static enum xnn_status
create_product (const Layer *self, xnn_operator_t *op)
{
  const CpuConv *c = &self->conv;
  gsize in = (gsize)c->channels, out = (gsize)c->out_channels;
  guint32 flags = self->weights.in == 1 ? 0 : XNN_FLAG_TRANSPOSE_WEIGHTS;
  return xnn_create_fully_connected_nc_f32 (in, out, in, out, self->weights.data, self->bias,
                                            self->lo, self->hi, flags, NO_CACHES op);
}

static enum xnn_status
create_conv (const Layer *self, xnn_operator_t *op)
{
  const CpuConv *c = &self->conv;
  gsize groups = (gsize)(c->depthwise ? c->channels : c->groups);
  gsize in = c->depthwise ? 1 : (gsize)c->channels;
  gsize out = c->depthwise ? 1 : (gsize)c->out_channels;
  gint bottom =
      missing_pixels (c->out_h, c->stride_h, c->kernel_h, c->dilation_h, c->in_h, c->pad_top);
  gint right =
      missing_pixels (c->out_w, c->stride_w, c->kernel_w, c->dilation_w, c->in_w, c->pad_left);
  g_autofree gfloat *weights =
      turn_weights (self->weights.data, groups * out, in, (gsize)(c->kernel_h * c->kernel_w));
  if (weights == NULL)
    return xnn_status_out_of_memory;
  return xnn_create_convolution2d_nhwc_f32 (
      (guint32)c->pad_top, (guint32)right, (guint32)bottom, (guint32)c->pad_left,
      (guint32)c->kernel_h, (guint32)c->kernel_w, (guint32)c->stride_h, (guint32)c->stride_w,
      (guint32)c->dilation_h, (guint32)c->dilation_w, (guint32)groups, in, out, groups * in,
      groups * out, weights, self->bias, self->lo, self->hi, 0, NO_CACHES op);
}

static enum xnn_status
create (const Layer *self, xnn_operator_t *op, gsize *workspace)
{
  enum xnn_status status = self->is_product ? create_product (self, op) : create_conv (self, op);
  if (status != xnn_status_success)
    return status;
  status = set_shape (self, *op, workspace);
  if (status != xnn_status_success)
    xnn_delete_operator (g_steal_pointer (op));
  return status;
}

static void
set_error (GError **error, const CpuStep *step, const CpuInstance *instance, enum xnn_status status)
{
  const AxonProfilingInfo *info =
      &g_array_index (instance->plan->info, AxonProfilingInfo, step->index);
  if (status == xnn_status_out_of_memory)
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("%s \"%s\": out of memory in XNNPACK"),
                 info->node_type, info->node_name);
  else
    g_set_error (error, AXON_ERROR, AXON_ERROR_DEVICE, _ ("%s \"%s\": XNNPACK answers %d"),
                 info->node_type, info->node_name, status);
}

static gpointer
stream_new (const CpuStep *step, const CpuInstance *instance)
{
  Layer *self = step->data;
  Stream *stream = g_new0 (Stream, 1);
  enum xnn_status status;
  gsize workspace;
  stream->budget = axon_budget_ref (instance->plan->budget);
  stream->op = g_atomic_pointer_exchange (&self->spare, NULL);
  if (stream->op != NULL || !axon_budget_take (stream->budget, self->n_bytes, &stream->error))
    return stream;
  stream->n_taken = self->n_bytes;
  status = create (self, &stream->op, &workspace);
  if (status != xnn_status_success)
    set_error (&stream->error, step, instance, status);
  return stream;
}

static void
stream_free (G_GNUC_UNUSED const CpuStep *step, gpointer data)
{
  Stream *stream = data;
  if (stream->op != NULL)
    xnn_delete_operator (stream->op);
  axon_budget_give (stream->budget, stream->n_taken);
  axon_budget_unref (stream->budget);
  g_clear_error (&stream->error);
  g_free (stream);
}

static void
run_layer (const CpuStep *step, const CpuInstance *instance)
{
  const Stream *stream = instance->step_data[step->index];
  enum xnn_status status;
  if (stream->op == NULL) {
    g_propagate_error (instance->error, g_error_copy (stream->error));
    return;
  }
  status = set_pointers (step->data, stream->op, cpu_tensor_data (instance, step->out[1]),
                         cpu_tensor_data (instance, step->in[0]),
                         cpu_tensor_data (instance, step->out[0]));
  if (status == xnn_status_success)
    status = xnn_run_operator (stream->op, NULL);
  if (status != xnn_status_success)
    set_error (instance->error, step, instance, status);
}

static void
layer_free (gpointer data)
{
  Layer *self = data;
  if (self->spare != NULL)
    xnn_delete_operator (self->spare);
  g_free (self);
}

/* FALSE: something else is fused than what bounds the result, or the bounds are none. */
static gboolean
read_clamp (Layer *self, const AxonNode *node)
{
  CpuFloatPosts posts;
  if (!cpu_float_posts_init (&posts, node) || posts.has_sum || posts.has_slopes)
    return FALSE;
  self->lo = posts.before.kind == CPU_POST_RELU ? 0 : -INFINITY;
  self->hi = INFINITY;
  if (posts.before.kind == CPU_POST_CLIP) {
    self->lo = posts.before.alpha;
    self->hi = posts.before.beta;
  }
  return posts.before.kind <= CPU_POST_CLIP && self->lo < self->hi;
}

static gboolean
is_for_us (const CpuPlan *plan, const AxonNode *node)
{
  return plan->xnnpack && !cpu_conv_takes_halves (plan, node);
}

/* What it may read behind the source is memory of ours. */
static CpuTensor *
source_of (CpuPlan *plan, const AxonNode *node, const CpuMd *md)
{
  CpuTensor *x = cpu_plan_input_as (plan, node, 0, md);
  if (x->buffer->place != CPU_ARENA) {
    CpuTensor *copy = cpu_plan_scratch (plan, x->dtype, &x->shape, x->md);
    cpu_plan_add_copy (plan, x, copy);
    x = copy;
  }
  x->buffer->n_bytes += XNN_EXTRA_BYTES;
  return x;
}

static const gchar *
name_of (const Layer *self)
{
  if (self->is_product)
    return "xnnpack:product";
  if (self->conv.depthwise)
    return "xnnpack:depthwise";
  return self->conv.groups > 1 ? "xnnpack:grouped" : "xnnpack:dense";
}

/* Takes over @self. Both tensors lie as the layouts say; nullable: row-major. */
static gboolean
add_step (CpuPlan *plan, const AxonNode *node, Layer *self, const CpuMd *from, const CpuMd *to)
{
  enum xnn_status status = create (self, &self->spare, &self->workspace);
  CpuTensor *x, *out[2];
  CpuStep *step;
  plan->lacks_memory |= status == xnn_status_out_of_memory;
  if (status != xnn_status_success) {
    g_debug ("%s \"%s\": XNNPACK answers %d", node->op->name, node->name, status);
    layer_free (self);
    return FALSE;
  }
  x = source_of (plan, node, from);
  out[0] = cpu_plan_output (plan, node, 0, to);
  out[1] = cpu_plan_scratch_bytes (plan, self->workspace + ALIGNMENT);
  step = cpu_plan_add_step (plan, run_layer, self, layer_free, name_of (self), &x, 1, out, 2);
  step->new_instance = stream_new;
  step->free_instance = stream_free;
  return TRUE;
}

static void
set_constants (Layer *self, const AxonNode *node)
{
  const AxonTensor *w = cpu_node_constant (node, 1), *bias = cpu_node_constant (node, 2);
  self->weights.data = axon_tensor_get_data (w);
  self->bias = cpu_float_constant (node, 2);
  self->n_bytes = axon_tensor_get_n_bytes (w) + (bias != NULL ? axon_tensor_get_n_bytes (bias) : 0);
}

/* A picture whose planes are read as they lie stays with those who read them. */
static gboolean
build_conv (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonValue *x = node->inputs[0], *y = node->outputs[0];
  g_autofree Layer *self = g_new0 (Layer, 1);
  g_autoptr (CpuMd) from = NULL;
  g_autoptr (CpuMd) to = NULL;
  if (!is_for_us (plan, node) || !plan->channels_last || cpu_conv_takes_bf16 (plan, node) ||
      !cpu_float_conv_has_constants (node) || cpu_conv_has_planes (plan, node) ||
      !cpu_conv_init (&self->conv, node, &node->inputs[1]->type.shape) || !read_clamp (self, node))
    return FALSE;
  set_constants (self, node);
  from = cpu_md_channels_last (x->type.dtype, &x->type.shape);
  to = cpu_md_channels_last (y->type.dtype, &y->type.shape);
  return add_step (plan, node, g_steal_pointer (&self), from, to);
}

static gboolean
build_product (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  g_autofree Layer *self = g_new0 (Layer, 1);
  self->is_product = TRUE;
  if (!is_for_us (plan, node) || !cpu_float_product_init (&self->conv, &self->weights, node) ||
      !read_clamp (self, node))
    return FALSE;
  set_constants (self, node);
  return add_step (plan, node, g_steal_pointer (&self), NULL, NULL);
}

const CpuKernel cpu_xnnpack_kernels[] = {
  { .name = "Conv", .impl = "xnnpack", .build = build_conv },
  { .name = "MatMul", .impl = "xnnpack", .build = build_product },
  { .name = "Gemm", .impl = "xnnpack", .build = build_product },
  { 0 },
};
