/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One 1080p frame of each format, letterboxed to a normalised float tensor on device CPU, beside
 * what videoconvertscale runs with a loop that normalises, and beside the time in which memory that
 * is copied moves as many bytes. Microseconds of processor time, of all threads, the smallest of
 * rounds that take turns: on a busy machine the rest is noise.
 *
 *   bench-preprocess [ROUNDS [FORMAT ...]] */
#include <axon/axon.h>

#include "caps/gstnncaps.h"
#include "frame/gstnnframe.h"

#include <string.h>
#include <time.h>

#define WIDTH 1920
#define HEIGHT 1080
#define N_FRAMES 6 /* in turn, so that none waits in the nearest caches */
#define MEAN 127
#define SCALE 128

typedef struct {
  gint size;
  GstVideoInfo info, small;
  GstBuffer *frames[N_FRAMES];
  GstBuffer *scaled;
  GstVideoConverter *converter;
  AxonInferRequest *request;
  gfloat *tensor;
} Case;

static AxonInferRequest *
new_request (gint size)
{
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (GError) error = NULL;
  axon_preprocess_set_size (pp, size, size);
  axon_preprocess_set_layout (pp, "nchw");
  axon_preprocess_set_fit (pp, AXON_IMAGE_FIT_LETTERBOX, 114);
  axon_preprocess_set_mean (pp, (gfloat[]){ MEAN }, 1);
  axon_preprocess_set_scale (pp, (gfloat[]){ SCALE }, 1);
  model = axon_preprocess_build (pp, NULL, 0, &error);
  g_assert_no_error (error);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  return axon_compiled_model_create_infer_request (compiled);
}

static GstVideoConverter *
new_converter (Case *c)
{
  gint shown = c->size * HEIGHT / WIDTH;
  return gst_video_converter_new (
      &c->info, &c->small,
      gst_structure_new ("options", GST_VIDEO_CONVERTER_OPT_RESAMPLER_METHOD,
                         GST_TYPE_VIDEO_RESAMPLER_METHOD, GST_VIDEO_RESAMPLER_METHOD_LINEAR,
                         GST_VIDEO_RESAMPLER_OPT_MAX_TAPS, G_TYPE_INT, 2,
                         GST_VIDEO_CONVERTER_OPT_DEST_Y, G_TYPE_INT, (c->size - shown) / 2,
                         GST_VIDEO_CONVERTER_OPT_DEST_HEIGHT, G_TYPE_INT, shown, NULL));
}

static void
case_init (Case *c, GstVideoFormat format, gint size)
{
  c->size = size;
  gst_video_info_set_format (&c->info, format, WIDTH, HEIGHT);
  gst_video_info_set_format (&c->small, GST_VIDEO_FORMAT_RGB, (guint)size, (guint)size);
  for (guint i = 0; i < N_FRAMES; i++) {
    c->frames[i] = gst_buffer_new_allocate (NULL, c->info.size, NULL);
    gst_buffer_memset (c->frames[i], 0, (guint8)(40 * i), c->info.size);
  }
  c->scaled = gst_buffer_new_allocate (NULL, c->small.size, NULL);
  c->converter = new_converter (c);
  c->request = new_request (size);
  c->tensor = g_new (gfloat, 3 * size * size);
}

static void
case_clear (Case *c)
{
  for (guint i = 0; i < N_FRAMES; i++)
    gst_buffer_unref (c->frames[i]);
  gst_buffer_unref (c->scaled);
  gst_video_converter_free (c->converter);
  g_object_unref (c->request);
  g_free (c->tensor);
}

static void
run_axon (Case *c, guint i)
{
  g_autoptr (GError) error = NULL;
  GstNnFrame frame = { 0 };
  gst_nn_frame_bind (&frame, &c->info, c->frames[i], c->request, 0, &error);
  g_assert_no_error (error);
  axon_infer_request_infer (c->request, &error);
  g_assert_no_error (error);
  gst_nn_frame_unmap (&frame);
}

static void
run_peer (Case *c, guint i)
{
  gint n = c->size * c->size;
  GstVideoFrame in, out;
  gst_video_frame_map (&in, &c->info, c->frames[i], GST_MAP_READ);
  gst_video_frame_map (&out, &c->small, c->scaled, GST_MAP_READWRITE);
  gst_video_converter_frame (c->converter, &in, &out);
  for (gint k = 0; k < 3; k++) {
    const guint8 *restrict from = (const guint8 *)GST_VIDEO_FRAME_PLANE_DATA (&out, 0) + k;
    gfloat *restrict to = c->tensor + k * n;
    for (gint p = 0; p < n; p++)
      to[p] = (from[3 * p] - (gfloat)MEAN) * (1.f / SCALE);
  }
  gst_video_frame_unmap (&in);
  gst_video_frame_unmap (&out);
}

/* Of all threads, microseconds. */
static gdouble
processor_time (void)
{
  struct timespec t;
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (gdouble)t.tv_sec * 1e6 + (gdouble)t.tv_nsec / 1e3;
}

/* Microseconds for @f, the mean of a turn through the frames. */
static gdouble
measure (void (*f) (Case *, guint), Case *c)
{
  gdouble begin = processor_time ();
  for (guint i = 0; i < N_FRAMES; i++)
    f (c, i);
  return (processor_time () - begin) / N_FRAMES;
}

/* Bytes a microsecond of a copy, read and written ones counted. */
static gdouble
measure_memory (guint rounds)
{
  gsize n = 64 << 20;
  g_autofree guint8 *a = g_malloc (n);
  g_autofree guint8 *b = g_malloc (n);
  gdouble best = G_MAXDOUBLE;
  memset (a, 1, n);
  for (guint i = 0; i < rounds; i++) {
    gdouble begin = processor_time ();
    memcpy (b, a, n);
    best = MIN (best, processor_time () - begin);
    a[b[i]]++;
  }
  return 2. * (gdouble)n / best;
}

static void
report (const gchar *name, guint rounds, gdouble speed)
{
  static const gint sizes[] = { 320, 640 };
  g_print ("| %s |", name);
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    gdouble ours = G_MAXDOUBLE, peers = G_MAXDOUBLE, bytes;
    Case c = { 0 };
    case_init (&c, gst_video_format_from_string (name), sizes[s]);
    for (guint i = 0; i < rounds; i++) {
      ours = MIN (ours, measure (run_axon, &c));
      peers = MIN (peers, measure (run_peer, &c));
    }
    bytes = (gdouble)c.info.size + 12. * sizes[s] * sizes[s];
    g_print (" %.0f | %.0f | %.2f | %.0f |", ours, peers, ours / peers, bytes / speed);
    case_clear (&c);
  }
  g_print ("\n");
}

int
main (int argc, char **argv)
{
#define NAME(video, image) #video,
  static const gchar *const all[] = { GST_NN_VIDEO_FORMAT_TABLE (NAME, NAME) };
  guint rounds = argc > 1 ? (guint)g_ascii_strtoull (argv[1], NULL, 10) : 20;
  gdouble speed;
  gst_init (&argc, &argv);
  speed = measure_memory (rounds);
  g_print ("Memory: %.1f GB/s (a copy, reads and writes). us a frame to 320, then to 640:\n\n"
           "| format | Axon | peer | ratio | memory | Axon | peer | ratio | memory |\n"
           "|---|---|---|---|---|---|---|---|---|\n",
           speed / 1000);
  if (argc > 2)
    for (gint i = 2; i < argc; i++)
      report (argv[i], rounds, speed);
  else
    for (guint i = 0; i < G_N_ELEMENTS (all); i++)
      report (all[i], rounds, speed);
  return 0;
}
