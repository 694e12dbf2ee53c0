/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames of every format become tensors: a device against the reference kernel, and the reference
 * against what can be worked out by hand. */
#include "axontest.h"

#include <math.h>
#include <string.h>

#define LAST_FORMAT AXON_IMAGE_FORMAT_GBR_10

/* Planes that end with their last sample. */
typedef struct {
  AxonImageInfo info;
  guint8 *plane[AXON_IMAGE_MAX_PLANES];
} Frame;

static void
frame_init (Frame *f, AxonImageFormat format, gint width, gint height)
{
  *f = (Frame){ .info = { .format = format,
                          .width = width,
                          .height = height,
                          .kr_1e6 = 212600,
                          .kb_1e6 = 72200 } };
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++) {
    gsize size;
    f->info.stride[p] = width * 8 + 7 + p;
    size = MAX (axon_image_info_get_plane_size (&f->info, p), 1);
    f->plane[p] = g_malloc (size);
    for (gsize i = 0; i < size; i++)
      f->plane[p][i] = (guint8)g_test_rand_int ();
  }
}

static void
frame_clear (Frame *f)
{
  for (guint p = 0; p < AXON_IMAGE_MAX_PLANES; p++)
    g_free (f->plane[p]);
}

static void
bind (AxonInferRequest *request, Frame *f)
{
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i <= AXON_IMAGE_MAX_PLANES; i++) {
    gsize size = i ? MAX (axon_image_info_get_plane_size (&f->info, i - 1), 1) : sizeof f->info;
    AxonShape s = AXON_SHAPE (i ? (gint64)size : AXON_IMAGE_INFO_NUMEL);
    g_autoptr (AxonTensor) t = axon_tensor_new_wrapped (i ? AXON_DTYPE_U8 : AXON_DTYPE_I64, &s,
                                                        i ? f->plane[i - 1] : (gpointer)&f->info,
                                                        size, NULL, NULL, &error);
    g_assert_no_error (error);
    g_assert_true (axon_infer_request_set_input_tensor (request, i, t, &error));
  }
}

static AxonInferRequest *
new_request (AxonPreprocess *pp, const gchar *device)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonModel) model = axon_preprocess_build (pp, NULL, 0, &error);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_assert_no_error (error);
  compiled = axon_core_compile_model (axon_core_get_default (), model, device, NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  return axon_compiled_model_create_infer_request (compiled);
}

static AxonTensor *
run (AxonInferRequest *request, Frame *f)
{
  g_autoptr (GError) error = NULL;
  bind (request, f);
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  return axon_infer_request_get_output_tensor (request, 0);
}

/* Whole, cut out, between pixels, beyond the edges, turned. */
static const gdouble regions[][5] = {
  { 0, 0, 0, 0, 0 },       { 7, 3, 60, 41, 0 },          { 6.25, 2.5, 31.75, 22.125, 0 },
  { -9.5, -4, 30, 70, 0 }, { 20, 10, 40, 20, 0.5 },      { -5, 30, 60.5, 33, -2.25 },
  { 89, 52, 1, 1, 0 },     { 33.3, 12.1, 0.5, 0.25, 0 },
};

static void
set_region (AxonImageInfo *info, const gdouble *r)
{
  info->crop_x = r[0];
  info->crop_y = r[1];
  info->crop_width = r[2];
  info->crop_height = r[3];
  info->angle = r[4];
}

static AxonPreprocess *
new_steps (guint variant)
{
  AxonPreprocess *pp = axon_preprocess_new ();
  axon_preprocess_set_size (pp, 40, 33);
  axon_preprocess_set_fit (pp, (AxonImageFit)(variant % 4), 114);
  axon_preprocess_set_crop_fraction (pp, 0.875);
  axon_preprocess_set_color (pp, variant == 3 ? "gray" : variant == 1 ? "bgr" : "rgb");
  axon_preprocess_set_layout (pp, variant == 2 ? "nhwc" : "nchw");
  axon_preprocess_set_mean (pp, (gfloat[]){ 10 }, 1);
  axon_preprocess_set_scale (pp, (gfloat[]){ 2 }, 1);
  return pp;
}

/* Bits beyond a format's depth are noise here, and large. */
static gdouble
tolerance (AxonImageFormat format)
{
  return axon_image_format_get_info (format)->sample_bytes == 1 ? 1e-3 : 1e-2;
}

