/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The cache of compiled models. */
#include "axontest.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

/* The cache, with a file. */
typedef struct {
  gchar *folder, *model;
} Cache;

static Cache
cache_new (void)
{
  Cache c = { g_dir_make_tmp ("axon-cäche-XXXXXX", NULL), test_ball_model () };
  return c;
}

static void
cache_free (Cache *c)
{
  g_autoptr (GDir) dir = g_dir_open (c->folder, 0, NULL);
  const gchar *name;
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL) {
    g_autofree gchar *path = g_build_filename (c->folder, name, NULL);
    g_unlink (path);
  }
  g_rmdir (c->folder);
  g_free (c->folder);
  g_free (c->model);
}

static gchar *
only_entry (const Cache *c)
{
  g_autoptr (GDir) dir = g_dir_open (c->folder, 0, NULL);
  const gchar *name = g_dir_read_name (dir);
  g_assert_nonnull (name);
  g_assert_true (g_str_has_suffix (name, ".axon"));
  return g_build_filename (c->folder, name, NULL);
}

static guint
count_entries (const Cache *c)
{
  g_autoptr (GDir) dir = g_dir_open (c->folder, 0, NULL);
  guint n = 0;
  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Compiles the file and runs it; TRUE if it came from the cache. */
static gboolean
compile_file (const Cache *c, const gchar *model, const gchar *device, const gchar *more)
{
  g_autofree gchar *config =
      g_strdup_printf ("{'CACHE_DIR': <'%s'>%s}", c->folder, more ? more : "");
  g_autoptr (GError) error = NULL;
  g_autoptr (GVariant) values = g_variant_parse (NULL, config, NULL, NULL, &error);
  g_autoptr (AxonCompiledModel) compiled = axon_core_compile_model_from_file (
      axon_core_get_default (), model, device, values, NULL, NULL, NULL, &error);
  g_autoptr (AxonInferRequest) r = NULL;
  g_autoptr (GVariant) cached = NULL;
  g_assert_no_error (error);
  r = axon_compiled_model_create_infer_request (compiled);
  axon_tensor_unref (axon_infer_request_get_input_tensor (r, 0));
  axon_infer_request_infer (r, &error);
  g_assert_no_error (error);
  cached = axon_compiled_model_get_property (compiled, "LOADED_FROM_CACHE", NULL);
  return g_variant_get_boolean (cached);
}

static void
files_are_cached_by_content_device_and_configuration (void)
{
  Cache c = cache_new ();
  g_autofree gchar *copy = g_build_filename (c.folder, "copy.onnx", NULL);
  g_autofree gchar *data = NULL;
  gsize n;
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "CPU", ", 'ENABLE_MMAP': <false>"));
  g_assert_false (compile_file (&c, c.model, "CPU", ", 'INFERENCE_NUM_THREADS': <'1'>"));
  g_assert_false (compile_file (&c, c.model, "TEMPLATE", NULL));
  g_assert_false (compile_file (&c, c.model, "HETERO:TEMPLATE,CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "HETERO:TEMPLATE,CPU", NULL));
  g_assert_false (compile_file (&c, c.model, "HETERO:CPU,TEMPLATE", NULL));
  g_file_get_contents (c.model, &data, &n, NULL);
  g_file_set_contents (copy, data, (gssize)n, NULL);
  g_assert_true (compile_file (&c, copy, "CPU", NULL)); /* the same bytes elsewhere */
  cache_free (&c);
}

/* AUTO, MULTI and BATCH have no entries of their own: the devices behind them have. */
static void
spreading_devices_cache_for_the_devices_behind_them (void)
{
  Cache c = cache_new ();
  g_assert_false (compile_file (&c, c.model, "MULTI:CPU", NULL));
  g_assert_cmpuint (count_entries (&c), ==, 1);
  g_assert_true (compile_file (&c, c.model, "MULTI:CPU", NULL));
  cache_free (&c);
}

static void
spoil (const gchar *path, guint how)
{
  g_autofree gchar *data = NULL;
  gsize n;
  g_file_get_contents (path, &data, &n, NULL);
  if (how == 0)
    g_file_set_contents (path, data, (gssize)(n / 2), NULL); /* truncated */
  else if (how == 1)
    data[n / 3] ^= 1, g_file_set_contents (path, data, (gssize)n, NULL);
  else if (how == 2)
    g_file_set_contents (path, "not ours", -1, NULL);
  else
    g_file_set_contents (path, "", 0, NULL);
}

static void
spoilt_entries_are_compiled_again_silently (void)
{
  for (guint how = 0; how < 4; how++) {
    Cache c = cache_new ();
    g_autofree gchar *entry = NULL;
    g_assert_false (compile_file (&c, c.model, "CPU", NULL));
    entry = only_entry (&c);
    spoil (entry, how);
    g_assert_false (compile_file (&c, c.model, "CPU", NULL));
    g_assert_true (compile_file (&c, c.model, "CPU", NULL));
    g_assert_cmpuint (count_entries (&c), ==, 1);
    cache_free (&c);
  }
}

static void
an_entry_without_weights_finds_them_in_the_model (void)
{
  Cache c = cache_new ();
  static const gchar *const small = ", 'CACHE_MODE': <'OPTIMIZE_SIZE'>";
  g_autofree gchar *model = test_data ("models/mobilenetv2-1.0-224-fp32/model.onnx");
  g_autofree gchar *entry = NULL;
  struct stat st, whole;
  if (model != NULL) {
    g_stat (model, &whole);
    g_assert_false (compile_file (&c, model, "TEMPLATE", small));
    entry = only_entry (&c);
    g_stat (entry, &st);
    g_assert_true (compile_file (&c, model, "TEMPLATE", small));
    g_assert_cmpint (st.st_size, <, whole.st_size);
  }
  cache_free (&c);
}

/* A field of bytes of a protobuf message. */
static void
put_field (GString *out, guint8 number, const gchar *bytes, gsize n)
{
  g_string_append_c (out, (gchar)(number << 3 | 2));
  if (n > 127)
    g_string_append_c (out, (gchar)(n & 127) | (gchar)128);
  g_string_append_c (out, (gchar)(n > 127 ? n >> 7 : n));
  g_string_append_len (out, bytes, (gssize)n);
}

static void
put_text (GString *out, guint8 number, const gchar *text)
{
  put_field (out, number, text, strlen (text));
}

/* What was in @inner, which is empty then. */
static void
put_message (GString *out, guint8 number, GString *inner)
{
  put_field (out, number, inner->str, inner->len);
  g_string_truncate (inner, 0);
}

/* y = x + a + b, where a and b lie in files of their names. */
static void
write_model_of_two_files (const gchar *path)
{
  static const gchar *const nodes[2][3] = { { "x", "a", "s" }, { "s", "b", "y" } };
  static const gchar *const ports[2] = { "x", "y" };
  g_autoptr (GString) model = g_string_new ("\x08\x08"); /* IR version 8 */
  g_autoptr (GString) graph = g_string_new (NULL);
  g_autoptr (GString) part = g_string_new (NULL);
  g_autoptr (GString) entry = g_string_new (NULL);
  put_field (model, 8, "\x10\x0d", 2); /* opset 13 */
  put_text (graph, 2, "g");
  for (guint i = 0; i < 2; i++) {
    put_text (part, 1, nodes[i][0]);
    put_text (part, 1, nodes[i][1]);
    put_text (part, 2, nodes[i][2]);
    put_text (part, 4, "Add");
    put_message (graph, 1, part);
    g_string_append_len (part, "\x08\x01\x10\x01", 4); /* one float */
    put_text (part, 8, nodes[i][1]);
    put_text (entry, 1, "location");
    put_text (entry, 2, nodes[i][1]);
    put_message (part, 13, entry);
    g_string_append_len (part, "\x70\x01", 2); /* elsewhere */
    put_message (graph, 5, part);
  }
  for (guint i = 0; i < 2; i++) {
    put_text (part, 1, ports[i]);
    put_field (part, 2, "\x0a\x08\x08\x01\x12\x04\x0a\x02\x08\x01", 10); /* f32[1] */
    put_message (graph, (guint8)(11 + i), part);
  }
  put_message (model, 7, graph);
  g_assert_true (g_file_set_contents (path, model->str, (gssize)model->len, NULL));
}

static void
a_change_in_any_file_of_weights_is_compiled_again (void)
{
  static const gchar *const changed[] = { "a", "b", "a", "b" };
  Cache c = cache_new ();
  g_autofree gchar *folder = g_dir_make_tmp ("axon-model-XXXXXX", NULL);
  g_autofree gchar *model = g_build_filename (folder, "model.onnx", NULL);
  write_model_of_two_files (model);
  for (guint i = 0; i < G_N_ELEMENTS (changed); i++) {
    gfloat value = (gfloat)i;
    g_autofree gchar *path = g_build_filename (folder, changed[i], NULL);
    g_assert_true (g_file_set_contents (path, (gchar *)&value, sizeof value, NULL));
    if (i == 0) /* the other is not there yet */
      continue;
    g_assert_false (compile_file (&c, model, "CPU", NULL));
    g_assert_true (compile_file (&c, model, "CPU", NULL));
  }
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *path = g_build_filename (folder, changed[i], NULL);
    g_unlink (path);
  }
  g_unlink (model);
  g_rmdir (folder);
  cache_free (&c);
}

