/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnkalman.h"

/* Standard deviations in parts of the box's side, as DeepSORT has them. */
#define POSITION (1.0 / 20)
#define VELOCITY (1.0 / 160)

enum { MIDDLE_X, MIDDLE_Y, WIDTH, HEIGHT, N_AXES };

static gdouble
square (gdouble x)
{
  return x * x;
}

static void
measure (const GstNnBox *box, gdouble *z)
{
  z[MIDDLE_X] = box->x + box->width / 2;
  z[MIDDLE_Y] = box->y + box->height / 2;
  z[WIDTH] = box->width;
  z[HEIGHT] = box->height;
}

/* The side that an axis's noise is a part of. */
static gdouble
side_of (const GstNnKalman *k, guint axis)
{
  return MAX (k->axes[axis == MIDDLE_X || axis == WIDTH ? WIDTH : HEIGHT].value, 1);
}

void
gst_nn_kalman_init (GstNnKalman *k, const GstNnBox *box)
{
  gdouble z[N_AXES];
  measure (box, z);
  for (guint i = 0; i < N_AXES; i++)
    k->axes[i] = (GstNnKalmanAxis){ .value = z[i] };
  for (guint i = 0; i < N_AXES; i++) {
    k->axes[i].variance = square (2 * POSITION * side_of (k, i));
    k->axes[i].velocity_variance = square (10 * VELOCITY * side_of (k, i));
  }
}

/* As many steps of one frame as there are, in one: each adds the process noise once. */
void
gst_nn_kalman_predict (GstNnKalman *k, gdouble frames, gboolean keeps_size)
{
  gdouble n = frames, before = MAX (n - 1, 0), noise[N_AXES];
  for (guint i = 0; i < N_AXES; i++)
    noise[i] = side_of (k, i);
  for (guint i = 0; i < N_AXES; i++) {
    GstNnKalmanAxis *a = &k->axes[i];
    gdouble position = square (POSITION * noise[i]), velocity = square (VELOCITY * noise[i]);
    if (keeps_size && i >= WIDTH)
      a->velocity = 0;
    a->value += n * a->velocity;
    a->variance += 2 * n * a->covariance + n * n * a->velocity_variance + n * position +
                   velocity * before * n * (2 * n - 1) / 6;
    a->covariance += n * a->velocity_variance + velocity * n * before / 2;
    a->velocity_variance += n * velocity;
  }
}

void
gst_nn_kalman_update (GstNnKalman *k, const GstNnBox *box)
{
  gdouble z[N_AXES], noise[N_AXES];
  measure (box, z);
  for (guint i = 0; i < N_AXES; i++)
    noise[i] = square (POSITION * side_of (k, i));
  for (guint i = 0; i < N_AXES; i++) {
    GstNnKalmanAxis *a = &k->axes[i];
    gdouble total = a->variance + noise[i], gain = a->variance / total;
    gdouble velocity_gain = a->covariance / total, error = z[i] - a->value;
    a->value += gain * error;
    a->velocity += velocity_gain * error;
    a->velocity_variance -= velocity_gain * a->covariance;
    a->variance *= 1 - gain;
    a->covariance *= 1 - gain;
  }
}

void
gst_nn_kalman_get_box (const GstNnKalman *k, GstNnBox *box)
{
  box->width = MAX (k->axes[WIDTH].value, 1);
  box->height = MAX (k->axes[HEIGHT].value, 1);
  box->x = k->axes[MIDDLE_X].value - box->width / 2;
  box->y = k->axes[MIDDLE_Y].value - box->height / 2;
}

gdouble
gst_nn_kalman_get_distance (const GstNnKalman *k, const GstNnBox *box)
{
  gdouble z[N_AXES], sum = 0;
  measure (box, z);
  for (guint i = 0; i < N_AXES; i++)
    sum += square (z[i] - k->axes[i].value) /
           (k->axes[i].variance + square (POSITION * side_of (k, i)));
  return sum;
}

gdouble
gst_nn_box_get_iou (const GstNnBox *a, const GstNnBox *b)
{
  gdouble width = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble height = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  gdouble both = MAX (width, 0) * MAX (height, 0);
  gdouble all = a->width * a->height + b->width * b->height - both;
  return all > 0 ? both / all : 0;
}
