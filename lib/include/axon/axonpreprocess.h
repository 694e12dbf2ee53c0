/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonmodel.h>
#include <axon/axonimage.h>

G_BEGIN_DECLS

/**
 * AxonPictureShape:
 * @width: -1 where the shape leaves it free
 * @height: -1 where the shape leaves it free
 * @channels: 1 for `gray`, else 3
 * @channels_last: [1,height,width,channels], not [1,channels,height,width]
 *
 * How the shape of a tensor holds one picture.
 *
 * Since: 1.0
 */
typedef struct {
  gint width, height, channels;
  gboolean channels_last;
} AxonPictureShape;

AXON_API gboolean axon_picture_shape_init (AxonPictureShape *picture, const AxonShape *shape,
                                           const gchar *color, const gchar *layout);

#define AXON_TYPE_PREPROCESS (axon_preprocess_get_type ())
AXON_API
G_DECLARE_FINAL_TYPE (AxonPreprocess, axon_preprocess, AXON, PREPROCESS, GObject)

AXON_API AxonPreprocess *axon_preprocess_new (void);
AXON_API void axon_preprocess_set_size (AxonPreprocess *self, gint width, gint height);
AXON_API void axon_preprocess_set_color (AxonPreprocess *self, const gchar *color);
AXON_API void axon_preprocess_set_layout (AxonPreprocess *self, const gchar *layout);
AXON_API void axon_preprocess_set_dtype (AxonPreprocess *self, AxonDType dtype);
AXON_API void axon_preprocess_set_fit (AxonPreprocess *self, AxonImageFit fit, gdouble pad_value);
AXON_API void axon_preprocess_set_crop_fraction (AxonPreprocess *self, gdouble fraction);
AXON_API void axon_preprocess_set_mean (AxonPreprocess *self, const gfloat *values, guint n_values);
AXON_API void axon_preprocess_set_scale (AxonPreprocess *self, const gfloat *values,
                                         guint n_values);
AXON_API AxonModel *axon_preprocess_build (AxonPreprocess *self, AxonModel *model, guint input,
                                           GError **error);
AXON_API gchar *axon_preprocess_to_string (AxonPreprocess *self);

G_END_DECLS
