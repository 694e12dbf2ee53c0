/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of axon-inspect. */
#pragma once

#include "toolcommon.h"
#include <axon/axon-plugin.h>

/* Not those that only a compiled model has. */
gboolean inspect_is_shown (const AxonPropertySpec *spec);
/* Values that a writable row takes, where its name does not say it; else "". */
gchar *inspect_accepted_values (const AxonPropertySpec *spec);
/* Operator to how often, and their names in order. */
GHashTable *inspect_count_operators (AxonModel *model, GPtrArray **names);

void inspect_devices_json (gchar **devices, gchar **unusable);
gboolean inspect_model_json (AxonModel *model, const gchar *path, gchar **devices, GError **error);
int inspect_export_json (GVariant *header);
typedef enum { INSPECT_TEXT, INSPECT_MARKDOWN, INSPECT_JSON } InspectForm;
int inspect_operators (InspectForm form);
gboolean inspect_takes_pictures (const AxonModelDescription *d, AxonModel *model);
/* Nothing for a model that takes no pictures. FALSE: what describes it is wrong. */
gboolean inspect_description (AxonModel *model, const gchar *path, GError **error);
int inspect_presets (gboolean json);