static void
a_folder_that_cannot_be_used_makes_nothing_fail (void)
{
  Cache c = cache_new (), none = { (gchar *)"/proc/no/such", c.model };
  g_chmod (c.folder, 0777); /* others could plant entries */
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_cmpuint (count_entries (&c), ==, 0);
  g_assert_false (compile_file (&none, c.model, "CPU", NULL));
  g_chmod (c.folder, 0700);
  cache_free (&c);
}

static void
what_cannot_be_read_is_refused_with_a_cache_as_without (void)
{
  Cache c = cache_new ();
  g_autofree gchar *missing = g_build_filename (c.folder, "missing.onnx", NULL);
  const gchar *const models[] = { c.folder, missing, "/dev/zero" };
  g_autofree gchar *text = g_strdup_printf ("{'CACHE_DIR': <'%s'>}", c.folder);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (models); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (GVariant) cached = g_variant_parse (NULL, text, NULL, NULL, NULL);
    g_assert_null (axon_core_compile_model_from_file (axon_core_get_default (), models[i / 2],
                                                      "CPU", i % 2 ? cached : NULL, NULL, NULL,
                                                      NULL, &error));
    g_assert_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT);
    g_assert_nonnull (strstr (error->message, models[i / 2]));
  }
  g_assert_cmpuint (count_entries (&c), ==, 0);
  cache_free (&c);
}

