/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonmodel.h>

G_BEGIN_DECLS

/**
 * AxonColorFormat:
 * @AXON_COLOR_FORMAT_UNDEFINED: not a picture
 * @AXON_COLOR_FORMAT_NV12_SINGLE_PLANE: one tensor [N,H*3/2,W,1]
 * @AXON_COLOR_FORMAT_NV12_TWO_PLANES: Y [N,H,W,1] and UV [N,H/2,W/2,2]
 * @AXON_COLOR_FORMAT_I420_SINGLE_PLANE: one tensor [N,H*3/2,W,1]
 * @AXON_COLOR_FORMAT_I420_THREE_PLANES: Y [N,H,W,1], U and V [N,H/2,W/2,1]
 * @AXON_COLOR_FORMAT_RGB: three channels
 * @AXON_COLOR_FORMAT_BGR: three channels
 * @AXON_COLOR_FORMAT_GRAY: one channel
 * @AXON_COLOR_FORMAT_RGBX: four channels, the last ignored
 * @AXON_COLOR_FORMAT_BGRX: four channels, the last ignored
 *
 * Since: 1.0
 */
typedef enum {
  AXON_COLOR_FORMAT_UNDEFINED,
  AXON_COLOR_FORMAT_NV12_SINGLE_PLANE,
  AXON_COLOR_FORMAT_NV12_TWO_PLANES,
  AXON_COLOR_FORMAT_I420_SINGLE_PLANE,
  AXON_COLOR_FORMAT_I420_THREE_PLANES,
  AXON_COLOR_FORMAT_RGB,
  AXON_COLOR_FORMAT_BGR,
  AXON_COLOR_FORMAT_GRAY,
  AXON_COLOR_FORMAT_RGBX,
  AXON_COLOR_FORMAT_BGRX,
} AxonColorFormat;

/**
 * AxonResizeAlgorithm:
 * @AXON_RESIZE_LINEAR: bilinear, half-pixel centres
 * @AXON_RESIZE_CUBIC: bicubic, a = -0.75
 * @AXON_RESIZE_NEAREST: nearest
 * @AXON_RESIZE_LINEAR_PILLOW: as Pillow's BILINEAR: averages over what shrinks, so nothing is lost.
 *   The tensor's height and width must be known.
 * @AXON_RESIZE_CUBIC_PILLOW: as Pillow's BICUBIC, a = -0.5
 *
 * Pillow rounds bytes between the axes; here they are rounded once, so they may differ by 1.
 *
 * Since: 1.0
 */
typedef enum {
  AXON_RESIZE_LINEAR,
  AXON_RESIZE_CUBIC,
  AXON_RESIZE_NEAREST,
  AXON_RESIZE_LINEAR_PILLOW,
  AXON_RESIZE_CUBIC_PILLOW,
} AxonResizeAlgorithm;

/**
 * AxonPadMode:
 * @AXON_PAD_CONSTANT: with a value
 * @AXON_PAD_EDGE: with the nearest element
 * @AXON_PAD_REFLECT: mirrored, without the edge
 * @AXON_PAD_SYMMETRIC: mirrored, with the edge; of known dimensions
 *
 * Since: 1.0
 */
typedef enum {
  AXON_PAD_CONSTANT,
  AXON_PAD_EDGE,
  AXON_PAD_REFLECT,
  AXON_PAD_SYMMETRIC,
} AxonPadMode;

/**
 * AxonPrePostStepFunc:
 * @model: the model that is being built; nodes may be added
 * @value: name of the value to go on from
 * @result: (out) (transfer full): name of the value that the step makes
 * @user_data: as given
 * @error: return location
 *
 * A step of one's own, called at each build. `axon-plugin.h` has what adds nodes.
 *
 * Returns: %FALSE with @error ends the build
 *
 * Since: 1.0
 */
typedef gboolean (*AxonPrePostStepFunc) (AxonModel *model, const gchar *value, gchar **result,
                                         gpointer user_data, GError **error);

#define AXON_TYPE_PRE_POST_PROCESSOR (axon_pre_post_processor_get_type ())
AXON_API
G_DECLARE_FINAL_TYPE (AxonPrePostProcessor, axon_pre_post_processor, AXON, PRE_POST_PROCESSOR,
                      GObject)

AXON_API AxonPrePostProcessor *axon_pre_post_processor_new (AxonModel *model);
AXON_API gint axon_pre_post_processor_find_input (AxonPrePostProcessor *self, const gchar *name,
                                                  GError **error);
AXON_API gint axon_pre_post_processor_find_output (AxonPrePostProcessor *self, const gchar *name,
                                                   GError **error);

