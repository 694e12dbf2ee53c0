/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which decoder the shapes of published models mean; no numbers and no shapes break any. */
#include "decoders.h"
#include "decoders/gstnnchoice.h"

#include <math.h>
#include <string.h>

/* Numbers that no model should give, and such as might reach a threshold. */
static gfloat
hostile_number (GRand *rand, guint kind)
{
  static const gfloat odd[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e-40f, 0, 1, -1, 1e9f };
  union {
    guint32 bits;
    gfloat value;
  } any = { .bits = g_rand_int (rand) };
  if (kind < G_N_ELEMENTS (odd))
    return odd[kind];
  return kind == G_N_ELEMENTS (odd)       ? odd[any.bits % G_N_ELEMENTS (odd)]
         : kind == G_N_ELEMENTS (odd) + 1 ? any.value
                                          : (gfloat)g_rand_double_range (rand, -2, 100);
}
#define N_KINDS 13

static void
fill (const Decoded *d, GRand *rand, guint kind)
{
  for (guint i = 0; i < d->in.tensors->len; i++) {
    gfloat *v = axon_tensor_get_data (g_ptr_array_index (d->in.tensors, i));
    for (gsize k = 0; k < axon_tensor_get_numel (g_ptr_array_index (d->in.tensors, i)); k++)
      v[k] = hostile_number (rand, kind);
  }
}

static void
shapes_of_published_models_mean_their_decoders (gconstpointer data)
{
  const DecodedModel *m = data;
  AxonShape shapes[DECODED_TENSORS];
  g_auto (Decoded) d = { 0 };
  const GstNnDecoder *decoder;
  decoded_load (&d, m, shapes, decoded_parse_shapes (m->shapes, shapes));
  decoder = gst_nn_decoder_probe (&d.in);
  if (g_str_equal (m->decoder, "-"))
    g_assert_true (decoder == NULL || decoder->decode == NULL);
  else
    g_assert_cmpstr (decoder ? decoder->name : "none", ==, m->decoder);
}

/* On the frame, but for rotated boxes. */
static void
check_places (const GstNnObject *o)
{
  gdouble box[5], x, y, score;
  gst_nn_object_get_box (o, &box[0], &box[1], &box[2], &box[3]);
  g_assert_true (isfinite (box[0] + box[1]) && box[2] > 0 && box[3] > 0);
  g_assert_true (isfinite (gst_nn_object_get_score (o)));
  for (guint k = 0; gst_nn_object_get_keypoint (o, k, &x, &y, &score); k++)
    g_assert_true (isfinite (x) && isfinite (y) && isfinite (score));
  if (gst_nn_object_get_rotated_box (o, &x, &y, &box[2], &box[3], &box[4])) {
    g_assert_true (isfinite (x + y + box[2] + box[3] + box[4]));
    return;
  }
  g_assert_true (box[0] >= 0 && box[1] >= 0);
  g_assert_true (box[0] + box[2] <= 640 + 1e-6 && box[1] + box[3] <= 480 + 1e-6);
}

/* Whoever says that outputs fit decodes whatever they hold. */
static void
decode_by_all (Decoded *d)
{
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    const GstNnDecoder *decoder = gst_nn_decoder_find (names[i]);
    const GstNnObject *o;
    if (!decoder->fits (&d->in))
      continue;
    decoded_run (d, decoder, 0.45, 20);
    g_assert_cmpuint (gst_nn_result_meta_get_n_objects (d->result), <=, 20);
    for (guint k = 0; (o = gst_nn_result_meta_get_object (d->result, k)) != NULL; k++)
      if (decoder->decode != NULL)
        check_places (o);
  }
}

static void
no_numbers_break_a_decoder (gconstpointer data)
{
  const DecodedModel *m = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  AxonShape shapes[DECODED_TENSORS];
  g_auto (Decoded) d = { 0 };
  decoded_load (&d, m, shapes, decoded_parse_shapes (m->shapes, shapes));
  d.in.threshold = 0.1;
  for (guint kind = 0; kind < N_KINDS; kind++) {
    fill (&d, rand, kind);
    decode_by_all (&d);
  }
}

/* The shapes above, which are filled with such numbers, are met by all that there are. */
static void
hostile_numbers_meet_every_decoder (void)
{
  g_autofree gchar *list = gst_nn_decoder_list ();
  g_auto (GStrv) names = g_strsplit (list, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++) {
    gboolean is_met = FALSE;
    for (guint k = 0; k < n_decoded_models && !is_met; k++) {
      AxonShape shapes[DECODED_TENSORS];
      g_auto (Decoded) d = { 0 };
      decoded_load (&d, &decoded_models[k], shapes,
                    decoded_parse_shapes (decoded_models[k].shapes, shapes));
      is_met = gst_nn_decoder_find (names[i])->fits (&d.in);
    }
    if (!is_met)
      g_test_message ("no shapes fit %s", names[i]);
    if (!is_met)
      g_test_fail ();
  }
}

