/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Memory for @n_bytes of packed weights, on cache lines, to free() (nullable: there is none). Many
 * weights are read once in a run, page by page, so they lie on huge pages as far as they fill
 * them. */
gpointer cpu_weights_new (gsize n_bytes);
