/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The container: sizes, digest, data items. What a model looks like inside: axonblobmodel.c. */
#include "axonblob-private.h"
#include "axonhash-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

#define MAGIC "AXONBLOB"
#define FORMAT 3u
#define HEADER_BYTES 64
#define IN_ORIGIN (G_GUINT64_CONSTANT (1) << 63) /* offset counts in the model's file */
#define MIN_SHARED 4096                          /* smaller constants are stored anyway */

typedef struct {
  guint64 offset;
  GBytes *bytes;
} Item;

struct _AxonBlobWriter {
  GArray *items; /* Item, by offset */
  guint64 size;
  GBytes *origin;
  gsize searched; /* constants mostly follow each other in the file */
};

struct _AxonBlob {
  GBytes *data;
  GBytes *origin;
  GVariant *meta;
  AxonOpSet *opset;
};

static void
item_clear (gpointer data)
{
  g_bytes_unref (((Item *)data)->bytes);
}

AxonBlobWriter *
axon_blob_writer_new (GBytes *origin)
{
  AxonBlobWriter *w = g_new0 (AxonBlobWriter, 1);
  w->items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_array_set_clear_func (w->items, item_clear);
  w->origin = origin ? g_bytes_ref (origin) : NULL;
  return w;
}

void
axon_blob_writer_free (AxonBlobWriter *writer)
{
  g_array_unref (writer->items);
  g_clear_pointer (&writer->origin, g_bytes_unref);
  g_free (writer);
}

/* Where @bytes stand in the model's file, looking on from the last find. */
static gboolean
find_in_origin (AxonBlobWriter *w, GBytes *bytes, guint64 *offset)
{
  gsize n, total = 0;
  gconstpointer needle = g_bytes_get_data (bytes, &n);
  const guint8 *hay, *at;
  if (w->origin == NULL || n < MIN_SHARED)
    return FALSE;
  hay = g_bytes_get_data (w->origin, &total);
  g_assert (hay != NULL && needle != NULL);
  at = memmem (hay + w->searched, total - w->searched, needle, n);
  if (at == NULL)
    at = memmem (hay, total, needle, n);
  if (at == NULL)
    return FALSE;
  w->searched = (gsize)(at - hay) + n;
  *offset = (guint64)(at - hay) | IN_ORIGIN;
  return TRUE;
}

static guint64
round_up (guint64 value, guint64 alignment)
{
  return (value + alignment - 1) / alignment * alignment;
}

guint64
axon_blob_writer_add (AxonBlobWriter *writer, GBytes *bytes, gsize alignment)
{
  Item item = { .bytes = bytes };
  if (alignment == AXON_BLOB_ITEM_ALIGNMENT && find_in_origin (writer, bytes, &item.offset))
    return item.offset;
  item.offset = round_up (writer->size, alignment);
  g_bytes_ref (bytes);
  g_array_append_val (writer->items, item);
  writer->size = item.offset + g_bytes_get_size (bytes);
  return item.offset;
}

typedef gboolean (*Sink) (gconstpointer data, gsize n, gpointer user_data, GError **error);

/* Meta, then the items with the gaps between them. */
static gboolean
pour (AxonBlobWriter *w, GVariant *meta, gsize gap, Sink sink, gpointer user_data, GError **error)
{
  static const guint8 zeros[AXON_BLOB_PAGE];
  guint64 at = 0;
  if (!sink (g_variant_get_data (meta), g_variant_get_size (meta), user_data, error) ||
      !sink (zeros, gap, user_data, error))
    return FALSE;
  for (guint i = 0; i < w->items->len; i++) {
    const Item *item = &g_array_index (w->items, Item, i);
    gsize n;
    gconstpointer data = g_bytes_get_data (item->bytes, &n);
    if (!sink (zeros, (gsize)(item->offset - at), user_data, error) ||
        !sink (data, n, user_data, error))
      return FALSE;
    at = item->offset + n;
  }
  return TRUE;
}

