/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inferenceserver-private.h"

#include <string.h>

static gboolean
send_deep_json (Exchange *x)
{
  g_autofree gchar *text = g_malloc (100000);
  memset (text, '[', 100000);
  return exchange_send (x, "200 OK", "", text, 100000);
}

static gboolean
send_endless (Exchange *x, const gchar *head, const gchar *more)
{
  gboolean ok = exchange_send_bytes (x, head, strlen (head));
  while (ok)
    ok = exchange_send_bytes (x, more, strlen (more));
  return FALSE;
}

gboolean
exchange_misbehave (Exchange *x, Mischief mischief, gboolean *done)
{
  static const gchar line[] =
      "X-Filling: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
  *done = TRUE;
  switch (mischief) {
  case ANSWER_GARBAGE:
    exchange_send_bytes (x, "\x01\x02 no such protocol\r\n\r\n", 22);
    return FALSE;
  case ANSWER_NO_JSON:
    return exchange_send_text (x, "200 OK", "<html>a \x1b[31mproxy\x1b[0m's page</html>");
  case ANSWER_DEEP_JSON:
    return send_deep_json (x);
  case HUGE_LENGTH:
    exchange_send_bytes (x, "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n{}", 51);
    return FALSE;
  case ENDLESS_HEADER:
    return send_endless (x, "HTTP/1.1 200 OK\r\n", line);
  case ENDLESS_BODY:
    return send_endless (
        x, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "40\r\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
  case HANG:
    g_input_stream_read (G_INPUT_STREAM (x->in), &(guint8){ 0 }, 1, NULL, NULL);
    return FALSE;
  case BUSY_ONCE:
    inference_server_set_mischief (x->server, BEHAVE);
    return exchange_send (x, "503 Service Unavailable", "Retry-After: 0\r\n", "{}", 2);
  case FAIL:
    return exchange_send_text (x, "500 Internal Server Error",
                               "{\"error\":\"the accelerator is on fire\"}");
  case REDIRECT:
    return exchange_send (x, "307 Temporary Redirect", "Location: http://127.0.0.9/v2\r\n", "", 0);
  default:
    *done = FALSE;
    return TRUE;
  }
}
