/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What trackers say of scenes that are drawn by a seed, and where the camera is said to look that
 * moves over a picture. What they say now differs from tracksaid.txt where somebody has looked at
 * it, only. */
#include "axontest.h"
#include "track/gstnncamera.h"
#include "track/gstnntracker.h"
#include "trackscene.h"

#include <math.h>
#include <string.h>

#define N_FRAMES 48

static const SceneConfig scenes[] = {
  { 6, N_FRAMES, 0.1, 0.3, 0.05, 6, 1 },
  { 12, N_FRAMES, 0.3, 1, 0.1, 15, 2 },
};

static const GstNnTrackerConfig trackers[] = {
  { 0.6, 0.1, 0.7, 0.2, 0, 1, 30, FALSE }, { 0.6, 0.1, 0.7, 0.2, 0, 3, 4, TRUE },
  { 0.5, 0.3, 0.6, 0.5, 0.3, 2, 8, TRUE }, { 0.8, 0.8, 0.9, 0.1, 0.5, 1, 2, FALSE },
  { 0.3, 0.0, 0.3, 0.7, 0, 5, 60, FALSE },
};

/* The boxes of one frame: their class and look are where they are. */
static guint
sight (const GArray *seen, guint frame, gfloat looks[][3], GstNnSighting *s, guint most)
{
  guint n = 0;
  for (guint i = 0; i < seen->len && n < most; i++) {
    const SceneBox *b = &g_array_index (seen, SceneBox, i);
    if (b->frame != frame)
      continue;
    looks[n][0] = 1;
    looks[n][1] = (gfloat)(b->box.height / 40);
    looks[n][2] = (gfloat)(b->box.y / 300);
    s[n] = (GstNnSighting){ b->box, b->score, b->box.height > 100, looks[n], 3, NULL };
    if (i % 5 == 0)
      s[n].embedding = NULL;
    n++;
  }
  return n;
}

static void
append_tracks (GString *text, GstNnTracker *tracker, const GstNnSighting *s, guint n, guint frame)
{
  GstNnTrackerCounts counts = { 0 };
  gst_nn_tracker_add_counts (tracker, &counts);
  g_string_append_printf (text,
                          " %" G_GUINT64_FORMAT "+%" G_GUINT64_FORMAT " %u %u:", counts.n_tracks,
                          counts.n_found_again, counts.n_seen, counts.n_lost);
  for (guint i = 0; i < n; i++) {
    GstNnTracklet *track = s[i].track;
    GstNnBox box;
    if (track == NULL) {
      g_string_append (text, " -");
      continue;
    }
    gst_nn_tracklet_predict (track, frame + 2.5, &box);
    g_string_append_printf (text, " %" G_GUINT64_FORMAT "/%d/%u/%d[%.4g,%.4g %.3gx%.3g]", track->id,
                            track->state, gst_nn_tracklet_get_age (track, frame), track->class_id,
                            box.x, box.y, box.width, box.height);
    if (gst_nn_tracker_find (tracker, track->id) != track)
      g_string_append (text, " lost");
    if (gst_nn_tracker_find_box (tracker, &s[i].box, s[i].class_id) != track)
      g_string_append (text, " elsewhere");
  }
  g_string_append_c (text, '\n');
}

static void
describe_tracker (GString *text, const Scene *scene, const GstNnTrackerConfig *config)
{
  guint64 last_id = 0;
  GstNnTracker *tracker = gst_nn_tracker_new (&last_id);
  g_string_append_printf (text, "tracks of %g %g %g, %g, %g, %u hits, %g frames\n",
                          config->high_score, config->low_score, config->new_score,
                          config->iou_threshold, config->appearance_threshold, config->min_hits,
                          config->lost_frames);
  for (guint f = 0; f < N_FRAMES; f++) {
    gfloat looks[40][3];
    GstNnSighting s[40];
    guint n = sight (scene->seen, f, looks, s, 40);
    if (f == 40)
      gst_nn_tracker_reset (tracker);
    if (f % 11 != 5) /* results that never came */
      gst_nn_tracker_update (tracker, config, s, n, f);
    if (f % 6 == 3)
      append_tracks (text, tracker, s, n, f);
  }
  gst_nn_tracker_free (tracker);
}

static void
trackers_say_what_somebody_has_looked_at (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (scenes); i++) {
    Scene scene = scene_new (&scenes[i]);
    for (guint k = 0; k < G_N_ELEMENTS (trackers); k++)
      describe_tracker (text, &scene, &trackers[k]);
    scene_clear (&scene);
  }
  test_assert_approved ("elements/tracksaid.txt", text->str);
}

/* What a camera sees of a world, and how that goes on from frame to frame. */
typedef struct {
  GstVideoFormat format;
  gint width, height;
  gdouble dx, dy, zoom, turn;
  gdouble noise; /* of brightness */
} Flight;

