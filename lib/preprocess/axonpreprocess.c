/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPreprocess: what the model wants of a picture, lowered to one axon.ImageToTensor node. What
 * the caller has is said per run. One thread at a time. */
#include <axon/axonpreprocess.h>
#include <axon/plugin/axongraph.h>
#include <axon/plugin/axonbuiltins.h>
#include <axon/plugin/axonframe.h>

#include "config.h"
#include <glib/gi18n-lib.h>

/**
 * AxonPreprocess:
 *
 * Image preprocessing as part of the graph: size, colour order, mean, scale, type and layout of the
 * tensor that a model wants.
 *
 * Since: 1.0
 */
struct _AxonPreprocess {
  GObject parent_instance;
  gint width, height;
  gchar *color, *layout;
  AxonDType dtype;
  AxonImageFit fit;
  gdouble pad_value, crop_fraction;
  gfloat mean[4], scale[4];
  guint n_mean, n_scale;
};

G_DEFINE_TYPE (AxonPreprocess, axon_preprocess, G_TYPE_OBJECT)

static void
axon_preprocess_init (AxonPreprocess *self)
{
  self->color = g_strdup ("rgb");
  self->layout = NULL;
  self->dtype = AXON_DTYPE_F32;
  self->crop_fraction = 1;
}

static void
axon_preprocess_finalize (GObject *object)
{
  AxonPreprocess *self = AXON_PREPROCESS (object);
  g_free (self->color);
  g_free (self->layout);
  G_OBJECT_CLASS (axon_preprocess_parent_class)->finalize (object);
}

static void
axon_preprocess_class_init (AxonPreprocessClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_preprocess_finalize;
}

/**
 * axon_preprocess_new:
 *
 * Returns: (transfer full): steps that do nothing but resize: RGB, 0 to 255, f32, layout and size
 * of the model
 *
 * Since: 1.0
 */
AxonPreprocess *
axon_preprocess_new (void)
{
  return g_object_new (AXON_TYPE_PREPROCESS, NULL);
}

/**
 * axon_preprocess_set_size:
 * @self: the steps
 * @width: tensor width
 * @height: tensor height
 *
 * Needed where the model leaves its size free.
 *
 * Since: 1.0
 */
void
axon_preprocess_set_size (AxonPreprocess *self, gint width, gint height)
{
  self->width = width;
  self->height = height;
}

/**
 * axon_preprocess_set_color:
 * @self: the steps
 * @color: `rgb`, `bgr` or `gray` (0.299 R + 0.587 G + 0.114 B)
 *
 * Since: 1.0
 */
void
axon_preprocess_set_color (AxonPreprocess *self, const gchar *color)
{
  g_return_if_fail (color != NULL);
  g_free (self->color);
  self->color = g_strdup (color);
}

/**
 * axon_preprocess_set_layout:
 * @self: the steps
 * @layout: (nullable): `nchw`, `nhwc`, or %NULL to follow the model
 *
 * Since: 1.0
 */
void
axon_preprocess_set_layout (AxonPreprocess *self, const gchar *layout)
{
  g_free (self->layout);
  self->layout = g_strdup (layout);
}

/**
 * axon_preprocess_set_dtype:
 * @self: the steps
 * @dtype: element type of the tensor, where no model says it
 *
 * Since: 1.0
 */
void
axon_preprocess_set_dtype (AxonPreprocess *self, AxonDType dtype)
{
  self->dtype = dtype;
}

/**
 * axon_preprocess_set_fit:
 * @self: the steps
 * @fit: what happens to the aspect ratio
 * @pad_value: pixel value of bars, before mean and scale
 *
 * Since: 1.0
 */
void
axon_preprocess_set_fit (AxonPreprocess *self, AxonImageFit fit, gdouble pad_value)
{
  self->fit = fit;
  self->pad_value = pad_value;
}

/**
 * axon_preprocess_set_crop_fraction:
 * @self: the steps
 * @fraction: above 0, up to 1
 *
 * How much of the largest part that %AXON_IMAGE_FIT_CROP could take it takes, about the middle.
 * Classifiers that were trained on pictures of 256 pixels, cut to 224, want 0.875.
 *
 * Since: 1.0
 */
void
axon_preprocess_set_crop_fraction (AxonPreprocess *self, gdouble fraction)
{
  g_return_if_fail (fraction > 0 && fraction <= 1);
  self->crop_fraction = fraction;
}

