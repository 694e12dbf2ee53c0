/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* AxonPrePostProcessor: what the caller has, what the network wants, and the steps between,
 * recorded; build() puts them before and after a clone of the model as ordinary nodes, so that the
 * device runs them. One thread at a time. */
#include "axonprepost-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

/**
 * AxonPrePostProcessor:
 *
 * Steps from a caller's tensors to a network's inputs, and from its outputs to what a caller wants,
 * as part of the model. Steps run in the order of the calls; what is then still different, layout
 * first, element type last, is converted implicitly.
 *
 * Since: 1.0
 */
G_DEFINE_TYPE (AxonPrePostProcessor, axon_pre_post_processor, G_TYPE_OBJECT)

static void
step_clear (gpointer data)
{
  Step *step = data;
  g_free (step->values);
  g_free (step->layout);
  if (step->custom != NULL && step->custom->destroy != NULL)
    step->custom->destroy (step->custom->user_data);
  g_free (step->custom);
}

static PortInfo *
ports_new (guint n)
{
  PortInfo *ports = g_new0 (PortInfo, n + 1);
  for (guint i = 0; i < n; i++) {
    ports[i].shape = AXON_SHAPE_UNKNOWN;
    ports[i].height = ports[i].width = -1;
    ports[i].steps = g_array_new (FALSE, TRUE, sizeof (Step));
    g_array_set_clear_func (ports[i].steps, step_clear);
  }
  return ports;
}

static void
ports_free (PortInfo *ports, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_free (ports[i].tensor_layout);
    g_free (ports[i].model_layout);
    g_array_unref (ports[i].steps);
  }
  g_free (ports);
}

static void
axon_pre_post_processor_init (AxonPrePostProcessor *self)
{
  self->plan = g_string_new (NULL);
}

static void
axon_pre_post_processor_finalize (GObject *object)
{
  AxonPrePostProcessor *self = AXON_PRE_POST_PROCESSOR (object);
  ports_free (self->inputs, axon_model_get_n_inputs (self->model));
  ports_free (self->outputs, axon_model_get_n_outputs (self->model));
  g_object_unref (self->model);
  g_string_free (self->plan, TRUE);
  G_OBJECT_CLASS (axon_pre_post_processor_parent_class)->finalize (object);
}

static void
axon_pre_post_processor_class_init (AxonPrePostProcessorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = axon_pre_post_processor_finalize;
}

/**
 * axon_pre_post_processor_new: (constructor)
 * @model: a model; not changed
 *
 * Returns: (transfer full): no steps yet
 *
 * Since: 1.0
 */
AxonPrePostProcessor *
axon_pre_post_processor_new (AxonModel *model)
{
  AxonPrePostProcessor *self = g_object_new (AXON_TYPE_PRE_POST_PROCESSOR, NULL);
  self->model = axon_model_clone (model);
  self->inputs = ports_new (axon_model_get_n_inputs (model));
  self->outputs = ports_new (axon_model_get_n_outputs (model));
  return self;
}

static gint
find_port (const GPtrArray *values, gboolean is_input, const gchar *name, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autofree gchar *near = NULL;
  if (name == NULL && values->len == 1)
    return 0;
  for (guint i = 0; i < values->len; i++) {
    const gchar *known = ((AxonValue *)g_ptr_array_index (values, i))->name;
    if (g_strcmp0 (known, name) == 0)
      return (gint)i;
    g_ptr_array_add (names, (gpointer)known);
  }
  g_ptr_array_add (names, NULL);
  near = name ? axon_nearest_name (name, (const gchar *const *)names->pdata) : NULL;
  if (name != NULL)
    work_fail (error,
               is_input ? _ ("the model has no input \"%s\"%s")
                        : _ ("the model has no output \"%s\"%s"),
               name, near);
  else
    work_fail (error,
               is_input ? _ ("the model has %u inputs: say which")
                        : _ ("the model has %u outputs: say which"),
               values->len);
  return -1;
}

/**
 * axon_pre_post_processor_find_input:
 * @self: the steps
 * @name: (nullable): a tensor name; %NULL: the only input
 * @error: return location
 *
 * Returns: its index; -1 with %AXON_ERROR_ARGUMENT where there is none, or several
 *
 * Since: 1.0
 */
gint
axon_pre_post_processor_find_input (AxonPrePostProcessor *self, const gchar *name, GError **error)
{
  return find_port (self->model->inputs, TRUE, name, error);
}

