/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "imagestore.h"

#include <math.h>

/* @n values of one channel from element @at on. */
static void
store_channel (const CpuImageStore *s, gsize at, gint channel, const gfloat *values, gint n)
{
  const AxonImageTarget *t = s->target;
  gint step = t->nhwc ? t->channels : 1;
  gfloat mean = t->mean[channel], scale = t->scale[channel];
  if (t->dtype == AXON_DTYPE_F32) {
    s->loops->normalise ((gfloat *)s->out + at, values, n, step, mean, scale);
  } else if (t->dtype == AXON_DTYPE_U8) {
    s->loops->normalise_bytes ((guint8 *)s->out + at, values, n, step, mean, scale);
  } else {
    for (gint i = 0; i < n; i++) {
      gdouble v = (gdouble)((values[i] - mean) * scale);
      axon_dtype_store (t->dtype, s->out, at + (gsize)(i * step),
                        axon_dtype_is_float (t->dtype) ? v : floor (v + 0.5));
    }
  }
}

void
cpu_image_store (const CpuImageStore *s, gint y, gint x, const gfloat *const *values, gint n)
{
  const AxonImageTarget *t = s->target;
  const CpuImage *loops = s->loops;
  gsize pixel = (gsize)y * (gsize)t->width + (gsize)x, plane = (gsize)t->width * (gsize)t->height;
  if (t->nhwc && t->channels == 3 && t->dtype == AXON_DTYPE_F32)
    loops->normalise_pixels ((gfloat *)s->out + 3 * pixel, values, n, t->mean, t->scale);
  else if (t->nhwc && t->channels == 3 && t->dtype == AXON_DTYPE_U8)
    loops->normalise_pixels_to_bytes ((guint8 *)s->out + 3 * pixel, values, n, t->mean, t->scale);
  else
    for (gint c = 0; c < t->channels; c++)
      store_channel (s, t->nhwc ? pixel * (gsize)t->channels + (gsize)c : (gsize)c * plane + pixel,
                     c, values[c], n);
}
