/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the steps of a chain are, and how its operands lie. */
#include "chain.h"
#include "kernels.h"
#include "../cpueltwise.h"
#include "../cpuisa.h"
#include "../onednn/cpudnn.h"

#define SHORT 64 /* elements of a run */

/* Registers hold results until their last use. */
typedef struct {
  CpuChain chain;
  guint place[CPU_CHAIN_STEPS]; /* register of a step's result */
  guint last[CPU_CHAIN_STEPS];  /* step that uses it last */
  gboolean taken[CPU_CHAIN_REGISTERS];
} Builder;

static void
find_last_uses (Builder *b, const gint64 *operands, guint n_inputs, guint n)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < 2; k++)
      if (operands[2 * i + k] >= n_inputs)
        b->last[operands[2 * i + k] - n_inputs] = i;
}

/* A step may leave its result where an operand was. */
static gboolean
place_step (Builder *b, const gint64 *operands, guint n_inputs, guint i)
{
  CpuChainStep *s = &b->chain.steps[i];
  guint to = 0;
  for (guint k = 0; k < 2; k++) {
    gint64 from = operands[k], made = from - n_inputs;
    if (from < 0)
      continue;
    s->operand[k] = made < 0 ? (guint)from : CPU_CHAIN_INPUTS + b->place[made];
    if (made >= 0 && b->last[made] == i)
      b->taken[b->place[made]] = FALSE;
  }
  while (to < CPU_CHAIN_REGISTERS && b->taken[to])
    to++;
  if (to == CPU_CHAIN_REGISTERS)
    return FALSE;
  b->taken[to] = TRUE;
  b->place[i] = s->to = to;
  return TRUE;
}

static gboolean
set_step (CpuChainStep *s, const gchar *name, gboolean is_pair, const gfloat *args)
{
  gint kind = is_pair ? cpu_pair_of_op (name) : -1;
  if (!is_pair)
    return cpu_post_init (&s->post, name, args[0], args[1]);
  if (kind < 0)
    return FALSE;
  s->pair = cpu_isa_get ()->vector->eltwise->pair[kind];
  return TRUE;
}

static gboolean
set_steps (Builder *b, const AxonNode *node)
{
  const AxonAttr *steps = axon_node_find_attr (node, "steps");
  guint n;
  const gint64 *operands = axon_node_get_ints (node, "operands", &n);
  const gfloat *args = axon_node_get_floats (node, "args", &n);
  if (steps->n > CPU_CHAIN_STEPS || node->n_inputs > CPU_CHAIN_INPUTS)
    return FALSE;
  b->chain.n_steps = steps->n;
  find_last_uses (b, operands, node->n_inputs, steps->n);
  for (guint i = 0; i < steps->n; i++)
    if (!set_step (&b->chain.steps[i], steps->strings[i], operands[2 * i + 1] >= 0, args + 2 * i) ||
        !place_step (b, operands + 2 * i, node->n_inputs, i))
      return FALSE;
  return TRUE;
}

/* The result's dimensions as memory has them, the outermost first; the channels of blocks are two:
 * the second counts within a block. */
typedef struct {
  gint rank, dim[AXON_MAX_RANK + 1];
  gint64 n[AXON_MAX_RANK + 1], factor[AXON_MAX_RANK + 1]; /* places of dim that a step is */
} Order;

static void
add_dim (Order *o, gint dim, gint64 n, gint64 factor)
{
  if (n == 1)
    return;
  o->dim[o->rank] = dim;
  o->n[o->rank] = n;
  o->factor[o->rank++] = factor;
}

/* 0: not in blocks of channels that are all full */
static gint64
find_block (const CpuTensor *t)
{
  gint64 block = cpu_md_get_block (t->md, t->dtype, &t->shape);
  return block > 0 && t->shape.dims[1] % block == 0 ? block : 0;
}

static void
order_strides (Order *o, const AxonShape *shape, const gint64 *strides)
{
  gint sorted[AXON_MAX_RANK];
  for (gint d = 0; d < shape->rank; d++) {
    gint at = d;
    for (; at > 0 && strides[sorted[at - 1]] < strides[d]; at--)
      sorted[at] = sorted[at - 1];
    sorted[at] = d;
  }
  for (gint i = 0; i < shape->rank; i++)
    add_dim (o, sorted[i], shape->dims[sorted[i]], 1);
}

