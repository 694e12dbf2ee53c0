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

/* Names go into messages, GVariants and JSON without another look. */
static gboolean
check_name (const gchar *name, GError **error)
{
  return g_utf8_validate (name, -1, NULL) || fail (error, _ ("a name is not UTF-8"));
}

static gboolean
check_names (gchar *const *names, GError **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (!check_name (names[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
unpack_shape (gint rank, GVariant *dims, AxonShape *shape)
{
  gsize n;
  const gint64 *d = g_variant_get_fixed_array (dims, &n, sizeof *d);
  if (rank < -1 || rank > AXON_MAX_RANK || n != (gsize)MAX (rank, 0))
    return FALSE;
  *shape = (AxonShape){ .rank = rank };
  for (gsize i = 0; i < n; i++)
    shape->dims[i] = MAX (d[i], -1);
  return TRUE;
}

static AxonTensor *
unpack_text (GBytes *bytes, const AxonShape *shape, GError **error)
{
  g_autoptr (AxonTensor) tensor = axon_tensor_new (AXON_DTYPE_STRING, shape, error);
  gsize n, at = 0;
  const gchar *data = g_bytes_get_data (bytes, &n);
  for (gsize i = 0; tensor != NULL && i < axon_tensor_get_numel (tensor); i++) {
    if (at >= n || memchr (data + at, '\0', n - at) == NULL)
      return fail (error, _ ("its text is too short")), NULL;
    axon_tensor_set_string (tensor, i, data + at);
    at += strlen (data + at) + 1;
  }
  return g_steal_pointer (&tensor);
}

static AxonTensor *
unpack_tensor (AxonBlob *blob, gint dtype, const AxonShape *shape, GVariant *place, GError **error)
{
  g_autoptr (GBytes) bytes = NULL;
  guint64 offset, n;
  g_variant_get (place, "(tt)", &offset, &n);
  bytes = axon_blob_get_bytes (blob, offset, n, error);
  if (bytes == NULL || dtype < 0 || dtype >= AXON_N_DTYPES)
    return bytes ? (fail (error, _ ("a constant's type is unknown")), NULL) : NULL;
  if (dtype >= AXON_DTYPE_SEQUENCE)
    return fail (error, _ ("a constant is no tensor")), NULL;
  if (dtype == AXON_DTYPE_STRING)
    return unpack_text (bytes, shape, error);
  return axon_tensor_new_from_bytes ((AxonDType)dtype, shape, bytes, error);
}

static gboolean
unpack_value (AxonBlob *blob, AxonModel *model, GVariant *packed, GError **error)
{
  g_autofree gchar *name = NULL;
  g_autofree gchar *layout = NULL;
  g_autoptr (GVariant) dims = NULL;
  g_autoptr (GVariant) maybe = NULL;
  g_autoptr (GVariant) place = NULL;
  g_auto (GStrv) symbols = NULL;
  gint dtype, rank;
  AxonShape shape;
  AxonValue *value;
  g_variant_get (packed, "(^ay^ayii@ax^aay@m(tt))", &name, &layout, &dtype, &rank, &dims, &symbols,
                 &maybe);
  place = g_variant_get_maybe (maybe);
  if (!check_name (name, error) || !check_name (layout, error) || !check_names (symbols, error))
    return FALSE;
  if (dtype < 0 || dtype >= AXON_N_DTYPES || !unpack_shape (rank, dims, &shape))
    return fail (error, _ ("a value's type is unknown"));
  if (axon_model_find_value (model, name) != NULL)
    return fail (error, _ ("two values have one name"));
  value = axon_model_add_value (model, name);
  value->type.dtype = (AxonDType)dtype;
  value->type.shape = shape;
  if (*layout != '\0')
    value->layout = g_steal_pointer (&layout);
  if (rank >= 0 && g_strv_length (symbols) == (guint)rank)
    value->symbols = g_steal_pointer (&symbols);
  if (place != NULL) {
    value->type.value = unpack_tensor (blob, dtype, &shape, place, error);
    return value->type.value != NULL;
  }
  return TRUE;
}

/* -1 is an optional value left out. */
static gboolean
unpack_uses (AxonModel *model, GVariant *packed, guint n_values, GPtrArray *values, GError **error)
{
  gsize n;
  const gint *at = g_variant_get_fixed_array (packed, &n, sizeof *at);
  for (gsize i = 0; i < n; i++) {
    if (at[i] < -1 || at[i] >= (gint)n_values)
      return fail (error, _ ("a node uses a value that is not there"));
    g_ptr_array_add (values, at[i] < 0 ? NULL : g_ptr_array_index (model->values, at[i]));
  }
  return TRUE;
}

static gboolean
unpack_attr_tensor (AxonBlob *blob, AxonAttr *a, GVariant *v, GError **error)
{
  g_autoptr (GVariant) dims = NULL;
  g_autoptr (GVariant) place = NULL;
  AxonShape shape;
  gint dtype;
  g_variant_get (v, "(i@ax@(tt))", &dtype, &dims, &place);
  if (!unpack_shape ((gint)g_variant_n_children (dims), dims, &shape))
    return fail (error, _ ("an attribute's shape is wrong"));
  a->tensor = unpack_tensor (blob, dtype, &shape, place, error);
  return a->tensor != NULL;
}

static AxonModel *unpack_graph (AxonBlob *blob, GVariant *packed, GError **error);

/* A body. GVariant bounds how deep they are nested. */
static gboolean
unpack_attr_graph (AxonBlob *blob, const AxonNode *node, AxonAttr *a, GVariant *v, GError **error)
{
  g_autoptr (GVariant) packed = NULL;
  g_autoptr (GVariant) captures = NULL;
  const gint64 *at;
  gsize n;
  g_variant_get (v, "(v@ax)", &packed, &captures);
  at = g_variant_get_fixed_array (captures, &n, sizeof *at);
  a->n = (guint)n;
  a->ints = g_memdup2 (at, n * sizeof *at);
  a->graph = axon_blob_is_model (packed) ? unpack_graph (blob, packed, error) : NULL;
  if (a->graph == NULL)
    return error && *error ? FALSE : fail (error, _ ("a body has another form"));
  for (gsize i = 0; i < n; i++)
    if (at[i] < 0 || at[i] >= node->n_inputs || n > a->graph->inputs->len)
      return fail (error, _ ("a body takes what is not there"));
  for (guint i = 0; i < a->graph->values->len; i++)
    ((AxonValue *)g_ptr_array_index (a->graph->values, i))->index = i;
  return TRUE;
}

static gboolean
unpack_attr (AxonBlob *blob, AxonNode *node, const gchar *name, GVariant *v, GError **error)
{
  static const struct {
    const gchar *type;
    AxonAttrType attr;
  } types[] = { { "x", AXON_ATTR_INT },
                { "d", AXON_ATTR_FLOAT },
                { "ay", AXON_ATTR_STRING },
                { "ax", AXON_ATTR_INTS },
                { "ad", AXON_ATTR_FLOATS },
                { "aay", AXON_ATTR_STRINGS },
                { "(iax(tt))", AXON_ATTR_TENSOR },
                { "(vax)", AXON_ATTR_GRAPH } };
  const gchar *type = g_variant_get_type_string (v);
  guint t = 0;
  gsize n;
  AxonAttr *a;
  while (t < G_N_ELEMENTS (types) && !g_str_equal (types[t].type, type))
    t++;
  if (t == G_N_ELEMENTS (types))
    return fail (error, _ ("an attribute has no type"));
  a = axon_node_add_attr (node, name, types[t].attr);
  if (a->type == AXON_ATTR_INT) {
    a->i = g_variant_get_int64 (v);
  } else if (a->type == AXON_ATTR_FLOAT) {
    a->f = g_variant_get_double (v);
  } else if (a->type == AXON_ATTR_STRING) {
    a->s = g_variant_dup_bytestring (v, NULL);
  } else if (a->type == AXON_ATTR_INTS) {
    const gint64 *p = g_variant_get_fixed_array (v, &n, sizeof *p);
    a->n = (guint)n;
    a->ints = g_memdup2 (p, n * sizeof *p);
  } else if (a->type == AXON_ATTR_FLOATS) {
    const gdouble *p = g_variant_get_fixed_array (v, &n, sizeof *p);
    a->n = (guint)n;
    a->floats = g_new (gfloat, n + 1);
    for (gsize i = 0; i < n; i++)
      a->floats[i] = (gfloat)p[i];
  } else if (a->type == AXON_ATTR_STRINGS) {
    a->strings = g_variant_dup_bytestring_array (v, &n);
    a->n = (guint)n;
  } else if (a->type == AXON_ATTR_GRAPH) {
    return unpack_attr_graph (blob, node, a, v, error);
  } else {
    return unpack_attr_tensor (blob, a, v, error);
  }
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

/* What is said of a node besides what it computes. */
static gboolean
unpack_notes (AxonNode *node, gchar *const *origins, GVariant *maybe_affinity, GVariant *info,
              GError **error)
{
  g_autoptr (GVariant) affinity = g_variant_get_maybe (maybe_affinity);
  GVariantIter iter;
  const gchar *key, *text;
  g_ptr_array_set_size (node->origins, 0);
  for (guint i = 0; origins[i] != NULL; i++)
    g_ptr_array_add (node->origins, g_strdup (origins[i]));
  if (affinity != NULL)
    axon_node_set_affinity (node, g_variant_get_bytestring (affinity));
  g_variant_iter_init (&iter, info);
  while (g_variant_iter_next (&iter, "{&s&s}", &key, &text))
    axon_node_set_info (node, key, text);
  return check_names (origins, error) &&
         (affinity == NULL || check_name (g_variant_get_bytestring (affinity), error));
}

static gboolean
unpack_attrs (AxonBlob *blob, AxonNode *node, GVariant *attrs, GError **error)
{
  for (gsize i = 0; i < g_variant_n_children (attrs); i++) {
    g_autofree gchar *attr = NULL;
    g_autoptr (GVariant) v = NULL;
    g_variant_get_child (attrs, i, "(^ayv)", &attr, &v);
    if (!check_name (attr, error) || !unpack_attr (blob, node, attr, v, error))
      return FALSE;
  }
  return axon_node_check (node, error);
}

static gboolean
unpack_node (AxonBlob *blob, AxonModel *model, GVariant *packed, guint n_values, GError **error)
{
  g_autofree gchar *domain = NULL;
  g_autofree gchar *op_name = NULL;
  g_autofree gchar *name = NULL;
  g_autoptr (GVariant) in_ids = NULL;
  g_autoptr (GVariant) out_ids = NULL;
  g_autoptr (GVariant) affinity = NULL;
  g_autoptr (GVariant) info = NULL;
  g_autoptr (GVariant) attrs = NULL;
  g_auto (GStrv) origins = NULL;
  g_autoptr (GPtrArray) in = g_ptr_array_new ();
  g_autoptr (GPtrArray) out = g_ptr_array_new ();
  gint opset;
  const AxonOp *op;
  AxonNode *node;
  g_variant_get (packed, "(^ay^ayi^ay@ai@ai^aay@may@a{ss}@a(ayv))", &domain, &op_name, &opset,
                 &name, &in_ids, &out_ids, &origins, &affinity, &info, &attrs);
  if (!check_name (domain, error) || !check_name (op_name, error) || !check_name (name, error))
    return FALSE;
  op = find_op (blob, domain, op_name, opset, error);
  if (op == NULL || !unpack_uses (model, in_ids, n_values, in, error) ||
      !unpack_uses (model, out_ids, n_values, out, error) || !check_outputs (out, error))
    return FALSE;
  node = axon_model_add_node (model, op, opset, name, (AxonValue **)in->pdata, in->len,
                              (AxonValue **)out->pdata, out->len);
  return unpack_notes (node, origins, affinity, info, error) &&
         unpack_attrs (blob, node, attrs, error);
}

static gboolean
unpack_ports (AxonModel *model, GVariant *in_ids, GVariant *out_ids, guint n_values, GError **error)
{
  g_autoptr (GPtrArray) in = g_ptr_array_new ();
  g_autoptr (GPtrArray) out = g_ptr_array_new ();
  if (!unpack_uses (model, in_ids, n_values, in, error) ||
      !unpack_uses (model, out_ids, n_values, out, error))
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

gboolean
axon_blob_is_model (GVariant *payload)
{
  return g_variant_is_of_type (payload, G_VARIANT_TYPE (MODEL_TYPE));
}

static AxonModel *
unpack_graph (AxonBlob *blob, GVariant *packed, GError **error)
{
  g_autoptr (AxonModel) model = NULL;
  g_autofree gchar *name = NULL;
  g_autoptr (GVariant) metadata = NULL;
  g_autoptr (GVariant) values = NULL;
  g_autoptr (GVariant) nodes = NULL;
  g_autoptr (GVariant) in = NULL;
  g_autoptr (GVariant) out = NULL;
  gboolean quantized;
  GVariantIter iter;
  gchar *key, *text;
  guint n;
  g_variant_get (packed, "(^ayb@a{ss}@a" VALUE_TYPE "@a" NODE_TYPE "@ai@ai)", &name, &quantized,
                 &metadata, &values, &nodes, &in, &out);
  if (!check_name (name, error))
    return NULL;
  model = axon_model_new (name);
  model->quantized = quantized;
  g_variant_iter_init (&iter, metadata);
  while (g_variant_iter_next (&iter, "{ss}", &key, &text))
    g_hash_table_insert (model->metadata, key, text);
  n = (guint)g_variant_n_children (values);
  for (guint i = 0; i < n; i++) {
    g_autoptr (GVariant) v = g_variant_get_child_value (values, i);
    if (!unpack_value (blob, model, v, error))
      return NULL;
  }
  for (gsize i = 0; i < g_variant_n_children (nodes); i++) {
    g_autoptr (GVariant) v = g_variant_get_child_value (nodes, i);
    if (!unpack_node (blob, model, v, n, error))
      return NULL;
  }
  if (!unpack_ports (model, in, out, n, error) || !axon_model_sort (model, error) ||
      !axon_model_verify (model, error))
    return NULL;
  return g_steal_pointer (&model);
}

AxonModel *
axon_blob_read_model (AxonBlob *blob, GVariant *packed, GError **error)
{
  g_autoptr (AxonModel) model = NULL;
  if (!axon_blob_is_model (packed))
    return fail (error, _ ("its graph has another form")), NULL;
  model = unpack_graph (blob, packed, error);
  return model && axon_model_infer_shapes (model, error) ? g_steal_pointer (&model) : NULL;
}
