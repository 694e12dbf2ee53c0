/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recurrent.h"
#include "level.h"
#include "vectormath.h"

#include <string.h>

enum { MOST_GATES = 4 };

/* sum[g] += the products of state @h with the weights of gate g; even and odd ones apart, for an
 * addition takes longer than it takes to begin the next. */
CPU_INLINE void
add_products (VF32 *sum, gint gates, const gfloat *w, const gfloat *h, gint64 n)
{
  const VF32 *rows = (const VF32 *)(gconstpointer)w;
  VF32 odd[MOST_GATES] = { 0 };
  gint64 k = 0;
  for (; k + 1 < n; k += 2, rows += 2 * gates)
    for (gint g = 0; g < gates; g++) {
      sum[g] += rows[g] * h[k];
      odd[g] += rows[gates + g] * h[k + 1];
    }
  for (gint g = 0; k < n && g < gates; g++)
    sum[g] += rows[g] * h[k];
  for (gint g = 0; g < gates; g++)
    sum[g] += odd[g];
}

/* The vector of block @b of a row. */
CPU_INLINE VF32 *
at_block (gfloat *row, gint64 b)
{
  return (VF32 *)(gpointer)row + b;
}

CPU_INLINE const VF32 *
gates_of (const gfloat *x, gint64 block, gint gates)
{
  return (const VF32 *)(gconstpointer)x + block * gates;
}

CPU_INLINE void
lstm_block (const CpuRecurrent *net, const gfloat *x, const gfloat *h, gfloat *next, gfloat *c,
            gint64 b)
{
  const VF32 *from = gates_of (x, b, 4);
  VF32 g[4] = { from[0], from[1], from[2], from[3] }, cell;
  add_products (g, 4, net->weights + b * net->hidden * 4 * CPU_LANES, h, net->hidden);
  cell = vector_sigmoid (g[2]) * *at_block (c, b) + vector_sigmoid (g[0]) * vector_tanh (g[3]);
  *at_block (c, b) = cell;
  *at_block (next, b) = vector_sigmoid (g[1]) * vector_tanh (cell);
}

CPU_INLINE void
gru_linear_block (const CpuRecurrent *net, const gfloat *x, gfloat *h, gfloat *next, gint64 b)
{
  const VF32 *from = gates_of (x, b, 3);
  VF32 g[3] = { from[0], from[1], *((const VF32 *)(gconstpointer)net->bias + b) }, z, fresh;
  add_products (g, 3, net->weights + b * net->hidden * 3 * CPU_LANES, h, net->hidden);
  z = vector_sigmoid (g[0]);
  fresh = vector_tanh (from[2] + vector_sigmoid (g[1]) * g[2]);
  *at_block (next, b) = (1 - z) * fresh + z * *at_block (h, b);
}

/* Gates z and r: z, and the state as it is reset. */
CPU_INLINE void
gru_gates (const CpuRecurrent *net, const gfloat *x, gfloat *h, gfloat *z, gfloat *reset, gint64 b)
{
  const VF32 *from = gates_of (x, b, 3);
  VF32 g[2] = { from[0], from[1] };
  add_products (g, 2, net->weights + b * net->hidden * 2 * CPU_LANES, h, net->hidden);
  *at_block (z, b) = vector_sigmoid (g[0]);
  *at_block (reset, b) = vector_sigmoid (g[1]) * *at_block (h, b);
}

CPU_INLINE void
gru_block (const CpuRecurrent *net, const gfloat *x, gfloat *h, const gfloat *reset, gfloat *z,
           gint64 b)
{
  VF32 g = gates_of (x, b, 3)[2], old = *at_block (z, b);
  add_products (&g, 1, net->weights + (net->blocks * 2 + b) * net->hidden * CPU_LANES, reset,
                net->hidden);
  *at_block (h, b) = (1 - old) * vector_tanh (g) + old * *at_block (h, b);
}

CPU_INLINE void
rnn_block (const CpuRecurrent *net, const gfloat *x, const gfloat *h, gfloat *next, gint64 b)
{
  VF32 g = gates_of (x, b, 1)[0];
  add_products (&g, 1, net->weights + b * net->hidden * CPU_LANES, h, net->hidden);
  *at_block (next, b) = vector_tanh (g);
}

/* The next state of all units, in @next or, where that stays as it is, in @h. */
CPU_INLINE void
step_once (CpuRecurrentKind kind, const CpuRecurrent *net, const CpuRecurrentLine *line,
           const gfloat *x, gfloat *h, gfloat *next)
{
  for (gint64 b = 0; b < net->blocks; b++)
    if (kind == CPU_RECURRENT_LSTM)
      lstm_block (net, x, h, next, line->c, b);
    else if (kind == CPU_RECURRENT_GRU_LINEAR)
      gru_linear_block (net, x, h, next, b);
    else if (kind == CPU_RECURRENT_GRU)
      gru_gates (net, x, h, line->spare[0], line->spare[1], b);
    else
      rnn_block (net, x, h, next, b);
  for (gint64 b = 0; kind == CPU_RECURRENT_GRU && b < net->blocks; b++)
    gru_block (net, x, h, line->spare[1], line->spare[0], b);
}

CPU_INLINE void
run_line (CpuRecurrentKind kind, const CpuRecurrent *net, const CpuRecurrentLine *line)
{
  gsize n_bytes = (gsize)net->hidden * sizeof (gfloat);
  gfloat *h = line->h, *next = line->spare[0];
  for (gint64 t = 0; t < line->steps; t++) {
    step_once (kind, net, line, line->x + t * line->x_step, h, next);
    if (kind != CPU_RECURRENT_GRU) {
      gfloat *old = h;
      h = next;
      next = old;
    }
    if (line->y != NULL)
      memcpy (line->y + t * line->y_step, h, n_bytes);
  }
  if (h != line->h)
    memcpy (line->h, h, n_bytes);
}

#define RUN(name, kind)                                                                            \
  static void name (const CpuRecurrent *net, const CpuRecurrentLine *line)                         \
  {                                                                                                \
    run_line (kind, net, line);                                                                    \
  }
RUN (run_rnn, CPU_RECURRENT_RNN)
RUN (run_gru, CPU_RECURRENT_GRU)
RUN (run_gru_linear, CPU_RECURRENT_GRU_LINEAR)
RUN (run_lstm, CPU_RECURRENT_LSTM)
#undef RUN

const CpuRecurrentKernels CPU_NAME (cpu_recurrent) = {
  .lanes = CPU_LANES,
  .run = { [CPU_RECURRENT_RNN] = run_rnn,
           [CPU_RECURRENT_GRU] = run_gru,
           [CPU_RECURRENT_GRU_LINEAR] = run_gru_linear,
           [CPU_RECURRENT_LSTM] = run_lstm },
};
