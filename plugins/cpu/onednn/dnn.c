/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Engine, descriptors, and primitives as steps. */
#include "dnn-private.h"

#include <stdlib.h>
#include <string.h>

dnnl_engine_t
dnn_engine (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    dnnl_engine_t engine = NULL;
    dnnl_status_t status = dnnl_engine_create (&engine, dnnl_cpu, 0);
    g_assert (status == dnnl_success);
    g_once_init_leave (&once, (gsize)engine);
  }
  return (dnnl_engine_t)once;
}

dnnl_data_type_t
dnn_type (AxonDType dtype)
{
  switch (dtype) {
  case AXON_DTYPE_F32:
    return dnnl_f32;
  case AXON_DTYPE_U8:
    return dnnl_u8;
  case AXON_DTYPE_I8:
    return dnnl_s8;
  case AXON_DTYPE_I32:
    return dnnl_s32;
  default:
    return dnnl_data_type_undef;
  }
}

gboolean
cpu_dnn_has_type (AxonDType dtype)
{
  return dnn_type (dtype) != dnnl_data_type_undef;
}

/* A scalar is a vector of one; an empty shape cannot be described and does not come here. */
static int
to_dims (const AxonShape *shape, dnnl_dims_t dims)
{
  for (gint i = 0; i < shape->rank; i++)
    dims[i] = shape->dims[i];
  if (shape->rank == 0)
    dims[0] = 1;
  return MAX (shape->rank, 1);
}

dnnl_memory_desc_t
dnn_md_plain (AxonDType dtype, const AxonShape *shape)
{
  dnnl_memory_desc_t md;
  dnnl_dims_t dims = { 0 }, strides = { 0 };
  int n = to_dims (shape, dims);
  for (int i = n - 1; i >= 0; i--)
    strides[i] = i == n - 1 ? 1 : strides[i + 1] * MAX (dims[i + 1], 1);
  dnnl_memory_desc_init_by_strides (&md, n, dims, dnn_type (dtype), strides);
  return md;
}

dnnl_memory_desc_t
dnn_md_any (AxonDType dtype, const AxonShape *shape)
{
  dnnl_memory_desc_t md;
  dnnl_dims_t dims = { 0 };
  int n = to_dims (shape, dims);
  dnnl_memory_desc_init_by_tag (&md, n, dims, dnn_type (dtype), dnnl_format_tag_any);
  return md;
}

dnnl_memory_desc_t
dnn_md (const CpuTensor *t)
{
  return t->md ? t->md->d : dnn_md_plain (t->dtype, &t->shape);
}

gsize
cpu_md_get_bytes (const CpuMd *md)
{
  return dnnl_memory_desc_get_size (&md->d);
}

CpuMd *
cpu_md_copy (const CpuMd *md)
{
  return g_memdup2 (md, sizeof *md);
}

void
cpu_md_free (CpuMd *md)
{
  g_free (md);
}

gboolean
cpu_md_equal (const CpuMd *a, const CpuMd *b)
{
  return dnnl_memory_desc_equal (&a->d, &b->d);
}

/* NULL: strides that oneDNN refuses, such as every third row of four, where a whole last step would
 * reach into the next plane. */
CpuMd *
cpu_md_strided (AxonDType dtype, const AxonShape *shape, const gint64 *strides)
{
  CpuMd *md = g_new0 (CpuMd, 1);
  dnnl_dims_t dims = { 0 }, own = { 1 };
  int n = to_dims (shape, dims);
  for (gint i = 0; i < shape->rank; i++)
    own[i] = strides[i];
  if (dnnl_memory_desc_init_by_strides (&md->d, n, dims, dnn_type (dtype), own) != dnnl_success)
    g_clear_pointer (&md, cpu_md_free);
  return md;
}