static void
entries_are_private (void)
{
  Cache c = cache_new ();
  g_autofree gchar *inner = g_build_filename (c.folder, "made", "on demand", NULL);
  Cache deep = { inner, c.model };
  g_autofree gchar *entry = NULL;
  g_autofree gchar *parent = g_path_get_dirname (inner);
  struct stat st;
  compile_file (&deep, c.model, "CPU", NULL);
  entry = only_entry (&deep);
  g_stat (entry, &st);
  g_assert_cmpint (st.st_mode & 0777, ==, 0600);
  g_stat (inner, &st);
  g_assert_cmpint (st.st_mode & 0777, ==, 0700);
  g_unlink (entry);
  g_rmdir (inner);
  g_rmdir (parent);
  cache_free (&c);
}

/* Symptom: temporaries of processes that were killed stayed for ever, and did not count. */
static void
what_a_killed_process_left_goes_and_what_another_writes_counts (void)
{
  Cache c = cache_new ();
  g_autofree gchar *left = g_build_filename (c.folder, "0000.axon.Ab12Cd", NULL);
  g_autofree gchar *written = g_build_filename (c.folder, "1111.axon.Ef34Gh", NULL);
  g_autofree gchar *old = g_build_filename (c.folder, "2222.axon", NULL);
  g_autofree gchar *zeros = g_malloc0 (1 << 20);
  struct utimbuf long_ago = { 1, 1 };
  int fd;
  g_file_set_contents (left, zeros, 1 << 20, NULL);
  g_file_set_contents (written, zeros, 1 << 20, NULL);
  g_file_set_contents (old, "", 0, NULL);
  utime (old, &long_ago);
  fd = open (written, O_RDWR | O_CLOEXEC);
  g_assert_cmpint (flock (fd, LOCK_EX), ==, 0); /* as its writer does */
  g_assert_false (compile_file (&c, c.model, "CPU", ", 'CACHE_MAX_SIZE': <'1'>"));
  g_assert_false (g_file_test (left, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_test (written, G_FILE_TEST_EXISTS));
  g_assert_false (g_file_test (old, G_FILE_TEST_EXISTS));
  close (fd);
  cache_free (&c);
}

/* Symptom: a link was followed wherever it led, whoever could exchange it. */
static void
a_folder_that_others_can_exchange_for_a_link_is_not_used (void)
{
  Cache c = cache_new ();
  g_autofree gchar *open_to_all = g_build_filename (c.folder, "all", NULL);
  g_autofree gchar *target = g_build_filename (c.folder, "private", NULL);
  g_autofree gchar *link_path = g_build_filename (open_to_all, "cache", NULL);
  Cache linked = { link_path, c.model }, behind = { target, c.model };
  g_mkdir (open_to_all, 0700);
  g_mkdir (target, 0700);
  g_assert_cmpint (symlink (target, link_path), ==, 0);
  g_assert_cmpint (g_chmod (open_to_all, 0777), ==, 0);
  g_assert_false (compile_file (&linked, c.model, "CPU", NULL));
  g_assert_cmpuint (count_entries (&behind), ==, 0);
  g_assert_cmpint (g_chmod (open_to_all, 0700), ==, 0);
  if (geteuid () == 0 && lchown (link_path, 65534, 65534) == 0) {
    g_assert_false (compile_file (&linked, c.model, "CPU", NULL));
    g_assert_cmpuint (count_entries (&behind), ==, 0);
  }
  g_unlink (link_path);
  g_rmdir (open_to_all);
  g_rmdir (target);
  cache_free (&c);
}

/* Symptom: an entry of mode 0666 in a private folder was taken, and stayed so. */
static void
an_entry_that_others_can_write_to_is_compiled_again (void)
{
  Cache c = cache_new ();
  g_autofree gchar *entry = NULL;
  struct stat st;
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  entry = only_entry (&c);
  g_assert_cmpint (g_chmod (entry, 0666), ==, 0);
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_cmpint (g_stat (entry, &st), ==, 0);
  g_assert_cmpint (st.st_mode & 0777, ==, 0600);
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  cache_free (&c);
}

/* The wall clock was set back, or forward: times of entries are of the future, or of 1970. */
static void
entries_of_another_time_are_used_and_go_in_their_order (void)
{
  Cache c = cache_new ();
  g_autofree gchar *entry = NULL;
  g_autofree gchar *future = g_build_filename (c.folder, "0000.axon", NULL);
  g_autofree gchar *zeros = g_malloc0 (1 << 20);
  struct utimbuf first = { 0, 0 }, later = { G_MAXINT32, G_MAXINT32 };
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  entry = only_entry (&c);
  g_assert_cmpint (utime (entry, &later), ==, 0);
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  g_assert_cmpint (utime (entry, &first), ==, 0);
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  g_unlink (entry);
  g_file_set_contents (future, zeros, 1 << 20, NULL);
  utime (future, &later);
  g_assert_false (compile_file (&c, c.model, "CPU", ", 'CACHE_MAX_SIZE': <'1'>"));
  g_assert_false (g_file_test (future, G_FILE_TEST_EXISTS)); /* what was just stored stays */
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  cache_free (&c);
}

static void
the_entry_used_longest_ago_goes_when_the_folder_is_full (void)
{
  Cache c = cache_new ();
  g_autofree gchar *large = g_build_filename (c.folder, "0000.axon", NULL);
  g_autofree gchar *zeros = g_malloc0 (1 << 20);
  struct utimbuf old = { 1, 1 };
  g_file_set_contents (large, zeros, 1 << 20, NULL);
  utime (large, &old);
  g_assert_false (compile_file (&c, c.model, "CPU", ", 'CACHE_MAX_SIZE': <'1'>"));
  g_assert_false (g_file_test (large, G_FILE_TEST_EXISTS));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  cache_free (&c);
}

static void
without_a_limit_entries_stay_however_many_there_are (void)
{
  Cache c = cache_new ();
  g_autofree gchar *large = g_build_filename (c.folder, "0000.axon", NULL);
  g_autofree gchar *zeros = g_malloc0 (1 << 20);
  g_file_set_contents (large, zeros, 1 << 20, NULL);
  g_assert_false (compile_file (&c, c.model, "CPU", ", 'CACHE_MAX_SIZE': <'0'>"));
  g_assert_true (g_file_test (large, G_FILE_TEST_EXISTS));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  cache_free (&c);
}

static gpointer
compile_in_thread (gpointer data)
{
  const Cache *c = data;
  guint hits = 0;
  for (guint i = 0; i < 5; i++)
    hits += compile_file (c, c->model, "TEMPLATE", NULL);
  return GUINT_TO_POINTER (hits);
}

static void
eight_threads_compile_one_file_once (void)
{
  Cache c = cache_new ();
  GThread *threads[8];
  guint hits = 0;
  for (guint i = 0; i < 8; i++)
    threads[i] = g_thread_new ("user", compile_in_thread, &c);
  for (guint i = 0; i < 8; i++)
    hits += GPOINTER_TO_UINT (g_thread_join (threads[i]));
  g_assert_cmpuint (hits, ==, 39);
  g_assert_cmpuint (count_entries (&c), ==, 1);
  cache_free (&c);
}

/* XOR with a key: enough to see that what is stored is not what was compiled. */
static GBytes *
scramble (GBytes *bytes, gpointer user_data, GError **error)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (bytes, &n);
  guint8 *copy;
  if (*(const guint8 *)user_data == 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "the key is gone");
    return NULL;
  }
  copy = g_memdup2 (data, n);
  for (gsize i = 0; i < n; i++)
    copy[i] ^= *(const guint8 *)user_data;
  return g_bytes_new_take (copy, n);
}

