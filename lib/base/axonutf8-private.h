/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text of files, which says itself to be UTF-8. */
#pragma once

#include <glib.h>

/* What is not becomes '?', byte by byte: names go into messages, logs and JSON. */
void axon_utf8_mend (gchar *text);