/* A dimension more or less, other, or none; a tensor less, or in another place. */
static guint
mutate (AxonShape *shapes, guint n, GRand *rand)
{
  AxonShape *s = &shapes[g_rand_int_range (rand, 0, (gint32)n)];
  gint64 *dim = &s->dims[g_rand_int_range (rand, 0, s->rank)];
  AxonShape other = *s;
  switch (g_rand_int_range (rand, 0, 7)) {
  case 0:
    *dim += g_rand_boolean (rand) ? 1 : *dim > 0 ? -1 : 2;
    break;
  case 1:
    *dim = g_rand_int_range (rand, 0, 12);
    break;
  case 2:
    s->rank = MAX (s->rank - 1, 1);
    break;
  case 3:
    s->dims[s->rank++] = g_rand_int_range (rand, 1, 8);
    break;
  case 4:
    *s = shapes[0];
    shapes[0] = other;
    break;
  case 5:
    return MAX (n - 1, 1);
  default:
    *dim = s->dims[0];
    s->dims[0] = 1;
  }
  return n;
}

static gboolean
is_small (const AxonShape *shapes, guint n)
{
  gint64 all = 0;
  for (guint i = 0; i < n; i++)
    all += axon_shape_get_numel (&shapes[i]);
  return all < 400000;
}

static void
no_shapes_break_a_decoder (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  for (guint round = 0; round < 4000; round++) {
    DecodedModel m = decoded_models[g_rand_int_range (rand, 0, n_decoded_models)];
    AxonShape shapes[DECODED_TENSORS];
    guint n = decoded_parse_shapes (m.shapes, shapes);
    g_auto (Decoded) d = { 0 };
    if (!is_small (shapes, n))
      continue;
    for (gint i = g_rand_int_range (rand, 1, 4); i > 0; i--)
      n = mutate (shapes, n, rand);
    if (!is_small (shapes, n))
      continue;
    m.names = NULL;
    m.n_labels = (guint)g_rand_int_range (rand, 0, 4) * 27;
    decoded_load (&d, &m, shapes, n);
    d.in.threshold = 0.1;
    fill (&d, rand, N_KINDS - 1 - (guint)g_rand_int_range (rand, 0, 3));
    decode_by_all (&d);
  }
}

/* What a description says wrongly, too. */
static void
no_anchors_or_strides_break_a_decoder (void)
{
  static const gfloat anchors[] = { 1,  2,  NAN, 4,  INFINITY, 6,  0,  -1, 9,  10,
                                    11, 12, 13,  14, 15,       16, 17, 18, 19, 20 };
  static const guint strides[] = { 8, 16, 0, 16, 1000000, 32, 8, 8 };
  static const gchar *const activations[] = { NULL, "none", "sigmoid", "softmax" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (13);
  for (guint i = 0; i < n_decoded_models; i++) {
    AxonShape shapes[DECODED_TENSORS];
    guint n = decoded_parse_shapes (decoded_models[i].shapes, shapes);
    g_auto (Decoded) d = { 0 };
    if (!is_small (shapes, n))
      continue;
    decoded_load (&d, &decoded_models[i], shapes, n);
    fill (&d, rand, N_KINDS - 1);
    d.in.anchors = anchors;
    d.in.strides = strides;
    for (guint k = 0; k < 12; k++) {
      d.in.n_anchors = (guint)g_rand_int_range (rand, 0, G_N_ELEMENTS (anchors) + 1);
      d.in.n_strides = (guint)g_rand_int_range (rand, 0, G_N_ELEMENTS (strides) + 1);
      d.in.activation = activations[k % G_N_ELEMENTS (activations)];
      decode_by_all (&d);
    }
  }
}

static void
what_cannot_be_decoded_is_told_output_by_output (void)
{
  const DecodedModel m = { "-", 64, 48, 2, "1x7x11x13 1x5", NULL };
  GstNnDecoderChoice choice = { NULL };
  AxonShape shapes[DECODED_TENSORS];
  g_auto (Decoded) d = { 0 };
  g_autofree gchar *text = NULL;
  decoded_load (&d, &m, shapes, decoded_parse_shapes (m.shapes, shapes));
  g_assert_null (gst_nn_decoder_choose (&choice, &d.in, "yolov8", FALSE));
  text = gst_nn_decoder_choice_to_string (&choice);
  g_assert_cmpstr (text, ==, "outputs [1,7,11,13] [1,5] of an input of 64x48, 2 labels");
  gst_nn_decoder_choice_clear (&choice);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_test_init (&argc, &argv, NULL);
#define ADD_EACH(i, name)                                                                          \
  do {                                                                                             \
    g_autofree gchar *path =                                                                       \
        g_strdup_printf ("/decodershapes/" #name "/%s-%u", decoded_models[i].decoder, i);          \
    g_test_add_data_func (path, &decoded_models[i], name);                                         \
  } while (0)
  for (guint i = 0; i < n_decoded_models; i++) {
    ADD_EACH (i, shapes_of_published_models_mean_their_decoders);
    ADD_EACH (i, no_numbers_break_a_decoder);
  }
  g_test_add_func ("/decodershapes/hostile_numbers_meet_every_decoder",
                   hostile_numbers_meet_every_decoder);
  g_test_add_func ("/decodershapes/no_shapes_break_a_decoder", no_shapes_break_a_decoder);
  g_test_add_func ("/decodershapes/no_anchors_or_strides_break_a_decoder",
                   no_anchors_or_strides_break_a_decoder);
  g_test_add_func ("/decodershapes/what_cannot_be_decoded_is_told_output_by_output",
                   what_cannot_be_decoded_is_told_output_by_output);
  return g_test_run ();
}
