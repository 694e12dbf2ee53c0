/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "status.h"

static const struct {
  AxonErrorReason reason;
  onnxStatus status;
} reasons[] = {
  { AXON_REASON_ENCODING, ONNXIFI_STATUS_INVALID_PROTOBUF },
  { AXON_REASON_VERSION, ONNXIFI_STATUS_UNSUPPORTED_VERSION },
  { AXON_REASON_OPERATOR, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR },
  { AXON_REASON_ATTRIBUTE, ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE },
  { AXON_REASON_SHAPE, ONNXIFI_STATUS_UNSUPPORTED_SHAPE },
  { AXON_REASON_DTYPE, ONNXIFI_STATUS_UNSUPPORTED_DATATYPE },
};

static const struct {
  gint code;
  onnxStatus status;
} codes[] = {
  { AXON_ERROR_MODEL, ONNXIFI_STATUS_INVALID_MODEL },
  { AXON_ERROR_UNSUPPORTED, ONNXIFI_STATUS_UNSUPPORTED_OPERATOR },
  { AXON_ERROR_MEMORY, ONNXIFI_STATUS_NO_SYSTEM_MEMORY },
  { AXON_ERROR_DEVICE, ONNXIFI_STATUS_BACKEND_UNAVAILABLE },
  { AXON_ERROR_ARGUMENT, ONNXIFI_STATUS_INVALID_MODEL }, /* there is no other argument */
};

static onnxStatus
of_code (const GError *error)
{
  for (guint i = 0; error->domain == AXON_ERROR && i < G_N_ELEMENTS (codes); i++)
    if (codes[i].code == error->code)
      return codes[i].status;
  return ONNXIFI_STATUS_INTERNAL_ERROR;
}

onnxStatus
status_of_model (GError *error)
{
  onnxStatus status = of_code (error);
  for (guint i = 0; i < G_N_ELEMENTS (reasons); i++)
    if (reasons[i].reason == axon_error_get_reason (error))
      status = reasons[i].status;
  g_debug ("%s", error->message);
  g_error_free (error);
  return status;
}

onnxStatus
status_of_device (GError *error)
{
  gboolean of_device = g_error_matches (error, AXON_ERROR, AXON_ERROR_MEMORY) ||
                       g_error_matches (error, AXON_ERROR, AXON_ERROR_DEVICE);
  onnxStatus status = of_device ? of_code (error) : ONNXIFI_STATUS_INTERNAL_ERROR;
  g_debug ("%s", error->message);
  g_error_free (error);
  return status;
}

/* ONNXIFI names no type for BOOL, but says that the numbers are TensorProto's. */
gboolean
status_knows_dtype (onnxEnum type)
{
  return (type >= ONNXIFI_DATATYPE_FLOAT32 && type <= ONNXIFI_DATATYPE_INT64) ||
         (type >= AXON_DTYPE_BOOL && type <= ONNXIFI_DATATYPE_BFLOAT16);
}
