/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Parameters of quantised nodes, read once when building. No state: any thread. */
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

/**
 * axon_quant_init:
 * @q: what is filled; axon_quant_clear() frees what it holds
 * @node: a QLinearConv, or one with the same inputs
 *
 * Reads scales and zero points.
 *
 * Returns: %FALSE where one is no constant; then there is nothing to clear
 *
 * Since: 1.0
 */
AXON_API gboolean axon_quant_init (AxonQuant *q, const AxonNode *node);

/**
 * axon_quant_clear:
 * @q: parameters
 *
 * Frees what axon_quant_init() allocated.
 *
 * Since: 1.0
 */
AXON_API void axon_quant_clear (AxonQuant *q);

/**
 * axon_quant_weights:
 * @node: a QLinearConv, or one with the same inputs
 *
 * Gives weights minus their zero points.
 *
 * Returns: (transfer full) (nullable): one number per weight; %NULL where one does not fit into s8
 *
 * Since: 1.0
 */
AXON_API gint8 *axon_quant_weights (const AxonNode *node);

/**
 * axon_quant_scalar:
 * @node: a node
 * @index: number of an input
 * @value: (out): its value; 0 for an optional input that is left out
 *
 * Reads an input of one element.
 *
 * Returns: %FALSE where it is no constant
 *
 * Since: 1.0
 */
AXON_API gboolean axon_quant_scalar (const AxonNode *node, guint index, gdouble *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AxonQuant, axon_quant_clear)

G_END_DECLS