/**
 * axon_pre_post_processor_find_output:
 * @self: the steps
 * @name: (nullable): a tensor name; %NULL: the only output
 * @error: return location
 *
 * Returns: its index; -1 with %AXON_ERROR_ARGUMENT where there is none, or several
 *
 * Since: 1.0
 */
gint
axon_pre_post_processor_find_output (AxonPrePostProcessor *self, const gchar *name, GError **error)
{
  return find_port (self->model->outputs, FALSE, name, error);
}

static gboolean
check_layouts (const PortInfo *port, const gchar *name, GError **error)
{
  const gchar *all[] = { port->tensor_layout, port->model_layout };
  for (guint i = 0; i < 2; i++)
    if (all[i] != NULL && !axon_layout_is_valid (all[i]))
      return work_fail (error,
                        _ ("\"%s\": layout \"%s\": expected one capital letter, ? or ... per "
                           "dimension, each letter once"),
                        name, all[i]);
  for (guint i = 0; i < port->steps->len; i++) {
    const gchar *layout = g_array_index (port->steps, Step, i).layout;
    if (layout != NULL && !axon_layout_is_valid (layout))
      return work_fail (error, _ ("\"%s\": layout \"%s\" is none"), name, layout);
  }
  if (port->has_size && port->shape.rank >= 0)
    return work_fail (error, _ ("\"%s\": set the tensor's shape or its size, not both"), name);
  return TRUE;
}

static gboolean
has_step (const PortInfo *port, StepKind kind)
{
  for (guint i = 0; i < port->steps->len; i++)
    if (g_array_index (port->steps, Step, i).kind == kind)
      return TRUE;
  return FALSE;
}

static gint64
channels_of (AxonColorFormat color, gint64 otherwise)
{
  switch (color) {
  case AXON_COLOR_FORMAT_UNDEFINED:
    return otherwise;
  case AXON_COLOR_FORMAT_RGB:
  case AXON_COLOR_FORMAT_BGR:
    return 3;
  case AXON_COLOR_FORMAT_RGBX:
  case AXON_COLOR_FORMAT_BGRX:
    return 4;
  default:
    return 1;
  }
}

/* The model's dimension of @letter; 1 for a batch that it does not have. */
static gint64
model_dim (const PortInfo *port, const AxonShape *model, gchar letter)
{
  gint at = axon_layout_find (port->model_layout, letter, model->rank);
  return at >= 0 ? model->dims[at] : letter == 'N' ? 1 : -1;
}

/* What the caller's tensor is where it was not said. */
static AxonShape
tensor_shape (const PortInfo *port, const gchar *layout, const AxonShape *model)
{
  AxonShape s = *model;
  gboolean resized = has_step (port, STEP_RESIZE);
  gboolean known = layout != NULL && port->model_layout != NULL && axon_layout_is_valid (layout) &&
                   strstr (layout, "...") == NULL;
  if (port->shape.rank >= 0)
    return port->shape;
  if (!known)
    return s;
  s.rank = (gint)strlen (layout);
  for (gint i = 0; i < s.rank; i++) {
    gint64 size = layout[i] == 'H' ? port->height : layout[i] == 'W' ? port->width : -1;
    gboolean spatial = layout[i] == 'H' || layout[i] == 'W';
    s.dims[i] = spatial && port->has_size ? size
                : spatial && resized      ? -1
                                          : model_dim (port, model, layout[i]);
    if (layout[i] == 'C')
      s.dims[i] = channels_of (port->color, s.dims[i]);
    if (layout[i] == 'H' && color_is_yuv (port->color) && color_n_planes (port->color) == 1 &&
        s.dims[i] > 0 && port->shape.rank < 0)
      s.dims[i] = s.dims[i] / 2 * 3;
  }
  return s;
}

static void
rename_value (AxonModel *model, AxonValue *value, const gchar *suffix)
{
  gchar *name = g_strconcat (value->name, suffix, NULL);
  g_hash_table_remove (model->by_name, value->name);
  g_free (value->name);
  value->name = name;
  g_hash_table_insert (model->by_name, value->name, value);
}

static AxonValue *
new_input (AxonModel *model, const gchar *name, const gchar *suffix, AxonDType dtype,
           const AxonShape *shape, const gchar *layout, guint at)
{
  g_autofree gchar *full = g_strconcat (name, suffix, NULL);
  AxonValue *value = axon_model_add_input (model, full, dtype, shape);
  guint last = model->inputs->len - 1;
  if (value == NULL)
    return NULL;
  value->layout = g_strdup (layout);
  g_ptr_array_insert (model->inputs, (gint)at, g_ptr_array_steal_index (model->inputs, last));
  return value;
}

