/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <glib.h>

/* Processors that this thread's affinity mask allows. */
guint cpu_threads_available (void);
/* OpenMP regions that this thread opens, ours and oneDNN's, use @threads threads from now on. @pin:
 * each stays on one processor, as long as the process has no more such threads than processors. */
void cpu_threads_use (guint threads, gboolean pin);
