/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ModelProto to AxonModel. Everything unpacked lives only while reading; raw weights are moved, not
 * copied. Recurses nowhere: subgraphs are refused before they are entered. */
#include "axononnx-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIN_IR 3
#define MAX_IR 10

typedef struct {
  AxonModel *model;
  AxonOpSet *opset;
  Onnx__Model *proto;
  AxonWireAllocator allocator;
  const gchar *directory;
  GHashTable *versions; /* domain -> opset version */
} Reader;

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
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: cannot be opened: %s", path,
                 g_strerror (saved));
    return NULL;
  }
  if (!S_ISREG (st.st_mode) || st.st_size == 0 || st.st_size > AXON_ONNX_MAX_FILE) {
    close (fd);
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: %s", path,
                 !S_ISREG (st.st_mode) ? "not a regular file"
                 : st.st_size == 0     ? "the file is empty"
                                       : "the file is larger than 4 GiB");
    return NULL;
  }
  /* Read, not mapped: a file truncated under a mapping raises SIGBUS. */
  data = g_try_malloc ((gsize)st.st_size);
  if (data == NULL) {
    close (fd);
    g_set_error (error, AXON_ERROR, AXON_ERROR_MEMORY, "%s: out of memory", path);
    return NULL;
  }
  for (gsize at = 0; at < (gsize)st.st_size;) {
    gssize got = read (fd, data + at, (gsize)st.st_size - at);
    if (got <= 0) {
      close (fd);
      g_free (data);
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, "%s: cannot be read whole", path);
      return NULL;
    }
    at += (gsize)got;
  }
  close (fd);
  return g_bytes_new_take (data, (gsize)st.st_size);
}

static void
read_shape (const Onnx__TensorShape *proto, AxonValue *value)
{
  value->type.shape = AXON_SHAPE_UNKNOWN;
  if (proto == NULL || proto->n_dim > AXON_MAX_RANK)
    return;
  value->type.shape.rank = (gint)proto->n_dim;
  value->symbols = g_new0 (gchar *, proto->n_dim + 1);
  for (gsize i = 0; i < proto->n_dim; i++) {
    const Onnx__Dimension *dim = proto->dim[i];
    gboolean known = dim->has_dim_value && dim->dim_value >= 0;
    value->type.shape.dims[i] = known ? dim->dim_value : -1;
    value->symbols[i] = g_strdup (dim->dim_param ? dim->dim_param : "");
  }
}

/* What a cache has to check besides the model's own file. */
static void
note_external (Reader *r, const Onnx__Tensor *proto)
{
  for (gsize i = 0; proto->data_location == 1 && i < proto->n_external_data; i++) {
    const Onnx__StringStringEntry *entry = proto->external_data[i];
    g_autofree gchar *path = NULL;
    if (g_strcmp0 (entry->key, "location") != 0 || entry->value == NULL || r->directory == NULL)
      continue;
    path = g_build_filename (r->directory, entry->value, NULL);
    if (r->model->external == NULL)
      r->model->external = g_ptr_array_new_with_free_func (g_free);
    if (!g_ptr_array_find_with_equal_func (r->model->external, path, g_str_equal, NULL))
      g_ptr_array_add (r->model->external, g_steal_pointer (&path));
  }
}

static gboolean
read_initializers (Reader *r, GError **error)
{
  Onnx__Graph *graph = r->proto->graph;
  for (gsize i = 0; i < graph->n_initializer; i++) {
    Onnx__Tensor *proto = graph->initializer[i];
    g_autoptr (AxonTensor) tensor = axon_onnx_tensor (proto, &r->allocator, r->directory, error);
    if (tensor == NULL)
      return FALSE;
    note_external (r, proto);
    if (proto->name == NULL || axon_model_add_constant (r->model, proto->name, tensor) == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "initializer \"%s\" is defined twice",
                   proto->name ? proto->name : "");
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
read_inputs (Reader *r, GError **error)
{
  Onnx__Graph *graph = r->proto->graph;
  for (gsize i = 0; i < graph->n_input; i++) {
    Onnx__ValueInfo *info = graph->input[i];
    Onnx__TypeTensor *type = info->type ? info->type->tensor_type : NULL;
    AxonValue *value;
    if (info->name != NULL && axon_model_find_value (r->model, info->name) != NULL &&
        axon_value_is_constant (axon_model_find_value (r->model, info->name)))
      continue; /* an initializer with a default, IR 3: not an input for us */
    if (info->name == NULL || type == NULL ||
        axon_dtype_get_size ((AxonDType)type->elem_type) == 0) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                   "input \"%s\": expected a tensor of a numeric type",
                   info->name ? info->name : "");
      return FALSE;
    }
    value = axon_model_add_input (r->model, info->name, (AxonDType)type->elem_type,
                                  &AXON_SHAPE_UNKNOWN);
    if (value == NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "input \"%s\" is defined twice",
                   info->name);
      return FALSE;
    }
    read_shape (type->shape, value);
  }
  return TRUE;
}

