/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of AxonCompiledModel, for this room and the core. */
#pragma once

#include <axon/plugin/axoncompiledmodel.h>

#include <axon/plugin/axonwork.h>
#include "../core/axonproperty-private.h"
#include "axontensorpool.h"

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
  AxonRemoteContext *context;      /* compiled with, or NULL */
  AxonRemoteContext *host_context; /* of tensors that requests make, or NULL */
  AxonTensorPool *pool;            /* of those without a host context */
  GArray *inputs, *outputs;        /* AxonPort */
  AxonBudget *budget;              /* that it was compiled within: what its runs take, too */
  guint timeout;                   /* ms that a run may take; 0: for ever */
  gboolean loaded_from_cache;
  gboolean runs_in_caller;

  /* with PERF_COUNT */
  GMutex profile_lock;
  GHashTable *times;      /* profile_lock: name of a node -> gdouble, microseconds of all runs */
  guint64 n_profiled;     /* profile_lock: runs */
  GArray *removed;        /* AxonProfilingInfo: the nodes as read, then those that do not run */
  GStringChunk *names;    /* theirs */
  gboolean knows_removed; /* profile_lock; then @removed does not change */
} AxonCompiledModelPrivate;

AxonCompiledModelPrivate *axon_compiled_model_private (AxonCompiledModel *compiled);
AxonBudget *axon_compiled_model_get_budget (AxonCompiledModel *compiled);
void axon_compiled_model_set_loaded_from_cache (AxonCompiledModel *compiled);

/* axonruntimemodel.c */
void axon_compiled_model_init_profile (AxonCompiledModel *compiled, AxonModel *model);
void axon_compiled_model_clear_profile (AxonCompiledModel *compiled);
void axon_compiled_model_add_profile (AxonCompiledModel *compiled, GArray *rows);

/* axonexport.c: @extra (nullable, floating): more header fields, a{sv} */
gboolean axon_compiled_model_write (AxonCompiledModel *compiled, AxonBlobWriter *writer,
                                    GVariant *extra, GOutputStream *stream,
                                    GCancellable *cancellable, GError **error);

AxonExecutor *axon_compiled_model_get_executor (AxonCompiledModel *compiled);
gboolean axon_compiled_model_accepts_remote (AxonCompiledModel *compiled);
gboolean axon_compiled_model_accepts_any_place (AxonCompiledModel *compiled);
gboolean axon_compiled_model_runs_in_caller (AxonCompiledModel *compiled);
guint axon_compiled_model_get_n_stages (AxonCompiledModel *compiled);
AxonExecutor *axon_compiled_model_get_stage (AxonCompiledModel *compiled, guint index,
                                             AxonStageFunc *func);
