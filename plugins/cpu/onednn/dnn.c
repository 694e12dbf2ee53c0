/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The engine, and primitives as steps. */
#include "dnn-private.h"
#include "../cpulater.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define FARTHEST 16384       /* places: oneDNN writes code for each one of padding, 3 us long */
#define CODE_BYTES (8 << 20) /* more than the kernels of any one primitive of oneDNN */

/* By default oneDNN tells VTune of all code that it makes, for which it looks for a library in some
 * fifty places, and of each piece of it. Who wants that asks by the environment, as for perf. */
static void
tell_no_profiler (void)
{
  if (g_getenv ("ONEDNN_JIT_PROFILE") == NULL && g_getenv ("DNNL_JIT_PROFILE") == NULL)
    dnnl_set_jit_profiling_flags (0);
}

dnnl_engine_t
dnn_engine (void)
{
  static gsize once;
  if (g_once_init_enter (&once)) {
    dnnl_engine_t engine = NULL;
    dnnl_status_t status = dnnl_engine_create (&engine, dnnl_cpu, 0);
    g_assert (status == dnnl_success);
    tell_no_profiler ();
    g_once_init_leave (&once, (gsize)engine);
  }
  return (dnnl_engine_t)once;
}

static const gchar *
impl_name (const DnnPd *pd)
{
  const char *name = "";
  dnnl_primitive_desc_query (pd, dnnl_query_impl_info_str, 0, &name);
  return name;
}

DnnPd *
dnn_pd_if_fast (DnnPd *pd)
{
  if (pd == NULL || !g_str_has_prefix (impl_name (pd), "ref"))
    return pd;
  dnnl_primitive_desc_destroy (pd);
  return NULL;
}

gboolean
dnn_pd_is_simple (const DnnPd *pd)
{
  return g_str_has_prefix (impl_name (pd), "simple");
}

DnnAttr *
dnn_attr_new (void)
{
  DnnAttr *attr;
  dnnl_primitive_attr_create (&attr);
  dnnl_primitive_attr_set_scratchpad_mode (attr, dnnl_scratchpad_mode_user);
  return attr;
}

const DnnAttr *
dnn_attr_default (void)
{
  static gsize once;
  if (g_once_init_enter (&once))
    g_once_init_leave (&once, (gsize)dnn_attr_new ());
  return (const DnnAttr *)once;
}

DnnPosts *
dnn_posts_new (void)
{
  DnnPosts *posts;
  dnnl_post_ops_create (&posts);
  return posts;
}

/* The immutable part of a primitive step. Arguments in the order of the call. */
typedef struct {
  dnnl_primitive_t primitive;
  DnnPd *pd; /* until there is the primitive */
  gsize code_bytes;
  guint n;
  int arg[DNN_MAX_ARGS];
  CpuTensor *tensor[DNN_MAX_ARGS];
  CpuMd *md[DNN_MAX_ARGS];
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

dnnl_stream_t
dnn_stream (void)
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
  status = dnnl_primitive_execute (dnn->primitive, dnn_stream (), (int)dnn->n, own->args);
  if (G_UNLIKELY (status != dnnl_success))
    g_set_error (instance->error, AXON_ERROR, AXON_ERROR_DEVICE,
                 _ ("oneDNN failed with status %d in step %u"), (int)status, step->index);
}

static gpointer
instance_new (const CpuStep *step, const CpuInstance *instance)
{
  const DnnStep *dnn = step->data;
  DnnStepInstance *own = g_new0 (DnnStepInstance, 1);
  for (guint i = 0; i < dnn->n; i++) {
    const CpuTensor *t = dnn->tensor[i];
    gboolean fixed = t->buffer->place == CPU_ARENA || t->buffer->place == CPU_CONSTANT;
    own->args[i].arg = dnn->arg[i];
    own->args[i].memory =
        dnn_memory_new (dnn->md[i], fixed ? cpu_tensor_data (instance, t) : DNNL_MEMORY_NONE);
    if (!fixed)
      own->bound[own->n_bound++] = i;
  }
  return own;
}

