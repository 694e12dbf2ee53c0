/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The XNNPACK room as the rest of the plugin sees it: no type of XNNPACK passes here. It is built
 * with -Dxnnpack=enabled only, which defines AXON_XNNPACK. */
#pragma once

#include <axon/axon-plugin.h>

/* TRUE if @config asks for its kernels and the library runs here; else a line in the log says that
 * they are missing. */
gboolean cpu_xnnpack_is_wanted (AxonPlugin *plugin, const AxonConfig *config);
