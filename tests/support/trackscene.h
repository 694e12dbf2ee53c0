/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Things that walk about, what a detector of some quality sees of them, and how well tracks fit. */
#pragma once

#include "track/gstnnkalman.h"

typedef struct {
  guint n_things, n_frames;
  gdouble miss;   /* how often a thing is not seen */
  gdouble invent; /* things seen on a frame that are not there */
  gdouble jitter; /* of a box's place and size, in parts of it */
  gdouble speed;  /* most pixels a frame */
  guint32 seed;
} SceneConfig;

typedef struct {
  guint frame, id; /* of the thing, or of the track; 0: none */
  gdouble score;
  GstNnBox box;
} SceneBox;

#define SCENE_WIDTH 1280
#define SCENE_HEIGHT 720

typedef struct {
  GArray *truth, *seen; /* SceneBox, by frame */
} Scene;

Scene scene_new (const SceneConfig *config);
void scene_clear (Scene *scene);

typedef struct {
  gdouble mota, idf1, hota;
  guint n_switches;
} SceneQuality;

/* CLEAR MOT (Bernardin 2008) and IDF1 (Ristani 2016) at an IoU of 0.5, HOTA (Luiten 2020). */
SceneQuality scene_judge (const GArray *truth, const GArray *tracks, guint n_frames);