static void
instance_free (const CpuStep *step, gpointer data)
{
  const DnnStep *dnn = step->data;
  DnnStepInstance *own = data;
  for (guint i = 0; i < dnn->n; i++)
    dnnl_memory_destroy (own->args[i].memory);
  g_free (own);
}

static void
step_free (gpointer data)
{
  DnnStep *dnn = data;
  for (guint i = 0; i < dnn->n; i++)
    cpu_md_free (dnn->md[i]);
  dnnl_primitive_destroy (dnn->primitive);
  g_clear_pointer (&dnn->pd, dnnl_primitive_desc_destroy);
  g_free (dnn);
}

void
dnn_call_add_arg (DnnCall *call, int arg, CpuTensor *tensor, gboolean is_output)
{
  g_assert (call->n < DNN_MAX_ARGS);
  call->arg[call->n] = arg;
  call->tensor[call->n] = tensor;
  call->is_output[call->n++] = is_output;
}

/* An exact layout may be normalised away in the tensor: the primitive knows it. */
static CpuMd *
layout_of_arg (const DnnCall *call, guint i)
{
  if (call->arg[i] == DNNL_ARG_SCRATCHPAD)
    return cpu_md_copy (dnn_pd_get_md (call->pd, dnnl_query_scratchpad_md));
  if (call->arg[i] == DNNL_ARG_DST)
    return cpu_md_copy (dnn_pd_get_md (call->pd, dnnl_query_dst_md));
  return dnn_md_of (call->tensor[i]);
}

/* Whether the system counts what a process may have: else there are always addresses, and pages are
 * given when they are touched. */
static gboolean
is_address_space_limited (void)
{
  static gsize once;
  struct rlimit limit;
  if (g_once_init_enter (&once)) {
    g_autofree gchar *overcommit = NULL;
    g_file_get_contents ("/proc/sys/vm/overcommit_memory", &overcommit, NULL, NULL);
    g_once_init_leave (&once, overcommit == NULL || overcommit[0] == '2' ? 2 : 1);
  }
  return once == 2 || getrlimit (RLIMIT_AS, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

/* oneDNN's generators of code end the process where the system gives them no pages, so that is
 * asked before: an address limit is met here, by an error. Only where there is one: giving pages
 * back interrupts the process's other threads. */
static gboolean
has_room (gsize n_bytes)
{
  void *room;
  if (!is_address_space_limited ())
    return TRUE;
  room = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED)
    return FALSE;
  munmap (room, n_bytes);
  return TRUE;
}

gboolean
dnn_primitive_create (dnnl_primitive_t *primitive, DnnPd *pd, gsize n_bytes)
{
  return has_room (n_bytes) && dnnl_primitive_create (primitive, pd) == dnnl_success;
}

gsize
dnn_code_bytes (const CpuPlan *plan)
{
  return CODE_BYTES * (gsize)(cpu_later_get_helpers (plan->later) + 1);
}

static gboolean
create_later (gpointer data)
{
  DnnStep *dnn = data;
  gboolean ok = dnn_primitive_create (&dnn->primitive, dnn->pd, dnn->code_bytes);
  g_clear_pointer (&dnn->pd, dnnl_primitive_desc_destroy);
  return ok;
}

void
dnn_call_finish (CpuPlan *plan, DnnCall *call)
{
  DnnStep *dnn = g_new0 (DnnStep, 1);
  CpuTensor *in[DNN_MAX_ARGS], *out[DNN_MAX_ARGS];
  guint n_in = 0, n_out = 0;
  const CpuMd *scratch = dnn_pd_get_md (call->pd, dnnl_query_scratchpad_md);
  gsize n_scratch = scratch ? cpu_md_get_bytes (scratch) : 0;
  CpuStep *step;
  if (n_scratch > 0)
    dnn_call_add_arg (call, DNNL_ARG_SCRATCHPAD, cpu_plan_scratch_bytes (plan, n_scratch), TRUE);
  for (guint i = 0; i < call->n; i++) {
    *(call->is_output[i] ? &out[n_out++] : &in[n_in++]) = call->tensor[i];
    dnn->arg[i] = call->arg[i];
    dnn->tensor[i] = call->tensor[i];
    dnn->md[i] = layout_of_arg (call, i);
  }
  dnn->n = call->n;
  dnn->pd = g_steal_pointer (&call->pd);
  dnn->code_bytes = dnn_code_bytes (plan);
  step = cpu_plan_add_step (plan, run_primitive, dnn, step_free,
                            g_intern_string (impl_name (dnn->pd)), in, n_in, out, n_out);
  step->new_instance = instance_new;
  step->free_instance = instance_free;
  cpu_later_add (plan->later, create_later, dnn);
}

gboolean
dnn_add_unary (CpuPlan *plan, const AxonNode *node, CpuTensor *src, DnnPd *pd)
{
  DnnCall call = { .pd = pd };
  if (pd == NULL)
    return FALSE;
  dnn_call_add_arg (&call, DNNL_ARG_SRC, src, FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_DST,
                    cpu_plan_output (plan, node, 0, dnn_pd_get_md (pd, dnnl_query_dst_md)), TRUE);
  dnn_call_finish (plan, &call);
  return TRUE;
}

void
cpu_dnn_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to)
{
  g_autoptr (CpuMd) a = dnn_md_of (from), b = dnn_md_of (to);
  DnnCall call = { .pd = dnn_pd_new_reorder (a, b) };
  g_assert (call.pd != NULL);
  dnn_call_add_arg (&call, DNNL_ARG_FROM, from, FALSE);
  dnn_call_add_arg (&call, DNNL_ARG_TO, to, TRUE);
  dnn_call_finish (plan, &call);
}

