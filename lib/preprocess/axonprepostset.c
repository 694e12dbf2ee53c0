/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording what is said of inputs: a setter for each thing, a call for each step. */
#include "axonprepost-private.h"

Step *
port_add_step (PortInfo *port, StepKind kind)
{
  Step step = { .kind = kind };
  g_array_append_val (port->steps, step);
  return &g_array_index (port->steps, Step, port->steps->len - 1);
}

void
port_set_string (gchar **where, const gchar *text)
{
  g_free (*where);
  *where = g_strdup (text);
}

void
port_add_custom (PortInfo *port, AxonPrePostStepFunc func, gpointer user_data,
                 GDestroyNotify destroy)
{
  CustomStep *custom = g_new (CustomStep, 1);
  *custom = (CustomStep){ func, user_data, destroy };
  port_add_step (port, STEP_CUSTOM)->custom = custom;
}

/**
 * axon_pre_post_processor_set_tensor_type:
 * @self: the steps
 * @input: index of an input
 * @dtype: element type of the tensor that the caller has
 *
 * Without it the model's.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_type (AxonPrePostProcessor *self, guint input, AxonDType dtype)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  self->inputs[input].dtype = dtype;
}

/**
 * axon_pre_post_processor_set_tensor_layout:
 * @self: the steps
 * @input: index of an input
 * @layout: such as `NHWC`
 *
 * Layout of the caller's tensor; without it the model's.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_layout (AxonPrePostProcessor *self, guint input,
                                           const gchar *layout)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_set_string (&self->inputs[input].tensor_layout, layout);
}

/**
 * axon_pre_post_processor_set_tensor_shape:
 * @self: the steps
 * @input: index of an input
 * @shape: shape, -1 for free dimensions
 *
 * Shape of the caller's tensor; excludes set_tensor_size().
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_shape (AxonPrePostProcessor *self, guint input,
                                          const AxonShape *shape)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  self->inputs[input].shape = *shape;
}

/**
 * axon_pre_post_processor_set_tensor_size:
 * @self: the steps
 * @input: index of an input
 * @height: pixels, -1: free
 * @width: pixels, -1: free
 *
 * Size of the caller's picture.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_size (AxonPrePostProcessor *self, guint input, gint64 height,
                                         gint64 width)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  self->inputs[input].height = height;
  self->inputs[input].width = width;
  self->inputs[input].has_size = TRUE;
}

/**
 * axon_pre_post_processor_set_tensor_color:
 * @self: the steps
 * @input: index of an input
 * @format: colour format
 *
 * Colour format of the caller's picture. Formats in several planes make several inputs of one:
 * NAME/y and NAME/uv, or NAME/y, NAME/u and NAME/v.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_color (AxonPrePostProcessor *self, guint input,
                                          AxonColorFormat format)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  self->inputs[input].color = format;
}

/**
 * axon_pre_post_processor_set_tensor_from:
 * @self: the steps
 * @input: index of an input
 * @tensor: a tensor such as the caller will bind
 *
 * Takes type and shape from @tensor.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_tensor_from (AxonPrePostProcessor *self, guint input,
                                         AxonTensor *tensor)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  self->inputs[input].dtype = axon_tensor_get_dtype (tensor);
  self->inputs[input].shape = *axon_tensor_get_shape (tensor);
}

/**
 * axon_pre_post_processor_set_model_layout:
 * @self: the steps
 * @input: index of an input
 * @layout: such as `NCHW`
 *
 * Layout that the network wants.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_model_layout (AxonPrePostProcessor *self, guint input,
                                          const gchar *layout)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_set_string (&self->inputs[input].model_layout, layout);
}

/**
 * axon_pre_post_processor_convert_type:
 * @self: the steps
 * @input: index of an input
 * @dtype: element type from here on
 *
 * Converts the element type; floats are rounded to integers.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_type (AxonPrePostProcessor *self, guint input, AxonDType dtype)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_add_step (&self->inputs[input], STEP_TYPE)->dtype = dtype;
}

/**
 * axon_pre_post_processor_convert_color:
 * @self: the steps
 * @input: index of an input
 * @format: colour format from here on
 *
 * Converts the colour format.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_color (AxonPrePostProcessor *self, guint input,
                                       AxonColorFormat format)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_add_step (&self->inputs[input], STEP_COLOR)->color = format;
}

/**
 * axon_pre_post_processor_resize:
 * @self: the steps
 * @input: index of an input
 * @algorithm: interpolation
 * @height: pixels, -1: as the model wants
 * @width: pixels, -1: as the model wants
 *
 * Scales the picture; needs a layout with H and W.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_resize (AxonPrePostProcessor *self, guint input,
                                AxonResizeAlgorithm algorithm, gint64 height, gint64 width)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_RESIZE);
  step->algorithm = algorithm;
  step->height = height;
  step->width = width;
}

/**
 * axon_pre_post_processor_crop:
 * @self: the steps
 * @input: index of an input
 * @begin: first element, per dimension; negative: from the end
 * @end: behind the last element; negative: from the end
 *
 * Cuts a region out.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_crop (AxonPrePostProcessor *self, guint input, const AxonShape *begin,
                              const AxonShape *end)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_CROP);
  step->begin = *begin;
  step->end = *end;
}

/**
 * axon_pre_post_processor_pad:
 * @self: the steps
 * @input: index of an input
 * @begin: elements before, per dimension
 * @end: elements behind
 * @value: for %AXON_PAD_CONSTANT
 * @mode: what to fill with
 *
 * Adds a border.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_pad (AxonPrePostProcessor *self, guint input, const AxonShape *begin,
                             const AxonShape *end, gdouble value, AxonPadMode mode)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_PAD);
  step->begin = *begin;
  step->end = *end;
  step->min = value;
  step->mode = mode;
}

/**
 * axon_pre_post_processor_mean:
 * @self: the steps
 * @input: index of an input
 * @values: (array length=n_values): one value, or one per channel
 * @n_values: how many
 *
 * Subtracts; needs a float type.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_mean (AxonPrePostProcessor *self, guint input, const gfloat *values,
                              guint n_values)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_MEAN);
  step->values = g_memdup2 (values, n_values * sizeof *values);
  step->n_values = n_values;
}

/**
 * axon_pre_post_processor_scale:
 * @self: the steps
 * @input: index of an input
 * @values: (array length=n_values): one value, or one per channel
 * @n_values: how many
 *
 * Divides; needs a float type.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_scale (AxonPrePostProcessor *self, guint input, const gfloat *values,
                               guint n_values)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_SCALE);
  step->values = g_memdup2 (values, n_values * sizeof *values);
  step->n_values = n_values;
}

/**
 * axon_pre_post_processor_clamp:
 * @self: the steps
 * @input: index of an input
 * @min: least value
 * @max: largest value
 *
 * Limits values.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_clamp (AxonPrePostProcessor *self, guint input, gdouble min, gdouble max)
{
  Step *step;
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  step = port_add_step (&self->inputs[input], STEP_CLAMP);
  step->min = min;
  step->max = max;
}

/**
 * axon_pre_post_processor_convert_layout:
 * @self: the steps
 * @input: index of an input
 * @layout: such as `NCHW`
 *
 * Permutes dimensions, and adds leading ones: HWC to NCHW.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_layout (AxonPrePostProcessor *self, guint input,
                                        const gchar *layout)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_add_step (&self->inputs[input], STEP_LAYOUT)->layout = g_strdup (layout);
}

/**
 * axon_pre_post_processor_permute:
 * @self: the steps
 * @input: index of an input
 * @dims: for each dimension of the result, which it was
 *
 * Permutes dimensions.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_permute (AxonPrePostProcessor *self, guint input, const AxonShape *dims)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_add_step (&self->inputs[input], STEP_PERMUTE)->begin = *dims;
}

/**
 * axon_pre_post_processor_reverse_channels:
 * @self: the steps
 * @input: index of an input
 *
 * Reverses the channels: RGB to BGR.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_reverse_channels (AxonPrePostProcessor *self, guint input)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model));
  port_add_step (&self->inputs[input], STEP_REVERSE);
}

/**
 * axon_pre_post_processor_custom:
 * @self: the steps
 * @input: index of an input
 * @func: (scope notified): adds nodes
 * @user_data: given to @func
 * @destroy: (nullable): frees @user_data
 *
 * A step of one's own.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_custom (AxonPrePostProcessor *self, guint input, AxonPrePostStepFunc func,
                                gpointer user_data, GDestroyNotify destroy)
{
  g_return_if_fail (input < axon_model_get_n_inputs (self->model) && func != NULL);
  port_add_custom (&self->inputs[input], func, user_data, destroy);
}