static void
every_region_agrees (gconstpointer data)
{
  AxonImageFormat format = (AxonImageFormat)GPOINTER_TO_INT (data);
  for (guint variant = 0; variant < 4; variant++) {
    g_autoptr (AxonPreprocess) pp = new_steps (variant);
    g_autoptr (AxonInferRequest) reference = new_request (pp, "TEMPLATE");
    g_autoptr (AxonInferRequest) device = new_request (pp, test_device ());
    Frame f;
    frame_init (&f, format, variant == 1 ? 90 : 91, variant == 1 ? 54 : 53);
    f.info.full_range = variant == 2;
    for (guint r = 0; r < G_N_ELEMENTS (regions); r++) {
      set_region (&f.info, regions[r]);
      g_autoptr (AxonTensor) expected = run (reference, &f);
      g_autoptr (AxonTensor) got = run (device, &f);
      g_assert_cmpfloat (test_largest_difference (expected, got), <=, tolerance (format));
    }
    frame_clear (&f);
  }
}

static void
assert_frame_agrees (AxonInferRequest *reference, AxonInferRequest *device, AxonImageFormat format,
                     gint width, gint height)
{
  Frame f;
  frame_init (&f, format, width, height);
  g_autoptr (AxonTensor) expected = run (reference, &f);
  g_autoptr (AxonTensor) got = run (device, &f);
  g_assert_cmpfloat (test_largest_difference (expected, got), <=, tolerance (format));
  frame_clear (&f);
}

/* Where two pixels fill the row, or what is read at once does not fit into it. */
static void
frames_of_a_few_pixels_agree (void)
{
  g_autoptr (AxonPreprocess) pp = new_steps (0);
  g_autoptr (AxonInferRequest) reference = new_request (pp, "TEMPLATE");
  g_autoptr (AxonInferRequest) device = new_request (pp, test_device ());
  for (AxonImageFormat format = 0; format <= LAST_FORMAT; format++)
    for (gint width = 1; width <= 9; width++)
      assert_frame_agrees (reference, device, format, width, 1 + (9 - width) % 3);
}

/* Sizes from far above to below the frame's, and more columns than are made at once. */
static void
tensors_of_many_columns_agree (void)
{
  static const gint sizes[][2] = { { 517, 3 }, { 272, 11 }, { 257, 2 } };
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
    axon_preprocess_set_size (pp, sizes[i][0], sizes[i][1]);
    axon_preprocess_set_fit (pp, i == 2 ? AXON_IMAGE_FIT_LETTERBOX : AXON_IMAGE_FIT_STRETCH, 9);
    g_autoptr (AxonInferRequest) reference = new_request (pp, "TEMPLATE");
    g_autoptr (AxonInferRequest) device = new_request (pp, test_device ());
    for (AxonImageFormat format = 0; format <= LAST_FORMAT; format++) {
      assert_frame_agrees (reference, device, format, 51, 7);
      assert_frame_agrees (reference, device, format, 900, 5);
    }
  }
}

static void
bytes_and_floats_with_channels_last_agree (void)
{
  static const AxonDType types[] = { AXON_DTYPE_U8, AXON_DTYPE_F32, AXON_DTYPE_I8, AXON_DTYPE_F16 };
  Frame f;
  frame_init (&f, AXON_IMAGE_FORMAT_YUY2, 91, 53);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++) {
    g_autoptr (AxonPreprocess) pp = new_steps (2);
    axon_preprocess_set_dtype (pp, types[i]);
    g_autoptr (AxonInferRequest) reference = new_request (pp, "TEMPLATE");
    g_autoptr (AxonInferRequest) device = new_request (pp, test_device ());
    g_autoptr (AxonTensor) expected = run (reference, &f);
    g_autoptr (AxonTensor) got = run (device, &f);
    /* Integers: where a value is half way between two. F16: of 122. */
    g_assert_cmpfloat (test_largest_difference (expected, got), <=,
                       axon_dtype_is_float (types[i]) ? 0.07 : 1);
  }
  frame_clear (&f);
}

/* A picture whose red is the column and whose green the row. */
static void
fill_positions (Frame *f)
{
  for (gint y = 0; y < f->info.height; y++)
    for (gint x = 0; x < f->info.width; x++) {
      guint8 *p = f->plane[0] + y * f->info.stride[0] + x * 3;
      p[0] = (guint8)x;
      p[1] = (guint8)y;
    }
}

