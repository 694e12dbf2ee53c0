/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph read from a blob, which nobody is believed to have written well. */
#include "axonblobmodel-private.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#include <string.h>

static gboolean
fail (GError **error, const gchar *what)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("the compiled model is damaged: %s"),
               what);
  return FALSE;
}

typedef struct {
  AxonBlobReader reader;
  AxonBlob *blob;
  guint depth;         /* bodies that this one stands in */
  GPtrArray *in, *out; /* of the node at hand */
} Source;

/* Asked before what was read is believed. */
static gboolean
is_whole (const Source *source, GError **error)
{
  return !source->reader.broken || fail (error, _ ("its description is not well formed"));
}

/* Names go into messages, GVariants and JSON without another look. */
static gboolean
check_name (const gchar *name, GError **error)
{
  return g_utf8_validate (name, -1, NULL) || fail (error, _ ("a name is not UTF-8"));
}

static gchar **
read_texts (AxonBlobReader *reader, guint n)
{
  gchar **texts = g_new (gchar *, (gsize)n + 1);
  for (guint i = 0; i < n; i++)
    texts[i] = g_strdup (axon_blob_reader_text (reader));
  texts[n] = NULL;
  return texts;
}

static gpointer
read_counted (AxonBlobReader *reader, guint *n, gsize size)
{
  gpointer values;
  *n = axon_blob_reader_count (reader, size);
  values = *n > 0 ? g_malloc_n (*n, size) : NULL;
  axon_blob_reader_numbers (reader, values, *n, size);
  return values;
}

/* FALSE: no shape has that rank. */
static gboolean
read_shape (AxonBlobReader *reader, AxonShape *shape)
{
  *shape = (AxonShape){ .rank = axon_blob_reader_int (reader) };
  if (shape->rank < -1 || shape->rank > AXON_MAX_RANK)
    return FALSE;
  axon_blob_reader_numbers (reader, shape->dims, (gsize)MAX (shape->rank, 0), sizeof *shape->dims);
  for (gint i = 0; i < shape->rank; i++)
    shape->dims[i] = MAX (shape->dims[i], -1);
  return TRUE;
}

/* A string takes a byte or more, so no tensor is made for more of them than there are bytes. */
static AxonTensor *
unpack_text (GBytes *bytes, const AxonShape *shape, GError **error)
{
  g_autoptr (AxonTensor) tensor = NULL;
  gsize n, at = 0;
  const gchar *data = g_bytes_get_data (bytes, &n);
  if (axon_shape_get_numel (shape) > (gint64)n)
    return fail (error, _ ("its text is too short")), NULL;
  tensor = axon_tensor_new (AXON_DTYPE_STRING, shape, error);
  for (gsize i = 0; tensor != NULL && i < axon_tensor_get_numel (tensor); i++) {
    if (at >= n || memchr (data + at, '\0', n - at) == NULL)
      return fail (error, _ ("its text is too short")), NULL;
    axon_tensor_set_string (tensor, i, data + at);
    at += strlen (data + at) + 1;
  }
  return g_steal_pointer (&tensor);
}

static AxonTensor *
unpack_tensor (Source *source, gint dtype, const AxonShape *shape, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  guint64 place[2]; /* offset, size */
  axon_blob_reader_numbers (&source->reader, place, G_N_ELEMENTS (place), sizeof *place);
  if (!is_whole (source, error))
    return NULL;
  bytes = axon_blob_get_bytes (source->blob, place[0], place[1], error);
  if (bytes == NULL || dtype < 0 || dtype >= AXON_N_DTYPES)
    return bytes ? (fail (error, _ ("a constant's type is unknown")), NULL) : NULL;
  if (dtype >= AXON_DTYPE_SEQUENCE)
    return fail (error, _ ("a constant is no tensor")), NULL;
  if (dtype == AXON_DTYPE_STRING)
    return unpack_text (bytes, shape, error);
  return axon_tensor_new_from_bytes ((AxonDType)dtype, shape, bytes, error);
}

