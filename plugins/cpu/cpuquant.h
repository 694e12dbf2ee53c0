/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of quantised nodes, read once when building. */
#pragma once

#include "cpuplan.h"

/* Of QLinearConv: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero. */
typedef struct {
  gfloat x_scale, y_scale;
  gint32 x_zero, y_zero;
  gfloat *w_scale;
  guint n_w;
} CpuQuant;

/* FALSE where a parameter is no constant. */
gboolean cpu_quant_init (CpuQuant *q, const AxonNode *node);
void cpu_quant_clear (CpuQuant *q);
/* Weights minus zero point as s8, or NULL where they do not fit. */
gint8 *cpu_quant_weights (const AxonNode *node, const CpuQuant *q);
gboolean cpu_quant_scalar (const AxonNode *node, guint index, gdouble *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CpuQuant, cpu_quant_clear)
