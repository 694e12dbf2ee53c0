/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of neural-network results on buffers, for applications. */
#pragma once

#include <gst/nn/gstnndescription.h>
#include <gst/nn/gstnnresultmeta.h>
#include <gst/nn/gstnntensormeta.h>
