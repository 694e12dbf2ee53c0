/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Group properties: keys, metrics, scopes (P6 to P8, P18, X2 to X9). */
#include "behaviour.h"

#include <string.h>

static GVariant *
get (const gchar *key)
{
  g_autoptr (GError) error = NULL;
  GVariant *value = axon_core_get_property (behaviour_core (), behaviour_name, key, &error);
  g_assert_no_error (error);
  return value;
}

/* X7: the list is complete in both directions. */
static void
every_listed_property_can_be_read_and_set_back (void)
{
  g_autoptr (GVariant) list = get ("SUPPORTED_PROPERTIES");
  GVariantIter iter;
  const gchar *key, *mode;
  g_assert_true (g_variant_is_of_type (list, G_VARIANT_TYPE ("a(ss)")));
  g_assert_cmpuint (g_variant_n_children (list), >, 0);
  g_variant_iter_init (&iter, list);
  while (g_variant_iter_loop (&iter, "(&s&s)", &key, &mode)) {
    g_autoptr (GVariant) value = get (key);
    g_autoptr (GVariant) again = NULL;
    g_autoptr (GError) error = NULL;
    if (g_str_equal (mode, "RW")) {
      axon_core_set_property (behaviour_core (), behaviour_name, key, value, &error);
      g_assert_no_error (error);
      again = get (key);
      g_assert_true (g_variant_equal (value, again));
    } else {
      g_assert_cmpstr (mode, ==, "RO");
      g_assert_false (
          axon_core_set_property (behaviour_core (), behaviour_name, key, value, &error));
      g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    }
  }
}

/* X5, X6, X8, X9 */
static void
the_metrics_that_others_rely_on_have_values (void)
{
  static const struct {
    const gchar *key, *type;
  } metrics[] = { { "FULL_DEVICE_NAME", "s" },
                  { "AVAILABLE_DEVICES", "as" },
                  { "DEVICE_ARCHITECTURE", "s" },
                  { "DEVICE_TYPE", "s" },
                  { "EXECUTION_DEVICES", "as" },
                  { "OPTIMIZATION_CAPABILITIES", "as" },
                  { "RANGE_FOR_ASYNC_INFER_REQUESTS", "(iii)" } };
  guint n = behaviour_is_virtual ? 1 : G_N_ELEMENTS (metrics);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GVariant) value = get (metrics[i].key);
    g_assert_cmpstr (g_variant_get_type_string (value), ==, metrics[i].type);
    if (g_str_equal (metrics[i].key, "AVAILABLE_DEVICES"))
      g_assert_cmpuint (g_variant_n_children (value), >, 0);
    if (g_str_equal (metrics[i].type, "s"))
      g_assert_cmpuint (strlen (g_variant_get_string (value, NULL)), >, 0);
  }
}

