/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of neural-network results on buffers, for applications. */
#pragma once

#include <gst/nn/gstnnattribute.h>
#include <gst/nn/gstnndescription.h>
#include <gst/nn/gstnnmask.h>
#include <gst/nn/gstnnobject.h>
#include <gst/nn/gstnnresultmeta.h>
#include <gst/nn/gstnnscenemeta.h>
#include <gst/nn/gstnnskeleton.h>
#include <gst/nn/gstnntensormeta.h>