static const Flight flights[] = {
  { GST_VIDEO_FORMAT_GRAY8, 320, 240, 3, -2, 0, 0, 0 },
  { GST_VIDEO_FORMAT_NV12, 648, 486, -5.5, 4, 0, 0, 2 },
  { GST_VIDEO_FORMAT_BGRx, 240, 320, 1, 1, 0.02, 0, 0 },
  { GST_VIDEO_FORMAT_RGB, 322, 240, 0, 0, -0.01, 0.01, 4 },
  { GST_VIDEO_FORMAT_GRAY8, 160, 120, 14, 0, 0, 0, 0 },
  { GST_VIDEO_FORMAT_GRAY8, 320, 240, 40, 30, 0, 0, 0 },
  { GST_VIDEO_FORMAT_GRAY8, 320, 240, 0.05, 0, 0, 0, 1 },
  { GST_VIDEO_FORMAT_GRAY8, 24, 20, 1, 1, 0, 0, 0 },
};

/* Hills of a few pixels, the same wherever one looks from. */
static gdouble
brightness_at (gdouble x, gdouble y)
{
  return 128 + 40 * sin (x / 7.3 + 2 * sin (y / 11)) + 40 * sin (y / 5.9 + 3 * sin (x / 17)) +
         30 * sin ((x + 2 * y) / 23);
}

static void
take_picture (const Flight *f, guint i, GRand *rand, GstVideoFrame *frame)
{
  gdouble scale = exp (-f->zoom * i), c = scale * cos (f->turn * i), s = scale * sin (f->turn * i);
  gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
  guint comp = GST_VIDEO_FORMAT_INFO_IS_RGB (frame->info.finfo) ? GST_VIDEO_COMP_G : 0;
  guint8 *pixels = GST_VIDEO_FRAME_COMP_DATA (frame, comp);
  for (gint y = 0; y < f->height; y++)
    for (gint x = 0; x < f->width; x++) {
      gdouble u = x - f->width / 2.0, v = y - f->height / 2.0;
      gdouble b = brightness_at (1000 + c * u - s * v + f->dx * i, 700 + s * u + c * v + f->dy * i);
      b += g_rand_double_range (rand, -1, 1) * f->noise;
      pixels[y * GST_VIDEO_FRAME_COMP_STRIDE (frame, comp) + x * step] = (guint8)CLAMP (b, 0, 255);
    }
}

/* From where a box that stays in the middle of the frame is in the world, and back. */
static void
append_place (GString *text, const Flight *f, const GstNnCamera *camera, GstClockTime time)
{
  GstNnBox box = { f->width / 2.0, f->height / 3.0, 40, 20 };
  gst_nn_camera_to_world (camera, time, &box);
  g_string_append_printf (text, " [%.1f,%.1f %.1fx%.1f", box.x, box.y, box.width, box.height);
  gst_nn_camera_to_frame (camera, time + 2, &box);
  g_string_append_printf (text, " %.1f,%.1f]", box.x, box.y);
}

static void
describe_flight (GString *text, const Flight *f, gboolean is_covered)
{
  GstNnCamera *camera = gst_nn_camera_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  g_autoptr (GstBuffer) results = gst_buffer_new ();
  GstNnResultMeta *result = gst_buffer_add_nn_result_meta (results, f->width, f->height);
  GstVideoInfo info;
  gst_video_info_set_format (&info, f->format, (guint)f->width, (guint)f->height);
  g_string_append_printf (text, "%dx%d%s:", f->width, f->height, is_covered ? " covered" : "");
  gst_nn_object_set_box (gst_nn_result_meta_add_object (result, 0), 0, 0,
                         f->width * (is_covered ? 1 : 0.3), f->height * 0.5);
  for (guint i = 0; i < 8; i++) {
    g_autoptr (GstBuffer) buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
    GstVideoFrame frame;
    gst_buffer_memset (buffer, 0, 0, info.size);
    g_assert_true (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
    take_picture (f, i, rand, &frame);
    if (i == 6)
      gst_nn_camera_reset (camera);
    gst_nn_camera_look (camera, &frame, i % 2 || is_covered ? result : NULL, 10 * i);
    gst_video_frame_unmap (&frame);
    append_place (text, f, camera, 10 * i);
  }
  append_place (text, f, camera, 5);
  append_place (text, f, camera, 69);
  g_string_append_c (text, '\n');
  gst_nn_camera_free (camera);
}

static void
the_camera_looks_where_somebody_has_looked (void)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (flights); i++)
    for (guint covered = 0; covered < 2; covered++)
      describe_flight (text, &flights[i], covered == 1);
  for (guint i = GST_VIDEO_FORMAT_ENCODED + 1; i < GST_VIDEO_FORMAT_P010_10BE; i++) {
    GstVideoInfo info;
    gst_video_info_set_format (&info, (GstVideoFormat)i, 64, 64);
    if (gst_nn_camera_reads (&info))
      g_string_append_printf (text, "%s ", gst_video_format_to_string ((GstVideoFormat)i));
  }
  g_string_append_c (text, '\n');
  test_assert_approved ("elements/camerasaid.txt", text->str);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tracksaid/trackers_say_what_somebody_has_looked_at",
                   trackers_say_what_somebody_has_looked_at);
  g_test_add_func ("/tracksaid/the_camera_looks_where_somebody_has_looked",
                   the_camera_looks_where_somebody_has_looked);
  return g_test_run ();
}
