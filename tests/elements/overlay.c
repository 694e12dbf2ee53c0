/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nnoverlay, in every format that it takes: the pixels are looked at as RGB. */
#include "axontest.h"

#include <gst/check/gstharness.h>
#include <gst/nn/nn.h>
#include <gst/video/video.h>
#include <sys/mman.h>
#include <unistd.h>

#define WIDTH 160
#define HEIGHT 120
#define CLASS 1 /* red: 0xd55e00 */

typedef void (*Fill) (GstNnResultMeta *meta);
/* A pixel, and whether it must be red or as it was: dark gray. */
typedef struct {
  gint x, y;
  gboolean is_red;
} Expected;

static void
box (GstNnResultMeta *meta)
{
  GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
  gst_nn_object_set_box (o, 40, 40, 60, 40);
  gst_nn_object_set_class (o, CLASS, NULL, 1);
}

static void
rotated_box (GstNnResultMeta *meta)
{
  GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
  gst_nn_object_set_rotated_box (o, 80, 60, 60, 60, G_PI / 4); /* a diamond */
  gst_nn_object_set_class (o, CLASS, NULL, 1);
}

static void
mask_of_the_frame (GstNnResultMeta *meta)
{
  static const guint8 classes[] = { 0, CLASS };
  g_autoptr (GBytes) values = g_bytes_new_static (classes, 2);
  g_autoptr (GstNnMask) mask =
      gst_nn_mask_new (GST_NN_MASK_CLASSES, 2, 1, values, 0, 0, WIDTH, HEIGHT);
  gst_nn_object_set_mask (gst_nn_result_meta_get_frame (meta), mask);
}

/* The least is dark, the largest a bright yellow that is redder than green. */
static void
numbers (GstNnResultMeta *meta)
{
  static const guint8 depth[] = { 0, 255 };
  g_autoptr (GBytes) values = g_bytes_new_static (depth, 2);
  g_autoptr (GstNnMask) mask = gst_nn_mask_new_values (2, 1, values, 0, 0, WIDTH, HEIGHT, 1.5, 80);
  gst_nn_object_set_mask (gst_nn_result_meta_get_frame (meta), mask);
}

static void
keypoints (GstNnResultMeta *meta)
{
  static const guint bones[] = { 0, 0, 1, 2 }; /* the second line is red */
  g_autoptr (GstNnSkeleton) skeleton = gst_nn_skeleton_new (NULL, bones, 4);
  GstNnObject *frame = gst_nn_result_meta_get_frame (meta);
  gst_nn_object_add_keypoint (frame, -100, 0, 1);
  gst_nn_object_add_keypoint (frame, 20, 60, 1);
  gst_nn_object_add_keypoint (frame, 1e9, 60, 1); /* far outside */
  gst_nn_object_set_skeleton (frame, skeleton);
}

static const struct {
  const gchar *name;
  Fill fill;
  Expected expected[5];
} cases[] = {
  { "boxes", box, { { 60, 38, 1 }, { 38, 60, 1 }, { 101, 60, 1 }, { 60, 81, 1 }, { 60, 60, 0 } } },
  { "rotated_boxes",
    rotated_box,
    { { 80, 18, 1 }, { 38, 60, 1 }, { 59, 39, 1 }, { 40, 20, 0 }, { 80, 60, 0 } } },
  { "masks",
    mask_of_the_frame,
    { { 20, 20, 0 }, { 60, 60, 0 }, { 100, 60, 1 }, { 159, 119, 1 }, { 70, 5, 0 } } },
  { "numbers", numbers, { { 20, 20, 0 }, { 60, 60, 0 }, { 100, 60, 1 }, { 159, 119, 1 } } },
  { "keypoints",
    keypoints,
    { { 20, 60, 1 }, { 80, 60, 1 }, { 159, 60, 1 }, { 80, 70, 0 }, { 5, 60, 0 } } },
};

/* A frame of dark gray in the harness's format. */
static GstBuffer *
gray_frame (const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL), *rgb;
  GstVideoInfo from;
  GstVideoFrame a, b;
  GstVideoConverter *converter;
  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  from.fps_n = info->fps_n;
  rgb = gst_buffer_new_allocate (NULL, from.size, NULL);
  gst_buffer_memset (rgb, 0, 32, from.size);
  converter = gst_video_converter_new (&from, info, NULL);
  gst_video_frame_map (&a, &from, rgb, GST_MAP_READ);
  gst_video_frame_map (&b, info, buffer, GST_MAP_WRITE);
  gst_video_converter_frame (converter, &a, &b);
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
  gst_video_converter_free (converter);
  gst_buffer_unref (rgb);
  return buffer;
}

