/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the system answers when a call fails, or where the process is privileged: this program's own
 * functions stand before those of the C library, for the plugins, too. */
#include "axontest.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096 /* smaller ones end the process, by GLib's design */

static gint fail_at;           /* atomic: the allocation that fails, counted from 1; 0: none */
static gint n_allocated;       /* atomic */
static gboolean is_privileged; /* as where a program gained rights: AT_SECURE */

extern void *__libc_memalign (size_t alignment, size_t size);

G_MODULE_EXPORT int posix_memalign (void **block, size_t alignment, size_t size);
int
posix_memalign (void **block, size_t alignment, size_t size)
{
  if (size >= BLOCK && g_atomic_int_add (&n_allocated, 1) + 1 == g_atomic_int_get (&fail_at))
    return ENOMEM;
  *block = __libc_memalign (alignment, size);
  return *block ? 0 : ENOMEM;
}

G_MODULE_EXPORT char *secure_getenv (const char *name);
char *
secure_getenv (const char *name)
{
  return is_privileged ? NULL : getenv (name);
}

static gint n_jumps; /* atomic; 0: the wall clock goes as it does */

#define YEAR (365 * 24 * 3600)

/* Each call a year on, then a year back. */
static void
jump (time_t *seconds)
{
  if (g_atomic_int_get (&n_jumps) > 0)
    *seconds += g_atomic_int_add (&n_jumps, 1) % 2 ? YEAR : -YEAR;
}

G_MODULE_EXPORT int clock_gettime (clockid_t id, struct timespec *time);
int
clock_gettime (clockid_t id, struct timespec *time)
{
  int status = (int)syscall (SYS_clock_gettime, id, time);
  if (id == CLOCK_REALTIME)
    jump (&time->tv_sec);
  return status;
}

G_MODULE_EXPORT int gettimeofday (struct timeval *time, void *zone);
int
gettimeofday (struct timeval *time, void *zone)
{
  int status = (int)syscall (SYS_gettimeofday, time, zone);
  jump (&time->tv_sec);
  return status;
}

/* Two convolutions whose weights CPU packs, 36 KiB each. */
static AxonModel *
packed_model (void)
{
  TestModel t = test_model_new (13);
  AxonShape x = AXON_SHAPE (1, 32, 8, 8), w = AXON_SHAPE (32, 32, 3, 3);
  AxonValue *value = test_model_input (&t, "x", AXON_DTYPE_F32, &x);
  for (guint i = 0; i < 2; i++)
    value = test_model_node (&t, "Conv", 2, value, test_model_random (&t, &w, i + 1))->outputs[0];
  return test_model_finish (&t, value);
}

/* Symptom: oneDNN's packing asserted that posix_memalign() had succeeded. */
static void
weights_that_cannot_be_packed_are_an_error (void)
{
  g_autoptr (AxonModel) model = packed_model ();
  AxonShape shape = AXON_SHAPE (1, 32, 8, 8);
  g_autoptr (AxonTensor) x = test_random (&shape, 3);
  g_autoptr (AxonTensor) right = test_run (model, "CPU", NULL, x);
  guint refused = 0, most;
  g_atomic_int_set (&n_allocated, 0);
  g_clear_pointer (&right, axon_tensor_unref);
  right = test_run (model, "CPU", NULL, x);
  most = (guint)g_atomic_int_get (&n_allocated);
  g_assert_cmpuint (most, >, 2);
  for (guint k = 1; k <= most; k++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (AxonTensor) y = NULL;
    g_atomic_int_set (&n_allocated, 0);
    g_atomic_int_set (&fail_at, (gint)k);
    y = test_try_run_all (model, "CPU", NULL, &x, 1, &error);
    g_atomic_int_set (&fail_at, 0);
    if (y != NULL) {
      g_assert_cmpfloat (test_largest_difference (y, right), <, 1e-5);
      continue;
    }
    g_assert_nonnull (error);
    g_assert_cmpuint (strlen (error->message), >, 10);
    refused++;
  }
  g_test_message ("%u of %u failures refused", refused, most);
  g_assert_cmpuint (refused, >, 0);
}

