/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where frames lie, and what nninfer and nnpreproc say of those that they cannot take. */
#include "preprocess.h"

#include <glib/gstdio.h>
#include <string.h>

/* Pushes @buffer (nothing: only caps); the text of the error or warning that comes of it. */
static gchar *
complaint (const gchar *launch, const gchar *caps, GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new_parse (launch);
  g_autoptr (GstBus) bus = gst_bus_new ();
  g_autoptr (GstMessage) m = NULL;
  g_autoptr (GError) error = NULL;
  gst_harness_set_live (h, FALSE);
  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, caps);
  if (buffer != NULL)
    gst_harness_push (h, buffer);
  m = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
  if (m != NULL && GST_MESSAGE_TYPE (m) == GST_MESSAGE_ERROR)
    gst_message_parse_error (m, &error, NULL);
  else if (m != NULL)
    gst_message_parse_warning (m, &error, NULL);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
  return g_strdup (error ? error->message : NULL);
}

#define SMALL "video/x-raw,format=RGB,width=64,height=48,framerate=30/1"

static void
planes_that_reach_beyond_their_memory_are_an_error (void)
{
  gsize offset[4] = { 0 };
  gint stride[4] = { 100000 };
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL);
  g_autofree gchar *text = NULL, *backwards = NULL;
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 64, 48,
                                  1, offset, stride);
  text = complaint ("nnpreproc", SMALL, buffer);
  g_assert_nonnull (strstr (text, "100000"));
  buffer = gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL);
  stride[0] = -192;
  offset[0] = 192 * 47;
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 64, 48,
                                  1, offset, stride);
  backwards = complaint ("nnpreproc", SMALL, buffer);
  g_assert_nonnull (strstr (backwards, "-192"));
}

static void
a_frame_of_another_format_than_its_caps_is_an_error (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48 * 4, NULL);
  g_autofree gchar *text = NULL;
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRx, 64, 48);
  text = complaint ("nnpreproc", SMALL, buffer);
  g_assert_nonnull (strstr (text, "BGRx"));
}

/* Memory of a device, as far as elements can see. */
typedef struct {
  GstAllocator parent_instance;
  gboolean mappable;
} TestAllocator;
typedef GstAllocatorClass TestAllocatorClass;
GType test_allocator_get_type (void);
G_DEFINE_TYPE (TestAllocator, test_allocator, GST_TYPE_ALLOCATOR)

typedef struct {
  GstMemory memory;
  guint8 *data;
} TestMemory;

static GstMemory *
test_alloc (GstAllocator *allocator, gsize size, G_GNUC_UNUSED GstAllocationParams *params)
{
  TestMemory *m = g_new0 (TestMemory, 1);
  gst_memory_init (GST_MEMORY_CAST (m), 0, allocator, NULL, size, 0, 0, size);
  m->data = g_malloc0 (size);
  return GST_MEMORY_CAST (m);
}

static void
test_free (G_GNUC_UNUSED GstAllocator *allocator, GstMemory *memory)
{
  g_free (((TestMemory *)memory)->data);
  g_free (memory);
}

static gpointer
test_map (GstMemory *memory, G_GNUC_UNUSED gsize size, G_GNUC_UNUSED GstMapFlags flags)
{
  return ((TestAllocator *)memory->allocator)->mappable ? ((TestMemory *)memory)->data : NULL;
}

static void
test_unmap (G_GNUC_UNUSED GstMemory *memory)
{
}

static void
test_allocator_class_init (TestAllocatorClass *klass)
{
  klass->alloc = test_alloc;
  klass->free = test_free;
}

static void
test_allocator_init (TestAllocator *self)
{
  self->parent_instance.mem_map = test_map;
  self->parent_instance.mem_unmap = test_unmap;
  GST_OBJECT_FLAG_SET (self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstBuffer *
device_buffer (const gchar *type, gboolean mappable)
{
  g_autoptr (GstAllocator) allocator = g_object_new (test_allocator_get_type (), NULL);
  GstBuffer *buffer = gst_buffer_new ();
  gst_object_ref_sink (allocator);
  allocator->mem_type = type;
  ((TestAllocator *)allocator)->mappable = mappable;
  gst_buffer_append_memory (buffer, gst_allocator_alloc (allocator, 64 * 48 * 3, NULL));
  return buffer;
}

#define ON_DEVICE "video/x-raw(memory:VAMemory),format=RGB,width=64,height=48,framerate=30/1"

static void
memory_that_cannot_be_mapped_is_an_error_that_names_the_element_to_insert (void)
{
  static const struct {
    const gchar *type, *element;
  } cases[] = { { "VAMemory", "vapostproc" },
                { "gst.cuda.memory", "cudadownload" },
                { "GLMemory", "gldownload" },
                { "somebody's", "videoconvert" } };
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *infer = g_strdup_printf ("nninfer model=%s device=CPU", model);
  const gchar *const elements[] = { "nnpreproc", infer };
  for (guint i = 0; i < G_N_ELEMENTS (cases) * G_N_ELEMENTS (elements); i++) {
    g_autofree gchar *text =
        complaint (elements[i % 2], ON_DEVICE, device_buffer (cases[i / 2].type, FALSE));
    g_assert_nonnull (strstr (text, cases[i / 2].type));
    g_assert_nonnull (strstr (text, cases[i / 2].element));
  }
}

static void
memory_of_a_device_that_can_be_mapped_is_used (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *infer = g_strdup_printf ("nninfer model=%s device=CPU", model);
  g_autoptr (GstBuffer) tensor =
      preprocess ("nnpreproc width=16 height=12", ON_DEVICE, device_buffer ("VAMemory", TRUE));
  g_autoptr (GstBuffer) frame = preprocess (infer, ON_DEVICE, device_buffer ("VAMemory", TRUE));
  g_assert_cmpuint (gst_buffer_get_size (tensor), ==, 16 * 12 * 3 * sizeof (gfloat));
  g_assert_cmpstr (gst_buffer_peek_memory (frame, 0)->allocator->mem_type, ==, "VAMemory");
}

static void
elements_that_only_touch_results_hand_any_memory_on (void)
{
  static const gchar *const elements[] = { "nndecode", "nnpublish", "nnquery" };
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstHarness *h = gst_harness_new (elements[i]);
    g_autoptr (GstBuffer) out = NULL;
    g_autoptr (GstCaps) caps = NULL;
    gst_harness_set_src_caps_str (h, ON_DEVICE);
    g_assert_cmpint (gst_harness_push (h, device_buffer ("VAMemory", FALSE)), ==, GST_FLOW_OK);
    out = gst_harness_pull (h);
    caps = gst_pad_get_current_caps (h->sinkpad);
    g_assert_true (gst_caps_features_contains (gst_caps_get_features (caps, 0), "memory:VAMemory"));
    gst_harness_teardown (h);
  }
}

static void
interlaced_frames_are_named_once (void)
{
  const gchar *caps =
      "video/x-raw,format=RGB,width=64,height=48,framerate=30/1,interlace-mode=interleaved";
  GstHarness *h = gst_harness_new ("nnpreproc");
  g_autoptr (GstBus) bus = gst_bus_new ();
  GstMessage *m;
  guint n = 0;
  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 3; i++) {
    gst_harness_set_src_caps_str (h, caps);
    gst_harness_push (h, gst_harness_create_buffer (h, 64 * 48 * 3));
    caps = "video/x-raw,format=RGB,width=64,height=48,framerate=25/1,interlace-mode=mixed";
  }
  while ((m = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)) != NULL) {
    n++;
    gst_message_unref (m);
  }
  g_assert_cmpuint (n, ==, 1);
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

