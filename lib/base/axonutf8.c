/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axonutf8-private.h"

void
axon_utf8_mend (gchar *text)
{
  const gchar *end;
  for (gchar *at = text; !g_utf8_validate (at, -1, &end); at = text + (end - text) + 1)
    text[end - text] = '?';
}