/* nChw8c, nChw16c; NULL: no such layout */
CpuMd *
cpu_md_channel_blocks (AxonDType dtype, const AxonShape *shape, gint64 block)
{
  dnnl_format_tag_t tag = block == 8 ? dnnl_aBcd8b : dnnl_aBcd16b;
  dnnl_dims_t dims = { 0 };
  CpuMd *md = g_new0 (CpuMd, 1);
  if ((block == 8 || block == 16) && shape->rank == 4 && cpu_dnn_has_type (dtype) &&
      dnnl_memory_desc_init_by_tag (&md->d, to_dims (shape, dims), dims, dnn_type (dtype), tag) ==
          dnnl_success)
    return md;
  g_free (md);
  return NULL;
}

CpuMd *
cpu_md_channels_last (AxonDType dtype, const AxonShape *shape)
{
  gint64 strides[AXON_MAX_RANK], at = shape->dims[1];
  strides[1] = 1;
  for (gint i = shape->rank - 1; i >= 0; i--)
    if (i != 1) {
      strides[i] = at;
      at *= shape->dims[i];
    }
  return cpu_md_strided (dtype, shape, strides);
}

gboolean
cpu_md_get_strides (const CpuMd *md, const AxonShape *shape, gint64 *strides)
{
  dnnl_memory_desc_t plain;
  const dnnl_memory_desc_t *d = &plain;
  if (md != NULL)
    d = &md->d;
  else
    plain = dnn_md_plain (AXON_DTYPE_F32, shape);
  if (d->format_kind != dnnl_blocked || d->format_desc.blocking.inner_nblks != 0 ||
      d->extra.flags != 0 || d->offset0 != 0)
    return FALSE;
  for (gint i = 0; i < shape->rank; i++)
    strides[i] = d->format_desc.blocking.strides[i];
  return TRUE;
}

const CpuMd *
dnn_query (dnnl_primitive_desc_t pd, dnnl_query_t what, int index)
{
  return (const CpuMd *)dnnl_primitive_desc_query_md (pd, what, index);
}

gboolean
dnn_pd_is_reference (dnnl_primitive_desc_t pd)
{
  const char *name = "";
  dnnl_primitive_desc_query (pd, dnnl_query_impl_info_str, 0, &name);
  return g_str_has_prefix (name, "ref");
}

dnnl_primitive_desc_t
dnn_pd_new (const void *desc, const dnnl_primitive_attr_t attr)
{
  dnnl_primitive_desc_t pd = NULL;
  if (dnnl_primitive_desc_create (&pd, desc, attr, dnn_engine (), NULL) != dnnl_success)
    return NULL;
  if (!dnn_pd_is_reference (pd))
    return pd;
  dnnl_primitive_desc_destroy (pd);
  return NULL;
}

dnnl_primitive_attr_t
dnn_attr_new (void)
{
  dnnl_primitive_attr_t attr;
  dnnl_primitive_attr_create (&attr);
  dnnl_primitive_attr_set_scratchpad_mode (attr, dnnl_scratchpad_mode_user);
  return attr;
}

/* The immutable part of a primitive step. Arguments: outputs first, then inputs, as in step. */
typedef struct {
  dnnl_primitive_t primitive;
  guint n;
  int arg[DNN_MAX_ARGS];
  CpuTensor *tensor[DNN_MAX_ARGS];
  dnnl_memory_desc_t md[DNN_MAX_ARGS];
} DnnStep;

/* A stream's part: memories, handles of inputs and outputs set per run. */
typedef struct {
  dnnl_exec_arg_t args[DNN_MAX_ARGS];
  guint n_bound;
  guint bound[DNN_MAX_ARGS];
} DnnStepInstance;

/* One oneDNN stream per thread; freed with it. */
static void
free_stream (gpointer data)
{
  dnnl_stream_destroy (data);
}

static GPrivate thread_stream = G_PRIVATE_INIT (free_stream);

static dnnl_stream_t
get_stream (void)
{
  dnnl_stream_t stream = g_private_get (&thread_stream);
  if (stream == NULL) {
    dnnl_stream_create (&stream, dnn_engine (), dnnl_stream_default_flags);
    g_private_set (&thread_stream, stream);
  }
  return stream;
}

