/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What tools, and devices that stand for others, ask about devices. Device expressions:
 * `NAME[.id]`, `VIRTUAL:device,device(2),-device`. */
#pragma once

#include <axon/axoncore.h>
#include <axon/plugin/axonproperty.h>

G_BEGIN_DECLS

typedef struct {
  gchar *device; /* with id: GPU.1 */
  gchar *name;   /* GPU */
  gchar *id;     /* 1, or NULL */
  gint number;   /* in brackets: requests, or size of a batch; 0: not said */
  gboolean excluded;
} AxonDeviceRef;

AXON_API GVariant *axon_config_for_device (const AxonConfig *config, const gchar *device);
AXON_API GVariant *axon_variant_with (GVariant *config, const gchar *key, GVariant *value);
/* AxonDeviceRef, in order */
AXON_API GPtrArray *axon_device_list_parse (const gchar *text, GError **error);

AXON_API gchar **axon_core_list_all_devices (AxonCore *core);
AXON_API gchar **axon_core_list_unusable_devices (AxonCore *core);
AXON_API gboolean axon_core_is_cached (AxonCore *core, AxonModel *model, const gchar *device,
                                       GVariant *config);
AXON_API const AxonPropertySpec *axon_core_get_property_specs (AxonCore *core, const gchar *device,
                                                               guint *n_specs, GError **error);

G_END_DECLS
