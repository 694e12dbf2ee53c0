/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* OpenCL's drivers, before any of them is loaded. */
#pragma once

#include <glib.h>

/* FALSE where they ended, or did not end, a process that tried them (ISOLATE_PROBE). */
gboolean gpu_drivers_allowed (GError **error);
