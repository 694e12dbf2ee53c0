/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the keypoints of published models are called, and which belong together. */
#pragma once

#include <gst/nn/nn.h>

/* The skeleton of models with that many joints; NULL: not known. Lives for ever. */
GstNnSkeleton *gst_nn_skeleton_of_joints (gint64 n_joints);
