/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

AxonRemoteContext *axon_template_context_new (const gchar *device, GVariant *params);
