/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ModelProto to AxonModel: files, header, operator check. Everything unpacked lives only while
 * reading; raw weights are moved, not copied. Recursion is bounded: the wire scan refuses messages
 * nested deeper than 64. */
#include "axonreader-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

GBytes *
axon_onnx_load_file (const gchar *path, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat st;
  gchar *data;
  if (fd < 0 || fstat (fd, &st) != 0) {
    int saved = errno;
    if (fd >= 0)
      close (fd);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: cannot be opened: %s"), path,
                 g_strerror (saved));
    return NULL;
  }
  if (!S_ISREG (st.st_mode) || st.st_size == 0 || st.st_size > AXON_ONNX_MAX_FILE) {
    close (fd);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: %s", path,
                 !S_ISREG (st.st_mode) ? _ ("not a regular file")
                 : st.st_size == 0     ? _ ("the file is empty")
                                       : _ ("the file is larger than 4 GiB"));
    return NULL;
  }
  /* Read, not mapped: a file truncated under a mapping raises SIGBUS. */
  data = g_try_malloc ((gsize)st.st_size);
  if (data == NULL) {
    close (fd);
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, _ ("%s: out of memory"), path);
    return NULL;
  }
  for (gsize at = 0; at < (gsize)st.st_size;) {
    gssize got = read (fd, data + at, (gsize)st.st_size - at);
    if (got <= 0) {
      close (fd);
      g_free (data);
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("%s: cannot be read whole"), path);
      return NULL;
    }
    at += (gsize)got;
  }
  close (fd);
  return g_bytes_new_take (data, (gsize)st.st_size);
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

static void
note_missing (Reader *r, Onnx__Node *const *nodes, gsize n, GHashTable *versions,
              GHashTable *missing)
{
  for (gsize i = 0; i < n; i++) {
    const gchar *domain = axon_onnx_domain (nodes[i]->domain);
    const gchar *type = nodes[i]->op_type ? nodes[i]->op_type : "";
    gint version = axon_onnx_version (versions, domain);
    if (axon_onnx_find_function (r, nodes[i]) == NULL &&
        axon_op_set_lookup (r->opset, domain, type, version) == NULL)
      g_hash_table_add (missing, g_strdup_printf ("%s%s%s (opset %d)", domain, *domain ? "." : "",
                                                  type, version));
    for (gsize k = 0; k < nodes[i]->n_attribute; k++)
      if (nodes[i]->attribute[k]->g != NULL)
        note_missing (r, nodes[i]->attribute[k]->g->node, nodes[i]->attribute[k]->g->n_node,
                      versions, missing);
  }
}

/* All operators that have no row, in one message; bodies and functions included. */
static gboolean
check_operators (Reader *r, GError **error)
{
  g_autoptr (GHashTable) missing = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree gchar **names = NULL;
  g_autofree gchar *list = NULL;
  guint n;
  note_missing (r, r->proto->graph->node, r->proto->graph->n_node, r->versions, missing);
  for (gsize i = 0; i < r->proto->n_functions; i++) {
    Onnx__Function *f = r->proto->functions[i];
    g_autoptr (GHashTable) versions = axon_onnx_read_versions (f->opset_import, f->n_opset_import);
    note_missing (r, f->node, f->n_node, versions, missing);
  }
  names = (gchar **)g_hash_table_get_keys_as_array (missing, &n);
  if (n == 0)
    return TRUE;
  qsort (names, n, sizeof *names, compare_names);
  list = g_strjoinv (", ", names);
  g_set_error (
      error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
      g_dngettext (GETTEXT_PACKAGE,
                   "%u unsupported operator: %s (axon-inspect --operators lists what is there)",
                   "%u unsupported operators: %s (axon-inspect --operators lists what is there)",
                   n),
      n, list);
  axon_error_set_reason (error, AXON_REASON_OPERATOR);
  return FALSE;
}

static gboolean
read_header (Reader *r, GError **error)
{
  Onnx__Model *proto = r->proto;
  if (proto->graph == NULL || proto->n_opset_import == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("not an ONNX model: it has %s (another kind of protobuf file?)"),
                 proto->graph == NULL ? _ ("no graph") : _ ("no opset_import"));
    return FALSE;
  }
  if (proto->ir_version < AXON_MODEL_MIN_IR_VERSION ||
      proto->ir_version > AXON_MODEL_MAX_IR_VERSION) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 _ ("ONNX IR version %lld (supported: %d to %d)"), (long long)proto->ir_version,
                 AXON_MODEL_MIN_IR_VERSION, AXON_MODEL_MAX_IR_VERSION);
    axon_error_set_reason (error, AXON_REASON_VERSION);
    return FALSE;
  }
  r->versions = axon_onnx_read_versions (proto->opset_import, proto->n_opset_import);
  for (gsize i = 0; i < proto->n_metadata_props; i++)
    if (proto->metadata_props[i]->key != NULL && proto->metadata_props[i]->value != NULL)
      g_hash_table_insert (r->model->metadata, g_strdup (proto->metadata_props[i]->key),
                           g_strdup (proto->metadata_props[i]->value));
  return TRUE;
}

static gboolean
read_model (Reader *r, GCancellable *cancellable, GError **error)
{
  Scope scope = { .reader = r, .model = r->model, .versions = r->versions };
  r->cancellable = cancellable;
  return check_operators (r, error) && axon_onnx_read_graph (&scope, r->proto->graph, error) &&
         axon_model_sort (r->model, error) && axon_model_verify (r->model, error) &&
         axon_model_infer_shapes (r->model, error);
}

AxonModel *
axon_onnx_read_bytes (GBytes *bytes, const gchar *directory, AxonOpSet *opset,
                      GCancellable *cancellable, GError **error)
{
  gsize n;
  const guint8 *data = g_bytes_get_data (bytes, &n);
  Reader r = { .opset = opset, .directory = directory };
  g_autoptr (AxonModel) model = NULL;
  gboolean ok;
  if (!axon_wire_scan (data, n, AXON_WIRE_MODEL, error)) {
    axon_error_set_reason (error, AXON_REASON_ENCODING);
    return NULL;
  }
  axon_wire_allocator_init (&r.allocator, n);
  r.proto = onnx__model__unpack (&r.allocator.allocator, n, data);
  if (r.proto == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 _ ("not a valid ONNX file, or it unpacks to more than %zu bytes"),
                 r.allocator.cap);
    axon_error_set_reason (error, AXON_REASON_ENCODING);
    return NULL;
  }
  model = r.model = axon_model_new (r.proto->graph ? r.proto->graph->name : NULL);
  ok = axon_onnx_check_text (&r.proto->base, error) && read_header (&r, error) &&
       read_model (&r, cancellable, error);
  g_clear_pointer (&r.versions, g_hash_table_unref);
  onnx__model__free_unpacked (r.proto, &r.allocator.allocator);
  return ok ? g_steal_pointer (&model) : NULL;
}

AxonModel *
axon_onnx_read_file (const gchar *path, AxonOpSet *opset, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = axon_onnx_load_file (path, error);
  g_autofree gchar *directory = g_path_get_dirname (path);
  AxonModel *model;
  if (bytes == NULL)
    return NULL;
  model = axon_onnx_read_bytes (bytes, directory, opset, cancellable, error);
  if (model == NULL)
    g_prefix_error (error, "%s: ", path);
  return model;
}
