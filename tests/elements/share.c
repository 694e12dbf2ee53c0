/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Several nninfer with one model: it is compiled once, and streams do not wait for each other. */
#include "decoders/gstnnfloats.h"
#include "infer/gstnninferturns.h"
#include "nninfer.h"

static GstHarness *
stream_new (const gchar *config, guint nireq)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "nninfer model-instance-id=shared model=%s device=MOCK nireq=%u config=\"config%s%s\"", model,
      nireq, config ? "," : "", config ? config : "");
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

static void
push_one (GstHarness *h, guint i)
{
  GstBuffer *buffer = gst_harness_push_and_pull (h, frame (h, i));
  g_assert_nonnull (gst_buffer_get_nn_tensor_meta (buffer));
  gst_buffer_unref (buffer);
}

static gchar *
error_of (GstElement *element)
{
  GstElement *pipe = gst_pipeline_new (NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipe);
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  gst_bin_add (GST_BIN (pipe), element);
  g_assert_cmpint (gst_element_set_state (pipe, GST_STATE_READY), ==, GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  gst_message_unref (message);
  gst_element_set_state (pipe, GST_STATE_NULL);
  gst_object_unref (pipe);
  return g_strdup (error->message);
}

/* The second run of what was compiled fails, whoever starts it. */
static void
elements_with_one_id_have_one_compiled_model (void)
{
  GstHarness *a = stream_new ("MOCK_FAIL_AT=1", 1), *b = stream_new ("MOCK_FAIL_AT=1", 1);
  push_one (a, 0);
  gst_harness_push (b, frame (b, 0));
  while (gst_harness_push (b, frame (b, 1)) == GST_FLOW_OK)
    g_usleep (1000);
  gst_harness_teardown (a);
  gst_harness_teardown (b);
}

static void
elements_without_an_id_share_nothing (void)
{
  GstHarness *a = harness_new ("MOCK_FAIL_AT=1", 1), *b = harness_new ("MOCK_FAIL_AT=1", 1);
  push_one (a, 0);
  push_one (b, 0);
  gst_harness_teardown (a);
  gst_harness_teardown (b);
}

static GstElement *
new_with (const gchar *setting)
{
  g_autofree gchar *model = test_ball_model ();
  g_auto (GStrv) words = g_strsplit (setting, " ", 2);
  GstElement *e = gst_element_factory_make ("nninfer", NULL);
  gst_util_set_object_arg (G_OBJECT (e), "config", "config");
  g_object_set (e, "model", model, "device", "MOCK", "model-instance-id", "shared", NULL);
  gst_util_set_object_arg (G_OBJECT (e), words[0], words[1]);
  return gst_object_ref_sink (e);
}

/* Each alone; what differs is told. */
static void
an_id_with_other_settings_is_refused_until_its_model_is_gone (void)
{
  static const struct {
    const gchar *setting, *says;
  } cases[] = {
    { "device TEMPLATE", "device \"MOCK\", and here it is \"TEMPLATE\"" },
    { "model /nowhere.onnx", "and here it is \"/nowhere.onnx\"" },
    { "extensions libnone.so", "extensions \"\", and here it is \"libnone.so\"" },
    { "config config,MOCK_RUN_TIME=1", "config \"config;\", and here it is \"config, MOCK" },
    { "max-memory 7", "max-memory \"0\", and here it is \"7\"" },
    { "inference-timeout 9", "inference-timeout \"0\", and here it is \"9\"" },
    { "labels cat,dog", "description \"\", and here it is \"labels=cat,dog\"" },
  };
  GstHarness *a = stream_new (NULL, 1);
  GstElement *last = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *message = NULL;
    GstElement *b = new_with (cases[i].setting);
    g_test_message ("%s", cases[i].setting);
    message = error_of (b);
    g_assert_nonnull (strstr (message, "\"shared\""));
    if (strstr (message, cases[i].says) == NULL)
      g_error ("\"%s\" does not say \"%s\"", message, cases[i].says);
    if (i == 0)
      last = gst_object_ref (b);
    gst_object_unref (b);
  }
  gst_harness_teardown (a);
  g_assert_cmpint (gst_element_set_state (last, GST_STATE_READY), ==, GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (last, GST_STATE_NULL);
  gst_object_unref (last);
}

static GstPadProbeReturn
block (G_GNUC_UNUSED GstPad *pad, G_GNUC_UNUSED GstPadProbeInfo *info, G_GNUC_UNUSED gpointer data)
{
  return GST_PAD_PROBE_OK;
}

static void
a_paused_stream_delays_nobody (void)
{
  GstHarness *paused = stream_new (NULL, 2), *other = stream_new (NULL, 2);
  g_autoptr (GstPad) pad = gst_element_get_static_pad (paused->element, "src");
  gulong probe;
  push_one (paused, 0);
  probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, block, NULL,
                             NULL);
  for (guint i = 1; i < 3; i++) /* as many as it has requests */
    gst_harness_push (paused, frame (paused, i));
  for (guint i = 0; i < 50; i++)
    push_one (other, i);
  gst_pad_remove_probe (pad, probe);
  for (guint i = 1; i < 3; i++)
    gst_buffer_unref (gst_harness_pull (paused));
  gst_harness_teardown (paused);
  gst_harness_teardown (other);
}