/* Inputs NAME, or NAME/y and the chroma planes. */
static gboolean
make_inputs (Work *work, const PortInfo *port, const gchar *name, AxonDType dtype,
             const AxonShape *shape, guint *at, GError **error)
{
  static const gchar *const two[] = { "/uv" }, *const three[] = { "/u", "/v" };
  guint planes = color_n_planes (port->color);
  AxonShape chroma = *shape;
  work->value =
      new_input (work->model, name, planes > 1 ? "/y" : "", dtype, shape, work->layout, (*at)++);
  if (work->value == NULL)
    return work_fail (error, _ ("\"%s\": the name of a plane is taken"), name);
  for (guint i = 1; i < planes; i++) {
    if (shape->rank == 4) {
      chroma.dims[1] = shape->dims[1] < 0 ? -1 : shape->dims[1] / 2;
      chroma.dims[2] = shape->dims[2] < 0 ? -1 : shape->dims[2] / 2;
      chroma.dims[3] = planes == 2 ? 2 : 1;
    }
    work->planes[i - 1] = new_input (work->model, name, planes == 2 ? two[0] : three[i - 1], dtype,
                                     &chroma, work->layout, (*at)++);
    if (work->planes[i - 1] == NULL)
      return work_fail (error, _ ("\"%s\": the name of a plane is taken"), name);
  }
  return TRUE;
}

static gboolean
finish_input (Work *work, const PortInfo *port, AxonValue *old, GError **error)
{
  Step layout = { .kind = STEP_LAYOUT, .layout = port->model_layout };
  Step type = { .kind = STEP_TYPE, .dtype = old->type.dtype };
  if (color_n_planes (work->color) > 1)
    return work_fail (error, _ ("a picture in %u planes needs convert_color"),
                      color_n_planes (work->color));
  if (port->model_layout != NULL && work->layout != NULL &&
      !g_str_equal (port->model_layout, work->layout)) {
    g_string_append (work->plan, "  implicit:\n");
    if (strlen (port->model_layout) == (gsize)old->type.shape.rank &&
        !step_apply (work, &layout, error))
      return FALSE;
  }
  if (work->value->type.dtype != old->type.dtype && !step_apply (work, &type, error))
    return FALSE;
  if (!axon_shape_accepts (&old->type.shape, &work->value->type.shape) &&
      axon_shape_is_static (&work->value->type.shape)) {
    g_autofree gchar *expected = axon_shape_to_string (&old->type.shape);
    g_autofree gchar *got = axon_shape_to_string (&work->value->type.shape);
    return work_fail (error, _ ("the steps give %s, the model wants %s"), got, expected);
  }
  return TRUE;
}

static gboolean
build_input (AxonPrePostProcessor *self, AxonModel *model, guint index, guint *at, GString *plan,
             GError **error)
{
  const PortInfo *port = &self->inputs[index];
  AxonValue *old = g_ptr_array_index (model->inputs, *at);
  g_autofree gchar *name = g_strdup (old->name);
  const gchar *layout = port->tensor_layout          ? port->tensor_layout
                        : color_is_yuv (port->color) ? "NHWC"
                                                     : port->model_layout;
  AxonShape shape = tensor_shape (port, layout, &old->type.shape);
  Work work = { .model = model, .color = port->color, .plan = plan };
  g_autofree gchar *text = axon_shape_to_string (&shape);
  AxonDType dtype = port->dtype ? port->dtype : old->type.dtype;
  gboolean ok;
  work.model_height = model_dim (port, &old->type.shape, 'H');
  work.model_width = model_dim (port, &old->type.shape, 'W');
  work.layout = g_strdup (layout);
  g_string_append_printf (plan, "input \"%s\": %s%s %s %s\n", name, axon_dtype_get_name (dtype),
                          text, layout ? layout : "-", port->color ? color_name (port->color) : "");
  rename_value (model, old, "/model");
  ok = make_inputs (&work, port, name, dtype, &shape, at, error);
  for (guint i = 0; ok && i < port->steps->len; i++)
    ok = step_apply (&work, &g_array_index (port->steps, Step, i), error);
  ok = ok && finish_input (&work, port, old, error);
  g_free (work.layout);
  if (!ok) {
    g_prefix_error (error, _ ("input \"%s\": "), name);
    return FALSE;
  }
  axon_model_replace_value (model, old, work.value);
  old->is_input = FALSE;
  g_ptr_array_remove (model->inputs, old);
  return TRUE;
}

