/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by the tests: small models built in memory, paths of data. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* A model under construction; every value is f32 unless said. */
typedef struct {
  AxonModel *model;
  gint opset;
} TestModel;

TestModel test_model_new (gint opset);
AxonValue *test_model_input (TestModel *t, const gchar *name, AxonDType dtype,
                             const AxonShape *shape);
AxonValue *test_model_constant (TestModel *t, const AxonShape *shape, const gfloat *values);
AxonValue *test_model_ints (TestModel *t, const gint64 *values, guint n);
AxonValue *test_model_random (TestModel *t, const AxonShape *shape, guint32 seed);
AxonNode *test_model_node (TestModel *t, const gchar *op, guint n_in, ...);
/* x * tanh (softplus (x)), @x as input @first of the product */
AxonNode *test_model_mish (TestModel *t, AxonValue *x, guint first);
/* What @name makes of @y; NULL: nothing. PRelu has a slope for each of @channels, with @spatial
 * dimensions behind them. */
AxonValue *test_model_activate (TestModel *t, AxonValue *y, const gchar *name, gint64 channels,
                                gint spatial);
/* Of any domain, with any number of inputs and outputs. */
AxonNode *test_model_node_of (TestModel *t, const gchar *domain, const gchar *op,
                              AxonValue *const *in, guint n_in, guint n_out);
/* Of a convolution of two dimensions: two strides and dilations, four pads. */
void test_model_set_window (AxonNode *conv, gint64 group, const gint64 *strides,
                            const gint64 *dilations, const gint64 *pads);
AxonModel *test_model_finish (TestModel *t, AxonValue *output);
/* What a file of @model is read as, which is dropped. */
AxonModel *test_model_read_back (AxonModel *model);
/* In a file of its own: its path (g_unlink, g_free). */
gchar *test_model_write (AxonModel *model);

AxonTensor *test_tensor (const AxonShape *shape, const gfloat *values);
AxonTensor *test_random (const AxonShape *shape, guint32 seed);

/* x f32[1,4] -> Relu */
AxonModel *test_relu_model (void);

/* Runs @model once; asserts that it works. */
AxonTensor *test_run (AxonModel *model, const gchar *device, GVariant *config, AxonTensor *input);
AxonTensor *test_try_run (AxonModel *model, const gchar *device, GVariant *config,
                          AxonTensor *input, GError **error);
AxonTensor *test_try_run_all (AxonModel *model, const gchar *device, GVariant *config,
                              AxonTensor *const *inputs, guint n_inputs, GError **error);

/* For devices of which one run never ends: starts and cancels until a run ends by itself. On a busy
 * machine cancelling may come before a run has begun, and the next one is the one that never ends.
 * Returns how many runs were cancelled. */
guint test_cancel_until_it_ends (AxonInferRequest *request);

/* The device under test: what AXON_TEST_DEVICE says, or CPU. */
const gchar *test_device (void);

/* It, with the properties that AXON_TEST_CONFIG says (a{sv}), against TEMPLATE without passes; the
 * difference relative to the largest magnitude, at least 1. NaN agrees with NaN. */
gchar *test_disagreement (AxonModel *model, AxonTensor *x, gdouble tolerance); /* NULL: none */
void test_compare_devices (AxonModel *model, AxonTensor *x, gdouble tolerance);
/* What runs @model on @device, compiled without properties. */
AxonModel *test_runtime_model (AxonModel *model, const gchar *device);
/* Nodes of an operator that are left when @model is compiled for the device that is tested. */
guint test_count_nodes (AxonModel *model, const gchar *domain, const gchar *op);
gdouble test_largest_difference (const AxonTensor *a, const AxonTensor *b);

/* Of a folder: of "/proc/self/fd", descriptors and the one that reads it. */
guint test_count_entries (const gchar *path);

/* Binds an RGB picture of noise to the first four inputs, those of a model with preprocessing. */
void test_bind_frame (AxonInferRequest *request, gint width, gint height, guint32 seed);

/* Path of shared test data, or NULL: skips the test saying so. */
gchar *test_data (const gchar *relative);
gchar *test_ball_model (void);

/* Fails where @text is not what that file of tests/ holds, which somebody has looked at. */
void test_assert_approved (const gchar *path, const gchar *text);