CpuTensor *
dnn_copy_constant (CpuPlan *plan, const AxonTensor *tensor, const AxonShape *shape)
{
  return cpu_plan_constant (
      plan, axon_tensor_get_dtype (tensor), shape,
      g_memdup2 (axon_tensor_get_data (tensor), axon_tensor_get_n_bytes (tensor)));
}

gboolean
cpu_window_is_near (const AxonWindow *w)
{
  for (gint d = 0; d < 3; d++)
    if (w->pad[d] > FARTHEST || w->pad_end[d] > FARTHEST || w->stride[d] > FARTHEST ||
        (w->kernel[d] - 1) * w->dilation[d] > FARTHEST)
      return FALSE;
  return TRUE;
}

gboolean
dnn_window_init (DnnWindow *w, const AxonNode *node, const AxonShape *x, const AxonShape *y,
                 const gint64 *kernel)
{
  AxonWindow own;
  if (!axon_window_init (&own, node, x, kernel, FALSE, NULL) || !cpu_window_is_near (&own))
    return FALSE;
  w->n = own.rank;
  for (int i = 0; i < w->n; i++) {
    int d = 3 - w->n + i;
    w->kernel[i] = kernel[i];
    w->stride[i] = own.stride[d];
    w->dilation[i] = own.dilation[d] - 1;
    w->pad[i] = own.pad[d];
    /* what the output size needs; may be negative */
    w->pad_end[i] = (y->dims[2 + i] - 1) * own.stride[d] + (kernel[i] - 1) * own.dilation[d] + 1 -
                    own.in[d] - own.pad[d];
  }
  return TRUE;
}

CpuTensor *
dnn_strided_input (CpuPlan *plan, const AxonNode *node, gint64 *strides)
{
  CpuTensor *src = cpu_plan_input (plan, node, 0);
  if (!cpu_md_get_strides (src->md, &src->shape, strides)) {
    src = cpu_plan_input_as (plan, node, 0, NULL);
    cpu_md_get_strides (NULL, &src->shape, strides);
  }
  return src;
}