/**
 * axon_preprocess_set_mean:
 * @self: the steps
 * @values: (array length=n_values): subtracted from pixel values; one, or one per channel
 * @n_values: 0 to 4
 *
 * Since: 1.0
 */
void
axon_preprocess_set_mean (AxonPreprocess *self, const gfloat *values, guint n_values)
{
  self->n_mean = MIN (n_values, 4);
  for (guint i = 0; i < self->n_mean; i++)
    self->mean[i] = values[i];
}

/**
 * axon_preprocess_set_scale:
 * @self: the steps
 * @values: (array length=n_values): divisors, after the mean; one, or one per channel
 * @n_values: 0 to 4
 *
 * Since: 1.0
 */
void
axon_preprocess_set_scale (AxonPreprocess *self, const gfloat *values, guint n_values)
{
  self->n_scale = MIN (n_values, 4);
  for (guint i = 0; i < self->n_scale; i++)
    self->scale[i] = values[i];
}

static AxonValue *
frame_inputs (AxonModel *model, AxonValue **in)
{
  AxonShape info = AXON_SHAPE (AXON_IMAGE_INFO_NUMEL), plane = AXON_SHAPE (-1);
  in[0] = axon_model_add_input (model, "axon.image.info", AXON_DTYPE_I64, &info);
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    g_autofree gchar *name = g_strdup_printf ("axon.image.plane%u", p);
    in[1 + p] = axon_model_add_input (model, name, AXON_DTYPE_U8, &plane);
  }
  return axon_model_add_value (model, "axon.image.tensor");
}

/**
 * axon_picture_shape_init:
 * @picture: (out caller-allocates): what @shape means
 * @shape: of a tensor; leading ones may be left out
 * @color: `rgb`, `bgr` or `gray`
 * @layout: (nullable): `nchw` or `nhwc`; %NULL: channels are last only where they fit there and do
 *   not fit first
 *
 * Returns: %TRUE if a tensor of that shape holds one picture
 *
 * Since: 1.0
 */
gboolean
axon_picture_shape_init (AxonPictureShape *picture, const AxonShape *shape, const gchar *color,
                         const gchar *layout)
{
  gint64 d[4] = { 1, 1, 1, 1 };
  gint channels = g_str_equal (color, "gray") ? 1 : 3;
  gint64 found;
  *picture = (AxonPictureShape){ -1, -1, channels, FALSE };
  for (gint i = 0; i < shape->rank; i++) {
    gint at = 4 - shape->rank + i;
    if (at >= 0)
      d[at] = shape->dims[i];
    else if (shape->dims[i] != 1)
      return FALSE;
  }
  picture->channels_last =
      layout ? g_str_equal (layout, "nhwc") : d[1] != channels && d[3] == channels;
  picture->height = (gint)d[picture->channels_last ? 1 : 2];
  picture->width = (gint)d[picture->channels_last ? 2 : 3];
  found = d[picture->channels_last ? 3 : 1];
  return shape->rank >= 2 && d[0] <= 1 && (found < 0 || found == channels);
}

/* Takes size, layout and type from the input they are for. */
static gboolean
adopt_input (AxonPreprocess *self, const AxonValue *value, AxonPictureShape *picture,
             AxonDType *dtype, GError **error)
{
  const AxonShape *s = &value->type.shape;
  g_autofree gchar *text = axon_shape_to_string (s);
  gint w, h;
  if (!axon_picture_shape_init (picture, s, self->color, self->layout) || s->rank != 4) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("input \"%s\" has shape %s: expected one picture, [1,%d,height,width] or "
                    "[1,height,width,%d] for color %s"),
                 value->name, text, picture->channels, picture->channels, self->color);
    return FALSE;
  }
  w = picture->width;
  h = picture->height;
  if ((w >= 0 && self->width > 0 && self->width != w) ||
      (h >= 0 && self->height > 0 && self->height != h) || (w < 0 && self->width < 1) ||
      (h < 0 && self->height < 1)) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 w < 0 || h < 0
                     ? _ ("input \"%s\" has shape %s: its size is free, set width and height")
                     : _ ("input \"%s\" has shape %s: another width or height was set"),
                 value->name, text);
    return FALSE;
  }
  picture->width = w >= 0 ? w : self->width;
  picture->height = h >= 0 ? h : self->height;
  *dtype = value->type.dtype;
  return TRUE;
}