static void
a_run_that_never_ends_delays_nobody_else (void)
{
  GstHarness *stalled = stream_new ("MOCK_STALL_AT=0", 1),
             *other = stream_new ("MOCK_STALL_AT=0", 1);
  gst_harness_push (stalled, frame (stalled, 0));
  for (guint i = 0; i < 50; i++)
    push_one (other, i);
  gst_harness_teardown (stalled);
  push_one (other, 50);
  gst_harness_teardown (other);
}

static void
note_wake (gpointer count)
{
  ++*(guint *)count;
}

static AxonCompiledModel *
compiled_new (void)
{
  g_autofree gchar *path = test_ball_model ();
  AxonCompiledModel *compiled = axon_core_compile_model_from_file (
      axon_core_get_default (), path, "TEMPLATE", NULL, NULL, NULL, NULL, NULL);
  g_assert_nonnull (compiled);
  return compiled;
}

static void
elements_take_turns_in_equal_parts (void)
{
  GstNnInferTurns *turns = gst_nn_infer_turns_new ();
  g_autoptr (AxonCompiledModel) compiled = compiled_new ();
  guint woken[2] = { 0, 0 }, n;
  GstNnInferSeat *a = gst_nn_infer_turns_sit (turns, compiled, 4, note_wake, &woken[0]);
  GstNnInferSeat *b = gst_nn_infer_turns_sit (turns, compiled, 4, note_wake, &woken[1]);
  for (n = 0; gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_NEXT, FALSE); n++)
    ;
  g_assert_cmpuint (n, ==, 4); /* who is alone has all */
  g_assert_true (
      gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE)); /* the first is always free */
  g_assert_false (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE));
  for (; n > 1; n--)
    gst_nn_infer_seat_end_turn (a);
  g_assert_cmpuint (woken[0], ==, 0);
  g_assert_cmpuint (woken[1], ==, 3);
  g_assert_true (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_NEXT, TRUE));
  g_assert_false (
      gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_NEXT, FALSE)); /* it has its half */
  g_assert_true (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE));
  gst_nn_infer_seat_leave (a);
  gst_nn_infer_seat_end_turn (a);
  gst_nn_infer_seat_end_turn (a);
  g_assert_true (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE)); /* a is gone */
  for (n = 3; n > 0; n--)
    gst_nn_infer_seat_end_turn (b);
  g_assert_cmpuint (woken[0], ==, 0);
  gst_nn_infer_seat_leave (b);
  gst_nn_infer_turns_unref (turns);
}

/* Others' next results come first, but what nobody wants is taken. */
static void
who_has_a_result_gives_way_to_those_without (void)
{
  GstNnInferTurns *turns = gst_nn_infer_turns_new ();
  g_autoptr (AxonCompiledModel) compiled = compiled_new ();
  guint woken[2] = { 0, 0 };
  GstNnInferSeat *a = gst_nn_infer_turns_sit (turns, compiled, 3, note_wake, &woken[0]);
  GstNnInferSeat *b = gst_nn_infer_turns_sit (turns, compiled, 3, note_wake, &woken[1]);
  g_assert_true (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE));
  g_assert_true (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_MORE, TRUE));
  g_assert_true (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_MORE, TRUE));
  g_assert_false (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_MORE, TRUE)); /* all run */
  g_assert_false (gst_nn_infer_seat_take_turn (b, GST_NN_INFER_NEED_NEXT, TRUE));
  gst_nn_infer_seat_end_turn (a);
  g_assert_cmpuint (woken[0], ==, 1);
  g_assert_cmpuint (woken[1], ==, 1);
  g_assert_false (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_MORE, TRUE)); /* b waits */
  g_assert_true (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_NEXT, TRUE));
  gst_nn_infer_seat_end_turn (a);
  gst_nn_infer_seat_give_up (b);
  g_assert_true (gst_nn_infer_seat_take_turn (a, GST_NN_INFER_NEED_MORE, TRUE));
  gst_nn_infer_seat_end_turn (a);
  gst_nn_infer_seat_end_turn (b);
  gst_nn_infer_seat_end_turn (b);
  gst_nn_infer_seat_leave (a);
  gst_nn_infer_seat_leave (b);
  gst_nn_infer_turns_unref (turns);
}

