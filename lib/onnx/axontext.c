/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every string of a message is UTF-8, as protobuf asks: names go into messages, GVariants and JSON
 * without another look. */
#include "axononnx-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

static gboolean
check_string (const ProtobufCFieldDescriptor *field, const gchar *text, GError **error)
{
  if (text == NULL || g_utf8_validate (text, -1, NULL))
    return TRUE;
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, _ ("not a valid ONNX file: a %s is not UTF-8"),
               field->name);
  axon_error_set_reason (error, AXON_REASON_ENCODING);
  return FALSE;
}

/* @member: where the struct of the message has this field. */
static gboolean
check_field (const ProtobufCFieldDescriptor *field, gconstpointer member, gsize n, GError **error)
{
  gboolean repeated = field->label == PROTOBUF_C_LABEL_REPEATED, ok = TRUE;
  gconstpointer const *items = repeated ? *(gconstpointer const *const *)member : member;
  for (gsize i = 0; ok && i < n; i++) {
    if (field->type == PROTOBUF_C_TYPE_STRING)
      ok = check_string (field, items[i], error);
    else if (items[i] != NULL)
      ok = axon_onnx_check_text (items[i], error);
  }
  return ok;
}

gboolean
axon_onnx_check_text (const ProtobufCMessage *message, GError **error)
{
  const ProtobufCMessageDescriptor *d = message->descriptor;
  for (guint i = 0; i < d->n_fields; i++) {
    const ProtobufCFieldDescriptor *field = &d->fields[i];
    gsize n = field->label == PROTOBUF_C_LABEL_REPEATED
                  ? *(const gsize *)((const gchar *)message + field->quantifier_offset)
                  : 1;
    if ((field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) &&
        !check_field (field, (const gchar *)message + field->offset, n, error))
      return FALSE;
  }
  return TRUE;
}