/* The tensor says of each of its pixels where it lay; the geometry must say the same. */
static void
geometry_says_where_pixels_lay (void)
{
  const gdouble inside[][5] = { { 40, 30, 50, 20, 0 },
                                { 40.5, 30.25, 33.3, 61.7, 0 },
                                { 60, 50, 60, 30, 0.7 },
                                { 60, 40, 30, 30, 3.0 },
                                { 55, 45, 40, 60, -1.2 } };
  const gchar *const devices[] = { "TEMPLATE", test_device () };
  for (guint r = 0; r < 2 * 4 * G_N_ELEMENTS (inside); r++) {
    AxonImageFit fit = (AxonImageFit)(r / 2 % 4);
    g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
    AxonImageGeometry g;
    const gfloat *v;
    Frame f;
    axon_preprocess_set_size (pp, 24, 16);
    axon_preprocess_set_fit (pp, fit, 0);
    axon_preprocess_set_crop_fraction (pp, 0.75);
    axon_preprocess_set_layout (pp, "nchw");
    frame_init (&f, AXON_IMAGE_FORMAT_RGB, 200, 150);
    fill_positions (&f);
    set_region (&f.info, inside[r / 8]);
    g_autoptr (AxonInferRequest) request = new_request (pp, devices[r % 2]);
    g_autoptr (AxonTensor) tensor = run (request, &f);
    v = axon_tensor_get_data (tensor);
    axon_image_geometry_init (&g, &f.info, fit, 0.75, 24, 16);
    /* Not the outermost pixels: what is around an upright region does not shine in. */
    for (gint y = g.dst_y + 1; y < g.dst_y + g.dst_height - 1; y++)
      for (gint x = g.dst_x + 1; x < g.dst_x + g.dst_width - 1; x++) {
        gdouble px = x + 0.5, py = y + 0.5;
        axon_image_geometry_to_picture (&g, &px, &py);
        g_assert_cmpfloat (fabs ((gdouble)v[y * 24 + x] + 0.5 - px), <=, 1e-3);
        g_assert_cmpfloat (fabs ((gdouble)v[24 * 16 + y * 24 + x] + 0.5 - py), <=, 1e-3);
      }
    frame_clear (&f);
  }
}

static void
a_quarter_turn_clockwise_looks_from_top_to_bottom_first (void)
{
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  const gfloat *v;
  Frame f;
  axon_preprocess_set_size (pp, 4, 4);
  axon_preprocess_set_layout (pp, "nchw");
  frame_init (&f, AXON_IMAGE_FORMAT_RGB, 200, 150);
  fill_positions (&f);
  set_region (&f.info, (const gdouble[]){ 50, 60, 4, 4, G_PI / 2 });
  g_autoptr (AxonInferRequest) request = new_request (pp, test_device ());
  g_autoptr (AxonTensor) tensor = run (request, &f);
  v = axon_tensor_get_data (tensor);
  for (gint i = 0; i < 4; i++) { /* the first row of the tensor: down the right edge */
    g_assert_cmpfloat (fabs ((gdouble)v[i] - 53), <=, 1e-3);
    g_assert_cmpfloat (fabs ((gdouble)v[16 + i] - 60 - i), <=, 1e-3);
  }
  frame_clear (&f);
}

/* Only the fields of the description change between the runs. */
static void
a_region_changes_between_runs_without_binding_again (void)
{
  g_autoptr (AxonPreprocess) pp = new_steps (0);
  g_autoptr (AxonInferRequest) reference = new_request (pp, "TEMPLATE");
  g_autoptr (AxonInferRequest) device = new_request (pp, test_device ());
  Frame f;
  frame_init (&f, AXON_IMAGE_FORMAT_NV12, 91, 53);
  bind (device, &f);
  for (guint r = 0; r < G_N_ELEMENTS (regions); r++) {
    g_autoptr (GError) error = NULL;
    set_region (&f.info, regions[r]);
    axon_infer_request_infer (device, &error);
    g_assert_no_error (error);
    g_autoptr (AxonTensor) got = axon_infer_request_get_output_tensor (device, 0);
    g_autoptr (AxonTensor) expected = run (reference, &f);
    g_assert_cmpfloat (test_largest_difference (expected, got), <=, 1e-3);
  }
  frame_clear (&f);
}

