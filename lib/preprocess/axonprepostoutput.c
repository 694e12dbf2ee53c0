/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Recording what is said of outputs. */
#include "axonprepost-private.h"

/**
 * axon_pre_post_processor_set_output_model_layout:
 * @self: the steps
 * @output: index of an output
 * @layout: such as `NCHW`
 *
 * Layout that the network gives.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_output_model_layout (AxonPrePostProcessor *self, guint output,
                                                 const gchar *layout)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  port_set_string (&self->outputs[output].model_layout, layout);
}

/**
 * axon_pre_post_processor_convert_output_type:
 * @self: the steps
 * @output: index of an output
 * @dtype: element type from here on
 *
 * Converts the element type.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_output_type (AxonPrePostProcessor *self, guint output,
                                             AxonDType dtype)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  port_add_step (&self->outputs[output], STEP_TYPE)->dtype = dtype;
}

/**
 * axon_pre_post_processor_convert_output_layout:
 * @self: the steps
 * @output: index of an output
 * @layout: such as `NHWC`
 *
 * Permutes dimensions.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_output_layout (AxonPrePostProcessor *self, guint output,
                                               const gchar *layout)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  port_add_step (&self->outputs[output], STEP_LAYOUT)->layout = g_strdup (layout);
}

/**
 * axon_pre_post_processor_clamp_output:
 * @self: the steps
 * @output: index of an output
 * @min: least value
 * @max: largest value
 *
 * Limits values.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_clamp_output (AxonPrePostProcessor *self, guint output, gdouble min,
                                      gdouble max)
{
  Step *step;
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  step = port_add_step (&self->outputs[output], STEP_CLAMP);
  step->min = min;
  step->max = max;
}

/**
 * axon_pre_post_processor_custom_output:
 * @self: the steps
 * @output: index of an output
 * @func: (scope notified): adds nodes
 * @user_data: given to @func
 * @destroy: (nullable): frees @user_data
 *
 * A step of one's own.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_custom_output (AxonPrePostProcessor *self, guint output,
                                       AxonPrePostStepFunc func, gpointer user_data,
                                       GDestroyNotify destroy)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model) && func != NULL);
  port_add_custom (&self->outputs[output], func, user_data, destroy);
}

/**
 * axon_pre_post_processor_set_output_model_color:
 * @self: the steps
 * @output: index of an output
 * @format: what picture the network gives
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_output_model_color (AxonPrePostProcessor *self, guint output,
                                                AxonColorFormat format)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  self->outputs[output].color = format;
}

/**
 * axon_pre_post_processor_convert_output_color:
 * @self: the steps
 * @output: index of an output
 * @format: what picture the caller wants
 *
 * Converts from axon_pre_post_processor_set_output_model_color().
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_convert_output_color (AxonPrePostProcessor *self, guint output,
                                              AxonColorFormat format)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  port_add_step (&self->outputs[output], STEP_COLOR)->color = format;
}

/**
 * axon_pre_post_processor_set_output_tensor_type:
 * @self: the steps
 * @output: index of an output
 * @dtype: element type that the caller wants
 *
 * Converted implicitly at the end.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_output_tensor_type (AxonPrePostProcessor *self, guint output,
                                                AxonDType dtype)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  self->outputs[output].dtype = dtype;
}

/**
 * axon_pre_post_processor_set_output_tensor_layout:
 * @self: the steps
 * @output: index of an output
 * @layout: layout that the caller wants
 *
 * Converted implicitly at the end.
 *
 * Since: 1.0
 */
void
axon_pre_post_processor_set_output_tensor_layout (AxonPrePostProcessor *self, guint output,
                                                  const gchar *layout)
{
  g_return_if_fail (output < axon_model_get_n_outputs (self->model));
  port_set_string (&self->outputs[output].tensor_layout, layout);
}
