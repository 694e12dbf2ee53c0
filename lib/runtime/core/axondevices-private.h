/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/plugin/axondevices.h>

typedef struct {
  gchar *name, *id;
  gchar *members; /* behind the colon, or NULL */
} AxonDeviceExpr;

gboolean axon_device_name_is_legal (const gchar *name);
AxonDeviceExpr *axon_device_expr_parse (const gchar *text, GError **error);
void axon_device_expr_free (AxonDeviceExpr *expr);
GVariant *axon_device_properties_flatten (GVariant *values, const gchar *device);
void axon_device_ref_free (gpointer ref);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonDeviceExpr, axon_device_expr_free)