static gboolean
unpack_symbols (Source *source, AxonValue *value, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, 1);
  g_auto (GStrv) symbols = n > 0 ? read_texts (&source->reader, n) : NULL;
  for (guint i = 0; i < n; i++)
    if (!check_name (symbols[i], error))
      return FALSE;
  if (n > 0 && value->type.shape.rank == (gint)n)
    value->symbols = g_steal_pointer (&symbols);
  return TRUE;
}

static gboolean
unpack_value (Source *source, AxonModel *model, GError **error)
{
  AxonBlobReader *reader = &source->reader;
  const gchar *name = axon_blob_reader_text (reader);
  const gchar *layout = axon_blob_reader_text (reader);
  gint dtype = axon_blob_reader_int (reader);
  AxonShape shape;
  AxonValue *value;
  if (!check_name (name, error) || !check_name (layout, error))
    return FALSE;
  if (!read_shape (reader, &shape) || dtype < 0 || dtype >= AXON_N_DTYPES)
    return fail (error, _ ("a value's type is unknown"));
  if (!is_whole (source, error))
    return FALSE;
  value = axon_model_add_value (model, name);
  if (value == NULL)
    return fail (error, _ ("two values have one name"));
  value->type.dtype = (AxonDType)dtype;
  value->type.shape = shape;
  if (*layout != '\0')
    value->layout = g_strdup (layout);
  if (!unpack_symbols (source, value, error))
    return FALSE;
  if (!axon_blob_reader_flag (reader))
    return is_whole (source, error);
  value->type.value = unpack_tensor (source, dtype, &shape, error);
  return value->type.value != NULL;
}

/* -1 is an optional value left out. */
static gboolean
unpack_uses (Source *source, AxonModel *model, GPtrArray *values, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, sizeof (gint32));
  g_ptr_array_set_size (values, 0);
  for (guint i = 0; i < n; i++) {
    gint at = axon_blob_reader_int (&source->reader);
    if (at < -1 || at >= (gint)model->values->len)
      return fail (error, _ ("a node uses a value that is not there"));
    g_ptr_array_add (values, at < 0 ? NULL : g_ptr_array_index (model->values, at));
  }
  return is_whole (source, error);
}

static gboolean
unpack_attr_tensor (Source *source, AxonAttr *a, GError **error)
{
  gint dtype = axon_blob_reader_int (&source->reader);
  AxonShape shape;
  if (!read_shape (&source->reader, &shape) || shape.rank < 0)
    return fail (error, _ ("an attribute's shape is wrong"));
  a->tensor = unpack_tensor (source, dtype, &shape, error);
  return a->tensor != NULL;
}

static AxonModel *unpack_graph (Source *source, GError **error);

/* A body: what it takes from around it are inputs of the node. */
static gboolean
unpack_attr_graph (Source *source, const AxonNode *node, AxonAttr *a, GError **error)
{
  if (source->depth == MAX_BODIES) {
    g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("bodies are nested deeper than %d"),
                 MAX_BODIES);
    return FALSE;
  }
  source->depth++;
  a->graph = unpack_graph (source, error);
  source->depth--;
  if (a->graph == NULL)
    return FALSE;
  a->ints = read_counted (&source->reader, &a->n, sizeof *a->ints);
  for (guint i = 0; i < a->n; i++)
    if (a->ints[i] < 0 || a->ints[i] >= node->n_inputs || a->n > a->graph->inputs->len)
      return fail (error, _ ("a body takes what is not there"));
  for (guint i = 0; i < a->graph->values->len; i++)
    ((AxonValue *)g_ptr_array_index (a->graph->values, i))->index = i;
  return TRUE;
}