static void
fields_are_refused_with_what_to_ask_the_source_for (void)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *infer = g_strdup_printf ("nninfer model=%s device=CPU", model);
  const gchar *const elements[] = { "nnpreproc", infer };
  const gchar *const modes[] = { "video/x-raw(format:Interlaced),format=RGB,width=64,height=48,"
                                 "framerate=30/1,interlace-mode=alternate",
                                 "video/x-raw,format=RGB,width=64,height=48,framerate=30/1,"
                                 "interlace-mode=fields" };
  for (guint i = 0; i < 4; i++) {
    g_autofree gchar *text = complaint (elements[i % 2], modes[i / 2], NULL);
    g_assert_nonnull (strstr (text, "interlace-mode=interleaved"));
    g_assert_nonnull (strstr (text, "deinterlace"));
  }
}

static void
nnpreproc_makes_the_input_of_its_model_from_a_file_of_either_kind (void)
{
  g_autofree gchar *onnx = test_ball_model ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-XXXXXX", NULL);
  g_autofree gchar *file = g_build_filename (folder, "ball.axon", NULL);
  const gchar *const models[] = { onnx, file };
  g_autoptr (GError) error = NULL;
  AxonCore *core = axon_core_get_default ();
  g_autoptr (AxonModel) model = axon_core_read_model (core, onnx, NULL, &error);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  AxonPictureShape picture;
  g_assert_no_error (error);
  compiled = axon_core_compile_model (core, model, "CPU", NULL, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (axon_compiled_model_export_to_file (compiled, file, &error));
  g_assert_true (
      axon_picture_shape_init (&picture, axon_model_get_input_shape (model, 0), "rgb", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autofree gchar *launch = g_strdup_printf ("nnpreproc model=%s", models[i]);
    g_autoptr (GstBuffer) out =
        preprocess (launch, SMALL, gst_buffer_new_allocate (NULL, 64 * 48 * 3, NULL));
    const GstNnTensorMeta *meta = gst_buffer_get_nn_tensor_meta (out);
    g_assert_cmpint (meta->geometry.width, ==, picture.width);
    g_assert_cmpint (meta->geometry.height, ==, picture.height);
  }
  g_unlink (file);
  g_rmdir (folder);
}

static void
nnpreproc_tells_upstream_that_planes_may_lie_anywhere (void)
{
  GstHarness *h = gst_harness_new ("nnpreproc");
  g_autoptr (GstCaps) caps = gst_caps_from_string (SMALL);
  g_autoptr (GstQuery) query = gst_query_new_allocation (caps, TRUE);
  gst_harness_set_src_caps_str (h, SMALL);
  gst_harness_push (h, gst_harness_create_buffer (h, 64 * 48 * 3));
  g_assert_true (gst_pad_peer_query (h->srcpad, query));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  g_assert_true (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_harness_teardown (h);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/memory/" #name, name)
  ADD (planes_that_reach_beyond_their_memory_are_an_error);
  ADD (a_frame_of_another_format_than_its_caps_is_an_error);
  ADD (memory_that_cannot_be_mapped_is_an_error_that_names_the_element_to_insert);
  ADD (memory_of_a_device_that_can_be_mapped_is_used);
  ADD (elements_that_only_touch_results_hand_any_memory_on);
  ADD (interlaced_frames_are_named_once);
  ADD (fields_are_refused_with_what_to_ask_the_source_for);
  ADD (nnpreproc_makes_the_input_of_its_model_from_a_file_of_either_kind);
  ADD (nnpreproc_tells_upstream_that_planes_may_lie_anywhere);
  return g_test_run ();
}
