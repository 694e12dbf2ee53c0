/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configurations that kernels of extensions offer: checked against the node, completed, and given
 * to `init`. */
#pragma once

#include "../cpuplan.h"

/* The layout of @desc: *@md NULL for row-major; FALSE for one that this device does not have. */
gboolean cpu_layer_desc_get_md (const AxonTensorDesc *desc, CpuMd **md);

/* AxonLayerConfig that fit @node, whose shapes are known: dimensions and offsets that were left
 * open are filled in. NULL with an error that says what is wrong with each, where none fits. */
GArray *cpu_layer_get_configs (AxonLayerImpl *impl, const AxonNode *node, GError **error);

/* FALSE with the kernel's own words where it refuses @config. */
gboolean cpu_layer_init (AxonLayerImpl *impl, const AxonLayerConfig *config, const AxonNode *node,
                         GError **error);

/* Why no kernel of @extensions takes @node (transfer full); NULL: one does, or would where shapes
 * are known only at run time. */
gchar *cpu_layer_refuse (GPtrArray *extensions, const AxonNode *node);