static void
check_pixels (GstBuffer *buffer, const GstVideoInfo *info, const Expected *expected, guint n)
{
  GstVideoInfo to;
  GstVideoFrame a, b;
  GstBuffer *rgb;
  GstVideoConverter *converter;
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT);
  to.fps_n = info->fps_n;
  rgb = gst_buffer_new_allocate (NULL, to.size, NULL);
  converter = gst_video_converter_new (info, &to, NULL);
  gst_video_frame_map (&a, info, buffer, GST_MAP_READ);
  gst_video_frame_map (&b, &to, rgb, GST_MAP_READWRITE);
  gst_video_converter_frame (converter, &a, &b);
  for (guint i = 0; i < n; i++) {
    const guint8 *p = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&b, 0) +
                      expected[i].y * GST_VIDEO_FRAME_PLANE_STRIDE (&b, 0) + 3 * expected[i].x;
    gboolean is_bright = p[0] > 60;
    gboolean is_red = GST_VIDEO_INFO_IS_GRAY (info) ? is_bright : is_bright && p[0] > p[1] + 5;
    if (is_red != expected[i].is_red)
      g_error ("%s: (%d, %d) is %d, %d, %d", GST_VIDEO_INFO_NAME (info), expected[i].x,
               expected[i].y, p[0], p[1], p[2]);
  }
  gst_video_frame_unmap (&a);
  gst_video_frame_unmap (&b);
  gst_video_converter_free (converter);
  gst_buffer_unref (rgb);
}

static void
draw (const gchar *format, guint which)
{
  g_autofree gchar *text = g_strdup_printf (
      "video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format, WIDTH, HEIGHT);
  g_autoptr (GstCaps) caps = gst_caps_from_string (text);
  GstHarness *h = gst_harness_new_parse ("nnoverlay labels=false scores=false thickness=4");
  GstVideoInfo info;
  GstBuffer *buffer;
  g_assert_true (gst_video_info_from_caps (&info, caps));
  gst_harness_set_src_caps_str (h, text);
  buffer = gray_frame (&info);
  cases[which].fill (gst_buffer_add_nn_result_meta (buffer, WIDTH, HEIGHT));
  buffer = gst_harness_push_and_pull (h, buffer);
  check_pixels (buffer, &info, cases[which].expected, G_N_ELEMENTS (cases[which].expected));
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

static void
results_are_drawn_in_every_format (gconstpointer data)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find ("nnoverlay");
  const GstStaticPadTemplate *template =
      gst_element_factory_get_static_pad_templates (factory)->data;
  g_autoptr (GstCaps) caps = gst_caps_from_string (template->static_caps.string);
  const GValue *formats = gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
  guint n = gst_value_list_get_size (formats);
  g_assert_cmpuint (n, >, 40);
  for (guint i = 0; i < n; i++)
    draw (g_value_get_string (gst_value_list_get_value (formats, i)), GPOINTER_TO_UINT (data));
}

/* Who touches a page that cannot be read has drawn more than edges and captions: a canvas of the
 * size of the box, as once took 8 ms for each. Rows are of whole pages here. */
static void
the_inside_of_large_boxes_is_not_touched (void)
{
  const gsize page = (gsize)sysconf (_SC_PAGESIZE), stride = 4 * page;
  const gint width = (gint)stride, height = 720;
  const gsize n = stride * (gsize)height;
  g_autofree gchar *caps =
      g_strdup_printf ("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=30/1", width, height);
  GstHarness *h = gst_harness_new_parse ("nnoverlay");
  guint8 *pixels = mmap (NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  GstBuffer *buffer = gst_buffer_new_wrapped_full (0, pixels, n, 0, n, NULL, NULL);
  GstNnResultMeta *meta = gst_buffer_add_nn_result_meta (buffer, width, height);
  g_assert_true (pixels != MAP_FAILED);
  for (guint i = 0; i < 10; i++) {
    GstNnObject *o = gst_nn_result_meta_add_object (meta, 0);
    gst_nn_object_set_box (o, 10 + i, 60 + i, width - 40, height - 120);
    gst_nn_object_set_class (o, CLASS, "a", 1);
  }
  for (gint y = 200; y < height - 200; y++)
    g_assert_cmpint (mprotect (pixels + (gsize)y * stride + page, 2 * page, PROT_NONE), ==, 0);
  gst_harness_set_src_caps_str (h, caps);
  buffer = gst_harness_push_and_pull (h, buffer);
  g_assert_cmpint (mprotect (pixels, n, PROT_READ), ==, 0);
  g_assert_cmpint (pixels[300 * stride + 9], >, 0); /* the left edge is there */
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
  munmap (pixels, n);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *path =
        g_strdup_printf ("/overlay/results_are_drawn_in_every_format/%s", cases[i].name);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), results_are_drawn_in_every_format);
  }
  g_test_add_func ("/overlay/the_inside_of_large_boxes_is_not_touched",
                   the_inside_of_large_boxes_is_not_touched);
  return g_test_run ();
}
