/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "axontest.h"
#include "inferenceserver.h"

/* Properties of REMOTE for model m of @server; @more: further ones, each with a comma behind it. */
GVariant *remote_config (InferenceServer *server, const gchar *more);
/* The same for a virtual device in front of it. */
GVariant *remote_config_behind (InferenceServer *server, const gchar *more);
AxonCompiledModel *remote_compile (AxonModel *model, const gchar *device, InferenceServer *server,
                                   const gchar *more);
/* Runs once; asserts that it works where @error is NULL. */
AxonTensor *remote_run (AxonCompiledModel *compiled, AxonTensor *in, GError **error);
/* Requests of the model of Relu at once, each with its own input; every result is its own. */
void remote_run_many (AxonCompiledModel *compiled, guint n_requests, guint n_rounds);