/* FALSE: a layout with gaps, or one that is not known */
static gboolean
find_order (Order *o, const CpuTensor *t)
{
  gint64 strides[AXON_MAX_RANK], span = 1, block;
  *o = (Order){ 0 };
  if (cpu_md_get_strides (t->md, &t->shape, strides)) {
    order_strides (o, &t->shape, strides);
    for (gint d = 0; d < t->shape.rank; d++)
      span += (t->shape.dims[d] - 1) * strides[d];
    return span == axon_shape_get_numel (&t->shape);
  }
  block = find_block (t);
  if (block == 0)
    return FALSE;
  add_dim (o, 0, t->shape.dims[0], 1);
  add_dim (o, 1, t->shape.dims[1] / block, block);
  for (gint d = 2; d < t->shape.rank; d++)
    add_dim (o, d, t->shape.dims[d], 1);
  add_dim (o, 1, block, 1);
  return TRUE;
}

/* Where the result lies: as the lead does; if that has gaps, channels last or row-major (free it).
 */
static CpuMd *
choose_layout (const CpuTensor *lead, Order *order)
{
  CpuTensor dense = { .dtype = lead->dtype, .shape = lead->shape };
  gint64 strides[AXON_MAX_RANK];
  gboolean in_blocks = !cpu_md_get_strides (lead->md, &lead->shape, strides);
  if (find_order (order, lead))
    return lead->md ? cpu_md_copy (lead->md) : NULL;
  if (lead->shape.rank >= 3 && (in_blocks || strides[1] == 1))
    dense.md = cpu_md_channels_last (lead->dtype, &lead->shape);
  find_order (order, &dense);
  return dense.md;
}

/* @strides of an operand over the result's dimensions, in @order; neighbours that follow each other
 * are one. */
static void
set_operand (CpuChainOperand *operand, const Order *order, const gint64 *strides)
{
  *operand = (CpuChainOperand){ .rank = 0 };
  for (gint i = 0; i < order->rank; i++) {
    gint64 n = order->n[i], stride = strides[order->dim[i]] * order->factor[i];
    gint r = operand->rank;
    if (r > 0 && operand->strides[r - 1] == stride * n) {
      operand->dims[r - 1] *= n;
      operand->strides[r - 1] = stride;
      continue;
    }
    operand->dims[r] = n;
    operand->strides[r] = stride;
    operand->rank++;
  }
  if (operand->rank == 0)
    operand->dims[operand->rank++] = 1;
}

/* The input whose layout the result takes: not a constant. */
static gboolean
find_lead (const AxonNode *node, guint *lead)
{
  for (guint i = 0; i < node->n_inputs; i++)
    if (node->inputs[i]->type.value == NULL &&
        axon_shape_equal (&node->inputs[i]->type.shape, &node->outputs[0]->type.shape)) {
      *lead = i;
      return TRUE;
    }
  return FALSE;
}

/* FALSE: a layout without strides, or one whose runs are too short to be walked as they lie. */
static gboolean
can_walk (const CpuTensor *t, const AxonShape *shape, const Order *order, CpuChainOperand *operand)
{
  gint64 own[AXON_MAX_RANK], strides[AXON_MAX_RANK];
  gint last, lead = shape->rank - t->shape.rank;
  if (!cpu_md_get_strides (t->md, &t->shape, own))
    return FALSE;
  for (gint d = 0; d < shape->rank; d++)
    strides[d] = d < lead || t->shape.dims[d - lead] == 1 ? 0 : own[d - lead];
  set_operand (operand, order, strides);
  last = operand->rank - 1;
  return !axon_shape_equal (&t->shape, shape) ||
         (operand->strides[last] == 1 && (last == 0 || operand->dims[last] >= SHORT));
}

