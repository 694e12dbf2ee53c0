/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "axoncore-private.h"
#include "../infer/axoncompiledmodel-private.h"

/* A device expression resolved. */
typedef struct {
  AxonPlugin *plugin;
  GVariant *config;        /* for the plugin, a{sv} */
  AxonConfig *core_config; /* the core's own keys, for this call */
  gboolean is_virtual;
} AxonTarget;

/* One compile: of a model, or of a file. */
typedef struct {
  AxonCore *core;
  AxonTarget target;
  AxonModel *model;  /* or */
  const gchar *path; /* with */
  GBytes *file;      /* its contents */
  GCancellable *cancellable;
  AxonProgressFunc progress;
  gpointer user_data;
} AxonJob;

gboolean axon_core_find_target (AxonCore *core, const gchar *device, GVariant *config,
                                AxonTarget *target, GError **error);
void axon_target_clear (AxonTarget *target);
AxonCompiledModel *axon_job_run (AxonJob *job, GError **error);
