/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NumPy's .npy file format, versions 1.0 to 3.0 (numpy/lib/format): little endian, C order. */
#include <axon/axontensor.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <gio/gio.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_LENGTH 6

/**
 * axon_tensor_save_npy:
 * @tensor: a tensor
 * @path: (type filename): the file, written whole or not at all
 * @error: return location
 *
 * Returns: %TRUE on success
 *
 * Since: 1.0
 */
gboolean
axon_tensor_save_npy (const AxonTensor *tensor, const gchar *path, GError **error)
{
  const AxonShape *shape = axon_tensor_get_shape (tensor);
  const gchar *descr = axon_dtype_get_npy_descr (axon_tensor_get_dtype (tensor));
  g_autoptr (GString) out = g_string_new_len (MAGIC "\x01\x00\x00\x00", MAGIC_LENGTH + 4);
  g_autoptr (AxonTensor) host = axon_tensor_to_host ((AxonTensor *)tensor, error);
  gsize length;
  if (host == NULL)
    return FALSE;
  if (descr == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, _ ("%s: .npy has no element type %s"),
                 path, axon_dtype_get_name (axon_tensor_get_dtype (tensor)));
    return FALSE;
  }
  g_string_append_printf (out, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (gint i = 0; i < shape->rank; i++)
    g_string_append_printf (out, "%" G_GINT64_FORMAT ",%s", shape->dims[i],
                            i + 1 < shape->rank ? " " : "");
  g_string_append (out, "), }");
  while (out->len % 64 != 63)
    g_string_append_c (out, ' ');
  g_string_append_c (out, '\n');
  length = out->len - MAGIC_LENGTH - 4;
  out->str[MAGIC_LENGTH + 2] = (gchar)(length & 0xff);
  out->str[MAGIC_LENGTH + 3] = (gchar)(length >> 8);
  g_string_append_len (out, axon_tensor_get_data (host), (gssize)axon_tensor_get_n_bytes (tensor));
  return g_file_set_contents (path, out->str, (gssize)out->len, error);
}

/* The header is a Python dict literal of three keys; a regular expression per key reads it. */
static gchar *
header_field (const gchar *header, const gchar *pattern)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  return g_regex_match (regex, header, 0, &match) ? g_match_info_fetch (match, 1) : NULL;
}

static gboolean
parse_header (const gchar *header, AxonDType *dtype, AxonShape *shape)
{
  g_autofree gchar *descr = header_field (header, "'descr':\\s*'([^']*)'");
  g_autofree gchar *order = header_field (header, "'fortran_order':\\s*(True|False)");
  g_autofree gchar *dims = header_field (header, "'shape':\\s*\\(([0-9, ]*)\\)");
  g_auto (GStrv) parts = NULL;
  if (descr == NULL || dims == NULL || g_strcmp0 (order, "False") != 0)
    return FALSE;
  *dtype = axon_dtype_from_name (descr);
  *shape = (AxonShape){ 0 };
  parts = g_strsplit (dims, ",", -1);
  for (guint i = 0; parts[i] != NULL; i++) {
    if (*g_strstrip (parts[i]) == '\0')
      continue;
    if (shape->rank == AXON_MAX_RANK)
      return FALSE;
    shape->dims[shape->rank++] = g_ascii_strtoll (parts[i], NULL, 10);
  }
  return *dtype != AXON_DTYPE_UNDEFINED;
}

/**
 * axon_tensor_load_npy:
 * @path: (type filename): a .npy file, little endian and in C order
 * @error: return location
 *
 * Returns: (transfer full) (nullable): the tensor
 *
 * Since: 1.0
 */
AxonTensor *
axon_tensor_load_npy (const gchar *path, GError **error)
{
  g_autofree gchar *data = NULL;
  g_autofree gchar *header = NULL;
  g_autoptr (GBytes) all = NULL;
  g_autoptr (GBytes) body = NULL;
  gsize n, at = 0, length = 0;
  AxonDType dtype;
  AxonShape shape;
  AxonTensor *tensor;
  if (!g_file_get_contents (path, &data, &n, error))
    return NULL;
  if (n >= 12 && memcmp (data, MAGIC, MAGIC_LENGTH) == 0) {
    const guint8 *p = (const guint8 *)data;
    length = p[8] | (gsize)p[9] << 8;
    at = 10;
    if (p[6] > 1) {
      length |= (gsize)p[10] << 16 | (gsize)p[11] << 24;
      at = 12;
    }
  }
  if (at == 0 || length > n - at)
    header = g_strdup ("");
  else
    header = g_strndup (data + at, length);
  if (!parse_header (header, &dtype, &shape)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("%s: not a .npy file in C order with a numeric little-endian type"), path);
    return NULL;
  }
  all = g_bytes_new_take (g_steal_pointer (&data), n);
  body = g_bytes_new_from_bytes (all, at + length, n - at - length);
  tensor = axon_tensor_new_from_bytes (dtype, &shape, body, error);
  if (tensor == NULL)
    g_prefix_error (error, "%s: ", path);
  return tensor;
}
