/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device expressions: `NAME[.id]`, `VIRTUAL:device,device(2),-device`. */
#pragma once

#include <axon/plugin/axonproperty.h>

G_BEGIN_DECLS

typedef struct {
  gchar *device; /* with id: GPU.1 */
  gchar *name;   /* GPU */
  gchar *id;     /* 1, or NULL */
  gint number;   /* in brackets: requests, or size of a batch; 0: not said */
  gboolean excluded;
} AxonDeviceRef;

typedef struct {
  gchar *name, *id;
  gchar *members; /* behind the colon, or NULL */
} AxonDeviceExpr;

#ifndef __GI_SCANNER__ /* for plugins, which are C */
gboolean axon_device_name_is_legal (const gchar *name);
AxonDeviceExpr *axon_device_expr_parse (const gchar *text, GError **error);
void axon_device_expr_free (AxonDeviceExpr *expr);
GVariant *axon_device_properties_flatten (GVariant *values, const gchar *device);
GVariant *axon_config_for_device (const AxonConfig *config, const gchar *device);
GVariant *axon_variant_with (GVariant *config, const gchar *key, GVariant *value);
void axon_device_ref_free (gpointer ref);
/* AxonDeviceRef, in order */
GPtrArray *axon_device_list_parse (const gchar *text, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonDeviceExpr, axon_device_expr_free)
#endif

G_END_DECLS