static void
run_primitive (const CpuStep *step, const CpuInstance *instance)
{
  const DnnStep *dnn = step->data;
  DnnStepInstance *own = instance->step_data[step->index];
  dnnl_status_t status;
  for (guint i = 0; i < own->n_bound; i++) {
    guint k = own->bound[i];
    dnnl_memory_set_data_handle (own->args[k].memory, cpu_tensor_data (instance, dnn->tensor[k]));
  }
  status = dnnl_primitive_execute (dnn->primitive, get_stream (), (int)dnn->n, own->args);
  if (G_UNLIKELY (status != dnnl_success))
    g_set_error (instance->error, AXON_ERROR, AXON_ERROR_DEVICE,
                 "oneDNN failed with status %d in step %u", (int)status, step->index);
}

gpointer
cpu_dnn_step_new_instance (const CpuStep *step, const CpuInstance *instance)
{
  const DnnStep *dnn = step->data;
  DnnStepInstance *own;
  if (step->run != run_primitive)
    return NULL;
  own = g_new0 (DnnStepInstance, 1);
  for (guint i = 0; i < dnn->n; i++) {
    const CpuTensor *t = dnn->tensor[i];
    gboolean fixed = t->buffer->place == CPU_ARENA || t->buffer->place == CPU_CONSTANT;
    own->args[i].arg = dnn->arg[i];
    dnnl_memory_create (&own->args[i].memory, &dnn->md[i], dnn_engine (),
                        fixed ? cpu_tensor_data (instance, t) : DNNL_MEMORY_NONE);
    if (!fixed)
      own->bound[own->n_bound++] = i;
  }
  return own;
}

void
cpu_dnn_step_free_instance (const CpuStep *step, gpointer data)
{
  const DnnStep *dnn = step->data;
  DnnStepInstance *own = data;
  if (own == NULL)
    return;
  for (guint i = 0; i < dnn->n; i++)
    dnnl_memory_destroy (own->args[i].memory);
  g_free (own);
}

static void
dnn_step_free (gpointer data)
{
  DnnStep *dnn = data;
  dnnl_primitive_destroy (dnn->primitive);
  g_free (dnn);
}

void
dnn_call_arg (DnnCall *call, int arg, CpuTensor *tensor, gboolean is_output)
{
  g_assert (call->n < DNN_MAX_ARGS);
  call->arg[call->n] = arg;
  call->tensor[call->n] = tensor;
  call->is_output[call->n++] = is_output;
}

void
dnn_call_add (CpuPlan *plan, DnnCall *call)
{
  DnnStep *dnn = g_new0 (DnnStep, 1);
  CpuTensor *in[DNN_MAX_ARGS], *out[DNN_MAX_ARGS];
  guint n_in = 0, n_out = 0;
  const CpuMd *scratch = dnn_query (call->pd, dnnl_query_scratchpad_md, 0);
  const char *impl = "";
  gsize n_scratch = scratch ? cpu_md_get_bytes (scratch) : 0;
  if (n_scratch > 0)
    dnn_call_arg (call, DNNL_ARG_SCRATCHPAD, cpu_plan_scratch_bytes (plan, n_scratch), TRUE);
  for (guint i = 0; i < call->n; i++) {
    *(call->is_output[i] ? &out[n_out++] : &in[n_in++]) = call->tensor[i];
    dnn->arg[i] = call->arg[i];
    dnn->tensor[i] = call->tensor[i];
    dnn->md[i] = call->arg[i] == DNNL_ARG_SCRATCHPAD ? scratch->d : dnn_md (call->tensor[i]);
    if (call->arg[i] ==
        DNNL_ARG_DST) /* an exact layout may be normalised away: ask the primitive */
      dnn->md[i] = dnn_query (call->pd, dnnl_query_dst_md, 0)->d;
  }
  dnn->n = call->n;
  dnnl_primitive_desc_query (call->pd, dnnl_query_impl_info_str, 0, &impl);
  dnnl_primitive_create (&dnn->primitive, call->pd);
  cpu_plan_add_step (plan, run_primitive, dnn, dnn_step_free, g_intern_string (impl), in, n_in, out,
                     n_out);
  dnnl_primitive_desc_destroy (call->pd);
}

