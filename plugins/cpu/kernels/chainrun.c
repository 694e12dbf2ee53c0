/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "chain.h"
#include "../cpupool.h"

#include <string.h>

/* Elements that are worth a thread, of one step. */
#define PARALLEL 16384
#define LEAST_PARALLEL 2048

#define BLOCK 512
#define CAPACITY 1024 /* a long run is cut evenly into blocks of at most so many */
#define LONG 256      /* shorter runs are laid out */

static gint64
length_of (const CpuChainOperand *o)
{
  return o->dims[o->rank - 1];
}

static void
set_kind (CpuChainOperand *o, gint64 n)
{
  gint64 length = length_of (o), stride = o->strides[o->rank - 1];
  o->kind = o->rank == 1 && stride == 1                       ? CPU_CHAIN_WHOLE
            : (length >= LONG || o->rank == 1) && stride <= 1 ? CPU_CHAIN_RUNS
                                                              : CPU_CHAIN_PATTERN;
  /* Of the innermost run, as often as nothing changes. */
  o->repeat = o->rank > 1 && o->strides[o->rank - 2] == 0 ? length * o->dims[o->rank - 2] : length;
  o->repeat = MIN (o->repeat, n);
}

void
cpu_chain_setup (CpuChain *c)
{
  c->block = BLOCK;
  for (guint i = 0; i < c->n_inputs; i++) {
    CpuChainOperand *o = &c->operands[i];
    gint64 length = length_of (o);
    set_kind (o, c->n);
    if (o->kind == CPU_CHAIN_PATTERN && o->repeat > length && length <= BLOCK)
      c->block = length * (BLOCK / length);
  }
  for (guint i = 0; i < c->n_inputs; i++) {
    gint64 length = length_of (&c->operands[i]);
    gint64 parts = (length + CAPACITY - 1) / CAPACITY;
    if (c->operands[i].kind == CPU_CHAIN_RUNS && length < c->n)
      c->block = (length + parts - 1) / parts;
  }
}

/* Where a thread is in the result, and what it has laid out. */
typedef struct {
  gfloat registers[CPU_CHAIN_REGISTERS][CAPACITY] __attribute__ ((aligned (64)));
  gfloat patterns[CPU_CHAIN_INPUTS][CAPACITY] __attribute__ ((aligned (64)));
  gint64 from[CPU_CHAIN_INPUTS], laid[CPU_CHAIN_INPUTS]; /* elements from there on */
} Desk;

/* Where the innermost run is that has element @at of the result. */
static gint64
find_run (const CpuChainOperand *o, gint64 at)
{
  gint64 offset = 0, rest = at / length_of (o);
  for (gint d = o->rank - 2; d >= 0; d--) {
    offset += rest % o->dims[d] * o->strides[d];
    rest /= o->dims[d];
  }
  return offset;
}

static void
copy_run (gfloat *to, const gfloat *from, gint64 n, gint64 stride)
{
  for (gint64 i = 0; i < n; i++)
    to[i] = from[i * stride];
}

/* @n elements of which so many are known, whatever the number: the others repeat them. */
static void
repeat_run (gfloat *to, gint64 known, gint64 n)
{
  for (gint64 count = known; known < n; known += count) {
    count = MIN (known, n - known);
    memcpy (to + known, to, (gsize)count * sizeof *to);
  }
}

static void
lay_out (const CpuChainOperand *o, const gfloat *x, gfloat *to, gint64 at, gint64 n)
{
  gint64 length = length_of (o), stride = o->strides[o->rank - 1];
  while (n > 0) {
    const gfloat *run = x + find_run (o, at);
    gint64 count = MIN (n, o->repeat - at % o->repeat), first = at % length;
    gint64 head = MIN (count, length - first), tail = MIN (count - head, first);
    copy_run (to, run + first * stride, head, stride);
    copy_run (to + head, run, tail, stride);
    repeat_run (to, head + tail, count);
    to += count;
    at += count;
    n -= count;
  }
}

/* The same elements were laid out before, for this place or one like it. */
static gboolean
is_laid (const Desk *desk, guint i, const CpuChainOperand *o, gint64 at, gint64 n)
{
  gint64 from = desk->from[i], length = length_of (o);
  return n <= desk->laid[i] && from / o->repeat == at / o->repeat && from % length == at % length &&
         (from + desk->laid[i] - 1) / o->repeat == from / o->repeat &&
         (at + n - 1) / o->repeat == at / o->repeat;
}

/* Operand @i for @n elements from @at on. */
static const gfloat *
fetch (const CpuChain *c, Desk *desk, guint i, const gfloat *x, gint64 at, gint64 n, gint64 *step)
{
  const CpuChainOperand *o = &c->operands[i];
  *step = 1;
  if (o->kind == CPU_CHAIN_WHOLE)
    return x + at;
  if (o->kind == CPU_CHAIN_RUNS) {
    *step = o->strides[o->rank - 1];
    return x + find_run (o, at) + at % length_of (o) * *step;
  }
  if (!is_laid (desk, i, o, at, n)) {
    lay_out (o, x, desk->patterns[i], at, n);
    desk->from[i] = at;
    desk->laid[i] = n;
  }
  return desk->patterns[i];
}

/* Elements from @at on that are worked on at once: no long run ends among them. */
static gint64
count_block (const CpuChain *c, gint64 at, gint64 end)
{
  gint64 n = MIN (c->block, end - at);
  for (guint i = 0; i < c->n_inputs; i++)
    if (c->operands[i].kind == CPU_CHAIN_RUNS)
      n = MIN (n, length_of (&c->operands[i]) - at % length_of (&c->operands[i]));
  return n;
}

/* Of one run. */
typedef struct {
  const CpuChain *chain;
  gfloat *y;
  const gfloat *const *in;
} ChainRun;

static void
run_block (const ChainRun *run, Desk *desk, gint64 at, gint64 n)
{
  const CpuChain *c = run->chain;
  const gfloat *from[CPU_CHAIN_INPUTS + CPU_CHAIN_REGISTERS];
  gint64 steps[CPU_CHAIN_INPUTS + CPU_CHAIN_REGISTERS];
  for (guint i = 0; i < c->n_inputs; i++)
    from[i] = fetch (c, desk, i, run->in[i], at, n, &steps[i]);
  for (guint i = 0; i < CPU_CHAIN_REGISTERS; i++) {
    from[CPU_CHAIN_INPUTS + i] = desk->registers[i];
    steps[CPU_CHAIN_INPUTS + i] = 1;
  }
  for (guint i = 0; i < c->n_steps; i++) {
    const CpuChainStep *s = &c->steps[i];
    guint a = s->operand[0], b = s->operand[1];
    gfloat *to = i + 1 == c->n_steps ? run->y + at : desk->registers[s->to];
    if (s->pair != NULL)
      s->pair (to, from[a], from[b], n, steps[a], steps[b]);
    else
      c->post (to, from[a], n, &s->post);
  }
}

static void
run_range (gpointer data, gint64 at, gint64 end)
{
  const ChainRun *run = data;
  Desk desk;
  memset (desk.laid, 0, sizeof desk.laid);
  while (at < end) {
    gint64 n = count_block (run->chain, at, end);
    run_block (run, &desk, at, n);
    at += n;
  }
}

void
cpu_chain_run (const CpuChain *c, gfloat *y, const gfloat *const *in)
{
  ChainRun run = { c, y, in };
  cpu_parallel_ranges (c->n, MAX (PARALLEL / c->n_steps, LEAST_PARALLEL), run_range, &run);
}
