/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Probing in a helper process. */
#pragma once

#include <axon/plugin/axonprobe.h>

#define AXON_PROBE_TEXT_FD 3 /* where the helper says why a library is no plugin */

/* How the helper ends; in any other way it was ended by what it tried. */
enum { AXON_PROBE_DONE = 10, AXON_PROBE_REFUSED, AXON_PROBE_UNABLE };

/* The plugin whose code the calling thread runs. */
typedef struct {
  const gchar *library, *name;
} AxonProbe;

/* Until it is called again: what that plugin loads is probed. Returns what was before. */
const AxonProbe *axon_probe_enter (const AxonProbe *probe);

/* FALSE where the plugin at @library, as device @name, cannot be loaded or ends the helper. */
gboolean axon_probe_library (const gchar *library, const gchar *name, GError **error);

/* FALSE where others may have put @file there. */
gboolean axon_probe_is_safe (const gchar *file, GError **error);

/* In the helper: what is tried; elsewhere NULL. */
const gchar *axon_probe_get_subject (void);
