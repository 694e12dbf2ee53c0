/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One convolution after Winograd, packed and cut into parts. */
#pragma once

#include "floatconv-private.h"
#include "../vector/winograd.h"

typedef struct {
  CpuWinograd shape;
  gint n_blocks;          /* of tiles: each is one thread's; or, if there is one, */
  gint n_ranges;          /* all threads transform the source of ranges of tiles, */
  gint n_shares;          /* and then multiply panels */
  gsize source, products; /* bytes of a block's transformed source, and of its products */
  gsize scratch;          /* of all */
  guint threads;
} CpuWinogradCut;

/* Sets the convolution, and where tiles of @size, or lines of so many pixels, lie in its result. */
void cpu_winograd_init (CpuWinograd *shape, const CpuConv *conv, gint size);

/* Fills what is left to it in @cut, whose shape was set so. */
void cpu_winograd_setup (CpuWinogradCut *cut, const CpuWinogradKernels *kernels, guint threads);

/* Bytes of the transformed weights. */
gsize cpu_winograd_weights_size (const CpuWinograd *shape, gint lanes);

/* @weights: filters [out][in][taps]. */
void cpu_winograd_weights_pack (const CpuWinograd *shape, const gfloat *weights,
                                const CpuWinogradKernels *kernels, gfloat *to);

/* One run. */
typedef struct {
  const CpuWinogradCut *cut;
  const CpuWinogradKernels *kernels;
  CpuFloatConvRun run;
  guint8 *scratch;
} CpuWinogradRun;

/* First all parts of phase 0 are run, in any order, then those of phase 1, of which there may be
 * none. @thread: which of the cut's threads the caller is. */
gint cpu_winograd_count_parts (const CpuWinogradCut *cut, gint phase);
void cpu_winograd_run_part (const CpuWinogradRun *run, gint phase, gint index, guint thread);

/* Pixels of a side of the tiles, or of the lines, by which @node, of shape @conv, shall be
 * computed; 0: it shall not. Takes the memory of the weights from what the plan has left. */
gint cpu_conv_choose_winograd (CpuPlan *plan, const AxonNode *node, const CpuConv *conv);
