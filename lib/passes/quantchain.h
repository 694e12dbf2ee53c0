/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a chain DequantizeLinear, operator, activation, QuantizeLinear, for passes that make
 * one quantised node of it. */
#pragma once

#include <axon/plugin/axonpass.h>

G_BEGIN_DECLS

/* What follows the operator. A clamp before quantising is a clamp of the quantised numbers, for
 * rounding keeps order: it becomes the attribute axon.clip. */
typedef struct {
  AxonNode *act; /* or NULL */
  AxonNode *q;
  gfloat lo, hi; /* of the activation, in real numbers */
} AxonQuantTail;

/* A per-tensor DequantizeLinear of bytes. */
AxonNode *axon_match_dequantize (const AxonNode *node, guint index);
/* A DequantizeLinear of constant bytes, per tensor or along @axis. */
AxonNode *axon_match_dequantized_constant (const AxonNode *node, guint index, gint axis);
gboolean axon_match_quantize (const AxonNode *node, AxonQuantTail *tail);

/* The elements of the constant @value @times over; one element serves all channels as it is. */
AxonValue *axon_quant_repeat (AxonModel *model, AxonValue *value, gint64 times);
/* The zero point of a DequantizeLinear, 0 where it has none. */
AxonValue *axon_quant_zero (AxonModel *model, const AxonNode *dequantize);

/* @bias, times @factor, as i32 at the scale of the products of @x_scale and @w_scale (one, or one
 * for each of the @n channels): as it stands behind its DequantizeLinear where that has this scale,
 * else rounded from its real values. NULL where it does not fit, or where rounding it could be seen
 * at the output's scale @y_scale. */
AxonValue *axon_quantize_bias (AxonModel *model, AxonValue *bias, gdouble factor,
                               const AxonTensor *x_scale, const AxonTensor *w_scale, gsize n,
                               const AxonTensor *y_scale);

/* @node takes the place of @op, of its operands' DequantizeLinear @a and @b, and of @tail. */
void axon_quant_replace (AxonModel *model, AxonNode *node, const AxonQuantTail *tail, AxonNode *a,
                         AxonNode *b);

G_END_DECLS