static gboolean
unpack_attr (Source *source, AxonNode *node, const gchar *name, GError **error)
{
  AxonBlobReader *reader = &source->reader;
  guint type = axon_blob_reader_byte (reader);
  AxonAttr *a;
  if (type > AXON_ATTR_GRAPH)
    return fail (error, _ ("an attribute has no type"));
  a = axon_node_add_attr (node, name, (AxonAttrType)type);
  if (type == AXON_ATTR_INT)
    axon_blob_reader_numbers (reader, &a->i, 1, sizeof a->i);
  else if (type == AXON_ATTR_FLOAT)
    axon_blob_reader_numbers (reader, &a->f, 1, sizeof a->f);
  else if (type == AXON_ATTR_STRING)
    a->s = g_strdup (axon_blob_reader_text (reader));
  else if (type == AXON_ATTR_INTS)
    a->ints = read_counted (reader, &a->n, sizeof *a->ints);
  else if (type == AXON_ATTR_FLOATS)
    a->floats = read_counted (reader, &a->n, sizeof *a->floats);
  else if (type == AXON_ATTR_STRINGS)
    a->strings = read_texts (reader, a->n = axon_blob_reader_count (reader, 1));
  else if (type == AXON_ATTR_GRAPH)
    return unpack_attr_graph (source, node, a, error);
  else
    return unpack_attr_tensor (source, a, error);
  return TRUE;
}

static gboolean
check_outputs (GPtrArray *out, GError **error)
{
  for (guint i = 0; i < out->len; i++) {
    const AxonValue *value = g_ptr_array_index (out, i);
    if (value != NULL && (value->producer != NULL || value->type.value != NULL))
      return fail (error, _ ("a value is made twice"));
    for (guint k = 0; value != NULL && k < i; k++)
      if (g_ptr_array_index (out, k) == value)
        return fail (error, _ ("a value is made twice"));
  }
  return TRUE;
}

static const AxonOp *
find_op (AxonBlob *blob, const gchar *domain, const gchar *name, gint opset, GError **error)
{
  const AxonOp *op = axon_op_set_lookup (axon_blob_get_op_set (blob), domain, name, opset);
  if (op == NULL)
    g_set_error (
        error, AXON_ERROR, AXON_ERROR_UNSUPPORTED,
        _ ("the compiled model uses operator %s%s%s (opset %d), which is not known here: load "
           "the extension that defines it"),
        domain, *domain ? "." : "", name, opset);
  return op;
}

static gboolean
unpack_origins (Source *source, AxonNode *node, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, 1);
  for (guint i = 0; i < n; i++) {
    const gchar *origin = axon_blob_reader_text (&source->reader);
    if (!check_name (origin, error))
      return FALSE;
    g_ptr_array_add (node->origins, g_strdup (origin));
  }
  return TRUE;
}

typedef void (*TakeNote) (gpointer taker, const gchar *key, const gchar *text);

static gboolean
unpack_notes (Source *source, TakeNote take, gpointer taker, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, 2);
  for (guint i = 0; i < n; i++) {
    const gchar *key = axon_blob_reader_text (&source->reader);
    const gchar *text = axon_blob_reader_text (&source->reader);
    if (!check_name (key, error) || !check_name (text, error))
      return FALSE;
    take (taker, key, text);
  }
  return is_whole (source, error);
}

static void
note_node (gpointer node, const gchar *key, const gchar *text)
{
  axon_node_set_info (node, key, text);
}

static void
note_model (gpointer model, const gchar *key, const gchar *text)
{
  g_hash_table_insert (((AxonModel *)model)->metadata, g_strdup (key), g_strdup (text));
}

static gboolean
unpack_affinity (Source *source, AxonNode *node, GError **error)
{
  const gchar *device =
      axon_blob_reader_flag (&source->reader) ? axon_blob_reader_text (&source->reader) : NULL;
  if (device != NULL && !check_name (device, error))
    return FALSE;
  axon_node_set_affinity (node, device);
  return TRUE;
}

static gboolean
unpack_attrs (Source *source, AxonNode *node, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, 2);
  for (guint i = 0; i < n; i++) {
    const gchar *name = axon_blob_reader_text (&source->reader);
    if (!check_name (name, error) || !unpack_attr (source, node, name, error) ||
        !is_whole (source, error))
      return FALSE;
  }
  return is_whole (source, error) && axon_node_check (node, error);
}

