/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonblobbytes-private.h"

#include <string.h>

/* Between this machine's order and little endian, either way. */
static void
copy_numbers (guint8 *to, const guint8 *from, gsize n, gsize size)
{
  if (G_BYTE_ORDER == G_LITTLE_ENDIAN)
    memcpy (to, from, n * size);
  else
    for (gsize i = 0; i < n * size; i++)
      to[i] = from[i - i % size + size - 1 - i % size];
}

void
axon_blob_put_byte (GString *out, guint8 value)
{
  g_string_append_c (out, (gchar)value);
}

void
axon_blob_put_int (GString *out, gint32 value)
{
  axon_blob_put_numbers (out, &value, 1, sizeof value);
}

void
axon_blob_put_numbers (GString *out, gconstpointer values, gsize n, gsize size)
{
  gsize at = out->len;
  if (n == 0)
    return;
  g_string_set_size (out, at + n * size);
  copy_numbers ((guint8 *)out->str + at, values, n, size);
}

void
axon_blob_put_text (GString *out, const gchar *text)
{
  g_string_append_len (out, text ? text : "", text ? (gssize)strlen (text) + 1 : 1);
}

/* NULL: they are not there. */
static const guint8 *
take (AxonBlobReader *reader, gsize n)
{
  const guint8 *at = reader->at;
  if (n > reader->left) {
    reader->broken = TRUE;
    reader->left = 0;
    return NULL;
  }
  reader->at += n;
  reader->left -= n;
  return at;
}

guint8
axon_blob_reader_byte (AxonBlobReader *reader)
{
  const guint8 *at = take (reader, 1);
  return at ? *at : 0;
}

gboolean
axon_blob_reader_flag (AxonBlobReader *reader)
{
  guint8 value = axon_blob_reader_byte (reader);
  if (value > 1)
    take (reader, G_MAXSIZE);
  return value == 1;
}

gint32
axon_blob_reader_int (AxonBlobReader *reader)
{
  gint32 value;
  axon_blob_reader_numbers (reader, &value, 1, sizeof value);
  return value;
}

void
axon_blob_reader_numbers (AxonBlobReader *reader, gpointer values, gsize n, gsize size)
{
  const guint8 *at = n > 0 ? take (reader, n <= reader->left / size ? n * size : G_MAXSIZE) : NULL;
  if (at != NULL)
    copy_numbers (values, at, n, size);
  else if (n > 0)
    memset (values, 0, n * size);
}

guint
axon_blob_reader_count (AxonBlobReader *reader, gsize size)
{
  guint32 n = (guint32)axon_blob_reader_int (reader);
  if (n <= reader->left / size)
    return n;
  take (reader, G_MAXSIZE);
  return 0;
}

const gchar *
axon_blob_reader_text (AxonBlobReader *reader)
{
  const guint8 *end = reader->left > 0 ? memchr (reader->at, '\0', reader->left) : NULL;
  const guint8 *at = take (reader, end ? (gsize)(end - reader->at) + 1 : G_MAXSIZE);
  return at ? (const gchar *)at : "";
}