static gboolean
is_plain (const PortInfo *port)
{
  return port->steps->len == 0 && port->dtype == AXON_DTYPE_UNDEFINED && port->shape.rank < 0 &&
         !port->has_size && port->color == AXON_COLOR_FORMAT_UNDEFINED &&
         (port->tensor_layout == NULL || g_strcmp0 (port->tensor_layout, port->model_layout) == 0);
}

static gboolean
build_inputs (AxonPrePostProcessor *self, AxonModel *model, GString *plan, GError **error)
{
  guint at = 0, n = model->inputs->len;
  for (guint i = 0; i < n; i++) {
    AxonValue *value = g_ptr_array_index (model->inputs, at);
    if (!check_layouts (&self->inputs[i], value->name, error))
      return FALSE;
    if (is_plain (&self->inputs[i])) {
      g_free (value->layout);
      value->layout = g_strdup (self->inputs[i].model_layout);
      at++;
    } else if (!build_input (self, model, i, &at, plan, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
finish_output (Work *work, const PortInfo *port, GError **error)
{
  Step layout = { .kind = STEP_LAYOUT, .layout = port->tensor_layout };
  Step type = { .kind = STEP_TYPE, .dtype = port->dtype };
  if (port->tensor_layout != NULL && g_strcmp0 (port->tensor_layout, work->layout) != 0 &&
      !step_apply (work, &layout, error))
    return FALSE;
  return port->dtype == AXON_DTYPE_UNDEFINED || port->dtype == work->value->type.dtype ||
         step_apply (work, &type, error);
}

static gboolean
build_output (AxonPrePostProcessor *self, AxonModel *model, guint index, GString *plan,
              GError **error)
{
  const PortInfo *port = &self->outputs[index];
  AxonValue *old = g_ptr_array_index (model->outputs, index);
  Work work = { .model = model,
                .value = old,
                .layout = g_strdup (port->model_layout),
                .color = port->color,
                .plan = plan };
  gboolean ok = check_layouts (port, old->name, error);
  g_string_append_printf (plan, "output \"%s\":\n", old->name);
  for (guint i = 0; ok && i < port->steps->len; i++)
    ok = step_apply (&work, &g_array_index (port->steps, Step, i), error);
  ok = ok && finish_output (&work, port, error);
  if (ok && work.value != old) {
    axon_model_set_output (model, index, work.value); /* takes the name along */
    ((AxonValue *)g_ptr_array_index (model->outputs, index))->layout = g_strdup (work.layout);
  }
  g_free (work.layout);
  if (!ok)
    g_prefix_error (error, _ ("output %u: "), index);
  return ok;
}

/**
 * axon_pre_post_processor_build:
 * @self: the steps
 * @error: return location
 *
 * Returns: (transfer full) (nullable): a new model; %NULL with %AXON_ERROR_ARGUMENT where a step
 * does not fit, which names the port and the step
 *
 * Since: 1.0
 */
AxonModel *
axon_pre_post_processor_build (AxonPrePostProcessor *self, GError **error)
{
  g_autoptr (AxonModel) model = axon_model_clone (self->model);
  g_string_truncate (self->plan, 0);
  if (!build_inputs (self, model, self->plan, error))
    return NULL;
  for (guint i = 0; i < model->outputs->len; i++)
    if ((self->outputs[i].steps->len > 0 || self->outputs[i].dtype ||
         self->outputs[i].tensor_layout) &&
        !build_output (self, model, i, self->plan, error))
      return NULL;
  axon_model_prune (model);
  if (!axon_model_sort (model, error) || !axon_model_infer_shapes (model, error))
    return NULL;
  g_assert (axon_model_verify (model, NULL));
  return g_steal_pointer (&model);
}

/**
 * axon_pre_post_processor_to_string:
 * @self: the steps
 *
 * Returns: (transfer full): the plan of the last build: tensors, each step from what to what, and
 *   what was added implicitly
 *
 * Since: 1.0
 */
gchar *
axon_pre_post_processor_to_string (AxonPrePostProcessor *self)
{
  return g_strdup (self->plan->str);
}
