/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The behaviour suite: what every device plugin must do, whoever wrote it. One program, one file
 * per group of tests; tests name the requirements that they prove. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* Set from the command line. */
extern const gchar *behaviour_device; /* an expression: TEMPLATE, BATCH:CPU(2) ... */
extern gchar *behaviour_name;         /* TEMPLATE, BATCH */
extern gboolean behaviour_is_virtual;

AxonCore *behaviour_core (void);
/* A core of its own with the same properties set. */
AxonCore *behaviour_new_core (void);
GVariant *behaviour_config (void); /* a{sv}, floating */

/* Models. Shapes begin with 1, so that batching devices run them too. */
AxonModel *behaviour_dense_model (void);      /* x f32[1,8] -> Relu(x W + b) "y" f32[1,4] */
AxonModel *behaviour_conv_model (guint n);    /* x f32[1,3,16,16] -> n times Conv and Relu */
AxonModel *behaviour_dynamic_model (void);    /* x f32[-1,4] -> Sigmoid(x) * a + b */
AxonModel *behaviour_two_port_model (void);   /* a, b f32[1,4] -> "sum", "product" */
AxonModel *behaviour_any_model (guint index); /* one of BEHAVIOUR_N_MODELS of them */
#define BEHAVIOUR_N_MODELS 3
AxonModel *behaviour_batch_model (gint64 n); /* x f32[n,4] -> Relu(x) + 1 */

/* Compiles on the device; NULL after skipping the test where it says that it does not support
 * @what. */
AxonCompiledModel *behaviour_compile (AxonModel *model, const gchar *what);
AxonCompiledModel *behaviour_compile_with (AxonModel *model, const gchar *key, const gchar *value,
                                           const gchar *what);
AxonTensor *behaviour_random (const AxonShape *shape, guint32 seed);
/* A request with every input bound to random values that follow from @seed. */
AxonInferRequest *behaviour_request (AxonCompiledModel *compiled, guint32 seed);
void behaviour_bind (AxonInferRequest *request, AxonCompiledModel *compiled, guint32 seed);
/* Asserts that output @index is what the reference kernels give for @seed. */
void behaviour_assert_result (AxonInferRequest *request, AxonModel *model, guint32 seed);
void behaviour_assert_close (const AxonTensor *got, const AxonTensor *expected);
AxonTensor **behaviour_reference (AxonModel *model, AxonTensor *const *inputs);
/* NAME.ID of each of the plugin's devices; NULL after skipping the test where it has one only. */
gchar **behaviour_ids (void);
gboolean behaviour_can_export (void); /* skips the test where not */

#define BEHAVIOUR_ADD(group, name) g_test_add_func ("/behaviour/" group "/" #name, name)

void behaviour_add_properties (void);
void behaviour_add_compile (void);
void behaviour_add_export (void);
void behaviour_add_infer (void);
void behaviour_add_async (void);
void behaviour_add_tensors (void);
void behaviour_add_lifetime (void);
void behaviour_add_threads (void);
