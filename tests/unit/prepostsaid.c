/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What becomes of each step of AxonPrePostProcessor before and behind models of several shapes, and
 * of AxonPreprocess: the plan, or why there is none, and a number for what it computes. What they
 * are now differs from prepostsaid.txt where somebody has looked at it, only. */
#include "prepost.h"

#include <math.h>

#define MOST_PORTS 4

typedef struct {
  AxonShape shape;
  const gchar *layout; /* or NULL */
} Network;

static const Network networks[] = {
  { { 4, { 1, 3, 4, 6 } }, "NCHW" },   { { 4, { 2, 4, 6, 3 } }, "NHWC" },
  { { 4, { 1, 1, 4, 4 } }, "NCHW" },   { { 3, { 3, 4, 6 } }, "CHW" },
  { { 4, { 1, 3, -1, 6 } }, "N...W" }, { { 2, { 2, 8 } }, NULL },
  { { 4, { 1, 5, 7, 3 } }, "NHWC" },
};

/* What the caller has. */
typedef struct {
  AxonDType dtype;
  const gchar *layout;
  gint64 height, width; /* 0: not said */
  AxonColorFormat color;
} Tensor;

static const Tensor tensors[] = {
  { AXON_DTYPE_UNDEFINED, NULL, 0, 0, AXON_COLOR_FORMAT_UNDEFINED },
  { AXON_DTYPE_U8, "NHWC", 0, 0, AXON_COLOR_FORMAT_UNDEFINED },
  { AXON_DTYPE_U8, NULL, 8, 10, AXON_COLOR_FORMAT_NV12_SINGLE_PLANE },
  { AXON_DTYPE_U8, NULL, 4, 6, AXON_COLOR_FORMAT_I420_THREE_PLANES },
  { AXON_DTYPE_U8, "NHWC", 6, 8, AXON_COLOR_FORMAT_NV12_TWO_PLANES },
  { AXON_DTYPE_F32, "NCHW", 5, 7, AXON_COLOR_FORMAT_BGR },
  { AXON_DTYPE_U8, "NHWC", -1, 6, AXON_COLOR_FORMAT_RGBX },
  { AXON_DTYPE_I32, "CC", 4, 4, AXON_COLOR_FORMAT_GRAY },
};

typedef enum {
  NOTHING,
  TYPE,
  COLOR,
  RESIZE,
  CROP,
  PAD,
  MEAN,
  SCALE,
  CLAMP_TO,
  LAYOUT,
  PERMUTE,
  REVERSE
} Kind;

typedef struct {
  Kind kind;
  gint value;
  const gchar *layout;
} StepCase;

static const StepCase steps[] = {
  { NOTHING, 0, NULL },
  { TYPE, AXON_DTYPE_F32, NULL },
  { TYPE, AXON_DTYPE_I8, NULL },
  { COLOR, AXON_COLOR_FORMAT_RGB, NULL },
  { COLOR, AXON_COLOR_FORMAT_BGR, NULL },
  { COLOR, AXON_COLOR_FORMAT_GRAY, NULL },
  { COLOR, AXON_COLOR_FORMAT_RGBX, NULL },
  { RESIZE, AXON_RESIZE_LINEAR, NULL },
  { RESIZE, AXON_RESIZE_CUBIC, NULL },
  { RESIZE, AXON_RESIZE_NEAREST, NULL },
  { RESIZE, AXON_RESIZE_LINEAR_PILLOW, NULL },
  { RESIZE, AXON_RESIZE_CUBIC_PILLOW, NULL },
  { CROP, 4, NULL },
  { PAD, AXON_PAD_CONSTANT, NULL },
  { PAD, AXON_PAD_EDGE, NULL },
  { PAD, AXON_PAD_REFLECT, NULL },
  { PAD, AXON_PAD_SYMMETRIC, NULL },
  { MEAN, 1, NULL },
  { MEAN, 3, NULL },
  { SCALE, 1, NULL },
  { SCALE, 3, NULL },
  { CLAMP_TO, 0, NULL },
  { LAYOUT, 0, "NHWC" },
  { LAYOUT, 0, "NCHW" },
  { LAYOUT, 0, "HW" },
  { PERMUTE, 4, NULL },
  { REVERSE, 0, NULL },
};