/* X3, X4 */
static void
an_unknown_key_is_an_error_that_names_it (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (
      axon_core_get_property (behaviour_core (), behaviour_name, "NO_SUCH_KEY_AT_ALL", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
  g_assert_nonnull (strstr (error->message, "NO_SUCH_KEY_AT_ALL"));
  g_clear_error (&error);
  g_assert_false (axon_core_set_property (behaviour_core (), behaviour_name, "NO_SUCH_KEY_AT_ALL",
                                          g_variant_new_string ("1"), &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

static void
a_near_miss_is_suggested (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (
      axon_core_get_property (behaviour_core (), behaviour_name, "FULL_DEVICE_NAM", &error));
  g_assert_nonnull (strstr (error->message, "did you mean \"FULL_DEVICE_NAME\""));
}

static void
wrong_values_are_refused (void)
{
  static const gchar *const wrong[][2] = { { "PERFORMANCE_HINT", "-1" },
                                           { "PERFORMANCE_HINT_NUM_REQUESTS", "-10" },
                                           { "EXECUTION_MODE_HINT", "5" },
                                           { "PERF_COUNT", "-1" },
                                           { "NUM_STREAMS", "-10" },
                                           { "NUM_STREAMS", "99999999999999999999" },
                                           { "INFERENCE_NUM_THREADS", "-1" },
                                           { "INFERENCE_PRECISION_HINT", "u8" },
                                           { "DEVICE_ID", "l0" },
                                           { "DEVICE_ID", "110" },
                                           { "LOG_LEVEL", "LOUD" } };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) before =
        axon_core_get_property (behaviour_core (), behaviour_name, wrong[i][0], NULL);
    g_autoptr (GVariant) after = NULL;
    if (before == NULL)
      continue;
    g_assert_false (axon_core_set_property (behaviour_core (), behaviour_name, wrong[i][0],
                                            g_variant_new_string (wrong[i][1]), &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, wrong[i][0]));
    after = get (wrong[i][0]);
    g_assert_true (g_variant_equal (before, after));
  }
}

static void
both_spellings_of_a_bool_mean_the_same (void)
{
  static const gchar *const words[][2] = { { "YES", "true" }, { "NO", "false" } };
  g_autoptr (GVariant) before =
      axon_core_get_property (behaviour_core (), behaviour_name, "PERF_COUNT", NULL);
  for (guint i = 0; before != NULL && i < 4; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) value = NULL;
    axon_core_set_property (behaviour_core (), behaviour_name, "PERF_COUNT",
                            g_variant_new_string (words[i / 2][i % 2]), &error);
    g_assert_no_error (error);
    value = get ("PERF_COUNT");
    g_assert_true (g_variant_get_boolean (value) == (i < 2));
  }
  if (before != NULL)
    axon_core_set_property (behaviour_core (), behaviour_name, "PERF_COUNT", before, NULL);
}

/* P18: the call's value wins, the plugin's own is not changed. */
static void
a_compile_calls_value_wins_and_leaves_the_devices_own (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (GVariant) before =
      axon_core_get_property (behaviour_core (), behaviour_name, "PERF_COUNT", NULL);
  g_autoptr (GVariant) after = NULL;
  g_autoptr (AxonCompiledModel) compiled = NULL;
  g_autoptr (AxonInferRequest) r = NULL;
  if (before == NULL) {
    g_test_skip ("the device has no PERF_COUNT");
    return;
  }
  g_assert_false (g_variant_get_boolean (before)); /* the default, in every device */
  compiled = behaviour_compile_with (model, "PERF_COUNT", "YES", NULL);
  after = get ("PERF_COUNT");
  g_assert_false (g_variant_get_boolean (after));
  r = behaviour_request (compiled, 1);
  g_assert_true (axon_infer_request_infer (r, NULL));
  g_assert_cmpuint (axon_infer_request_get_n_profiling (r), >, 0); /* the call's value won */
}

/* Q3 */
static void
an_unknown_key_fails_a_compile_and_is_ignored_by_a_query (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) taken = NULL;
  g_assert_null (axon_core_compile_model (behaviour_core (), model, behaviour_device,
                                          g_variant_new_parsed ("{'NO_SUCH_KEY': <'1'>}"), NULL,
                                          NULL, NULL, &error));
  g_assert_nonnull (error);
  g_clear_error (&error);
  taken =
      axon_core_query_model (behaviour_core (), model, behaviour_device,
                             g_variant_new_parsed ("{'NO_SUCH_KEY': <'1'>}"), NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
every_property_of_a_compiled_model_can_be_read_and_most_are_fixed (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_autoptr (AxonCompiledModel) compiled = behaviour_compile (model, NULL);
  g_autoptr (GVariant) list = NULL;
  g_autoptr (GVariant) optimal = NULL;
  g_autoptr (GError) error = NULL;
  GVariantIter iter;
  const gchar *key, *mode;
  list = axon_compiled_model_get_property (compiled, "SUPPORTED_PROPERTIES", &error);
  g_assert_no_error (error);
  g_variant_iter_init (&iter, list);
  while (g_variant_iter_loop (&iter, "(&s&s)", &key, &mode)) {
    g_autoptr (GVariant) value = axon_compiled_model_get_property (compiled, key, &error);
    gboolean ok;
    g_assert_no_error (error);
    ok = axon_compiled_model_set_property (compiled, key, value, &error);
    g_assert_true (ok == g_str_equal (mode, "RW"));
    g_clear_error (&error);
  }
  optimal = axon_compiled_model_get_property (compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS", &error);
  g_assert_no_error (error);
  g_assert_cmpint (g_variant_get_int32 (optimal), >, 0);
  g_assert_null (axon_compiled_model_get_property (compiled, "NO_SUCH_KEY", &error));
  g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
}

/* P7 */
static void
a_device_id_that_does_not_exist_is_refused (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  static const gchar *const ids[] = { "110", "l0" };
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++) {
    g_autofree gchar *device = g_strdup_printf ("%s.%s", behaviour_name, ids[i]);
    g_autoptr (GError) error = NULL;
    g_assert_null (
        axon_core_compile_model (behaviour_core (), model, device, NULL, NULL, NULL, NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_clear_error (&error);
    g_assert_null (axon_core_get_property (behaviour_core (), device, "FULL_DEVICE_NAME", &error));
    g_assert_nonnull (error);
  }
}

/* P7: properties, and what a compiled model says of itself, are those of one of several devices. */
static void
what_is_set_for_one_device_leaves_the_others (void)
{
  g_auto (GStrv) devices = behaviour_ids ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) first = NULL;
  g_autoptr (GVariant) second = NULL;
  if (devices == NULL)
    return;
  axon_core_set_property (behaviour_core (), devices[1], "PERF_COUNT", g_variant_new_string ("YES"),
                          &error);
  g_assert_no_error (error);
  first = axon_core_get_property (behaviour_core (), devices[0], "PERF_COUNT", &error);
  g_assert_no_error (error);
  g_assert_false (g_variant_get_boolean (first));
  second = axon_core_get_property (behaviour_core (), devices[1], "PERF_COUNT", &error);
  g_assert_no_error (error);
  g_assert_true (g_variant_get_boolean (second));
  axon_core_set_property (behaviour_core (), behaviour_name, "PERF_COUNT",
                          g_variant_new_string ("NO"), &error);
  g_assert_no_error (error);
  g_clear_pointer (&second, g_variant_unref);
  second = axon_core_get_property (behaviour_core (), devices[1], "PERF_COUNT", &error);
  g_assert_false (g_variant_get_boolean (second)); /* said later, of all */
}

static void
a_compiled_model_names_which_of_several_devices_runs_it (void)
{
  g_autoptr (AxonModel) model = behaviour_dense_model ();
  g_auto (GStrv) devices = behaviour_ids ();
  for (guint i = 0; devices != NULL && devices[i] != NULL; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model (
        behaviour_core (), model, devices[i], behaviour_config (), NULL, NULL, NULL, &error);
    g_autoptr (GVariant) where = NULL;
    g_autofree const gchar **names = NULL;
    g_assert_no_error (error);
    where = axon_compiled_model_get_property (compiled, "EXECUTION_DEVICES", &error);
    g_assert_no_error (error);
    names = g_variant_get_strv (where, NULL);
    g_assert_true (g_strv_contains (names, devices[i]));
  }
}

void
behaviour_add_properties (void)
{
  BEHAVIOUR_ADD ("properties", every_listed_property_can_be_read_and_set_back);
  BEHAVIOUR_ADD ("properties", the_metrics_that_others_rely_on_have_values);
  BEHAVIOUR_ADD ("properties", an_unknown_key_is_an_error_that_names_it);
  BEHAVIOUR_ADD ("properties", a_near_miss_is_suggested);
  BEHAVIOUR_ADD ("properties", wrong_values_are_refused);
  BEHAVIOUR_ADD ("properties", both_spellings_of_a_bool_mean_the_same);
  BEHAVIOUR_ADD ("properties", a_compile_calls_value_wins_and_leaves_the_devices_own);
  BEHAVIOUR_ADD ("properties", an_unknown_key_fails_a_compile_and_is_ignored_by_a_query);
  BEHAVIOUR_ADD ("properties", every_property_of_a_compiled_model_can_be_read_and_most_are_fixed);
  BEHAVIOUR_ADD ("properties", what_is_set_for_one_device_leaves_the_others);
  BEHAVIOUR_ADD ("properties", a_compiled_model_names_which_of_several_devices_runs_it);
  if (!behaviour_is_virtual)
    BEHAVIOUR_ADD ("properties", a_device_id_that_does_not_exist_is_refused);
}
