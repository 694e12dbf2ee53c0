/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of quantised nodes, read once when building. */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

/* Of QLinearConv: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero. */
typedef struct {
  gfloat x_scale, y_scale;
  gint32 x_zero, y_zero;
  gfloat *w_scale;
  guint n_w;
} AxonQuant;

/* FALSE where a parameter is no constant. */
AXON_API gboolean axon_quant_init (AxonQuant *q, const AxonNode *node);
AXON_API void axon_quant_clear (AxonQuant *q);
/* Weights minus zero point as s8, or NULL where they do not fit. */
AXON_API gint8 *axon_quant_weights (const AxonNode *node);
/* A missing optional input counts as 0. */
AXON_API gboolean axon_quant_scalar (const AxonNode *node, guint index, gdouble *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AxonQuant, axon_quant_clear)

G_END_DECLS
