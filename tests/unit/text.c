/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators on text: StringSplit, and bytes that are no text. */
#include "axontest.h"

/* The parts of each text, "|" between, and of the second output how many they are. */
static gchar *
split (const gchar *const *texts, guint n, const gchar *delimiter, gint64 max)
{
  AxonShape shape = AXON_SHAPE ((gint64)n);
  TestModel t = test_model_new (20);
  AxonValue *in = test_model_input (&t, "x", AXON_DTYPE_STRING, &shape);
  AxonNode *node = test_model_node_of (&t, NULL, "StringSplit", &in, 1, 2);
  g_autoptr (AxonTensor) x = axon_tensor_new_strings (&shape, texts, n, NULL);
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) request = NULL;
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL, counts = NULL;
  g_autoptr (GError) error = NULL;
  GString *all = g_string_new (NULL);
  if (delimiter != NULL)
    axon_node_set_string (node, "delimiter", delimiter);
  if (max >= 0)
    axon_node_set_int (node, "maxsplit", max);
  axon_model_add_output (t.model, node->outputs[0]);
  model = test_model_finish (&t, node->outputs[1]);
  compiled = axon_core_compile_model (axon_core_get_default (), model, "CPU", NULL, NULL, NULL,
                                      NULL, &error);
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, &error));
  axon_infer_request_infer (request, &error);
  g_assert_no_error (error);
  y = axon_infer_request_get_output_tensor (request, 0);
  counts = axon_infer_request_get_output_tensor (request, 1);
  g_assert_true (axon_shape_equal (axon_tensor_get_shape (counts), &shape));
  for (gsize i = 0; i < n; i++) {
    gint64 parts = axon_tensor_get_dim (y, 1);
    g_string_append_printf (all, "%s%d:", i ? " " : "", (gint)axon_tensor_get_value (counts, i));
    for (gint64 k = 0; k < parts; k++)
      g_string_append_printf (all, "%s%s", k ? "|" : "",
                              axon_tensor_get_string (y, i * (gsize)parts + (gsize)k));
  }
  return g_string_free (all, FALSE);
}

/* Shorter rows are filled with empty texts. */
static void
text_is_split_at_a_delimiter_or_at_white_space (void)
{
  static const gchar *const names[] = { "a.com", "b.net.org", "", "c", ".d." };
  static const gchar *const words[] = { "hello world", " \to  n\nn x ", "", "  " };
  static const struct {
    const gchar *const *texts;
    guint n;
    const gchar *delimiter;
    gint64 max;
    const gchar *expected;
  } cases[] = {
    { names, 5, ".", -1, "2:a|com| 3:b|net|org 0:|| 1:c|| 3:|d|" },
    { names, 5, ".", 1, "2:a|com 2:b|net.org 0:| 1:c| 2:|d." },
    { names, 5, ".", 0, "1:a.com 1:b.net.org 0: 1:c 1:.d." },
    { names, 2, "net", -1, "1:a.com| 2:b.|.org" },
    { words, 4, NULL, -1, "2:hello|world|| 4:o|n|n|x 0:||| 0:|||" },
    { words, 4, "", 2, "2:hello|world| 3:o|n|n x 0:|| 0:||" },
    { words, 4, "", 0, "1:hello world 1:o  n\nn x 0: 0:" },
    { words + 2, 2, "", -1, "0: 0:" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *got = split (cases[i].texts, cases[i].n, cases[i].delimiter, cases[i].max);
    g_assert_cmpstr (got, ==, cases[i].expected);
  }
}

/* Symptom: the process died. */
static void
text_that_is_not_utf8_is_split_at_white_space_too (void)
{
  static const gchar *const bytes[] = { "\xff\xfe a\x80 b" };
  static const gchar *const spaces[] = { "\u3000\u30a2 \u30a4\u3000\u30a6\u00a0" };
  g_autofree gchar *got = split (bytes, 1, NULL, -1);
  g_autofree gchar *wide = split (spaces, 1, NULL, -1);
  g_assert_cmpstr (got, ==, "3:\xff\xfe|a\x80|b");
  g_assert_cmpstr (wide, ==, "3:\u30a2|\u30a4|\u30a6");
}

/* Symptom: the process died where it counted the parts of texts that it had not come to. */
static void
splitting_very_many_texts_can_be_cancelled (void)
{
  AxonShape shape = AXON_SHAPE (3 << 16);
  TestModel t = test_model_new (20);
  AxonNode *n =
      test_model_node (&t, "StringSplit", 1, test_model_input (&t, "x", AXON_DTYPE_STRING, &shape));
  g_autoptr (AxonModel) model = test_model_finish (&t, n->outputs[0]);
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
      axon_core_get_default (), model, "CPU", NULL, NULL, NULL, NULL, NULL);
  g_autoptr (AxonInferRequest) request = axon_compiled_model_create_infer_request (compiled);
  g_autoptr (AxonTensor) x = axon_tensor_new (AXON_DTYPE_STRING, &shape, NULL);
  for (gsize i = 0; i < axon_tensor_get_numel (x); i++)
    axon_tensor_set_string (x, i, "the quick brown fox jumps over the lazy dog");
  g_assert_true (axon_infer_request_set_input_tensor (request, 0, x, NULL));
  g_test_message ("%u runs were cancelled", test_cancel_until_it_ends (request));
}

