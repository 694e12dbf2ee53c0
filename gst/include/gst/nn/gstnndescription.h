/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axon.h>
#include <gst/gst.h>

#include <gst/nn/nn-prelude.h>

G_BEGIN_DECLS

/**
 * GstNnDescription:
 * @model_name: name for messages and JSON
 * @decoder: (nullable): name of the decoder of the outputs
 * @activation: (nullable): what scores still lack: `none`, `sigmoid` or `softmax`
 * @labels: (nullable) (array zero-terminated=1): names of the classes
 * @color: `rgb`, `bgr` or `gray`
 * @resize: how a frame becomes the input's shape
 * @pad_value: value of letterbox bars, 0 to 255
 * @mean: subtracted
 * @n_mean: values in @mean
 * @scale: divisors
 * @n_scale: values in @scale
 * @width: tensor width where the model leaves it free; 0: not said
 * @height: tensor height where the model leaves it free; 0: not said
 * @origin: where the values came from, for people
 *
 * What a model file does not say about itself. Immutable once it travels with a buffer.
 *
 * Since: 1.0
 */
typedef struct {
  /*< private >*/
  gatomicrefcount ref_count;
  /*< public >*/
  gchar *model_name;
  gchar *decoder;
  gchar *activation;
  gchar **labels;
  gchar *color;
  AxonImageFit resize;
  gdouble pad_value;
  gfloat mean[4];
  guint n_mean;
  gfloat scale[4];
  guint n_scale;
  gint width, height;
  GString *origin;
  /*< private >*/
  guint said; /* a bit for each field that a source has said */
  gpointer _reserved[4];
} GstNnDescription;

#define GST_TYPE_NN_DESCRIPTION (gst_nn_description_get_type ())
GST_NN_API GType gst_nn_description_get_type (void);

GST_NN_API GstNnDescription *gst_nn_description_new (void);
GST_NN_API GstNnDescription *gst_nn_description_ref (GstNnDescription *description);
GST_NN_API void gst_nn_description_unref (GstNnDescription *description);
GST_NN_API gboolean gst_nn_description_set (GstNnDescription *description, const gchar *key,
                                            const gchar *value, GError **error);
GST_NN_API const gchar *gst_nn_description_get_key (guint index, const gchar **blurb);
GST_NN_API gboolean gst_nn_description_load (GstNnDescription *description, const gchar *model_path,
                                             AxonModel *model, GError **error);
GST_NN_API const gchar *gst_nn_description_get_label (const GstNnDescription *description,
                                                      gint class_id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstNnDescription, gst_nn_description_unref)

G_END_DECLS
