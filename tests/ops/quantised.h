/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Products of quantised tensors for tests: data that is hard on sums of 8-bit numbers, the exact
 * sums of it, and what must become of them. */
#pragma once

#include "axontest.h"

/* In the order of QLinearConv's inputs. */
typedef enum {
  X,
  X_SCALE,
  X_ZERO,
  W,
  W_SCALE,
  W_ZERO,
  Y_SCALE,
  Y_ZERO,
  BIAS,
  N_QUANTISED,
} QuantisedIndex;

typedef enum {
  DATA_PAIRS,    /* x the highest, w the highest or the lowest by channels: every pair overflows */
  DATA_LOWEST,   /* all the lowest */
  DATA_EXTREMES, /* the highest and the lowest in any order */
  DATA_UNIFORM,  /* anything */
  DATA_TIES,     /* near the zero points; half of the results are ties */
  DATA_CANCEL,   /* huge sums, which the bias brings back: a lost bit shows */
  N_DATA,
} DataKind;

/* A float operator whose operands are quantised. */
typedef struct {
  const gchar *op; /* Conv, ConvTranspose, MatMul or Gemm */
  AxonShape x, w;
  gint64 group, stride[2], dilation, pad[2]; /* before, after; of the last dimension stride[1] */
  const gchar *auto_pad;
  gint64 more, trans_a, trans_b; /* more: output_padding */
} Product;

typedef struct {
  AxonTensor *t[N_QUANTISED]; /* BIAS may be NULL */
  gchar *text;                /* what they are */
} Quantised;

/* A model under construction: its values in the order of QuantisedIndex; x, and weights if they are
 * no constant, are inputs. */
typedef struct {
  TestModel t;
  AxonValue *v[N_QUANTISED];
  AxonTensor *inputs[3];
  guint n_inputs;
} QuantisedModel;

/* What a clamp between the sum and its rounding cuts off, in real numbers. */
typedef struct {
  const gchar *op; /* NULL, Relu or Clip */
  gfloat lo, hi;
} Clamp;

extern const AxonDType quantised_types[2]; /* u8, s8 */

/* A generator of its own for each test of a product, by any number; the seed is AXON_TEST_SEED or
 * random, and said once. */
GRand *quantised_rand (const Product *p, guint32 test);

AxonTensor *quantised_scalar (AxonDType dtype, gdouble value);
AxonTensor *quantised_fill (GRand *rand, AxonDType dtype, const AxonShape *shape, DataKind kind,
                            gint zero, gint64 inner, gint64 channels);
gint quantised_zero (GRand *rand, AxonDType dtype);

void quantised_draw (Quantised *q, GRand *rand, const Product *p, AxonDType x, AxonDType w,
                     DataKind kind);
void quantised_clear (Quantised *q);

void quantised_begin (QuantisedModel *b, const Quantised *q, gboolean weights_are_input);

AxonNode *product_node (TestModel *t, const Product *p, const gchar *domain, const gchar *op,
                        AxonValue *const *in, guint n_in);
gchar *product_text (const Product *p);
/* Output channel of element @i of a result of shape @y. */
gsize product_channel (const Product *p, const AxonShape *y, gsize i);
/* f64, by TEMPLATE's float operator on x - x_zero and w - w_zero; without bias. */
AxonTensor *product_sums (const Product *p, const Quantised *q);
/* What a DequantizeLinear, the operator and a QuantizeLinear mean: sums + bias, scaled once. */
AxonTensor *product_expected (const Product *p, const Quantised *q, const AxonTensor *sums,
                              const Clamp *clamp);

/* Fails the test, saying what differs, unless @device's result is @expected; 8-bit results may be
 * @units away. */
void quantised_check (AxonModel *model, const gchar *device, AxonTensor *const *inputs,
                      guint n_inputs, const AxonTensor *expected, gdouble units, const gchar *what);
/* The device under test gives exactly what TEMPLATE gives without passes. */
void quantised_compare (AxonModel *model, AxonTensor *const *inputs, guint n_inputs, gdouble units,
                        const gchar *what);

/* Tests of int8dynamic.c and int8bytes.c */
void sums_of_dynamic_chains_are_exact (gconstpointer product);
void dynamic_chains_with_activations_agree (gconstpointer product);
void products_that_end_in_floats_agree (gconstpointer product);
void add_byte_tests (void);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Quantised, quantised_clear)