static void
add_step (AxonPrePostProcessor *p, const StepCase *s)
{
  static const gfloat numbers[] = { 1.5f, 0.25f, 3 };
  AxonShape begin = AXON_SHAPE (0, 0, 1, 1), end = AXON_SHAPE (1, 3, 4, -1),
            back = AXON_SHAPE (0, 0, 0, 2);
  AxonShape turned = AXON_SHAPE (0, 3, 1, 2);
  switch (s->kind) {
  case NOTHING:
    break;
  case TYPE:
    axon_pre_post_processor_convert_type (p, 0, (AxonDType)s->value);
    break;
  case COLOR:
    axon_pre_post_processor_convert_color (p, 0, (AxonColorFormat)s->value);
    break;
  case RESIZE:
    axon_pre_post_processor_resize (p, 0, (AxonResizeAlgorithm)s->value, s->value % 2 ? 3 : -1, -1);
    break;
  case CROP:
    axon_pre_post_processor_crop (p, 0, &begin, &end);
    break;
  case PAD:
    axon_pre_post_processor_pad (p, 0, &begin, &back, 7, (AxonPadMode)s->value);
    break;
  case MEAN:
    axon_pre_post_processor_mean (p, 0, numbers, (guint)s->value);
    break;
  case SCALE:
    axon_pre_post_processor_scale (p, 0, numbers, (guint)s->value);
    break;
  case CLAMP_TO:
    axon_pre_post_processor_clamp (p, 0, 0.75, 1.5);
    break;
  case LAYOUT:
    axon_pre_post_processor_convert_layout (p, 0, s->layout);
    break;
  case PERMUTE:
    axon_pre_post_processor_permute (p, 0, &turned);
    break;
  case REVERSE:
    axon_pre_post_processor_reverse_channels (p, 0);
    break;
  }
}

/* The same step behind the model, where there is one. */
static void
add_step_behind (AxonPrePostProcessor *p, const StepCase *s)
{
  if (s->kind == TYPE)
    axon_pre_post_processor_convert_output_type (p, 0, (AxonDType)s->value);
  if (s->kind == COLOR) {
    axon_pre_post_processor_set_output_model_color (p, 0, AXON_COLOR_FORMAT_RGB);
    axon_pre_post_processor_convert_output_color (p, 0, (AxonColorFormat)s->value);
  }
  if (s->kind == CLAMP_TO)
    axon_pre_post_processor_clamp_output (p, 0, 0.75, 1.5);
  if (s->kind == LAYOUT)
    axon_pre_post_processor_convert_output_layout (p, 0, s->layout);
  if (s->kind == MEAN)
    axon_pre_post_processor_set_output_tensor_layout (p, 0, s->value == 1 ? "NHWC" : "NCHW");
  if (s->kind == SCALE)
    axon_pre_post_processor_set_output_tensor_type (p, 0,
                                                    s->value == 1 ? AXON_DTYPE_U8 : AXON_DTYPE_F16);
}

static AxonTensor *
new_input (AxonDType dtype, AxonShape shape)
{
  AxonTensor *t;
  for (gint d = 0; d < shape.rank; d++)
    if (shape.dims[d] < 0)
      shape.dims[d] = 4 + d;
  t = axon_tensor_new (dtype, &shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (t); i++)
    axon_dtype_store (dtype, axon_tensor_get_data (t), i,
                      dtype == AXON_DTYPE_U8 ? (gdouble)(i * 37 % 256)
                                             : 0.25 + (gdouble)(i * 7 % 11) / 4);
  return t;
}

/* The output's type and shape, and a sum in which each element has its share. */
static void
append_run (GString *text, AxonModel *model)
{
  guint n = axon_model_get_n_inputs (model);
  AxonTensor *in[MOST_PORTS] = { NULL };
  g_autoptr (AxonTensor) out = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree gchar *shape = NULL;
  gdouble sum = 0;
  for (guint i = 0; i < n; i++)
    in[i] =
        new_input (axon_model_get_input_dtype (model, i), *axon_model_get_input_shape (model, i));
  out = test_try_run_all (model, "TEMPLATE", NULL, in, n, &error);
  for (guint i = 0; i < n; i++)
    axon_tensor_unref (in[i]);
  if (out == NULL) {
    g_string_append_printf (text, "  run: %.60s\n", error->message);
    return;
  }
  shape = axon_shape_to_string (axon_tensor_get_shape (out));
  for (gsize i = 0; i < axon_tensor_get_numel (out); i++)
    sum += axon_tensor_get_value (out, i) * (gdouble)(1 + i % 11);
  g_string_append_printf (text, "  = %s%s %.4g\n",
                          axon_dtype_get_name (axon_tensor_get_dtype (out)), shape, sum);
}