static void
set_attributes (AxonPreprocess *self, AxonNode *node, const AxonPictureShape *picture,
                AxonDType dtype)
{
  axon_node_set_int (node, "width", picture->width);
  axon_node_set_int (node, "height", picture->height);
  axon_node_set_int (node, "dtype", dtype);
  axon_node_set_int (node, "fit", self->fit);
  axon_node_set_string (node, "color", self->color);
  axon_node_set_string (node, "layout", picture->channels_last ? "nhwc" : "nchw");
  axon_node_set_float (node, "pad_value", self->pad_value);
  axon_node_set_float (node, "crop_fraction", self->crop_fraction);
  axon_node_set_floats (node, "mean", self->mean, self->n_mean);
  axon_node_set_floats (node, "scale", self->scale, self->n_scale);
}

static void
connect_to_model (AxonModel *result, guint input, AxonValue *tensor, guint n_old)
{
  AxonValue *old = g_ptr_array_index (result->inputs, input);
  axon_model_replace_value (result, old, tensor);
  old->is_input = FALSE;
  g_ptr_array_remove_index (result->inputs, input);
  /* The four frame inputs stand where the picture input stood. */
  for (guint i = 0; i < 4; i++) {
    AxonValue *value = g_ptr_array_steal_index (result->inputs, n_old - 1 + i);
    g_ptr_array_insert (result->inputs, (gint)(input + i), value);
  }
  axon_model_prune (result);
}

/**
 * axon_preprocess_build:
 * @self: the steps
 * @model: (nullable): the model to put the steps before; %NULL for a model of the steps alone
 * @input: index of the picture input of @model
 * @error: return location
 *
 * The picture input is replaced by four: `axon.image.info` (i64, the fields of #AxonImageInfo) and
 * `axon.image.plane0` to `plane2` (u8, the bytes of each plane; one byte where a format has fewer).
 *
 * Returns: (transfer full) (nullable): a new model; @model is not changed
 *
 * Since: 1.0
 */
AxonModel *
axon_preprocess_build (AxonPreprocess *self, AxonModel *model, guint input, GError **error)
{
  g_autoptr (AxonModel) result = model ? axon_model_clone (model) : axon_model_new ("preprocess");
  AxonPictureShape picture = { .width = self->width,
                               .height = self->height,
                               .channels_last = g_strcmp0 (self->layout, "nhwc") == 0 };
  AxonDType dtype = self->dtype;
  guint n_old = result->inputs->len;
  AxonValue *in[4], *tensor;
  AxonNode *node;
  if (model != NULL && input >= n_old) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("the model has no input %u"), input);
    return NULL;
  }
  if (model != NULL &&
      !adopt_input (self, g_ptr_array_index (result->inputs, input), &picture, &dtype, error))
    return NULL;
  tensor = frame_inputs (result, in);
  node = axon_model_add_node (result, axon_builtin_op (AXON_DOMAIN_AXON, "ImageToTensor", 1), 1,
                              "axon.image", in, 4, &tensor, 1);
  g_ptr_array_add (node->origins, g_strdup (node->name));
  set_attributes (self, node, &picture, dtype);
  if (model != NULL) /* devices that know the model by its ports need the name */
    axon_node_set_info (node, AXON_INFO_PICTURE_INPUT,
                        ((AxonValue *)g_ptr_array_index (result->inputs, input))->name);
  if (model != NULL)
    connect_to_model (result, input, tensor, n_old);
  else
    axon_model_add_output (result, tensor);
  if (!axon_model_sort (result, error) || !axon_model_infer_shapes (result, error))
    return NULL;
  g_assert (axon_model_verify (result, NULL));
  return g_steal_pointer (&result);
}

/**
 * axon_preprocess_to_string:
 * @self: the steps
 *
 * Returns: (transfer full): the plan in words
 *
 * Since: 1.0
 */
gchar *
axon_preprocess_to_string (AxonPreprocess *self)
{
  static const gchar *const fits[] = { "stretch", "letterbox", "top-left", "crop" };
  g_autoptr (GString) s = g_string_new (NULL);
  g_string_append_printf (s, "resize %s, color %s, pad %g", fits[self->fit], self->color,
                          self->pad_value);
  if (self->fit == AXON_IMAGE_FIT_CROP)
    g_string_append_printf (s, ", crop %g", self->crop_fraction);
  for (guint i = 0; i < self->n_mean; i++)
    g_string_append_printf (s, "%s%g", i ? "," : ", mean ", (gdouble)self->mean[i]);
  for (guint i = 0; i < self->n_scale; i++)
    g_string_append_printf (s, "%s%g", i ? "," : ", scale ", (gdouble)self->scale[i]);
  return g_string_free (g_steal_pointer (&s), FALSE);
}
