/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Memory for @n_bytes of packed weights, or of what steps pass on, on cache lines, to free()
 * (nullable: there is none). Runs go through much of it, page by page, and what lies together shall
 * stay in the second cache together, so it is on huge pages as far as it fills them. */
gpointer cpu_pages_new (gsize n_bytes);
