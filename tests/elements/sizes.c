/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which sizes inputs that leave them free get, and how wide the pixels of pictures are that models
 * made. */
#include "frame/gstnnframe.h"
#include "frame/gstnntensorpicture.h"

#include <math.h>

static void
a_free_side_keeps_the_shape_of_the_frame_in_steps_of_32 (void)
{
  static const struct {
    gint side, other, given, size;
  } rows[] = {
    { 640, 480, 0, 640 },  { 640, 480, 240, 320 },     { 480, 640, 320, 256 },
    { 655, 480, 0, 640 },  { 656, 480, 0, 672 },       { 1, 480, 0, 32 },
    { 100, 100, 100, 96 }, { 100, 0, 50, 96 },         { 99999, 1, 0, 16384 },
    { 640, 480, -1, 640 }, { 30000, 10, 9000, 16384 },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpint (gst_nn_frame_choose_size (rows[i].side, rows[i].other, rows[i].given), ==,
                     rows[i].size);
}

/* Of a picture of 40x20 that was made of a frame with square pixels, or wide ones. */
static void
pixels_are_as_wide_as_the_picture_was_squeezed (void)
{
  static const struct {
    gdouble scale_x, scale_y;
    gint dst_width, dst_height, par_n, par_d; /* of the frame */
    gdouble ratio;
  } rows[] = {
    { 2, 2, 40, 20, 1, 1, 1 },    { 4, 2, 40, 20, 1, 1, 2 },
    { 2, 4, 40, 20, 1, 1, 0.5 },  { 2, 2, 80, 20, 1, 1, 2 },
    { 2, 2, 40, 40, 1, 1, 0.5 },  { 4, 2, 40, 20, 3, 2, 3 },
    { 2.03, 2, 40, 20, 1, 1, 1 }, { 2.05, 2, 40, 20, 1, 1, 1.025 },
    { 2, 2.03, 40, 20, 1, 1, 1 }, { 2, 2.05, 40, 20, 1, 1, 2 / 2.05 },
    { 300, 2, 40, 20, 1, 1, 1 },  { 2, 300, 40, 20, 1, 1, 1 },
    { 150, 2, 40, 20, 1, 1, 75 },
  };
  const GstNnTensorPicture picture = { .width = 40, .height = 20, .channels = 3 };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    AxonImageGeometry geometry = { .scale_x = rows[i].scale_x,
                                   .scale_y = rows[i].scale_y,
                                   .width = 40,
                                   .height = 20,
                                   .dst_width = rows[i].dst_width,
                                   .dst_height = rows[i].dst_height };
    GstVideoInfo from, info;
    gst_video_info_set_format (&from, GST_VIDEO_FORMAT_RGB, 80, 40);
    from.par_n = rows[i].par_n;
    from.par_d = rows[i].par_d;
    info = gst_nn_tensor_picture_describe (&picture, &from, &geometry, FALSE);
    g_assert_cmpfloat_with_epsilon ((gdouble)info.par_n / info.par_d, rows[i].ratio, 1e-3);
    geometry.width = 0; /* not known */
    info = gst_nn_tensor_picture_describe (&picture, &from, &geometry, FALSE);
    g_assert_cmpint (info.par_n, ==, info.par_d);
  }
}

static void
pictures_have_the_colours_of_their_channels (void)
{
  static const struct {
    gint channels;
    gboolean is_bgr, is_matte, keep_chroma;
    GstVideoFormat from, to;
  } rows[] = {
    { 1, FALSE, FALSE, FALSE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_GRAY8 },
    { 1, FALSE, FALSE, TRUE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_I420 },
    { 1, FALSE, FALSE, TRUE, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_I420 },
    { 1, FALSE, TRUE, TRUE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_GRAY8 },
    { 1, FALSE, FALSE, TRUE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8 },
    { 3, FALSE, FALSE, TRUE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGB },
    { 3, TRUE, FALSE, FALSE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR },
    { 4, FALSE, FALSE, FALSE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_RGBA },
    { 4, TRUE, FALSE, FALSE, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRA },
  };
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const GstNnTensorPicture picture = { .width = 8,
                                         .height = 6,
                                         .channels = rows[i].channels,
                                         .is_bgr = rows[i].is_bgr,
                                         .is_matte = rows[i].is_matte };
    GstVideoInfo from, info;
    gst_video_info_set_format (&from, rows[i].from, 80, 60);
    gst_video_colorimetry_from_string (&from.colorimetry, GST_VIDEO_COLORIMETRY_BT709);
    info = gst_nn_tensor_picture_describe (&picture, &from, NULL, rows[i].keep_chroma);
    g_assert_cmpint (GST_VIDEO_INFO_FORMAT (&info), ==, rows[i].to);
    g_assert_true (GST_VIDEO_INFO_WIDTH (&info) == 8 && GST_VIDEO_INFO_HEIGHT (&info) == 6);
    if (rows[i].to == GST_VIDEO_FORMAT_I420)
      g_assert_cmpint (info.colorimetry.matrix, ==,
                       rows[i].from == GST_VIDEO_FORMAT_NV12 ? GST_VIDEO_COLOR_MATRIX_BT709
                                                             : GST_VIDEO_COLOR_MATRIX_BT601);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/sizes/" #name, name)
  ADD (a_free_side_keeps_the_shape_of_the_frame_in_steps_of_32);
  ADD (pixels_are_as_wide_as_the_picture_was_squeezed);
  ADD (pictures_have_the_colours_of_their_channels);
  return g_test_run ();
}
