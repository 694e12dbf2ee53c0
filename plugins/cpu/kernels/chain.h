/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elementwise operators on f32, one after the other, block by block in the first cache. The result
 * is walked as it lies in memory; operands lie the same way, or are broadcast to it. */
#pragma once

#include "../cpuplan.h"
#include "../vector/eltwise.h"

#define CPU_CHAIN_INPUTS 8
#define CPU_CHAIN_STEPS 16
#define CPU_CHAIN_REGISTERS 8 /* what any 16 steps need */

/* An operator: of an input, or of what an earlier one left in a register. */
typedef struct {
  CpuPairFunc pair; /* NULL: post */
  CpuPost post;
  guint operand[2]; /* from CPU_CHAIN_INPUTS on: a register */
  guint to;         /* a register; the last step's is the result */
} CpuChainStep;

/* Memory of the result in nested runs: of dims[0] parts, each of dims[1] ..., and how far apart an
 * operand's elements are. The last is the innermost. */
typedef struct {
  gint rank;
  gint64 dims[AXON_MAX_RANK + 1], strides[AXON_MAX_RANK + 1];
  enum {
    CPU_CHAIN_WHOLE,  /* an element for each of the result's */
    CPU_CHAIN_RUNS,   /* long runs of one element, or of elements that follow each other */
    CPU_CHAIN_PATTERN /* what is laid out for each block */
  } kind;
  gint64 repeat; /* of a pattern: elements until it changes */
} CpuChainOperand;

typedef struct {
  CpuPostFunc post;
  CpuChainOperand operands[CPU_CHAIN_INPUTS];
  CpuChainStep steps[CPU_CHAIN_STEPS];
  guint n_inputs, n_steps;
  gint64 n, block; /* elements: all of them, and at a time */
} CpuChain;

/* With operands' dims, strides and rank set: their kinds, and the size of a block. */
void cpu_chain_setup (CpuChain *chain);

void cpu_chain_run (const CpuChain *chain, gfloat *y, const gfloat *const *in);
