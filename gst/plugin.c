/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The plugin: the elements that gst/meson.build lists. */
#include "config.h"
#include "gstnnlists.h"
#include <gst/gst.h>

#define DECLARE(name) GST_ELEMENT_REGISTER_DECLARE (name);
GST_NN_ELEMENTS (DECLARE)

#define REGISTER(name) &&GST_ELEMENT_REGISTER (name, plugin)

static gboolean
plugin_init (GstPlugin *plugin)
{
  return TRUE GST_NN_ELEMENTS (REGISTER);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, nn, "Neural-network inference",
                   plugin_init, VERSION, "LGPL", PACKAGE, "https://example.org/axon")
