/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonCompiledModel, for this room and the core. */
#pragma once

#include "axoncompiledmodel.h"

typedef struct {
  gchar *name;
  gchar *layout; /* such as NCHW, or NULL */
  AxonDType dtype;
  AxonShape shape;
} AxonPort;

typedef struct {
  AxonExecutor *executor;
  AxonStageFunc func;
} AxonStage;

typedef struct {
  AxonPlugin *plugin;
  AxonConfig *config;
  GArray *stages; /* AxonStage */
  gchar *model_name;
  AxonRemoteContext *context; /* compiled with, or NULL */
  GArray *inputs, *outputs;   /* AxonPort */
  gboolean loaded_from_cache;
} AxonCompiledModelPrivate;

AxonCompiledModelPrivate *axon_compiled_model_private (AxonCompiledModel *compiled);
void axon_compiled_model_set_loaded_from_cache (AxonCompiledModel *compiled);

/* axonexport.c: @extra (nullable, floating): more header fields, a{sv} */
gboolean axon_compiled_model_write (AxonCompiledModel *compiled, AxonBlobWriter *writer,
                                    GVariant *extra, GOutputStream *stream,
                                    GCancellable *cancellable, GError **error);
