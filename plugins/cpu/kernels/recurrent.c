/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* LSTM, GRU and RNN with constant weights and the activations that are their defaults: one product
 * of all inputs, in the order in which vector/recurrent.c reads its results, then the steps, every
 * direction of every sequence on a thread. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

enum { ROWS = 4 }; /* of states for a line: h, c, two spare */

typedef struct {
  CpuRecurrentKind kind;
  CpuRecurrentFunc func;
  gint64 gates, lanes, blocks, steps, batch, input, hidden, dirs;
  gboolean batch_first, backwards;
  gsize direction_size;   /* of the weights */
  gfloat *weights, *bias; /* by direction */
  /* Steps: of the gates and of Y from one time, sequence and direction to the next. */
  gint64 x_time, x_line, x_dir, y_time, y_line, y_dir, state_line, state_dir;
  gint h, c;              /* inputs with states at first, or -1 */
  gint y, last_h, last_c; /* outputs, or -1 */
} Recurrent;

static void
recurrent_free (gpointer data)
{
  Recurrent *r = data;
  g_aligned_free (r->weights);
  g_free (r->bias);
  g_free (r);
}

typedef struct {
  const CpuStep *step;
  const CpuInstance *instance;
} RecurrentRun;

static gfloat *
state_of (const RecurrentRun *run, CpuTensor *const *tensors, gint index, gint64 at)
{
  return index < 0 ? NULL : (gfloat *)cpu_tensor_data (run->instance, tensors[index]) + at;
}

static void
run_line (gpointer data, gint64 part)
{
  const RecurrentRun *run = data;
  const CpuStep *step = run->step;
  const Recurrent *r = step->data;
  gint64 d = part % r->dirs, n = part / r->dirs, row = r->blocks * r->lanes;
  gboolean backwards = d == 1 || r->backwards;
  gint64 state = d * r->state_dir + n * r->state_line, last = backwards ? r->steps - 1 : 0;
  gsize n_bytes = (gsize)r->hidden * sizeof (gfloat);
  gfloat *scratch = (gfloat *)cpu_tensor_data (run->instance, step->out[0]) + part * ROWS * row;
  const gfloat *h = state_of (run, step->in, r->h, state),
               *c = state_of (run, step->in, r->c, state);
  gfloat *last_h = state_of (run, step->out, r->last_h, state);
  gfloat *last_c = state_of (run, step->out, r->last_c, state);
  CpuRecurrent net = { r->hidden, r->blocks, r->weights + (gsize)d * r->direction_size,
                       r->bias ? r->bias + d * row : NULL };
  CpuRecurrentLine line = {
    .steps = r->steps,
    .x = (const gfloat *)cpu_tensor_data (run->instance, step->in[0]) + d * r->x_dir +
         n * r->x_line + last * r->x_time,
    .x_step = backwards ? -r->x_time : r->x_time,
    .y = state_of (run, step->out, r->y, d * r->y_dir + n * r->y_line + last * r->y_time),
    .y_step = backwards ? -r->y_time : r->y_time,
    .h = scratch,
    .c = scratch + row,
    .spare = { scratch + 2 * row, scratch + 3 * row },
  };
  memset (scratch, 0, (gsize)(ROWS * row) * sizeof (gfloat));
  if (h != NULL)
    memcpy (line.h, h, n_bytes);
  if (c != NULL)
    memcpy (line.c, c, n_bytes);
  r->func (&net, &line);
  if (last_h != NULL)
    memcpy (last_h, line.h, n_bytes);
  if (last_c != NULL)
    memcpy (last_c, line.c, n_bytes);
}

static void
run_recurrent (const CpuStep *step, const CpuInstance *instance)
{
  const Recurrent *r = step->data;
  RecurrentRun run = { step, instance };
  cpu_parallel (r->dirs * r->batch, run_line, &run);
}

/* Where unit @u of gate @g stands among the columns of the inputs' product. */
static gint64
column_of (const Recurrent *r, gint64 d, gint64 g, gint64 u)
{
  return ((d * r->blocks + u / r->lanes) * r->gates + g) * r->lanes + u % r->lanes;
}

/* Where its weight of state @k stands among those of its direction. GRU's last gate is apart. */
static gint64
weight_at (const Recurrent *r, gint64 g, gint64 u, gint64 k)
{
  gint64 gates = r->gates, before = 0, block = u / r->lanes;
  if (r->kind == CPU_RECURRENT_GRU) {
    gates = g == 2 ? 1 : 2;
    before = g == 2 ? 2 * r->blocks * r->hidden * r->lanes : 0;
    g %= 2;
  }
  return before + ((block * r->hidden + k) * gates + g) * r->lanes + u % r->lanes;
}

