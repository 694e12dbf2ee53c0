/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several elements as one: nninfer, nndecode and, where it is asked for, nntrack, as children
 * called infer, decode and track. The properties of the first two are its own, by the same names;
 * where both have one, it is nninfer's. Those of the others are set as "track::lost-time". */
#pragma once

#include "gstnnelement.h"
#include "infer/gstnninfer.h"

#define GST_TYPE_NN_BIN (gst_nn_bin_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstNnBin, gst_nn_bin, GST, NN_BIN, GstBin)

struct _GstNnBinClass {
  GstBinClass parent_class;
  GstNnRegionMode region; /* what is inferred unless the property says otherwise */
};

/* For class_init: properties, and pads as those of the children. */
void gst_nn_bin_class_install (GstNnBinClass *klass, GstNnRegionMode region, gboolean can_track);
