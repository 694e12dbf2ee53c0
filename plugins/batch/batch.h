/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device BATCH: requests gathered from many users run as one batch. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

/* batchtransform.c: @model for @n pictures at once. Inputs of item 0 keep their places; @map[k *
 * inputs + i] is where input i of item k went. Inputs that are stacked along the first dimension
 * have the same place for all items. */
AxonModel *batch_transform (AxonModel *model, guint n, guint *map, GError **error);

/* batchmodel.c */
AxonCompiledModel *batch_model_new (AxonPlugin *plugin, AxonModel *model, const gchar *device,
                                    guint n, const AxonConfig *config, GCancellable *cancellable,
                                    AxonProgressFunc progress, gpointer user_data, GError **error);