/* R [dirs, gates * hidden, hidden] */
static void
pack_weights (Recurrent *r, const gfloat *from)
{
  r->direction_size = (gsize)(r->blocks * r->lanes * r->gates * r->hidden);
  /* A vector that lies in two lines of memory takes twice as long. */
  r->weights = g_aligned_alloc0 ((gsize)r->dirs * r->direction_size, sizeof (gfloat), 64);
  for (gint64 d = 0; d < r->dirs; d++)
    for (gint64 g = 0; g < r->gates; g++)
      for (gint64 u = 0; u < r->hidden; u++)
        for (gint64 k = 0; k < r->hidden; k++)
          r->weights[d * (gint64)r->direction_size + weight_at (r, g, u, k)] = *from++;
}

/* W [dirs, gates * hidden, input], transposed */
static gfloat *
pack_inputs (const Recurrent *r, const gfloat *from, gint64 columns)
{
  gfloat *w = g_new0 (gfloat, (gsize)(r->input * columns));
  for (gint64 d = 0; d < r->dirs; d++)
    for (gint64 g = 0; g < r->gates; g++)
      for (gint64 u = 0; u < r->hidden; u++)
        for (gint64 k = 0; k < r->input; k++)
          w[k * columns + column_of (r, d, g, u)] = *from++;
  return w;
}

/* B [dirs, 2 * gates * hidden]: of W, then of R. Both are added to the product of the inputs, but
 * for what a gate multiplies. @b NULL: zeros. */
static gfloat *
pack_bias (Recurrent *r, const gfloat *b, gint64 columns)
{
  gfloat *sum = g_new0 (gfloat, (gsize)columns);
  gint64 n = r->gates * r->hidden;
  gboolean apart = r->kind == CPU_RECURRENT_GRU_LINEAR;
  if (apart)
    r->bias = g_new0 (gfloat, (gsize)(r->dirs * r->blocks * r->lanes));
  for (gint64 d = 0; b != NULL && d < r->dirs; d++)
    for (gint64 g = 0; g < r->gates; g++)
      for (gint64 u = 0; u < r->hidden; u++) {
        gfloat of_w = b[d * 2 * n + g * r->hidden + u], of_r = b[d * 2 * n + n + g * r->hidden + u];
        sum[column_of (r, d, g, u)] = apart && g == 2 ? of_w : of_w + of_r;
        if (apart && g == 2)
          r->bias[d * r->blocks * r->lanes + u] = of_r;
      }
  return sum;
}

static void
set_steps (Recurrent *r)
{
  gint64 columns = r->dirs * r->blocks * r->gates * r->lanes, h = r->hidden;
  r->x_dir = columns / r->dirs;
  r->x_time = r->batch_first ? columns : r->batch * columns;
  r->x_line = r->batch_first ? r->steps * columns : columns;
  r->y_time = r->batch_first ? r->dirs * h : r->dirs * r->batch * h;
  r->y_line = r->batch_first ? r->steps * r->dirs * h : h;
  r->y_dir = r->batch_first ? h : r->batch * h;
  r->state_line = r->batch_first ? r->dirs * h : h;
  r->state_dir = r->batch_first ? h : r->batch * h;
}

/* What the kernel computes: defaults, all sequences to their ends. */
static gboolean
is_plain (const AxonNode *node, const Recurrent *r)
{
  const AxonTensor *lengths = cpu_node_constant (node, 4);
  if (node->inputs[0]->type.dtype != AXON_DTYPE_F32 ||
      axon_shape_get_numel (&node->inputs[0]->type.shape) < 1 || r->hidden < 1 ||
      cpu_node_constant (node, 1) == NULL || cpu_node_constant (node, 2) == NULL ||
      (axon_node_get_input (node, 3) != NULL && cpu_node_constant (node, 3) == NULL) ||
      axon_node_get_input (node, 7) != NULL || axon_node_find_attr (node, "activations") != NULL ||
      axon_node_get_float (node, "clip") != 0 ||
      (r->kind == CPU_RECURRENT_LSTM && axon_node_get_int (node, "input_forget") != 0) ||
      (axon_node_get_input (node, 4) != NULL && lengths == NULL))
    return FALSE;
  for (gsize i = 0; lengths != NULL && i < axon_tensor_get_numel (lengths); i++)
    if ((gint64)axon_tensor_get_value (lengths, i) != r->steps)
      return FALSE;
  return TRUE;
}