static gchar *
normalized (const gchar *text, const gchar *const *words, guint n_words, gboolean case_sensitive)
{
  AxonShape shape = AXON_SHAPE (1);
  TestModel t = test_model_new (20);
  AxonNode *n = test_model_node (&t, "StringNormalizer", 1,
                                 test_model_input (&t, "x", AXON_DTYPE_STRING, &shape));
  AxonAttr *attr = axon_node_add_attr (n, "stopwords", AXON_ATTR_STRINGS);
  g_autoptr (AxonTensor) x = axon_tensor_new_strings (&shape, &text, 1, NULL);
  g_autoptr (AxonModel) model = NULL;
  g_autoptr (AxonTensor) y = NULL;
  attr->n = n_words;
  attr->strings = g_new0 (gchar *, n_words + 1);
  for (guint i = 0; i < n_words; i++)
    attr->strings[i] = g_strdup (words[i]);
  axon_node_set_int (n, "is_case_sensitive", case_sensitive);
  model = test_model_finish (&t, n->outputs[0]);
  y = test_run (model, "CPU", NULL, x);
  return g_strdup (axon_tensor_get_string (y, 0));
}

/* Symptom: bytes behind the word were read. */
static void
a_stop_word_that_is_not_utf8_stops_nothing (void)
{
  static const gchar *const words[] = { "caf\xe9", "\xf0", "the" };
  for (guint sensitive = 0; sensitive < 2; sensitive++) {
    g_autofree gchar *kept = normalized ("caf", words, 3, sensitive);
    g_autofree gchar *stopped = normalized ("the", words, 3, sensitive);
    g_autofree gchar *upper = normalized ("THE", words, 3, sensitive);
    g_assert_cmpstr (kept, ==, "caf");
    g_assert_cmpstr (stopped, ==, "");
    g_assert_cmpstr (upper, ==, sensitive ? "THE" : "");
  }
}

/* What is inferred, then what a run gives. */
static void
words_of_a_row_stay_a_row (void)
{
  static const gchar *const words[] = { "a", "The", "b" };
  static const gchar *const actions[] = { "NONE", "LOWER", "UPPER" };
  static const gchar *const expected[][3] = { { "a", "The", "b" },
                                              { "a", "the", "b" },
                                              { "A", "THE", "B" } };
  for (gint rank = 1; rank <= 2; rank++)
    for (guint i = 0; i < G_N_ELEMENTS (actions); i++) {
      AxonShape shape = rank == 1 ? AXON_SHAPE (3) : AXON_SHAPE (1, 3);
      TestModel t = test_model_new (20);
      AxonNode *n = test_model_node (&t, "StringNormalizer", 1,
                                     test_model_input (&t, "x", AXON_DTYPE_STRING, &shape));
      g_autoptr (AxonTensor) x = axon_tensor_new_strings (&shape, words, 3, NULL);
      g_autoptr (AxonModel) model = NULL;
      g_autoptr (AxonTensor) y = NULL;
      axon_node_set_string (n, "case_change_action", actions[i]);
      model = test_model_finish (&t, n->outputs[0]);
      g_assert_true (axon_shape_accepts (axon_model_get_output_shape (model, 0), &shape));
      y = test_run (model, "CPU", NULL, x);
      g_assert_true (axon_shape_equal (axon_tensor_get_shape (y), &shape));
      for (guint k = 0; k < 3; k++)
        g_assert_cmpstr (axon_tensor_get_string (y, k), ==, expected[i][k]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/text/" #name, name)
  ADD (text_is_split_at_a_delimiter_or_at_white_space);
  ADD (text_that_is_not_utf8_is_split_at_white_space_too);
  ADD (splitting_very_many_texts_can_be_cancelled);
  ADD (a_stop_word_that_is_not_utf8_stops_nothing);
  ADD (words_of_a_row_stay_a_row);
  return g_test_run ();
}