static gboolean
read_attribute (Reader *r, AxonNode *node, Onnx__Attribute *proto, GError **error)
{
  /* AttributeProto.type; files of IR < 4 may leave it out, then the field that is set tells. */
  static const gint8 types[] = {
    -1, AXON_ATTR_FLOAT,  AXON_ATTR_INT,  AXON_ATTR_STRING, AXON_ATTR_TENSOR,
    -1, AXON_ATTR_FLOATS, AXON_ATTR_INTS, AXON_ATTR_STRINGS
  };
  gint type = proto->type > 0 && proto->type < (gint)G_N_ELEMENTS (types) ? types[proto->type]
              : proto->type != 0                                          ? -1
              : proto->has_f                                              ? AXON_ATTR_FLOAT
              : proto->has_i                                              ? AXON_ATTR_INT
              : proto->has_s                                              ? AXON_ATTR_STRING
              : proto->t != NULL                                          ? AXON_ATTR_TENSOR
              : proto->n_floats > 0                                       ? AXON_ATTR_FLOATS
              : proto->n_strings > 0                                      ? AXON_ATTR_STRINGS
                                                                          : AXON_ATTR_INTS;
  AxonAttr *attr;
  if (type < 0 || proto->name == NULL || (type == AXON_ATTR_TENSOR && proto->t == NULL)) {
    g_autofree gchar *what = axon_node_describe (node);
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 "%s: attribute \"%s\" has an unsupported type (%d)", what,
                 proto->name ? proto->name : "", proto->type);
    return FALSE;
  }
  attr = axon_node_add_attr (node, proto->name, (AxonAttrType)type);
  attr->i = proto->i;
  attr->f = (gdouble)proto->f;
  attr->s = g_strndup ((gchar *)proto->s.data, proto->s.len);
  if (type == AXON_ATTR_INTS) {
    attr->n = (guint)proto->n_ints;
    attr->ints = g_memdup2 (proto->ints, proto->n_ints * sizeof (gint64));
  } else if (type == AXON_ATTR_FLOATS) {
    attr->n = (guint)proto->n_floats;
    attr->floats = g_memdup2 (proto->floats, proto->n_floats * sizeof (gfloat));
  } else if (type == AXON_ATTR_STRINGS) {
    attr->n = (guint)proto->n_strings;
    attr->strings = g_new0 (gchar *, proto->n_strings + 1);
    for (gsize i = 0; i < proto->n_strings; i++)
      attr->strings[i] = g_strndup ((gchar *)proto->strings[i].data, proto->strings[i].len);
  } else if (type == AXON_ATTR_TENSOR) {
    attr->tensor = axon_onnx_tensor (proto->t, &r->allocator, r->directory, error);
    if (attr->tensor == NULL) {
      g_prefix_error (error, "attribute \"%s\": ", proto->name);
      return FALSE;
    }
  }
  return TRUE;
}

static gint
domain_version (Reader *r, const gchar *domain)
{
  gpointer version = g_hash_table_lookup (r->versions, domain);
  return version ? GPOINTER_TO_INT (version) : 1;
}

static const gchar *
proto_domain (const Onnx__Node *proto)
{
  return proto->domain == NULL || g_str_equal (proto->domain, "ai.onnx") ? "" : proto->domain;
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(const gchar *const *)a, *(const gchar *const *)b);
}

/* All operators that have no row, in one message. */
static gboolean
check_operators (Reader *r, GError **error)
{
  Onnx__Graph *graph = r->proto->graph;
  g_autoptr (GHashTable) missing = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree gchar **names = NULL;
  g_autofree gchar *list = NULL;
  guint n;
  for (gsize i = 0; i < graph->n_node; i++) {
    const gchar *domain = proto_domain (graph->node[i]);
    const gchar *type = graph->node[i]->op_type ? graph->node[i]->op_type : "";
    gint version = domain_version (r, domain);
    if (axon_op_set_lookup (r->opset, domain, type, version) == NULL)
      g_hash_table_add (missing, g_strdup_printf ("%s%s%s (opset %d)", domain, *domain ? "." : "",
                                                  type, version));
  }
  names = (gchar **)g_hash_table_get_keys_as_array (missing, &n);
  if (n == 0)
    return TRUE;
  qsort (names, n, sizeof *names, compare_names);
  list = g_strjoinv (", ", names);
  g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
               "%u unsupported operator%s: %s (axon-inspect --operators lists what is there)", n,
               n > 1 ? "s" : "", list);
  return FALSE;
}

static AxonValue *
value_for_input (Reader *r, const gchar *name)
{
  AxonValue *value;
  if (*name == '\0')
    return NULL;
  value = axon_model_find_value (r->model, name);
  return value ? value : axon_model_add_value (r->model, name);
}