static void
append_built (GString *text, AxonPrePostProcessor *p)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_pre_post_processor_build (p, &error);
  g_autofree gchar *plan = axon_pre_post_processor_to_string (p);
  if (model == NULL) {
    g_string_append_printf (text, "  ! %s\n", error->message);
    return;
  }
  g_string_append (text, plan);
  append_run (text, model);
}

static void
describe_before (GString *text, const Network *n, const Tensor *t, const StepCase *s)
{
  g_autoptr (AxonPrePostProcessor) p = steps_for (&n->shape, n->layout);
  if (t->dtype != AXON_DTYPE_UNDEFINED)
    axon_pre_post_processor_set_tensor_type (p, 0, t->dtype);
  if (t->layout != NULL)
    axon_pre_post_processor_set_tensor_layout (p, 0, t->layout);
  if (t->height != 0)
    axon_pre_post_processor_set_tensor_size (p, 0, t->height, t->width);
  axon_pre_post_processor_set_tensor_color (p, 0, t->color);
  add_step (p, s);
  append_built (text, p);
}

static void
describe_behind (GString *text, const Network *n, const StepCase *s)
{
  g_autoptr (AxonPrePostProcessor) p = steps_for (&n->shape, n->layout);
  axon_pre_post_processor_set_output_model_layout (p, 0, n->layout ? n->layout : "...");
  add_step_behind (p, s);
  append_built (text, p);
}

static void
steps_become_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint n = 0; n < G_N_ELEMENTS (networks); n++)
    for (guint s = 0; s < G_N_ELEMENTS (steps); s++) {
      const Network *network = &networks[n];
      g_string_append_printf (text, "network %u, step %u\n", n, s);
      /* a few tensors for each, others for the next */
      for (guint k = 0; k < 3; k++)
        describe_before (text, network, &tensors[(n + s + 3 * k) % G_N_ELEMENTS (tensors)],
                         &steps[s]);
      describe_behind (text, network, &steps[s]);
    }
  test_assert_approved ("unit/prepostsaid.txt", text->str);
}

static void
describe_picture (GString *text, guint i)
{
  static const gchar *const colors[] = { "rgb", "bgr", "gray" }, *const layouts[] = { NULL, "nchw",
                                                                                      "nhwc" };
  static const gfloat numbers[] = { 2, 4, 8 };
  g_autoptr (AxonPreprocess) p = axon_preprocess_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = NULL, network = NULL;
  g_autofree gchar *plan = NULL;
  axon_preprocess_set_color (p, colors[i % 3]);
  axon_preprocess_set_fit (p, (AxonImageFit)(i % 4), i % 5);
  if (layouts[i % 3] != NULL)
    axon_preprocess_set_layout (p, layouts[(i / 2) % 3]);
  if (i % 4 == 0 || i % 8 == 7)
    axon_preprocess_set_size (p, i % 8 ? 6 : 5, 4);
  axon_preprocess_set_crop_fraction (p, i % 7 == 0 ? 1 : 0.75);
  axon_preprocess_set_mean (p, numbers, i % 3 == 2 ? 1 : i % 4 == 2 ? 0 : 3);
  axon_preprocess_set_scale (p, numbers, i % 3 == 2 ? i % 2 : i % 4 == 1 ? 1 : 3);
  plan = axon_preprocess_to_string (p);
  network = i % 8 < G_N_ELEMENTS (networks) ? model_of (&networks[i % 8].shape) : NULL;
  model = axon_preprocess_build (p, network, i == 29, &error);
  g_string_append_printf (text, "picture %u: %s: %s\n", i, plan, error ? error->message : "");
  for (guint k = 0; model != NULL && k < axon_model_get_n_outputs (model); k++) {
    g_autofree gchar *shape = axon_shape_to_string (axon_model_get_output_shape (model, k));
    g_string_append_printf (text, "  = %u inputs, %s\n", axon_model_get_n_inputs (model), shape);
  }
}

static void
pictures_become_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < 48; i++)
    describe_picture (text, i);
  test_assert_approved ("unit/picturesaid.txt", text->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/prepostsaid/steps_become_what_somebody_has_looked_at",
                   steps_become_what_somebody_has_looked_at);
  g_test_add_func ("/prepostsaid/pictures_become_what_somebody_has_looked_at",
                   pictures_become_what_somebody_has_looked_at);
  return g_test_run ();
}
