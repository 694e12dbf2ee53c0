/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which pixels of a frame make the pixels of a tensor. */
#include "ops-private.h"
#include <axon/plugin/axonframe.h>

#include <math.h>

/**
 * axon_image_geometry_init:
 * @geometry: (out caller-allocates): the result
 * @info: a checked description
 * @fit: what happens to the aspect ratio
 * @crop_fraction: how much of that part %AXON_IMAGE_FIT_CROP takes, above 0, up to 1
 * @width: tensor width
 * @height: tensor height
 *
 * Since: 1.0
 */
void
axon_image_geometry_init (AxonImageGeometry *geometry, const AxonImageInfo *info, AxonImageFit fit,
                          gdouble crop_fraction, gint width, gint height)
{
  gboolean all = !(info->crop_width > 0);
  gdouble cw = all ? (gdouble)info->width : info->crop_width;
  gdouble ch = all ? (gdouble)info->height : info->crop_height;
  AxonImageGeometry g = { .x = all ? 0 : info->crop_x,
                          .y = all ? 0 : info->crop_y,
                          .angle = info->angle,
                          .dst_width = width,
                          .dst_height = height,
                          .width = width,
                          .height = height };
  if (fit == AXON_IMAGE_FIT_CROP) {
    gdouble ratio = fmin (cw / width, ch / height) * crop_fraction;
    g.x += (cw - width * ratio) / 2;
    g.y += (ch - height * ratio) / 2;
    cw = width * ratio;
    ch = height * ratio;
  } else if (fit != AXON_IMAGE_FIT_STRETCH) {
    gdouble ratio = fmin (width / cw, height / ch);
    g.dst_width = CLAMP ((gint)(cw * ratio + 0.5), 1, width);
    g.dst_height = CLAMP ((gint)(ch * ratio + 0.5), 1, height);
    if (fit == AXON_IMAGE_FIT_LETTERBOX) {
      g.dst_x = (width - g.dst_width) / 2;
      g.dst_y = (height - g.dst_height) / 2;
    }
  }
  g.scale_x = cw / g.dst_width;
  g.scale_y = ch / g.dst_height;
  *geometry = g;
}

/* Turns (@dx, @dy) clockwise: y points down. */
static void
turn (gdouble angle, gdouble *dx, gdouble *dy)
{
  gdouble c = cos (angle), s = sin (angle), x = *dx;
  *dx = c * x - s * *dy;
  *dy = s * x + c * *dy;
}

/**
 * axon_image_geometry_to_picture:
 * @geometry: where the picture lies
 * @x: (inout): a position in the tensor, 0 at its left edge, becomes one in the picture
 * @y: (inout): the same from the top
 *
 * Since: 1.0
 */
void
axon_image_geometry_to_picture (const AxonImageGeometry *geometry, gdouble *x, gdouble *y)
{
  const AxonImageGeometry *g = geometry;
  gdouble half_width = g->scale_x * g->dst_width / 2, half_height = g->scale_y * g->dst_height / 2;
  gdouble dx = (*x - g->dst_x) * g->scale_x - half_width;
  gdouble dy = (*y - g->dst_y) * g->scale_y - half_height;
  if (g->angle < 0 || g->angle > 0)
    turn (g->angle, &dx, &dy);
  *x = g->x + half_width + dx;
  *y = g->y + half_height + dy;
}

/* Pixels from @start over @length, or all. */
static void
set_limits (gboolean all, gdouble start, gdouble length, gint64 size, gint *first, gint *last)
{
  gdouble end = (gdouble)size - 1;
  *first = all ? 0 : (gint)CLAMP (floor (start), 0, end);
  *last = all ? (gint)end : (gint)CLAMP (ceil (start + length) - 1, *first, end);
}

void
axon_image_sampling_init (AxonImageSampling *sampling, const AxonImageInfo *info,
                          const AxonImageTarget *target)
{
  AxonImageSampling *s = sampling;
  gboolean turned = info->angle < 0 || info->angle > 0;
  gboolean all = turned || !(info->crop_width > 0);
  gdouble x, y;
  s->format = axon_image_format_get_info ((AxonImageFormat)info->format);
  axon_image_geometry_init (&s->geometry, info, target->fit, target->crop_fraction, target->width,
                            target->height);
  x = s->geometry.dst_x + 0.5;
  y = s->geometry.dst_y + 0.5;
  axon_image_geometry_to_picture (&s->geometry, &x, &y);
  s->origin[0] = x - 0.5;
  s->origin[1] = y - 0.5;
  s->column_step[0] = s->geometry.scale_x;
  s->row_step[1] = s->geometry.scale_y;
  s->column_step[1] = s->row_step[0] = 0;
  if (turned) {
    turn (info->angle, &s->column_step[0], &s->column_step[1]);
    turn (info->angle, &s->row_step[0], &s->row_step[1]);
  }
  s->is_turned = turned;
  set_limits (all, info->crop_x, info->crop_width, info->width, &s->first[0], &s->last[0]);
  set_limits (all, info->crop_y, info->crop_height, info->height, &s->first[1], &s->last[1]);
}