/* What the caller has */
AXON_API void axon_pre_post_processor_set_tensor_type (AxonPrePostProcessor *self, guint input,
                                                       AxonDType dtype);
AXON_API void axon_pre_post_processor_set_tensor_layout (AxonPrePostProcessor *self, guint input,
                                                         const gchar *layout);
AXON_API void axon_pre_post_processor_set_tensor_shape (AxonPrePostProcessor *self, guint input,
                                                        const AxonShape *shape);
AXON_API void axon_pre_post_processor_set_tensor_size (AxonPrePostProcessor *self, guint input,
                                                       gint64 height, gint64 width);
AXON_API void axon_pre_post_processor_set_tensor_color (AxonPrePostProcessor *self, guint input,
                                                        AxonColorFormat format);
AXON_API void axon_pre_post_processor_set_tensor_from (AxonPrePostProcessor *self, guint input,
                                                       AxonTensor *tensor);
/* What the network wants */
AXON_API void axon_pre_post_processor_set_model_layout (AxonPrePostProcessor *self, guint input,
                                                        const gchar *layout);

/* Steps, in the order of the calls */
AXON_API void axon_pre_post_processor_convert_type (AxonPrePostProcessor *self, guint input,
                                                    AxonDType dtype);
AXON_API void axon_pre_post_processor_convert_color (AxonPrePostProcessor *self, guint input,
                                                     AxonColorFormat format);
AXON_API void axon_pre_post_processor_resize (AxonPrePostProcessor *self, guint input,
                                              AxonResizeAlgorithm algorithm, gint64 height,
                                              gint64 width);
AXON_API void axon_pre_post_processor_crop (AxonPrePostProcessor *self, guint input,
                                            const AxonShape *begin, const AxonShape *end);
AXON_API void axon_pre_post_processor_pad (AxonPrePostProcessor *self, guint input,
                                           const AxonShape *begin, const AxonShape *end,
                                           gdouble value, AxonPadMode mode);
AXON_API void axon_pre_post_processor_mean (AxonPrePostProcessor *self, guint input,
                                            const gfloat *values, guint n_values);
AXON_API void axon_pre_post_processor_scale (AxonPrePostProcessor *self, guint input,
                                             const gfloat *values, guint n_values);
AXON_API void axon_pre_post_processor_clamp (AxonPrePostProcessor *self, guint input, gdouble min,
                                             gdouble max);
AXON_API void axon_pre_post_processor_convert_layout (AxonPrePostProcessor *self, guint input,
                                                      const gchar *layout);
AXON_API void axon_pre_post_processor_permute (AxonPrePostProcessor *self, guint input,
                                               const AxonShape *dims);
AXON_API void axon_pre_post_processor_reverse_channels (AxonPrePostProcessor *self, guint input);
AXON_API void axon_pre_post_processor_custom (AxonPrePostProcessor *self, guint input,
                                              AxonPrePostStepFunc func, gpointer user_data,
                                              GDestroyNotify destroy);

/* Outputs: what the network gives, steps, what the caller wants */
AXON_API void axon_pre_post_processor_set_output_model_layout (AxonPrePostProcessor *self,
                                                               guint output, const gchar *layout);
AXON_API void axon_pre_post_processor_set_output_model_color (AxonPrePostProcessor *self,
                                                              guint output, AxonColorFormat format);
AXON_API void axon_pre_post_processor_convert_output_color (AxonPrePostProcessor *self,
                                                            guint output, AxonColorFormat format);
AXON_API void axon_pre_post_processor_custom_output (AxonPrePostProcessor *self, guint output,
                                                     AxonPrePostStepFunc func, gpointer user_data,
                                                     GDestroyNotify destroy);
AXON_API void axon_pre_post_processor_convert_output_type (AxonPrePostProcessor *self, guint output,
                                                           AxonDType dtype);
AXON_API void axon_pre_post_processor_convert_output_layout (AxonPrePostProcessor *self,
                                                             guint output, const gchar *layout);
AXON_API void axon_pre_post_processor_clamp_output (AxonPrePostProcessor *self, guint output,
                                                    gdouble min, gdouble max);
AXON_API void axon_pre_post_processor_set_output_tensor_type (AxonPrePostProcessor *self,
                                                              guint output, AxonDType dtype);
AXON_API void axon_pre_post_processor_set_output_tensor_layout (AxonPrePostProcessor *self,
                                                                guint output, const gchar *layout);

AXON_API AxonModel *axon_pre_post_processor_build (AxonPrePostProcessor *self, GError **error);
AXON_API gchar *axon_pre_post_processor_to_string (AxonPrePostProcessor *self);

G_END_DECLS
