/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Statuses as errors. */
#include "onnxifilibrary.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define ROW(name, code)                                                                            \
  {                                                                                                \
    ONNXIFI_STATUS_##name, #name, AXON_ERROR_##code                                                \
  }

static const struct {
  onnxStatus status;
  const gchar *name;
  gint code;
} rows[] = {
  ROW (SUCCESS, DEVICE),
  ROW (FALLBACK, DEVICE),
  ROW (INVALID_ID, DEVICE),
  ROW (INVALID_SIZE, DEVICE),
  ROW (INVALID_POINTER, DEVICE),
  ROW (INVALID_PROTOBUF, MODEL),
  ROW (INVALID_MODEL, MODEL),
  ROW (INVALID_BACKEND, DEVICE),
  ROW (INVALID_GRAPH, DEVICE),
  ROW (INVALID_EVENT, DEVICE),
  ROW (INVALID_STATE, DEVICE),
  ROW (INVALID_NAME, DEVICE),
  ROW (INVALID_SHAPE, UNSUPPORTED),
  ROW (INVALID_DATATYPE, UNSUPPORTED),
  ROW (INVALID_MEMORY_TYPE, DEVICE),
  ROW (INVALID_MEMORY_LOCATION, DEVICE),
  ROW (INVALID_FENCE_TYPE, DEVICE),
  ROW (INVALID_PROPERTY, ARGUMENT),
  ROW (UNSUPPORTED_TAG, UNSUPPORTED),
  ROW (UNSUPPORTED_VERSION, UNSUPPORTED),
  ROW (UNSUPPORTED_OPERATOR, UNSUPPORTED),
  ROW (UNSUPPORTED_ATTRIBUTE, UNSUPPORTED),
  ROW (UNSUPPORTED_SHAPE, UNSUPPORTED),
  ROW (UNSUPPORTED_DATATYPE, UNSUPPORTED),
  ROW (UNSUPPORTED_MEMORY_TYPE, UNSUPPORTED),
  ROW (UNSUPPORTED_FENCE_TYPE, UNSUPPORTED),
  ROW (UNSUPPORTED_PROPERTY, UNSUPPORTED),
  ROW (UNIDENTIFIED_NAME, DEVICE),
  ROW (MISMATCHING_SHAPE, MODEL),
  ROW (MISMATCHING_DATATYPE, MODEL),
  ROW (NO_SYSTEM_MEMORY, MEMORY),
  ROW (NO_DEVICE_MEMORY, MEMORY),
  ROW (NO_SYSTEM_RESOURCES, MEMORY),
  ROW (NO_DEVICE_RESOURCES, MEMORY),
  ROW (BACKEND_UNAVAILABLE, DEVICE),
  ROW (INTERNAL_ERROR, DEVICE),
};

static gint
find (onnxStatus status)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].status == status)
      return (gint)i;
  return -1;
}

const gchar *
onnxifi_status_name (onnxStatus status)
{
  gint i = find (status);
  return i < 0 ? _ ("a status that ONNXIFI does not have") : rows[i].name;
}

gboolean
onnxifi_check (const OnnxifiLibrary *library, const gchar *call, onnxStatus status, GError **error)
{
  gint i = find (status);
  if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK)
    return TRUE;
  g_set_error (error, AXON_ERROR, i < 0 ? AXON_ERROR_DEVICE : rows[i].code,
               _ ("%s: onnx%s answered %s (0x%x)"), library->path, call,
               onnxifi_status_name (status), (guint)status);
  return FALSE;
}