static gboolean
hash_sink (gconstpointer data, gsize n, gpointer user_data, G_GNUC_UNUSED GError **error)
{
  XXH3_128bits_update (user_data, n ? data : "", n);
  return TRUE;
}

static void
digest_all (AxonBlobWriter *w, GVariant *meta, gsize gap, XXH128_canonical_t *digest)
{
  XXH3_state_t *state = XXH3_createState ();
  XXH3_128bits_reset (state);
  pour (w, meta, gap, hash_sink, state, NULL);
  XXH128_canonicalFromHash (digest, XXH3_128bits_digest (state));
  XXH3_freeState (state);
}

/* A name for what was added, as hexadecimal digits: for keys of the cache. */
gchar *
axon_blob_writer_digest (AxonBlobWriter *writer, GVariant *payload)
{
  g_autoptr (GVariant) owned = g_variant_ref_sink (payload);
  XXH128_canonical_t digest;
  GString *s = g_string_new (NULL);
  digest_all (writer, owned, 0, &digest);
  for (guint i = 0; i < sizeof digest; i++)
    g_string_append_printf (s, "%02x", digest.digest[i]);
  return g_string_free (s, FALSE);
}

typedef struct {
  GOutputStream *stream;
  GCancellable *cancellable;
} Output;

static gboolean
stream_sink (gconstpointer data, gsize n, gpointer user_data, GError **error)
{
  Output *out = user_data;
  return n == 0 || g_output_stream_write_all (out->stream, data, n, NULL, out->cancellable, error);
}

static GVariant *
little_endian (GVariant *variant)
{
  return G_BYTE_ORDER == G_LITTLE_ENDIAN ? g_variant_ref (variant) : g_variant_byteswap (variant);
}

static void
put (guint8 *at, guint64 value, guint n_bytes)
{
  for (guint i = 0; i < n_bytes; i++)
    at[i] = (guint8)(value >> (8 * i));
}

static guint64
get (const guint8 *at, guint n_bytes)
{
  guint64 value = 0;
  for (guint i = 0; i < n_bytes; i++)
    value |= (guint64)at[i] << (8 * i);
  return value;
}

/* @header: a{sv}; @payload: what the device's import wants. Floating references are taken. */
gboolean
axon_blob_writer_write (AxonBlobWriter *writer, GVariant *header, GVariant *payload,
                        GOutputStream *stream, GCancellable *cancellable, GError **error)
{
  g_autoptr (GVariant) native = g_variant_ref_sink (g_variant_new ("(@a{sv}v)", header, payload));
  g_autoptr (GVariant) meta = little_endian (native);
  guint8 head[HEADER_BYTES] = { 0 };
  Output out = { stream, cancellable };
  guint64 meta_end = HEADER_BYTES + g_variant_get_size (meta);
  guint64 data_at = round_up (meta_end, AXON_BLOB_PAGE);
  XXH128_canonical_t digest;
  digest_all (writer, meta, (gsize)(data_at - meta_end), &digest);
  memcpy (head, MAGIC, 8);
  put (head + 8, FORMAT, 4);
  put (head + 16, g_variant_get_size (meta), 8);
  put (head + 24, data_at, 8);
  put (head + 32, writer->size, 8);
  memcpy (head + 40, digest.digest, 16);
  return stream_sink (head, sizeof head, &out, error) &&
         pour (writer, meta, (gsize)(data_at - meta_end), stream_sink, &out, error);
}

static AxonBlob *
refuse (GError **error, const gchar *why)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
               _ ("not a compiled model of this version: %s; compile the model again"), why);
  return NULL;
}

static const gchar *
check_frame (const guint8 *p, gsize n)
{
  guint64 meta, at, size;
  XXH128_canonical_t digest;
  if (n < HEADER_BYTES || memcmp (p, MAGIC, 8) != 0)
    return _ ("it does not begin with AXONBLOB");
  if (get (p + 8, 4) != FORMAT)
    return _ ("it has another format number");
  meta = get (p + 16, 8);
  at = get (p + 24, 8);
  size = get (p + 32, 8);
  if (meta > n - HEADER_BYTES || at > n || at % AXON_BLOB_PAGE != 0 || at < HEADER_BYTES + meta ||
      size != n - at)
    return _ ("its sizes do not fit the file (truncated?)");
  XXH128_canonicalFromHash (&digest, XXH3_128bits (p + HEADER_BYTES, n - HEADER_BYTES));
  if (memcmp (digest.digest, p + 40, 16) != 0)
    return _ ("its digest does not fit (damaged)");
  return NULL;
}

