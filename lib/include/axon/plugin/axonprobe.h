/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code of others (plugins, vendors' libraries, drivers) runs in a helper process first, where it
 * may crash or hang. */
#pragma once

#include <glib.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

/**
 * axon_probe_allows: (skip)
 * @subject: the library or the drivers that are to be loaded, as errors shall name them
 * @files: (nullable) (array zero-terminated=1): what it is made of; the answer is kept until one of
 *   them changes. %NULL: @subject is the file
 * @error: return location
 *
 * For a plugin's create(), before it runs code that is not its own: a helper process makes the
 * device with that code alone, and runs a model of one node.
 *
 * Returns: %FALSE with %AXON_ERROR_DEVICE where the helper crashed or did not end, or where others
 *   can write to a file; %TRUE also where ISOLATE_PROBE is off, and where no helper can be run
 *
 * Since: 1.0
 */
AXON_API gboolean axon_probe_allows (const gchar *subject, const gchar *const *files,
                                     GError **error);

/**
 * axon_probe_main: (skip)
 * @argc: of main()
 * @argv: plugin, name of the device, subject
 *
 * What the helper executable does.
 *
 * Returns: the status it ends with
 *
 * Since: 1.0
 */
AXON_API gint axon_probe_main (gint argc, gchar **argv);

G_END_DECLS
