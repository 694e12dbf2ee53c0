/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnelements.h"

static gboolean
plugin_init (GstPlugin *plugin)
{
  bindtextdomain (GETTEXT_PACKAGE, LOCALEDIR);
  bind_textdomain_codeset (GETTEXT_PACKAGE, "UTF-8");
  gst_type_mark_as_plugin_api (GST_TYPE_NN_DESCRIPTION, 0);
  return gst_element_register (plugin, "nninfer", GST_RANK_NONE, gst_nn_infer_get_type ()) &&
         gst_element_register (plugin, "nnpreproc", GST_RANK_NONE, gst_nn_preproc_get_type ()) &&
         gst_element_register (plugin, "nndecode", GST_RANK_NONE, gst_nn_decode_get_type ()) &&
         gst_element_register (plugin, "nnoverlay", GST_RANK_NONE, gst_nn_overlay_get_type ()) &&
         gst_element_register (plugin, "nnpublish", GST_RANK_NONE, gst_nn_publish_get_type ()) &&
         gst_element_register (plugin, "nnquery", GST_RANK_NONE, gst_nn_query_get_type ());
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, nn, "Neural-network inference",
                   plugin_init, VERSION, "LGPL", PACKAGE, "https://example.org/axon")
