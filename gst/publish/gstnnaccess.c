/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnaccess.h"

gchar *
gst_nn_read_secret (const GstStructure *options, const gchar *option, GError **error)
{
  const gchar *path = gst_structure_get_string (options, option);
  gchar *text = NULL;
  if (path == NULL || !g_file_get_contents (path, &text, NULL, error))
    return NULL;
  text[strcspn (text, "\r\n")] = 0;
  return text;
}
