/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weights in the layout that a primitive wants, while others go on with the plan. */
#include "dnn-private.h"
#include "../cpulater.h"
#include "../cpupacked.h"

/* Weights that are to be packed. */
typedef struct {
  gconstpointer data;
  CpuMd *from, *to;
  AxonTensor *packed;
  CpuPacked *others; /* nullable: who may have it then */
  gsize code_bytes;
} Packing;

static void
packing_free (gpointer data)
{
  Packing *self = data;
  cpu_md_free (self->from);
  cpu_md_free (self->to);
  axon_tensor_unref (self->packed);
  g_free (self);
}

/* NULL: there is no memory. */
static Packing *
packing_new (const CpuPlan *plan, const CpuMd *from, gconstpointer data, const CpuMd *to)
{
  gsize n_bytes = cpu_md_get_bytes (to);
  AxonShape bytes = AXON_SHAPE ((gint64)n_bytes);
  gpointer memory = axon_scratch_new (n_bytes, 1, NULL);
  Packing *self;
  if (memory == NULL)
    return NULL;
  self = g_new (Packing, 1);
  *self = (Packing){ .data = data,
                     .from = cpu_md_copy (from),
                     .to = cpu_md_copy (to),
                     .packed = axon_tensor_new_wrapped (AXON_DTYPE_U8, &bytes, memory, n_bytes,
                                                        axon_scratch_free, memory, NULL),
                     .others = plan->packed,
                     .code_bytes = dnn_code_bytes (plan) };
  return self;
}

/* FALSE: oneDNN has no memory. */
static gboolean
reorder_now (DnnPd *pd, gsize n_code, dnnl_exec_arg_t *args, gint n_args)
{
  dnnl_primitive_t reorder = NULL;
  gboolean ok = dnn_primitive_create (&reorder, pd, n_code) &&
                dnnl_primitive_execute (reorder, dnn_stream (), n_args, args) == dnnl_success &&
                dnnl_stream_wait (dnn_stream ()) == dnnl_success;
  for (gint i = 0; i < n_args; i++)
    dnnl_memory_destroy (args[i].memory);
  dnnl_primitive_destroy (reorder);
  return ok;
}

static gboolean
pack (gpointer data)
{
  Packing *self = data;
  g_autoptr (DnnPd) pd = dnn_pd_new_reorder (self->from, self->to);
  const CpuMd *scratch_md = dnn_pd_get_md (pd, dnnl_query_scratchpad_md);
  AXON_AUTO_SCRATCH gpointer scratch = axon_scratch_new (cpu_md_get_bytes (scratch_md), 1, NULL);
  dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, dnn_memory_new (self->from, (gpointer)self->data) },
                             { DNNL_ARG_TO,
                               dnn_memory_new (self->to, axon_tensor_get_data (self->packed)) },
                             { DNNL_ARG_SCRATCHPAD, dnn_memory_new (scratch_md, scratch) } };
  gboolean ok = scratch != NULL && reorder_now (pd, self->code_bytes, args, G_N_ELEMENTS (args));
  if (ok && self->others != NULL)
    cpu_packed_add (self->others, self->data, self->from, self->to, self->packed);
  return ok;
}

/* By this plan (transfer full); NULL: not yet. */
static AxonTensor *
find_packing (const CpuPlan *plan, gconstpointer data, const CpuMd *from, const CpuMd *to)
{
  for (guint i = 0; plan->packings != NULL && i < plan->packings->len; i++) {
    const Packing *p = g_ptr_array_index (plan->packings, i);
    if (p->data == data && cpu_md_equal (p->from, from) && cpu_md_equal (p->to, to))
      return axon_tensor_ref (p->packed);
  }
  return NULL;
}

/* What the graph holds is there until the plan is made, and longer. */
static gboolean
is_of_graph (const AxonNode *node, gconstpointer data)
{
  for (guint i = 0; i < node->n_inputs; i++) {
    const AxonTensor *constant = cpu_node_constant (node, i);
    if (constant != NULL && axon_tensor_get_data ((AxonTensor *)constant) == data)
      return TRUE;
  }
  return FALSE;
}

/* NULL: there is no memory. */
static AxonTensor *
get_packed (CpuPlan *plan, const CpuMd *from, gconstpointer data, const CpuMd *to)
{
  AxonTensor *packed = plan->packed ? cpu_packed_find (plan->packed, data, from, to) : NULL;
  gboolean stays = is_of_graph (plan->node, data);
  Packing *packing;
  if (packed == NULL && stays)
    packed = find_packing (plan, data, from, to);
  if (packed != NULL)
    return packed;
  packing = packing_new (plan, from, data, to);
  if (packing == NULL)
    return NULL;
  if (plan->packings == NULL)
    plan->packings = g_ptr_array_new_with_free_func (packing_free);
  g_ptr_array_add (plan->packings, packing);
  if (stays)
    cpu_later_add (plan->later, pack, packing);
  else if (!pack (packing))
    return NULL;
  return axon_tensor_ref (packing->packed);
}

CpuTensor *
dnn_pack (CpuPlan *plan, const CpuMd *from, gconstpointer data, const CpuMd *to)
{
  AxonTensor *packed = get_packed (plan, from, data, to);
  CpuTensor *tensor;
  if (packed == NULL) { /* the plan is given up: nothing is read of it */
    plan->lacks_memory = TRUE;
    return cpu_plan_scratch (plan, AXON_DTYPE_U8, &AXON_SHAPE (1), to);
  }
  tensor = cpu_plan_constant_tensor (plan, packed);
  tensor->md = cpu_md_copy (to); /* exact, with compensation flags: never normalised */
  return tensor;
}