static void
who_leaves_wakes_all_that_wait (void)
{
  GstNnInferTurns *turns = gst_nn_infer_turns_new ();
  g_autoptr (AxonCompiledModel) compiled = compiled_new ();
  guint woken[4] = { 0 };
  GstNnInferSeat *seats[4];
  for (guint i = 0; i < G_N_ELEMENTS (seats); i++) {
    seats[i] = gst_nn_infer_turns_sit (turns, compiled, 2, note_wake, &woken[i]);
    g_assert_true (gst_nn_infer_seat_take_turn (seats[i], GST_NN_INFER_NEED_NEXT,
                                                TRUE)); /* the first is always free */
  }
  for (guint i = 1; i < G_N_ELEMENTS (seats); i++)
    g_assert_false (gst_nn_infer_seat_take_turn (seats[i], GST_NN_INFER_NEED_NEXT, TRUE));
  gst_nn_infer_seat_leave (seats[0]);
  g_assert_cmpuint (woken[0], ==, 0);
  for (guint i = 1; i < G_N_ELEMENTS (seats); i++)
    g_assert_cmpuint (woken[i], ==, 1);
  gst_nn_infer_seat_give_up (seats[1]);
  gst_nn_infer_seat_end_turn (seats[0]);
  for (guint i = 1; i < G_N_ELEMENTS (seats); i++)
    g_assert_cmpuint (woken[i], ==, i == 1 ? 1 : 2); /* who does not wait is left alone */
  for (guint i = 1; i < G_N_ELEMENTS (seats); i++) {
    gst_nn_infer_seat_end_turn (seats[i]);
    gst_nn_infer_seat_leave (seats[i]);
  }
  gst_nn_infer_turns_unref (turns);
}

/* What two elements had comes back, and only as many stay as one has. */
static void
idle_requests_are_everybodys_and_no_more_than_one_has (void)
{
  GstNnInferTurns *turns = gst_nn_infer_turns_new ();
  g_autoptr (AxonCompiledModel) compiled = compiled_new (), other = compiled_new ();
  GstNnInferSeat *a = gst_nn_infer_turns_sit (turns, compiled, 2, note_wake, NULL);
  GstNnInferSeat *b = gst_nn_infer_turns_sit (turns, compiled, 2, note_wake, NULL);
  GstNnInferSeat *c = gst_nn_infer_turns_sit (turns, other, 2, note_wake, NULL);
  AxonInferRequest *requests[4], *again;
  guint n_alive = 0;
  for (guint i = 0; i < 4; i++) {
    requests[i] = gst_nn_infer_seat_take_request (i % 2 ? a : b);
    g_object_add_weak_pointer (G_OBJECT (requests[i]), (gpointer *)&requests[i]);
  }
  for (guint i = 0; i < 4; i++)
    gst_nn_infer_seat_give_request (a, requests[i]);
  for (guint i = 0; i < 4; i++)
    n_alive += requests[i] != NULL;
  g_assert_cmpuint (n_alive, ==, 2);
  again = gst_nn_infer_seat_take_request (b);
  g_assert_true (again == requests[3]);                /* whose outputs were used last */
  g_object_unref (gst_nn_infer_seat_take_request (c)); /* of another model */
  g_assert_nonnull (requests[2]);
  gst_nn_infer_seat_leave (a);
  g_assert_null (requests[2]);
  gst_nn_infer_seat_ref (b);
  gst_nn_infer_seat_leave (b);
  gst_nn_infer_seat_give_request (b, again); /* too late to be kept */
  g_assert_null (requests[3]);
  gst_nn_infer_seat_unref (b);
  gst_nn_infer_seat_leave (c);
  gst_nn_infer_turns_unref (turns);
}

static GPtrArray *
halves_new (gint64 n)
{
  GPtrArray *tensors = g_ptr_array_new_with_free_func ((GDestroyNotify)axon_tensor_unref);
  AxonShape shape = AXON_SHAPE (1, n);
  g_autoptr (AxonTensor) ones = axon_tensor_new (AXON_DTYPE_F32, &shape, NULL);
  for (gint64 i = 0; i < n; i++)
    ((gfloat *)axon_tensor_get_data (ones))[i] = 1;
  g_ptr_array_add (tensors, axon_tensor_ref (ones));
  g_ptr_array_add (tensors, axon_tensor_convert (ones, AXON_DTYPE_F16, NULL));
  return tensors;
}

/* Where it lies. */
static gconstpointer
convert_once (GPtrArray *tensors)
{
  GstNnFloats *memory = gst_nn_floats_take (tensors);
  g_autoptr (GPtrArray) floats = gst_nn_floats_convert (memory, tensors);
  const gfloat *data;
  g_assert_cmpuint (floats->len, ==, 2);
  g_assert_true (floats->pdata[0] == tensors->pdata[0]); /* is as decoders read it */
  data = axon_tensor_get_data (floats->pdata[1]);
  g_assert_cmpfloat (data[0], ==, 1);
  g_clear_pointer (&floats, g_ptr_array_unref);
  gst_nn_floats_give (memory);
  return data;
}

