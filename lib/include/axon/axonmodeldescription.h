/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonimage.h>
#include <axon/axonmodel.h>

G_BEGIN_DECLS

/**
 * AxonModelDescription:
 * @model_name: name for messages and JSON
 * @preset: (nullable): the row of the table of well-known models that the rest came from
 * @caution: (nullable): what only a person can see to, for people
 * @decoder: (nullable): name of the decoder of the outputs; `none`: no decoder knows them
 * @labels: (nullable) (array zero-terminated=1): names of the classes; of text, what each class
 *   stands for
 * @color: `rgb`, `bgr` or `gray`
 * @resize: how a frame becomes the input's shape
 * @crop_fraction: how much of the shorter side %AXON_IMAGE_FIT_CROP takes, above 0, up to 1
 * @pad_value: value of letterbox bars, 0 to 255
 * @mean: subtracted
 * @n_mean: values in @mean
 * @scale: divisors
 * @n_scale: values in @scale
 * @width: tensor width where the model leaves it free; 0: not said
 * @height: tensor height where the model leaves it free; 0: not said
 * @max_width: up to where pictures keep their proportions, @width at least; 0: all are @width wide
 * @anchors: (nullable) (array length=n_anchors): widths and heights of anchors in pixels of the
 *   input, from the finest grid to the coarsest
 * @n_anchors: values in @anchors
 * @strides: (array fixed-size=8): pixels between the cells of each grid
 * @n_strides: values in @strides
 * @activation: (nullable): what the outputs still lack: `none`, `sigmoid` or `softmax`
 * @skeleton: (nullable): which keypoints belong together
 * @threshold: least score of a result; -1: not said
 * @iou_threshold: overlap from which the worse of two objects of a class is dropped;
 *   -1: not said
 * @origin: where the values came from, for people: KEY=SOURCE for each
 *
 * What a model file does not say about itself. Immutable once it is shared.
 *
 * Since: 1.0
 */
typedef struct {
  /*< private >*/
  gatomicrefcount ref_count;
  /*< public >*/
  gchar *model_name;
  gchar *preset;
  const gchar *caution;
  gchar *decoder;
  gchar **labels;
  gchar *color;
  AxonImageFit resize;
  gdouble crop_fraction;
  gdouble pad_value;
  gfloat mean[4];
  guint n_mean;
  gfloat scale[4];
  guint n_scale;
  gint width, height;
  gint max_width;
  gfloat *anchors;
  guint n_anchors;
  guint strides[8];
  guint n_strides;
  gchar *activation;
  gchar *skeleton;
  gdouble threshold, iou_threshold;
  GString *origin;
  /*< private >*/
  guint said;      /* a bit for each field that a source has said */
  guint guessed;   /* those of them that may be wrong */
  gchar **sources; /* who said each field */
  gpointer _reserved[4];
} AxonModelDescription;

#define AXON_TYPE_MODEL_DESCRIPTION (axon_model_description_get_type ())
AXON_API GType axon_model_description_get_type (void);

AXON_API AxonModelDescription *axon_model_description_new (void);
AXON_API AxonModelDescription *axon_model_description_ref (AxonModelDescription *description);
AXON_API void axon_model_description_unref (AxonModelDescription *description);
AXON_API gboolean axon_model_description_set (AxonModelDescription *description, const gchar *key,
                                              const gchar *value, GError **error);
AXON_API gchar *axon_model_description_get (const AxonModelDescription *description,
                                            const gchar *key, const gchar **source,
                                            gboolean *is_guess);
AXON_API const gchar *axon_model_description_get_key (guint index, const gchar **blurb);
AXON_API gboolean axon_model_description_load (AxonModelDescription *description,
                                               const gchar *model_path, AxonModel *model,
                                               GError **error);
AXON_API gchar *axon_model_description_get_doubts (const AxonModelDescription *description);
AXON_API const gchar *axon_model_description_get_label (const AxonModelDescription *description,
                                                        gint class_id);
AXON_API gchar **axon_model_description_list_presets (void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AxonModelDescription, axon_model_description_unref)

G_END_DECLS
