/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of properties of device CPU; get and set are the class's get_metric and set_property.
 */
#pragma once

#include <axon/axon-plugin.h>

extern const AxonPropertySpec cpu_properties[];
extern const guint cpu_n_properties;

GVariant *cpu_properties_get (AxonPlugin *plugin, const gchar *key, GError **error);
gboolean cpu_properties_set (AxonPlugin *plugin, const gchar *key, GVariant *value, GError **error);