static void
entries_can_be_encrypted (void)
{
  Cache c = cache_new ();
  AxonCore *core = axon_core_get_default ();
  g_autofree gchar *path = NULL;
  g_autofree gchar *data = NULL;
  guint8 key = 0x5a;
  gsize n;
  axon_core_set_cache_encryption (core, scramble, scramble, &key, NULL);
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  path = only_entry (&c);
  g_assert_true (g_file_get_contents (path, &data, &n, NULL));
  g_assert_null (g_strstr_len (data, (gssize)n, "CPU"));
  key = 0x33; /* another key: dropped, compiled, stored anew */
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  key = 0; /* none: compiled, not stored */
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_cmpuint (count_entries (&c), ==, 0);
  axon_core_set_cache_encryption (core, NULL, NULL, NULL, NULL);
  g_assert_false (compile_file (&c, c.model, "CPU", NULL));
  g_assert_true (compile_file (&c, c.model, "CPU", NULL));
  cache_free (&c);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define ADD(name) g_test_add_func ("/cache/" #name, name)
  ADD (files_are_cached_by_content_device_and_configuration);
  ADD (spreading_devices_cache_for_the_devices_behind_them);
  ADD (spoilt_entries_are_compiled_again_silently);
  ADD (an_entry_without_weights_finds_them_in_the_model);
  ADD (a_change_in_any_file_of_weights_is_compiled_again);
  ADD (a_folder_that_cannot_be_used_makes_nothing_fail);
  ADD (what_cannot_be_read_is_refused_with_a_cache_as_without);
  ADD (entries_are_private);
  ADD (what_a_killed_process_left_goes_and_what_another_writes_counts);
  ADD (a_folder_that_others_can_exchange_for_a_link_is_not_used);
  ADD (an_entry_that_others_can_write_to_is_compiled_again);
  ADD (entries_of_another_time_are_used_and_go_in_their_order);
  ADD (the_entry_used_longest_ago_goes_when_the_folder_is_full);
  ADD (without_a_limit_entries_stay_however_many_there_are);
  ADD (eight_threads_compile_one_file_once);
  ADD (entries_can_be_encrypted);
  return g_test_run ();
}
