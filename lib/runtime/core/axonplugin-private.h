/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Between the core and its plugins. */
#pragma once

#include <axon/plugin/axonplugin.h>

void axon_plugin_set_core (AxonPlugin *plugin, AxonCore *core);
gchar *axon_plugin_identity_text (AxonPlugin *plugin);