static void
refuse (const AxonImageInfo *info, gsize bytes)
{
  const gchar *const devices[] = { "TEMPLATE", test_device () };
  for (guint d = 0; d < G_N_ELEMENTS (devices); d++) {
    g_autoptr (AxonPreprocess) pp = new_steps (0);
    g_autoptr (AxonInferRequest) r = new_request (pp, devices[d]);
    g_autofree guint8 *data = g_malloc0 (bytes);
    g_autoptr (GError) error = NULL;
    for (guint i = 0; i <= AXON_IMAGE_MAX_PLANES; i++) {
      AxonShape s = AXON_SHAPE (i ? (gint64)bytes : AXON_IMAGE_INFO_NUMEL);
      g_autoptr (AxonTensor) t = axon_tensor_new_wrapped (
          i ? AXON_DTYPE_U8 : AXON_DTYPE_I64, &s, i ? data : (gpointer)info,
          i ? bytes : sizeof *info, NULL, NULL, NULL);
      axon_infer_request_set_input_tensor (r, i, t, NULL);
    }
    g_assert_false (axon_infer_request_infer (r, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  }
}

static void
a_frame_that_is_too_small_for_its_description_is_an_error (void)
{
  AxonImageInfo info = {
    .format = AXON_IMAGE_FORMAT_RGB, .width = 100, .height = 100, .stride = { 300 }
  };
  refuse (&info, 64);
  refuse (&info, 29999);
}

/* A model for pictures without rows has a size, which is none that can be set. */
static void
a_size_that_is_missing_or_another_one_is_told_apart (void)
{
  static const struct {
    gint64 model[2];
    gint set[2];
    const gchar *says; /* NULL: they agree */
  } cases[] = {
    { { 8, 4 }, { 0, 0 }, NULL },
    { { 8, -1 }, { 0, 4 }, NULL },
    { { 8, -1 }, { 0, 0 }, "[1,3,8,?]: its size is free, set width and height" },
    { { -1, 4 }, { 0, 4 }, "[1,3,?,4]: its size is free, set width and height" },
    { { 8, 4 }, { 8, 5 }, "[1,3,8,4]: another width or height was set" },
    { { 8, 4 }, { 9, 4 }, "[1,3,8,4]: another width or height was set" },
    { { 0, 4 }, { 8, 4 }, "[1,3,0,4]: another width or height was set" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    AxonShape s = AXON_SHAPE (1, 3, cases[i].model[0], cases[i].model[1]);
    TestModel t = test_model_new (13);
    AxonNode *n = test_model_node (&t, "Relu", 1, test_model_input (&t, "x", AXON_DTYPE_F32, &s));
    g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
    g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonModel) built = NULL;
    axon_preprocess_set_size (pp, cases[i].set[1], cases[i].set[0]);
    built = axon_preprocess_build (pp, model, 0, &error);
    g_assert_true ((built != NULL) == (cases[i].says == NULL));
    if (built == NULL)
      g_assert_nonnull (strstr (error->message, cases[i].says));
  }
}

static void
a_description_of_nonsense_is_an_error (void)
{
  const AxonImageInfo fine = {
    .format = AXON_IMAGE_FORMAT_YUY2, .width = 8, .height = 8, .stride = { 16 }
  };
  const gdouble wrong[][5] = { { 8, 0, 1, 1, 0 },   { 0, 9, 1, 1, 0 },        { -2, 0, 2, 1, 0 },
                               { 0, 0, -1, 1, 0 },  { 0, 0, 1, 0, 0 },        { NAN, 0, 1, 1, 0 },
                               { 0, 0, 1e9, 1, 0 }, { 0, 0, INFINITY, 1, 1 }, { 0, 0, 1, 1, NAN } };
  AxonImageInfo info = fine;
  info.format = LAST_FORMAT + 1;
  refuse (&info, 4096);
  info = fine;
  info.format = G_MININT64;
  refuse (&info, 4096);
  info = fine;
  info.width = G_MAXINT64;
  refuse (&info, 4096);
  info = fine;
  info.stride[0] = -16;
  refuse (&info, 4096);
  info = fine;
  info.stride[0] = 15;
  refuse (&info, 4096);
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    info = fine;
    set_region (&info, wrong[i]);
    refuse (&info, 4096);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gint i = 0; i <= (gint)LAST_FORMAT; i++) {
    g_autofree gchar *path = g_strdup_printf ("/pictures/every_region_agrees/%d", i);
    g_test_add_data_func (path, GINT_TO_POINTER (i), every_region_agrees);
  }
#define ADD(name) g_test_add_func ("/pictures/" #name, name)
  ADD (frames_of_a_few_pixels_agree);
  ADD (tensors_of_many_columns_agree);
  ADD (bytes_and_floats_with_channels_last_agree);
  ADD (geometry_says_where_pixels_lay);
  ADD (a_quarter_turn_clockwise_looks_from_top_to_bottom_first);
  ADD (a_region_changes_between_runs_without_binding_again);
  ADD (a_frame_that_is_too_small_for_its_description_is_an_error);
  ADD (a_size_that_is_missing_or_another_one_is_told_apart);
  ADD (a_description_of_nonsense_is_an_error);
  return g_test_run ();
}
