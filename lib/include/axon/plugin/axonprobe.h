/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code of others (plugins, vendors' libraries, drivers) runs in a helper process first, where it
 * may crash or hang. */
#pragma once

#include <glib.h>

#include <axon/axonapi.h>

G_BEGIN_DECLS

/* For a plugin's create(), before it runs code that is not its own. @subject: the library or
 * driver, as errors shall name it. @files (nullable: @subject is the file): what it is made of; the
 * answer is kept until one of them changes. FALSE with AXON_ERROR_DEVICE: it ended the helper, or
 * did not end there; or others can write to it. TRUE where ISOLATE_PROBE is off, and where no
 * helper can be run. */
AXON_API gboolean axon_probe_allows (const gchar *subject, const gchar *const *files,
                                     GError **error);

/* What the helper executable does. */
AXON_API gint axon_probe_main (gint argc, gchar **argv);

G_END_DECLS