/* @opset must outlive the blob. Keeps a reference on @bytes, which models made from it share. */
AxonBlob *
axon_blob_new (GBytes *bytes, AxonOpSet *opset, GError **error)
{
  g_autoptr (AxonBlob) blob = NULL;
  g_autoptr (GBytes) meta = NULL;
  g_autoptr (GVariant) stored = NULL;
  gsize n;
  const guint8 *p = g_bytes_get_data (bytes, &n);
  const gchar *why = check_frame (p, n);
  if (why != NULL)
    return refuse (error, why);
  meta = g_bytes_new_from_bytes (bytes, HEADER_BYTES, (gsize)get (p + 16, 8));
  stored = g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE ("(a{sv}v)"), meta, FALSE));
  if (!g_variant_is_normal_form (stored))
    return refuse (error, _ ("its description is not well formed"));
  blob = g_new0 (AxonBlob, 1);
  blob->opset = opset;
  blob->meta = little_endian (stored);
  blob->data = g_bytes_new_from_bytes (bytes, (gsize)get (p + 24, 8), (gsize)get (p + 32, 8));
  return g_steal_pointer (&blob);
}

/* The file that constants were left in. */
void
axon_blob_set_origin (AxonBlob *blob, GBytes *origin)
{
  g_clear_pointer (&blob->origin, g_bytes_unref);
  blob->origin = origin ? g_bytes_ref (origin) : NULL;
}

void
axon_blob_free (AxonBlob *blob)
{
  g_clear_pointer (&blob->data, g_bytes_unref);
  g_clear_pointer (&blob->origin, g_bytes_unref);
  g_clear_pointer (&blob->meta, g_variant_unref);
  g_free (blob);
}

/* a{sv}; a new reference */
GVariant *
axon_blob_get_header (AxonBlob *blob)
{
  return g_variant_get_child_value (blob->meta, 0);
}

GVariant *
axon_blob_get_payload (AxonBlob *blob)
{
  g_autoptr (GVariant) boxed = g_variant_get_child_value (blob->meta, 1);
  return g_variant_get_variant (boxed);
}

gboolean
axon_blob_has_magic (GBytes *bytes)
{
  return g_bytes_get_size (bytes) >= strlen (MAGIC) &&
         memcmp (g_bytes_get_data (bytes, NULL), MAGIC, strlen (MAGIC)) == 0;
}

void
axon_blob_set_op_set (AxonBlob *blob, AxonOpSet *opset)
{
  blob->opset = opset;
}

AxonOpSet *
axon_blob_get_op_set (AxonBlob *blob)
{
  return blob->opset;
}

GBytes *
axon_blob_get_bytes (AxonBlob *blob, guint64 offset, guint64 n_bytes, GError **error)
{
  GBytes *from = offset & IN_ORIGIN ? blob->origin : blob->data;
  guint64 at = offset & ~IN_ORIGIN;
  if (from == NULL) {
    refuse (error, _ ("it holds no weights, and the model's file is not given (WEIGHTS_PATH)"));
    return NULL;
  }
  if (n_bytes > g_bytes_get_size (from) || at > g_bytes_get_size (from) - n_bytes) {
    refuse (error, _ ("a constant lies outside"));
    return NULL;
  }
  if (((gsize)g_bytes_get_data (from, NULL) + at) % sizeof (gdouble) != 0) /* in a model's file */
    return g_bytes_new ((const guint8 *)g_bytes_get_data (from, NULL) + at, (gsize)n_bytes);
  return g_bytes_new_from_bytes (from, (gsize)at, (gsize)n_bytes);
}
