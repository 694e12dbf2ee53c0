/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One compile, with the cache around it. A hit never parses ONNX. */
#include "../../plan/axonblob-private.h"
#include "axoncompile-private.h"
#include "../cache/axoncache-private.h"
#include "../../onnx/axononnx.h"

#include "config.h"
#include <glib/gi18n-lib.h>
#include <string.h>

/* Weightless entries need the file's bytes at hand. */
static gboolean
wants_weightless (AxonJob *job)
{
  const gchar *mode = axon_config_get_string (job->target.core_config, "CACHE_MODE");
  return job->path != NULL && g_str_equal (mode, "OPTIMIZE_SIZE");
}

static AxonCompiledModel *
compile (AxonJob *job, AxonModel *model, GError **error)
{
  if (!wants_weightless (job)) /* the model has taken what it needs */
    g_clear_pointer (&job->file, g_bytes_unref);
  return axon_plugin_compile_model (job->target.plugin, model, NULL, job->target.config,
                                    job->cancellable, job->progress, job->user_data, error);
}

/* A hit needs the file's name in the cache, not its bytes. */
static gboolean
load_file (AxonJob *job, GError **error)
{
  if (job->file == NULL && job->path != NULL)
    job->file = axon_onnx_load_file (job->path, error);
  return job->file != NULL || job->path == NULL;
}

static AxonModel *
get_model (AxonJob *job, GError **error)
{
  g_autofree gchar *directory = NULL;
  AxonModel *model;
  if (job->model != NULL)
    return g_object_ref (job->model);
  if (!load_file (job, error))
    return NULL;
  directory = g_path_get_dirname (job->path);
  model = axon_onnx_read_bytes (job->file, directory, axon_core_get_op_set (job->core),
                                job->cancellable, error);
  if (model == NULL)
    g_prefix_error (error, "%s: ", job->path);
  return model;
}

/* Names the source's bytes: the file's, or those of the graph in memory. NULL: the file cannot be
 * read. */
static gchar *
hash_source (AxonJob *job)
{
  g_autoptr (AxonBlobWriter) writer = NULL;
  if (job->file != NULL)
    return axon_cache_hash_bytes (job->file);
  if (job->path != NULL)
    return axon_cache_hash_file (job->path);
  writer = axon_blob_writer_new (NULL);
  return axon_blob_writer_digest (writer, axon_blob_writer_add_model (writer, job->model));
}

/* Source, device, versions and effective configuration. */
static gchar *
make_key (AxonJob *job, const gchar *source, gboolean weightless, gboolean encrypted,
          GError **error)
{
  g_autoptr (AxonConfig) config = axon_plugin_effective_config (
      job->target.plugin, job->target.config, AXON_UNKNOWN_KEYS_FAIL, error);
  g_autoptr (GVariant) values =
      config ? g_variant_ref_sink (axon_config_to_variant (config)) : NULL;
  g_autofree gchar *device = config ? axon_plugin_identity_text (job->target.plugin, config) : NULL;
  g_autofree gchar *others =
      config && config->others ? g_variant_print (job->target.config, FALSE) : g_strdup ("");
  g_autofree gchar *text = NULL;
  g_autofree gchar *all = NULL;
  if (config == NULL)
    return NULL;
  text = g_variant_print (values, FALSE);
  all = g_strdup_printf ("%s\n%s%s\n%s\n%d%d", source, device, text, others, weightless, encrypted);
  return axon_cache_hash_text (all);
}

/* Files besides the model's own, with their contents' names: (sts) path, bytes, hash. */
static GVariant *
describe_external (AxonModel *model)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE ("a(ayay)"));
  for (guint i = 0; model->external != NULL && i < model->external->len; i++) {
    const gchar *path = g_ptr_array_index (model->external, i);
    g_autofree gchar *hash = axon_cache_hash_file (path);
    g_variant_builder_add (&b, "(^ay^ay)", path, hash ? hash : "");
  }
  return g_variant_builder_end (&b);
}

static gboolean
external_unchanged (AxonBlob *blob)
{
  g_autoptr (GVariant) header = axon_blob_get_header (blob);
  g_autoptr (GVariant) list =
      g_variant_lookup_value (header, "external", G_VARIANT_TYPE ("a(ayay)"));
  for (gsize i = 0; list != NULL && i < g_variant_n_children (list); i++) {
    const gchar *path, *expected;
    g_autofree gchar *hash = NULL;
    g_variant_get_child (list, i, "(^&ay^&ay)", &path, &expected);
    hash = axon_cache_hash_file (path);
    if (g_strcmp0 (hash, expected) != 0)
      return FALSE;
  }
  return TRUE;
}

/* NULL, with the entry dropped, where it does not serve. */
static AxonCompiledModel *
load_entry (AxonJob *job, AxonCipher *cipher, const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) stored =
      axon_cache_load (path, axon_config_get_bool (job->target.core_config, "ENABLE_MMAP"));
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AxonBlob) blob = NULL;
  AxonCompiledModel *compiled = NULL;
  if (stored == NULL)
    return NULL;
  bytes = cipher ? axon_cipher_decrypt (cipher, stored, &error) : g_bytes_ref (stored);
  blob = bytes ? axon_blob_new (bytes, axon_core_get_op_set (job->core), &error) : NULL;
  if (blob != NULL && !external_unchanged (blob))
    g_set_error (&error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                 _ ("a file of the model's weights changed"));
  else if (blob != NULL) {
    axon_blob_set_origin (blob, job->file);
    compiled = axon_plugin_import_model (job->target.plugin, blob, NULL, job->target.config,
                                         job->cancellable, job->progress, job->user_data, &error);
  }
  if (compiled == NULL && !g_cancellable_is_cancelled (job->cancellable))
    axon_cache_drop (path, error ? error->message : "it cannot be decrypted");
  return compiled;
}

