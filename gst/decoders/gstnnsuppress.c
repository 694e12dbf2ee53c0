/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Candidates, and which of them stay. While they are collected they are a heap whose root is the
 * weakest, so that no output however hostile makes more of them than are compared. */
#include "gstnndecoder.h"

#include <math.h>

/* No frame is so large; farther edges would only overflow what is computed from them. */
#define FARTHEST 1e6

static GstNnDetection *
at (GArray *objects, guint i)
{
  return &g_array_index (objects, GstNnDetection, i);
}

/* From the end towards the root. Returns where it lies. */
static guint
sift_up (GArray *objects, guint i, const GstNnDetection *object)
{
  for (; i > 0 && at (objects, (i - 1) / 2)->score > object->score; i = (i - 1) / 2)
    *at (objects, i) = *at (objects, (i - 1) / 2);
  *at (objects, i) = *object;
  return i;
}

/* From the root down, in place of the weakest. */
static guint
sift_down (GArray *objects, const GstNnDetection *object)
{
  guint i = 0, child;
  while ((child = 2 * i + 1) < objects->len) {
    if (child + 1 < objects->len && at (objects, child + 1)->score < at (objects, child)->score)
      child++;
    if (at (objects, child)->score >= object->score)
      break;
    *at (objects, i) = *at (objects, child);
    i = child;
  }
  *at (objects, i) = *object;
  return i;
}

GstNnDetection *
gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width, gdouble height,
                   gdouble score, gint class_id)
{
  GstNnDetection object = { .score = score, .class_id = class_id };
  if (!isfinite (x) || !isfinite (y) || !(width > 0) || !(height > 0) ||
      !isfinite (width + height) || !isfinite (score))
    return NULL;
  object.x = CLAMP (x, -FARTHEST, FARTHEST);
  object.y = CLAMP (y, -FARTHEST, FARTHEST);
  object.width = MIN (x + width, FARTHEST) - object.x;
  object.height = MIN (y + height, FARTHEST) - object.y;
  if (!(object.width > 0) || !(object.height > 0))
    return NULL;
  if (objects->len < GST_NN_MAX_OBJECTS) {
    g_array_set_size (objects, objects->len + 1);
    return at (objects, sift_up (objects, objects->len - 1, &object));
  }
  return score > at (objects, 0)->score ? at (objects, sift_down (objects, &object)) : NULL;
}

GstNnDetection *
gst_nn_add_rotated (GArray *objects, const gdouble center[2], gdouble width, gdouble height,
                    gdouble angle, gdouble score, gint class_id)
{
  gdouble c = fabs (cos (angle)), s = fabs (sin (angle));
  gdouble w = width * c + height * s, h = width * s + height * c;
  GstNnDetection *object;
  if (!(width > 0) || !(height > 0) || width > FARTHEST || height > FARTHEST)
    return NULL;
  object = gst_nn_add_object (objects, center[0] - w / 2, center[1] - h / 2, w, h, score, class_id);
  if (object == NULL)
    return NULL;
  object->is_rotated = TRUE;
  object->rotated_width = width;
  object->rotated_height = height;
  object->angle = angle;
  return object;
}

static gint
compare_score (gconstpointer a, gconstpointer b)
{
  const GstNnDetection *x = a, *y = b;
  return x->score < y->score   ? 1
         : x->score > y->score ? -1
         : x->row < y->row     ? -1
                               : x->row > y->row;
}

static gdouble
overlap_upright (const GstNnDetection *a, const GstNnDetection *b)
{
  gdouble w = MIN (a->x + a->width, b->x + b->width) - MAX (a->x, b->x);
  gdouble h = MIN (a->y + a->height, b->y + b->height) - MAX (a->y, b->y);
  if (w <= 0 || h <= 0)
    return 0;
  return w * h / (a->width * a->height + b->width * b->height - w * h);
}

/* Covariance of a rotated box: [a c; c b]. */
static void
spread (const GstNnDetection *d, gdouble *a, gdouble *b, gdouble *c)
{
  gdouble u = d->rotated_width * d->rotated_width / 12;
  gdouble v = d->rotated_height * d->rotated_height / 12;
  gdouble cosine = cos (d->angle), sine = sin (d->angle);
  *a = u * cosine * cosine + v * sine * sine;
  *b = u * sine * sine + v * cosine * cosine;
  *c = (u - v) * cosine * sine;
}

/* ProbIoU: one less the Hellinger distance of two Gaussians with the boxes' spread. Llerena et al.,
 * arXiv:2106.06072; what Ultralytics suppresses oriented boxes by. */
static gdouble
overlap_rotated (const GstNnDetection *p, const GstNnDetection *q)
{
  gdouble a[3], b[3], c[3], det, mahalanobis, ratio;
  gdouble dx = p->x + p->width / 2 - q->x - q->width / 2;
  gdouble dy = p->y + p->height / 2 - q->y - q->height / 2;
  spread (p, &a[0], &b[0], &c[0]);
  spread (q, &a[1], &b[1], &c[1]);
  a[2] = a[0] + a[1];
  b[2] = b[0] + b[1];
  c[2] = c[0] + c[1];
  det = a[2] * b[2] - c[2] * c[2];
  ratio = sqrt (MAX (a[0] * b[0] - c[0] * c[0], 0) * MAX (a[1] * b[1] - c[1] * c[1], 0));
  if (!(det > 0) || !(ratio > 0))
    return 0;
  mahalanobis = (a[2] * dy * dy + b[2] * dx * dx - 2 * c[2] * dx * dy) / det;
  return 1 - sqrt (MAX (1 - exp (-mahalanobis / 4) * sqrt (4 * ratio / det), 0));
}

static gdouble
overlap (const GstNnDetection *a, const GstNnDetection *b)
{
  gdouble upright = overlap_upright (a, b);
  return upright > 0 && a->is_rotated && b->is_rotated ? overlap_rotated (a, b) : upright;
}

void
gst_nn_keep_best (GArray *objects, guint max_objects)
{
  g_array_sort (objects, compare_score);
  g_array_set_size (objects, MIN (objects->len, max_objects));
}

void
gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects)
{
  guint kept = 0;
  g_array_sort (objects, compare_score);
  for (guint i = 0; i < objects->len && kept < max_objects; i++) {
    GstNnDetection candidate = *at (objects, i);
    gboolean keep = TRUE;
    for (guint k = 0; keep && k < kept; k++)
      keep = at (objects, k)->class_id != candidate.class_id ||
             overlap (at (objects, k), &candidate) <= iou_threshold;
    if (keep)
      *at (objects, kept++) = candidate;
  }
  g_array_set_size (objects, kept);
}
