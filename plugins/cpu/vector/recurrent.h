/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recurrent layers: the steps of one direction of one sequence. What comes of the inputs, biases
 * included, is computed before for all steps; here the state is multiplied and the gates open.
 *
 * Units are taken in blocks of as many as a vector has lanes, the last one padded. Gates are in
 * ONNX's order (RNN: i; GRU: z, r, h; LSTM: i, o, f, c). */
#pragma once

#include <glib.h>

typedef enum {
  CPU_RECURRENT_RNN,
  CPU_RECURRENT_GRU,        /* the state is reset, then multiplied */
  CPU_RECURRENT_GRU_LINEAR, /* the other way round */
  CPU_RECURRENT_LSTM,
  CPU_N_RECURRENTS
} CpuRecurrentKind;

typedef struct {
  gint64 hidden, blocks;
  const gfloat *weights; /* [block][state][gate][lane]; GRU: of z and r, and then of h */
  const gfloat *bias;    /* GRU_LINEAR: of the state's part of gate h, padded */
} CpuRecurrent;

/* Rows of states are padded to whole blocks; steps are in elements. */
typedef struct {
  gint64 steps;
  const gfloat *x; /* [block][gate][lane] of the first step */
  gint64 x_step;
  gfloat *y; /* nullable; not padded */
  gint64 y_step;
  gfloat *h, *c; /* at first and at last; c is LSTM's */
  gfloat *spare[2];
} CpuRecurrentLine;

typedef void (*CpuRecurrentFunc) (const CpuRecurrent *net, const CpuRecurrentLine *line);

typedef struct {
  gint64 lanes;
  CpuRecurrentFunc run[CPU_N_RECURRENTS];
} CpuRecurrentKernels;
