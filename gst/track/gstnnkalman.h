/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a box is and how it moves: a Kalman filter of constant velocity over its middle, width and
 * height, with the noise of DeepSORT (arXiv:1703.07402) and the state of BoT-SORT
 * (arXiv:2206.14651). No noise couples two of the four numbers, so the papers' matrix of eight by
 * eight is four of two by two, which are all that is kept. */
#pragma once

#include <glib.h>

typedef struct {
  gdouble x, y, width, height;
} GstNnBox;

typedef struct {
  gdouble value, velocity; /* pixels, pixels per frame */
  gdouble variance, covariance, velocity_variance;
} GstNnKalmanAxis;

typedef struct {
  GstNnKalmanAxis axes[4]; /* middle x, middle y, width, height */
} GstNnKalman;

void gst_nn_kalman_init (GstNnKalman *kalman, const GstNnBox *box);
/* Goes on by @frames. @keeps_size: what was not seen for a while neither grows nor shrinks. */
void gst_nn_kalman_predict (GstNnKalman *kalman, gdouble frames, gboolean keeps_size);
void gst_nn_kalman_update (GstNnKalman *kalman, const GstNnBox *box);
void gst_nn_kalman_get_box (const GstNnKalman *kalman, GstNnBox *box);
/* Squared Mahalanobis distance, of four degrees of freedom. */
gdouble gst_nn_kalman_get_distance (const GstNnKalman *kalman, const GstNnBox *box);

/* Intersection over union. */
gdouble gst_nn_box_get_iou (const GstNnBox *a, const GstNnBox *b);