static CpuTensor *
add_operand (CpuPlan *plan, const AxonNode *node, guint i, const CpuMd *md, const Order *order,
             CpuChainOperand *operand)
{
  const AxonShape *shape = &node->outputs[0]->type.shape;
  CpuTensor *t = cpu_plan_input (plan, node, i);
  if (can_walk (t, shape, order, operand))
    return t;
  if (axon_shape_equal (&t->shape, shape)) {
    *operand =
        (CpuChainOperand){ .rank = 1, .dims = { axon_shape_get_numel (shape) }, .strides = { 1 } };
    return cpu_plan_input_as (plan, node, i, md);
  }
  t = cpu_plan_input_as (plan, node, i, NULL);
  can_walk (t, shape, order, operand);
  return t;
}

static void
run_chain (const CpuStep *step, const CpuInstance *instance)
{
  const gfloat *in[CPU_CHAIN_INPUTS];
  for (guint i = 0; i < step->n_in; i++)
    in[i] = cpu_tensor_data (instance, step->in[i]);
  cpu_chain_run (step->data, cpu_tensor_data (instance, step->out[0]), in);
}

/* Where the result may stand: a block is read before it is written. */
static CpuTensor *
add_result (CpuPlan *plan, const AxonNode *node, const CpuChain *c, CpuTensor *const *in,
            const CpuMd *md)
{
  for (guint i = 0; i < c->n_inputs; i++)
    if (c->operands[i].kind == CPU_CHAIN_WHOLE && cpu_plan_is_last_use (plan, in[i]))
      return cpu_plan_alias (plan, node, 0, in[i], md);
  return cpu_plan_output (plan, node, 0, md);
}

static gboolean
add_chain (CpuPlan *plan, const AxonNode *node, CpuChain *c, guint lead)
{
  CpuTensor *in[CPU_CHAIN_INPUTS], *dst;
  Order order;
  g_autoptr (CpuMd) md = choose_layout (cpu_plan_input (plan, node, lead), &order);
  c->post = cpu_isa_get ()->vector->eltwise->post;
  c->n = axon_shape_get_numel (&node->outputs[0]->type.shape);
  c->n_inputs = node->n_inputs;
  for (guint i = 0; i < node->n_inputs; i++)
    in[i] = add_operand (plan, node, i, md, &order, &c->operands[i]);
  cpu_chain_setup (c);
  dst = add_result (plan, node, c, in, md);
  cpu_plan_add_step (plan, run_chain, g_memdup2 (c, sizeof *c), g_free, "own", in, c->n_inputs,
                     &dst, 1);
  return TRUE;
}

static gboolean
build_chain (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Builder b = { 0 };
  guint lead;
  return node->outputs[0]->type.dtype == AXON_DTYPE_F32 && find_lead (node, &lead) &&
         set_steps (&b, node) && add_chain (plan, node, &b.chain, lead);
}

/* Operators of two inputs or more that nobody joined: what the inputs before come to, and the next.
 */
static gboolean
build_fold (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuChain c = { 0 };
  guint lead;
  if (node->outputs[0]->type.dtype != AXON_DTYPE_F32 || node->n_inputs < 2 ||
      node->n_inputs > CPU_CHAIN_INPUTS || !find_lead (node, &lead))
    return FALSE;
  for (guint i = 1; i < node->n_inputs; i++)
    c.steps[c.n_steps++] = (CpuChainStep){
      .pair = cpu_isa_get ()->vector->eltwise->pair[plan->row->kind],
      .operand = { i == 1 ? 0 : CPU_CHAIN_INPUTS, i },
    };
  if (axon_node_is (node, "Mean"))
    c.steps[c.n_steps++] =
        (CpuChainStep){ .post = { CPU_POST_LINEAR, 1 / (gfloat)node->n_inputs, 0 },
                        .operand = { CPU_CHAIN_INPUTS } };
  return add_chain (plan, node, &c, lead);
}

const CpuKernel cpu_chain_kernels[] = {
  { .domain = AXON_DOMAIN_AXON, .name = "Elementwise", .impl = "own", .build = build_chain },
  { .name = "Mean", .impl = "own", .build = build_fold, .kind = CPU_PAIR_ADD },
  { .name = "Sum", .impl = "own", .build = build_fold, .kind = CPU_PAIR_ADD },
  { .name = "Max", .impl = "own", .build = build_fold, .kind = CPU_PAIR_MAX },
  { .name = "Min", .impl = "own", .build = build_fold, .kind = CPU_PAIR_MIN },
  { 0 },
};