static gboolean
read_node (Reader *r, Onnx__Node *proto, GError **error)
{
  const gchar *domain = proto_domain (proto);
  gint version = domain_version (r, domain);
  const AxonOp *op = axon_op_set_lookup (r->opset, domain, proto->op_type, version);
  g_autofree AxonValue **in = g_new0 (AxonValue *, proto->n_input + 1);
  g_autofree AxonValue **out = g_new0 (AxonValue *, proto->n_output + 1);
  const gchar *name = proto->name && *proto->name ? proto->name
                      : proto->n_output > 0       ? proto->output[0]
                                                  : proto->op_type;
  guint n_in = (guint)proto->n_input, n_out = (guint)proto->n_output;
  AxonNode *node;
  for (guint i = 0; i < n_in; i++)
    in[i] = value_for_input (r, proto->input[i]);
  for (guint i = 0; i < n_out; i++) {
    if (*proto->output[i] == '\0')
      continue;
    out[i] = value_for_input (r, proto->output[i]);
    if (out[i]->producer != NULL || out[i]->is_input || out[i]->type.value != NULL) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "%s \"%s\": output \"%s\" is defined twice",
                   proto->op_type, name, proto->output[i]);
      return FALSE;
    }
  }
  node = axon_model_add_node (r->model, op, version, name, in, n_in, out, n_out);
  g_ptr_array_add (node->origins, g_strdup (name));
  for (gsize i = 0; i < proto->n_attribute; i++)
    if (!read_attribute (r, node, proto->attribute[i], error))
      return FALSE;
  if (strstr (op->name, "QLinear") != NULL || strstr (op->name, "QuantizeLinear") != NULL)
    r->model->quantized = TRUE;
  return axon_node_check (node, error);
}

static gboolean
read_outputs (Reader *r, GError **error)
{
  Onnx__Graph *graph = r->proto->graph;
  if (graph->n_output == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "the graph has no outputs");
    return FALSE;
  }
  for (gsize i = 0; i < graph->n_output; i++) {
    const gchar *name = graph->output[i]->name;
    AxonValue *value = name ? axon_model_find_value (r->model, name) : NULL;
    if (value == NULL || value->is_output) {
      g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL, "output \"%s\": %s", name ? name : "",
                   value ? "listed twice" : "nothing makes it");
      return FALSE;
    }
    axon_model_add_output (r->model, value);
  }
  return TRUE;
}

static gboolean
read_header (Reader *r, GError **error)
{
  Onnx__Model *proto = r->proto;
  if (proto->graph == NULL || proto->n_opset_import == 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 "not an ONNX model: it has %s (another kind of protobuf file?)",
                 proto->graph == NULL ? "no graph" : "no opset_import");
    return FALSE;
  }
  if (proto->ir_version < MIN_IR || proto->ir_version > MAX_IR) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
                 "ONNX IR version %" G_GINT64_FORMAT " (supported: %d to %d)", proto->ir_version,
                 MIN_IR, MAX_IR);
    return FALSE;
  }
  if (proto->n_functions > 0 || proto->graph->n_sparse_initializer > 0) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_UNSUPPORTED, "the model has %s",
                 proto->n_functions > 0 ? "model-local functions" : "sparse initializers");
    return FALSE;
  }
  for (gsize i = 0; i < proto->n_opset_import; i++) {
    Onnx__OperatorSetId *id = proto->opset_import[i];
    const gchar *domain = id->domain && !g_str_equal (id->domain, "ai.onnx") ? id->domain : "";
    g_hash_table_insert (r->versions, g_strdup (domain),
                         GINT_TO_POINTER ((gint)CLAMP (id->version, 0, 100000)));
  }
  for (gsize i = 0; i < proto->n_metadata_props; i++)
    if (proto->metadata_props[i]->key != NULL && proto->metadata_props[i]->value != NULL)
      g_hash_table_insert (r->model->metadata, g_strdup (proto->metadata_props[i]->key),
                           g_strdup (proto->metadata_props[i]->value));
  return TRUE;
}

static gboolean
read_graph (Reader *r, GCancellable *cancellable, GError **error)
{
  Onnx__Graph *graph = r->proto->graph;
  if (!read_initializers (r, error) || !read_inputs (r, error) || !check_operators (r, error))
    return FALSE;
  for (gsize i = 0; i < graph->n_node; i++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
        !read_node (r, graph->node[i], error))
      return FALSE;
  return read_outputs (r, error) && axon_model_sort (r->model, error) &&
         axon_model_verify (r->model, error) && axon_model_infer_shapes (r->model, error);
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
  if (!axon_wire_scan (data, n, AXON_WIRE_MODEL, error))
    return NULL;
  axon_wire_allocator_init (&r.allocator, n);
  r.proto = onnx__model__unpack (&r.allocator.allocator, n, data);
  if (r.proto == NULL) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
                 "not a valid ONNX file, or it unpacks to more than %" G_GSIZE_FORMAT " bytes",
                 r.allocator.cap);
    return NULL;
  }
  model = r.model = axon_model_new (r.proto->graph ? r.proto->graph->name : NULL);
  r.versions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  ok = read_header (&r, error) && read_graph (&r, cancellable, error);
  g_hash_table_unref (r.versions);
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
