/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver-private.h"

#include <string.h>

gboolean
exchange_send_bytes (Exchange *x, gconstpointer data, gsize n)
{
  gsize written = 0;
  gboolean ok = g_output_stream_write_all (x->out, data, n, &written, NULL, NULL);
  g_atomic_pointer_add (&x->server->n_sent, (gssize)written);
  return ok;
}

gboolean
exchange_send (Exchange *x, const gchar *status, const gchar *headers, gconstpointer data, gsize n)
{
  g_autofree gchar *head = g_strdup_printf (
      "HTTP/1.1 %s\r\nContent-Length: %" G_GSIZE_FORMAT "\r\n%s\r\n", status, n, headers);
  return exchange_send_bytes (x, head, strlen (head)) && exchange_send_bytes (x, data, n);
}

gboolean
exchange_send_text (Exchange *x, const gchar *status, const gchar *text)
{
  return exchange_send (x, status, "Content-Type: application/json\r\n", text, strlen (text));
}

static void
note_header (Exchange *x, const gchar *line)
{
  g_string_append_printf (x->headers, "%s\n", line);
  if (g_ascii_strncasecmp (line, "Content-Length:", 15) == 0)
    x->length = (gsize)g_ascii_strtoull (line + 15, NULL, 10);
  if (g_ascii_strncasecmp (line, "Inference-Header-Content-Length:", 32) == 0)
    x->json_length = (gsize)g_ascii_strtoull (line + 32, NULL, 10);
  if (g_ascii_strcasecmp (line, "Content-Encoding: gzip") == 0)
    x->gzip = TRUE;
}

static void
unzip (Exchange *x)
{
  g_autoptr (GConverter) converter =
      G_CONVERTER (g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr (GInputStream) zipped =
      g_memory_input_stream_new_from_data (x->body, (gssize)x->n_body, g_free);
  g_autoptr (GInputStream) plain = g_converter_input_stream_new (zipped, converter);
  gsize most = 64 << 20;
  x->body = g_malloc (most);
  g_assert_true (g_input_stream_read_all (plain, x->body, most, &x->n_body, NULL, NULL));
}

/* FALSE: the connection is at its end. */
gboolean
exchange_read (Exchange *x)
{
  g_autofree gchar *first = g_data_input_stream_read_line (x->in, NULL, NULL, NULL);
  g_auto (GStrv) words = first ? g_strsplit (first, " ", 3) : NULL;
  gchar *line;
  if (words == NULL || g_strv_length (words) < 3)
    return FALSE;
  x->method = g_strdup (words[0]);
  x->path = g_strdup (words[1]);
  while ((line = g_data_input_stream_read_line (x->in, NULL, NULL, NULL)) != NULL && *line) {
    note_header (x, line);
    g_free (line);
  }
  g_free (line);
  x->n_body = x->length;
  x->body = g_malloc (x->length + 1);
  x->body[x->length] = '\0';
  if (!g_input_stream_read_all (G_INPUT_STREAM (x->in), x->body, x->length, &x->n_body, NULL,
                                NULL) ||
      x->n_body < x->length)
    return FALSE;
  if (x->gzip)
    unzip (x);
  return TRUE;
}

void
exchange_clear (Exchange *x)
{
  g_free (x->method);
  g_free (x->path);
  g_free (x->body);
  g_string_free (x->headers, TRUE);
}