static gboolean
unpack_node (Source *source, AxonModel *model, GError **error)
{
  const gchar *domain = axon_blob_reader_text (&source->reader);
  const gchar *op_name = axon_blob_reader_text (&source->reader);
  gint opset = axon_blob_reader_int (&source->reader);
  const gchar *name = axon_blob_reader_text (&source->reader);
  GPtrArray *in = source->in, *out = source->out;
  const AxonOp *op;
  AxonNode *node;
  if (!check_name (domain, error) || !check_name (op_name, error) || !check_name (name, error) ||
      !is_whole (source, error))
    return FALSE;
  op = find_op (source->blob, domain, op_name, opset, error);
  if (op == NULL || !unpack_uses (source, model, in, error) ||
      !unpack_uses (source, model, out, error) || !check_outputs (out, error))
    return FALSE;
  node = axon_model_add_node (model, op, opset, name, (AxonValue **)in->pdata, in->len,
                              (AxonValue **)out->pdata, out->len);
  return unpack_origins (source, node, error) && unpack_affinity (source, node, error) &&
         unpack_notes (source, note_node, node, error) && unpack_attrs (source, node, error);
}

static gboolean
unpack_ports (Source *source, AxonModel *model, GError **error)
{
  GPtrArray *in = source->in, *out = source->out;
  if (!unpack_uses (source, model, in, error) || !unpack_uses (source, model, out, error))
    return FALSE;
  for (guint i = 0; i < in->len; i++) {
    AxonValue *value = g_ptr_array_index (in, i);
    if (value == NULL || value->is_input || value->producer != NULL || value->type.value != NULL)
      return fail (error, _ ("an input is no input"));
    value->is_input = TRUE;
    g_ptr_array_add (model->inputs, value);
  }
  for (guint i = 0; i < out->len; i++) {
    AxonValue *value = g_ptr_array_index (out, i);
    if (value == NULL)
      return fail (error, _ ("an output is left out"));
    value->is_output = TRUE;
    g_ptr_array_add (model->outputs, value);
  }
  return TRUE;
}

typedef gboolean (*Unpack) (Source *source, AxonModel *model, GError **error);

static gboolean
unpack_each (Source *source, Unpack unpack, AxonModel *model, GError **error)
{
  guint n = axon_blob_reader_count (&source->reader, 1);
  for (guint i = 0; i < n; i++)
    if (!unpack (source, model, error))
      return FALSE;
  return is_whole (source, error);
}

static AxonModel *
unpack_graph (Source *source, GError **error)
{
  const gchar *name = axon_blob_reader_text (&source->reader);
  g_autoptr (AxonModel) model = NULL;
  if (!check_name (name, error))
    return NULL;
  model = axon_model_new (name);
  model->quantized = axon_blob_reader_flag (&source->reader);
  if (!unpack_notes (source, note_model, model, error) ||
      !unpack_each (source, unpack_value, model, error) ||
      !unpack_each (source, unpack_node, model, error) || !unpack_ports (source, model, error) ||
      !axon_model_sort (model, error) || !axon_model_verify (model, error))
    return NULL;
  return g_steal_pointer (&model);
}

gboolean
axon_blob_is_model (GVariant *payload)
{
  guint32 mark = 0;
  if (g_variant_is_of_type (payload, G_VARIANT_TYPE (MODEL_TYPE)))
    g_variant_get_child (payload, 0, "u", &mark);
  return mark == MODEL_MARK;
}

AxonModel *
axon_blob_read_graph (AxonBlob *blob, GBytes *bytes, GError **error)
{
  g_autoptr (GPtrArray) in = g_ptr_array_new ();
  g_autoptr (GPtrArray) out = g_ptr_array_new ();
  g_autoptr (AxonModel) model = NULL;
  Source source = { .blob = blob, .in = in, .out = out };
  source.reader.at = g_bytes_get_data (bytes, &source.reader.left);
  model = unpack_graph (&source, error);
  source.reader.broken |= source.reader.left > 0; /* nothing follows it */
  return model && is_whole (&source, error) && axon_model_infer_shapes (model, error)
             ? g_steal_pointer (&model)
             : NULL;
}

AxonModel *
axon_blob_read_model (AxonBlob *blob, GVariant *packed, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  guint64 offset, n;
  if (!axon_blob_is_model (packed))
    return fail (error, _ ("its graph has another form")), NULL;
  g_variant_get (packed, MODEL_TYPE, NULL, &offset, &n);
  bytes = axon_blob_get_bytes (blob, offset, n, error);
  return bytes ? axon_blob_read_graph (blob, bytes, error) : NULL;
}
