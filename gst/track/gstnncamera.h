/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the camera moves, seen from the background: patches of a small picture are looked for in the
 * next one, and what most of them do is the camera's. Tracks are kept in places of the world, where
 * things stand still that do; without a camera, or before it looked, they are those of the frame.
 *
 * One thread at a time. */
#pragma once

#include "gstnnkalman.h"

#include <gst/nn/nn.h>
#include <gst/video/video.h>

typedef struct _GstNnCamera GstNnCamera;

GstNnCamera *gst_nn_camera_new (void);
void gst_nn_camera_free (GstNnCamera *camera);
/* What comes is of another scene. */
void gst_nn_camera_reset (GstNnCamera *camera);
/* The format has 8 bits of brightness or green that lie apart. */
gboolean gst_nn_camera_reads (const GstVideoInfo *info);
/* The frame at @time, which is after the last one; @result: what moves by itself, or NULL. */
void gst_nn_camera_look (GstNnCamera *camera, const GstVideoFrame *frame, GstNnResultMeta *result,
                         GstClockTime time);
/* A box of the frame at @time, in the world; and back. @camera: NULL where it stands still. */
void gst_nn_camera_to_world (const GstNnCamera *camera, GstClockTime time, GstNnBox *box);
void gst_nn_camera_to_frame (const GstNnCamera *camera, GstClockTime time, GstNnBox *box);
