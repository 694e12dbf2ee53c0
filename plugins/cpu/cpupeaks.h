/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AXON_CPU_PEAKS: measures what the processors can do at most at the level in use. */
#pragma once

#include <glib.h>

/* Takes some tenths of a second. (floating) */
GVariant *cpu_peaks_measure (void);