/* Symptom: AXON_HETERO_DUMP was plain getenv(), so that whoever started a privileged program chose
 * where it wrote. */
static void
a_privileged_process_draws_nothing_where_the_environment_says (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-dump-XXXXXX", NULL);
  g_autoptr (AxonModel) model = test_relu_model ();
  AxonShape shape = AXON_SHAPE (1, 4);
  g_autoptr (AxonTensor) x = test_random (&shape, 1);
  g_setenv ("AXON_HETERO_DUMP", folder, TRUE);
  for (guint i = 0; i < 2; i++) {
    g_autoptr (AxonTensor) y = NULL;
    g_autoptr (GDir) dir = NULL;
    const gchar *name;
    guint n = 0;
    is_privileged = i == 0; /* after a first run: the plugins are there */
    y = test_run (model, "HETERO:TEMPLATE", NULL, x);
    dir = g_dir_open (folder, 0, NULL);
    for (; (name = g_dir_read_name (dir)) != NULL; n++) {
      g_autofree gchar *path = g_build_filename (folder, name, NULL);
      g_unlink (path);
    }
    g_assert_cmpuint (n, ==, i == 0 ? 0 : 2);
  }
  g_unsetenv ("AXON_HETERO_DUMP");
  g_rmdir (folder);
}

/* One run of the model on a device with every limit of time. */
static void
run_in_time (const gchar *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model_from_file (
      axon_core_get_default (), model, "MOCK",
      g_variant_new_parsed ("{'MAX_COMPILE_TIME': <600000>, 'INFERENCE_TIMEOUT': <600000>, "
                            "'MOCK_LATENCY': <20>}"),
      NULL, NULL, NULL, &error);
  g_autoptr (AxonInferRequest) request = NULL;
  gboolean done = FALSE;
  g_assert_no_error (error);
  request = axon_compiled_model_create_infer_request (compiled);
  for (guint i = 0; i < axon_compiled_model_get_n_inputs (compiled); i++)
    axon_tensor_unref (axon_infer_request_get_input_tensor (request, i));
  g_assert_true (axon_infer_request_start_async (request, &error));
  g_assert_true (axon_infer_request_wait_for (request, 600000, &done, &error));
  g_assert_true (done);
}

/* Waits, time limits and the cache, while somebody sets the clock to and fro. */
static void
a_wall_clock_that_jumps_changes_nothing (void)
{
  g_autofree gchar *folder = g_dir_make_tmp ("axon-clock-XXXXXX", NULL);
  g_autofree gchar *model = test_ball_model ();
  g_autoptr (GDir) dir = NULL;
  const gchar *name;
  gint64 before;
  g_atomic_int_set (&n_jumps, 1);
  before = g_get_real_time ();
  g_assert_cmpint (g_get_real_time (), <, before - G_TIME_SPAN_DAY); /* it jumps */
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GVariant) cached = NULL;
    g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model_from_file (
        axon_core_get_default (), model, "TEMPLATE",
        g_variant_new_parsed ("{'CACHE_DIR': <%s>}", folder), NULL, NULL, NULL, NULL);
    cached = axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
    g_assert_true (g_variant_get_boolean (cached) == (i == 1));
  }
  run_in_time (model);
  g_atomic_int_set (&n_jumps, 0);
  dir = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_strfreev (axon_core_get_available_devices (axon_core_get_default ())); /* plugins are loaded */
#define ADD(name) g_test_add_func ("/interposed/" #name, name)
  ADD (weights_that_cannot_be_packed_are_an_error);
  ADD (a_wall_clock_that_jumps_changes_nothing);
  ADD (a_privileged_process_draws_nothing_where_the_environment_says);
  return g_test_run ();
}