static void
recurrent_init (Recurrent *r, const AxonNode *node, CpuRecurrentKind kind)
{
  static const gint64 gates[CPU_N_RECURRENTS] = { 1, 3, 3, 4 };
  const AxonShape *x = &node->inputs[0]->type.shape, *w = &node->inputs[2]->type.shape;
  const CpuRecurrentKernels *kernels = cpu_isa_get ()->vector->recurrent;
  gboolean batch_first = axon_node_get_int (node, "layout") != 0;
  if (kind == CPU_RECURRENT_GRU && axon_node_get_int (node, "linear_before_reset") != 0)
    kind = CPU_RECURRENT_GRU_LINEAR;
  *r = (Recurrent){ .kind = kind,
                    .func = kernels->run[kind],
                    .gates = gates[kind],
                    .lanes = kernels->lanes,
                    .blocks = (w->dims[2] + kernels->lanes - 1) / kernels->lanes,
                    .steps = x->dims[batch_first ? 1 : 0],
                    .batch = x->dims[batch_first ? 0 : 1],
                    .input = x->dims[2],
                    .hidden = w->dims[2],
                    .dirs = w->dims[0],
                    .batch_first = batch_first,
                    .backwards = g_str_equal (axon_node_get_string (node, "direction"), "reverse"),
                    .h = -1,
                    .c = -1,
                    .y = -1,
                    .last_h = -1,
                    .last_c = -1 };
  set_steps (r);
}

/* Input @index if it has the states of all lines; others count as zeros. */
static gint
add_state (CpuPlan *plan, const AxonNode *node, guint index, const Recurrent *r, CpuTensor **in,
           guint *n_in)
{
  const AxonValue *value = axon_node_get_input (node, index);
  if (value == NULL || axon_shape_get_numel (&value->type.shape) != r->dirs * r->batch * r->hidden)
    return -1;
  in[*n_in] = cpu_plan_input_as (plan, node, index, NULL);
  return (gint)(*n_in)++;
}

static gconstpointer
data_of (const AxonNode *node, guint index)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  return t ? axon_tensor_get_data (t) : NULL;
}

/* The product of all inputs. */
static CpuTensor *
add_product (CpuPlan *plan, const AxonNode *node, Recurrent *r)
{
  gint64 columns = r->dirs * r->x_dir, rows = r->steps * r->batch;
  AxonShape shape = AXON_SHAPE (rows, columns);
  g_autofree gfloat *w = pack_inputs (r, data_of (node, 1), columns);
  CpuTensor *gates = cpu_plan_scratch (plan, AXON_DTYPE_F32, &shape, NULL);
  cpu_add_product (plan, cpu_plan_input_as (plan, node, 0, NULL),
                   &(CpuProduct){ rows, r->input, columns, w },
                   pack_bias (r, data_of (node, 3), columns), gates);
  return gates;
}

static gboolean
build_recurrent (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  CpuTensor *in[3], *out[4];
  guint n_in = 1, n_out = 1;
  Recurrent r, *data;
  recurrent_init (&r, node, (CpuRecurrentKind)plan->row->kind);
  if (!is_plain (node, &r))
    return FALSE;
  in[0] = add_product (plan, node, &r);
  pack_weights (&r, data_of (node, 2));
  r.h = add_state (plan, node, 5, &r, in, &n_in);
  r.c = r.kind == CPU_RECURRENT_LSTM ? add_state (plan, node, 6, &r, in, &n_in) : -1;
  out[0] = cpu_plan_scratch_bytes (plan, (gsize)(r.dirs * r.batch * ROWS * r.blocks * r.lanes) *
                                             sizeof (gfloat));
  data = g_memdup2 (&r, sizeof r);
  gint *const which[] = { &data->y, &data->last_h, &data->last_c };
  for (guint i = 0; i < node->n_outputs; i++)
    if (node->outputs[i] != NULL) {
      *which[i] = (gint)n_out;
      out[n_out++] = cpu_plan_output (plan, node, i, NULL);
    }
  cpu_plan_add_step (plan, run_recurrent, data, recurrent_free, "own", in, n_in, out, n_out);
  return TRUE;
}

const CpuKernel cpu_recurrent_kernels[] = {
  { .name = "RNN", .impl = "own", .build = build_recurrent, .kind = CPU_RECURRENT_RNN },
  { .name = "GRU", .impl = "own", .build = build_recurrent, .kind = CPU_RECURRENT_GRU },
  { .name = "LSTM", .impl = "own", .build = build_recurrent, .kind = CPU_RECURRENT_LSTM },
  { 0 },
};