typedef struct {
  AxonJob *job;
  AxonCompiledModel *compiled;
  AxonModel *model;
  gboolean weightless;
  AxonCipher *cipher; /* or NULL */
} Store;

static gboolean
write_encrypted (AxonCipher *cipher, GBytes *plain, GOutputStream *stream, GError **error)
{
  g_autoptr (GBytes) bytes = axon_cipher_encrypt (cipher, plain, error);
  return bytes != NULL && g_output_stream_write_all (stream, g_bytes_get_data (bytes, NULL),
                                                     g_bytes_get_size (bytes), NULL, NULL, error);
}

static gboolean
write_entry (GOutputStream *stream, gpointer user_data, GError **error)
{
  Store *store = user_data;
  g_autoptr (AxonBlobWriter) writer =
      axon_blob_writer_new (store->weightless ? store->job->file : NULL);
  GVariantDict extra;
  g_variant_dict_init (&extra, NULL);
  g_variant_dict_insert_value (&extra, "external", describe_external (store->model));
  if (store->cipher != NULL) {
    g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
    g_autoptr (GBytes) plain = NULL;
    if (!axon_compiled_model_write (store->compiled, writer, g_variant_dict_end (&extra), memory,
                                    NULL, error) ||
        !g_output_stream_close (memory, NULL, error))
      return FALSE;
    plain = g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
    return write_encrypted (store->cipher, plain, stream, error);
  }
  return axon_compiled_model_write (store->compiled, writer, g_variant_dict_end (&extra), stream,
                                    NULL, error);
}

/* FALSE: the file is not what @source names any more. */
static gboolean
is_still (AxonJob *job, const gchar *source)
{
  g_autofree gchar *now = job->path ? axon_cache_hash_bytes (job->file) : NULL;
  return now == NULL || g_strcmp0 (now, source) == 0;
}

static AxonCompiledModel *
compile_and_store (AxonJob *job, AxonCipher *cipher, const gchar *source, const gchar *path,
                   gboolean weightless, GError **error)
{
  g_autoptr (AxonModel) model = get_model (job, error);
  gboolean is_right = model != NULL && is_still (job, source);
  AxonCompiledModel *compiled = model ? compile (job, model, error) : NULL;
  Store store = { job, compiled, model, weightless, cipher };
  if (compiled != NULL && is_right)
    axon_cache_store (path, (guint)axon_config_get_int (job->target.core_config, "CACHE_MAX_SIZE"),
                      write_entry, &store);
  return compiled;
}

static AxonCompiledModel *
run_cached (AxonJob *job, const gchar *directory, GError **error)
{
  gboolean weightless = wants_weightless (job);
  g_autoptr (AxonCipher) cipher = axon_core_get_cipher (job->core);
  g_autofree gchar *source = NULL;
  g_autofree gchar *key = NULL;
  g_autofree gchar *path = NULL;
  AxonCompiledModel *compiled;
  if (weightless && !load_file (job, error))
    return NULL;
  source = hash_source (job);
  key = make_key (job, source ? source : "", weightless, cipher != NULL, error);
  if (key == NULL)
    return NULL;
  path = source ? axon_cache_entry_path (directory, key) : NULL;
  if (path == NULL) {
    g_autoptr (AxonModel) model = get_model (job, error);
    return model ? compile (job, model, error) : NULL;
  }
  axon_cache_lock (path);
  compiled = load_entry (job, cipher, path);
  if (compiled != NULL)
    axon_compiled_model_set_loaded_from_cache (compiled);
  else
    compiled = compile_and_store (job, cipher, source, path, weightless, error);
  axon_cache_unlock (path);
  return compiled;
}

AxonCompiledModel *
axon_job_run (AxonJob *job, GError **error)
{
  const gchar *directory = axon_config_get_string (job->target.core_config, "CACHE_DIR");
  g_autoptr (AxonModel) model = NULL;
  if (*directory != '\0' && axon_plugin_has_capability (job->target.plugin, "EXPORT_IMPORT"))
    return run_cached (job, directory, error);
  model = get_model (job, error);
  return model ? compile (job, model, error) : NULL;
}

gboolean
axon_core_is_cached (AxonCore *core, AxonModel *model, const gchar *device, GVariant *config)
{
  AxonJob job = { .core = core, .model = model };
  g_autofree gchar *path = NULL;
  const gchar *directory;
  if (!axon_core_find_target (core, device, config, &job.target, NULL))
    return FALSE;
  directory = axon_config_get_string (job.target.core_config, "CACHE_DIR");
  if (*directory != '\0' && axon_plugin_has_capability (job.target.plugin, "EXPORT_IMPORT")) {
    g_autoptr (AxonCipher) cipher = axon_core_get_cipher (core);
    g_autofree gchar *source = hash_source (&job);
    g_autofree gchar *key = source ? make_key (&job, source, FALSE, cipher != NULL, NULL) : NULL;
    path = key ? axon_cache_entry_path (directory, key) : NULL;
  }
  axon_target_clear (&job.target);
  return path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR);
}
