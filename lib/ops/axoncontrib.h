/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Activations that com.microsoft.FusedConv names, for its kernel and for the pass that expands it.
 */
#pragma once

#include <axon/plugin/axongraph.h>

G_BEGIN_DECLS

#define AXON_N_CONTRIB_ACTIVATIONS 7 /* 0: none */

guint axon_contrib_activation (const AxonNode *node);
const gchar *axon_contrib_activation_name (guint activation);
void axon_contrib_params (const AxonNode *node, guint activation, gdouble *a, gdouble *b);

G_END_DECLS
