/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs and outputs of a compiled model: its own copies, so that renaming a port of the model
 * afterwards changes nothing here. */
#include "axoncompiledmodel-private.h"

static const AxonPort *
port_at (AxonCompiledModel *compiled, gboolean output, guint index)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  GArray *ports = output ? priv->outputs : priv->inputs;
  g_return_val_if_fail (index < ports->len, NULL);
  return &g_array_index (ports, AxonPort, index);
}

/**
 * axon_compiled_model_get_n_inputs:
 * @compiled: a compiled model
 *
 * Returns: the number of inputs
 *
 * Since: 1.0
 */
guint
axon_compiled_model_get_n_inputs (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  return priv->inputs->len;
}

/**
 * axon_compiled_model_get_n_outputs:
 * @compiled: a compiled model
 *
 * Returns: the number of outputs
 *
 * Since: 1.0
 */
guint
axon_compiled_model_get_n_outputs (AxonCompiledModel *compiled)
{
  AxonCompiledModelPrivate *priv = axon_compiled_model_private (compiled);
  return priv->outputs->len;
}

/**
 * axon_compiled_model_get_input_name:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_input_name (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, FALSE, index)->name;
}

/**
 * axon_compiled_model_get_output_name:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: (transfer none): its name
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_output_name (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, TRUE, index)->name;
}

/**
 * axon_compiled_model_get_input_dtype:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_compiled_model_get_input_dtype (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, FALSE, index)->dtype;
}

/**
 * axon_compiled_model_get_output_dtype:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: its element type
 *
 * Since: 1.0
 */
AxonDType
axon_compiled_model_get_output_dtype (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, TRUE, index)->dtype;
}

/**
 * axon_compiled_model_get_input_shape:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: (transfer none): its shape, -1 for free dimensions
 *
 * Since: 1.0
 */
const AxonShape *
axon_compiled_model_get_input_shape (AxonCompiledModel *compiled, guint index)
{
  return &port_at (compiled, FALSE, index)->shape;
}

/**
 * axon_compiled_model_get_output_shape:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: (transfer none): its shape, -1 where it depends on the inputs
 *
 * Since: 1.0
 */
const AxonShape *
axon_compiled_model_get_output_shape (AxonCompiledModel *compiled, guint index)
{
  return &port_at (compiled, TRUE, index)->shape;
}

/**
 * axon_compiled_model_get_input_layout:
 * @compiled: a compiled model
 * @index: an input
 *
 * Returns: (transfer none) (nullable): one letter per dimension, such as `NCHW`; %NULL: not said
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_input_layout (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, FALSE, index)->layout;
}

/**
 * axon_compiled_model_get_output_layout:
 * @compiled: a compiled model
 * @index: an output
 *
 * Returns: (transfer none) (nullable): one letter per dimension, such as `NCHW`; %NULL: not said
 *
 * Since: 1.0
 */
const gchar *
axon_compiled_model_get_output_layout (AxonCompiledModel *compiled, guint index)
{
  return port_at (compiled, TRUE, index)->layout;
}

static gint
find_port (const GArray *ports, const gchar *name)
{
  for (guint i = 0; i < ports->len; i++)
    if (g_str_equal (g_array_index (ports, AxonPort, i).name, name))
      return (gint)i;
  return -1;
}

/**
 * axon_compiled_model_find_input:
 * @compiled: a compiled model
 * @name: a tensor name
 *
 * Returns: the index of the input of that name, or -1
 *
 * Since: 1.0
 */
gint
axon_compiled_model_find_input (AxonCompiledModel *compiled, const gchar *name)
{
  return find_port (axon_compiled_model_private (compiled)->inputs, name);
}

/**
 * axon_compiled_model_find_output:
 * @compiled: a compiled model
 * @name: a tensor name
 *
 * Returns: the index of the output of that name, or -1
 *
 * Since: 1.0
 */
gint
axon_compiled_model_find_output (AxonCompiledModel *compiled, const gchar *name)
{
  return find_port (axon_compiled_model_private (compiled)->outputs, name);
}
