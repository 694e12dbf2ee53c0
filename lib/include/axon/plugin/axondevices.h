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

/**
 * axon_config_for_device:
 * @config: a configuration
 * @device: the device behind, such as `GPU.1`
 *
 * Gives what a virtual device tells the device behind it: the keys that it does not know itself,
 * and what `DEVICE_PROPERTIES` says of that device.
 *
 * Returns: (transfer full): `a{sv}`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_config_for_device (const AxonConfig *config, const gchar *device);

/**
 * axon_variant_with:
 * @config: `a{sv}`
 * @key: a key
 * @value: its value; sunk where it floats
 *
 * Adds a value to a configuration, unless @key is there already.
 *
 * Returns: (transfer full): `a{sv}`
 *
 * Since: 1.0
 */
AXON_API GVariant *axon_variant_with (GVariant *config, const gchar *key, GVariant *value);

/**
 * axon_device_list_parse:
 * @text: devices, separated by commas: `GPU.1,CPU(2),-TEMPLATE`
 * @error: return location
 *
 * Reads a list of devices. Fails with %AXON_ERROR_ARGUMENT and the wrong item.
 *
 * Returns: (transfer full) (element-type AxonDeviceRef): the devices, in order; %NULL with @error
 *
 * Since: 1.0
 */
AXON_API GPtrArray *axon_device_list_parse (const gchar *text, GError **error);

/**
 * axon_core_list_all_devices:
 * @core: the core
 *
 * Lists every device that works, virtual ones too. Any thread; loads plugins that were not used
 * yet.
 *
 * Returns: (transfer full) (array zero-terminated=1): names, with ids where a plugin drives several
 *
 * Since: 1.0
 */
AXON_API gchar **axon_core_list_all_devices (AxonCore *core);

/**
 * axon_core_list_unusable_devices:
 * @core: the core
 *
 * Lists devices whose plugins could not be used, with the reason. Any thread; loads plugins that
 * were not used yet.
 *
 * Returns: (transfer full) (array zero-terminated=1): a line for each that says why
 *
 * Since: 1.0
 */
AXON_API gchar **axon_core_list_unusable_devices (AxonCore *core);

/**
 * axon_core_is_cached:
 * @core: the core
 * @model: a model
 * @device: an expression
 * @config: (nullable): `a{sv}`
 *
 * Tells whether compiling @model would find an entry in the cache. Any thread.
 *
 * Returns: %TRUE if an entry is there; it may still turn out to be damaged
 *
 * Since: 1.0
 */
AXON_API gboolean axon_core_is_cached (AxonCore *core, AxonModel *model, const gchar *device,
                                       GVariant *config);
AXON_API const AxonPropertySpec *axon_core_get_property_specs (AxonCore *core, const gchar *device,
                                                               guint *n_specs, GError **error);

G_END_DECLS