static void
outputs_of_halves_are_converted_into_memory_that_elements_share (void)
{
  g_autoptr (GPtrArray) tensors = halves_new (600), others = halves_new (700);
  GstNnFloats *taken;
  gconstpointer first;
  gst_nn_floats_open ();
  gst_nn_floats_open ();
  first = convert_once (tensors);
  g_assert_true (convert_once (tensors) == first);
  g_assert_true (convert_once (others) != first);
  g_assert_true (convert_once (tensors) == first); /* as many stay as there are elements */
  taken = gst_nn_floats_take (tensors);
  g_assert_true (convert_once (tensors) != first); /* somebody else decodes */
  gst_nn_floats_give (taken);
  gst_nn_floats_close ();
  gst_nn_floats_close ();
}

static GstHarness *
batched_stream_new (const gchar *region)
{
  g_autofree gchar *model = test_ball_model ();
  g_autofree gchar *launch = g_strdup_printf (
      "nninfer model-instance-id=batched model=%s device=\"BATCH:TEMPLATE(4)\" nireq=4 %s "
      "config=\"config,AUTO_BATCH_TIMEOUT=60000\"",
      model, region);
  GstHarness *h = gst_harness_new_parse (launch);
  gst_harness_set_live (h, FALSE);
  gst_harness_set_src_caps_str (h, CAPS);
  return h;
}

/* Batches are of four, and none runs with fewer: an object of one stream, two tiles and the whole
 * of another. */
static void
regions_and_tiles_of_several_streams_are_one_batch (void)
{
  GstHarness *objects = batched_stream_new ("inference-region=roi-list");
  GstHarness *tiles = batched_stream_new ("tiles=<2,1>");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = frame (objects, i);
    GstNnResultMeta *result = gst_buffer_add_nn_result_meta (buffer, 64, 48);
    GstNnObject *object = gst_nn_result_meta_add_object (result, 0);
    gst_nn_object_set_box (object, 8, 8, 16, 16);
    g_assert_cmpint (gst_harness_push (objects, buffer), ==, GST_FLOW_OK);
    g_assert_cmpint (gst_harness_push (tiles, frame (tiles, i)), ==, GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (objects));
    gst_buffer_unref (gst_harness_pull (tiles));
  }
  gst_harness_teardown (objects);
  gst_harness_teardown (tiles);
}

static void
what_the_first_gives_up_compiling_the_next_one_compiles (void)
{
  GstHarness *a = stream_new ("MOCK_COMPILE_MS=300", 1), *b = stream_new ("MOCK_COMPILE_MS=300", 1);
  gst_harness_teardown (a);
  push_one (b, 0);
  gst_harness_teardown (b);
}

static void
a_compile_that_fails_fails_for_all (void)
{
  for (guint i = 0; i < 2; i++) {
    GstHarness *h = stream_new ("MOCK_FAIL_COMPILE=YES", 1);
    g_assert_cmpint (gst_harness_push (h, frame (h, 0)), ==, GST_FLOW_ERROR);
    gst_harness_teardown (h);
  }
}

static gpointer
come_and_go (gpointer data)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (GPOINTER_TO_UINT (data));
  for (guint round = 0; round < 4; round++) {
    GstHarness *h = stream_new (NULL, 1 + (guint)g_rand_int_range (rand, 0, 3));
    guint n = (guint)g_rand_int_range (rand, 0, 5);
    for (guint i = 0; i < n; i++)
      push_one (h, i);
    if (g_rand_boolean (rand))
      gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_teardown (h);
  }
  return NULL;
}

static void
streams_come_and_go_in_any_order (void)
{
  GThread *threads[16];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("stream", come_and_go, GUINT_TO_POINTER (i));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/share/" #name, name)
  ADD (elements_with_one_id_have_one_compiled_model);
  ADD (elements_without_an_id_share_nothing);
  ADD (an_id_with_other_settings_is_refused_until_its_model_is_gone);
  ADD (a_paused_stream_delays_nobody);
  ADD (a_run_that_never_ends_delays_nobody_else);
  ADD (elements_take_turns_in_equal_parts);
  ADD (who_has_a_result_gives_way_to_those_without);
  ADD (who_leaves_wakes_all_that_wait);
  ADD (idle_requests_are_everybodys_and_no_more_than_one_has);
  ADD (outputs_of_halves_are_converted_into_memory_that_elements_share);
  ADD (regions_and_tiles_of_several_streams_are_one_batch);
  ADD (what_the_first_gives_up_compiling_the_next_one_compiles);
  ADD (a_compile_that_fails_fails_for_all);
  ADD (streams_come_and_go_in_any_order);
  return g_test_run ();
}
