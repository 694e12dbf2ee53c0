/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What transports share: passwords come from files, which processes' listings do not show. */
#pragma once

#include "gstnntransport.h"

/* The first line of the file; NULL where there is no such option, or with an error. */
gchar *gst_nn_read_secret (const GstStructure *options, const gchar *option, GError **error);