static dnnl_primitive_desc_t
reorder_pd (const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to)
{
  dnnl_primitive_attr_t attr = dnn_attr_new ();
  dnnl_primitive_desc_t pd = NULL;
  dnnl_status_t status =
      dnnl_reorder_primitive_desc_create (&pd, from, dnn_engine (), to, dnn_engine (), attr);
  dnnl_primitive_attr_destroy (attr);
  return status == dnnl_success ? pd : NULL;
}

void
cpu_dnn_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  dnnl_memory_desc_t a = dnn_md (from), b = dnn_md (to);
  DnnCall call = { .pd = reorder_pd (&a, &b) };
  g_assert (call.pd != NULL);
  dnn_call_arg (&call, DNNL_ARG_FROM, from, FALSE);
  dnn_call_arg (&call, DNNL_ARG_TO, to, TRUE);
  dnn_call_add (plan, &call);
}

CpuTensor *
dnn_pack (CpuPlan *plan, const dnnl_memory_desc_t *from, gconstpointer data, const CpuMd *to)
{
  AxonShape bytes = AXON_SHAPE ((gint64)cpu_md_get_bytes (to));
  dnnl_primitive_desc_t pd = reorder_pd (from, &to->d);
  dnnl_primitive_t reorder;
  dnnl_exec_arg_t args[3] = { { .arg = DNNL_ARG_FROM },
                              { .arg = DNNL_ARG_TO },
                              { .arg = DNNL_ARG_SCRATCHPAD } };
  gpointer packed = NULL, scratch = NULL;
  const CpuMd *scratch_md = dnn_query (pd, dnnl_query_scratchpad_md, 0);
  CpuTensor *tensor;
  gboolean ok = posix_memalign (&packed, 64, cpu_md_get_bytes (to)) == 0 &&
                posix_memalign (&scratch, 64, cpu_md_get_bytes (scratch_md) + 64) == 0;
  g_assert (ok);
  dnnl_memory_create (&args[0].memory, from, dnn_engine (), (gpointer)data);
  dnnl_memory_create (&args[1].memory, &to->d, dnn_engine (), packed);
  dnnl_memory_create (&args[2].memory, &scratch_md->d, dnn_engine (), scratch);
  dnnl_primitive_create (&reorder, pd);
  dnnl_primitive_execute (reorder, get_stream (), 3, args);
  dnnl_stream_wait (get_stream ());
  for (guint i = 0; i < 3; i++)
    dnnl_memory_destroy (args[i].memory);
  dnnl_primitive_destroy (reorder);
  dnnl_primitive_desc_destroy (pd);
  free (scratch);
  tensor = cpu_plan_constant (plan, AXON_DTYPE_U8, &bytes, packed);
  tensor->md = cpu_md_copy (to); /* exact, with compensation flags: never normalised */
  return tensor;
}

gboolean
dnn_window (DnnWindow *w, const AxonNode *node, const AxonShape *x, const AxonShape *y,
            const gint64 *kernel)
{
  guint n_pads, n_strides, n_dilations;
  const gint64 *pads = axon_node_get_ints (node, "pads", &n_pads);
  const gint64 *strides = axon_node_get_ints (node, "strides", &n_strides);
  const gint64 *dilations = axon_node_get_ints (node, "dilations", &n_dilations);
  const gchar *auto_pad = axon_node_get_string (node, "auto_pad");
  gboolean same = auto_pad != NULL && g_str_has_prefix (auto_pad, "SAME");
  w->n = x->rank - 2;
  for (int i = 0; i < w->n; i++) {
    gint64 extent, total;
    w->kernel[i] = kernel[i];
    w->stride[i] = strides ? strides[i] : 1;
    w->dilation[i] = dilations ? dilations[i] - 1 : 0;
    extent = (kernel[i] - 1) * (w->dilation[i] + 1) + 1;
    total = (y->dims[2 + i] - 1) * w->stride[i] + extent - x->dims[2 + i];
    if (same) {
      total = MAX (total, 0);
      w->pad[i] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
    } else {
      w->pad[i] = pads ? pads[i] : 0;
    }
    w->pad_end[i] = total - w->pad[i]; /* what the output size needs; may be negative */
  }
  return TRUE;
}
