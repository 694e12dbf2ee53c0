/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Once oneDNN has been used: TRUE if it asks us for threads; else it asks libgomp. */
gboolean cpu_openmp_is_ours (void);

/* Where it is libgomp: threads of regions that the caller opens; what they were. */
guint cpu_openmp_set_threads (guint n);
