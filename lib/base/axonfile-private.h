/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files that a model or what stands beside it names. */
#pragma once

#include <glib.h>

/* For reading: @name beneath @directory, whose own path may have links; @name has none, and no
 * "..". Never waits for a pipe. -1 with errno: ELOOP for a link, EXDEV for what is not beneath. */
int axon_open_beneath (const gchar *directory, const gchar *name);
