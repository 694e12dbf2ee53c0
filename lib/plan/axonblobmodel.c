/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph put into a blob. */
#include "axonblobmodel-private.h"

#include <string.h>

static GVariant *
pack_ints (const gint64 *values, guint n)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_INT64, values, n, sizeof *values);
}

static GVariant *
pack_strings (gchar *const *strings, gssize n)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE_BYTESTRING_ARRAY);
  for (gssize i = 0; strings != NULL && (n < 0 ? strings[i] != NULL : i < n); i++)
    g_variant_builder_add (&b, "^ay", strings[i]);
  return g_variant_builder_end (&b);
}

/* Strings one behind the other, each with its NUL. */
static GBytes *
pack_text (AxonTensor *tensor)
{
  GByteArray *all = g_byte_array_new ();
  for (gsize i = 0; i < axon_tensor_get_numel (tensor); i++) {
    const gchar *text = axon_tensor_get_string (tensor, i);
    g_byte_array_append (all, (const guint8 *)text, (guint)strlen (text) + 1);
  }
  return g_byte_array_free_to_bytes (all);
}

static GVariant *
pack_tensor (AxonBlobWriter *w, AxonTensor *tensor)
{
  gboolean text = axon_tensor_get_dtype (tensor) == AXON_DTYPE_STRING;
  g_autoptr (GBytes) bytes = text ? pack_text (tensor) : axon_tensor_get_bytes (tensor);
  guint64 offset = axon_blob_writer_add (w, bytes, AXON_BLOB_ITEM_ALIGNMENT);
  return g_variant_new ("(tt)", offset, (guint64)g_bytes_get_size (bytes));
}

static GVariant *
pack_value (AxonBlobWriter *w, const AxonValue *value)
{
  const AxonShape *s = &value->type.shape;
  GVariant *constant = value->type.value ? pack_tensor (w, value->type.value) : NULL;
  return g_variant_new (
      "(^ay^ayii@ax@aay@m(tt))", value->name, value->layout ? value->layout : "",
      (gint)value->type.dtype, s->rank, pack_ints (s->dims, (guint)MAX (s->rank, 0)),
      pack_strings (value->symbols, -1), g_variant_new_maybe (G_VARIANT_TYPE ("(tt)"), constant));
}

static GVariant *
pack_attr_tensor (AxonBlobWriter *w, AxonTensor *tensor)
{
  const AxonShape *s = axon_tensor_get_shape (tensor);
  return g_variant_new ("(i@ax@(tt))", (gint)axon_tensor_get_dtype (tensor),
                        pack_ints (s->dims, (guint)s->rank), pack_tensor (w, tensor));
}

/* The GVariant's type says the attribute's type. */
static GVariant *
pack_attr (AxonBlobWriter *w, const AxonAttr *a)
{
  GVariantBuilder b;
  switch (a->type) {
  case AXON_ATTR_INT:
    return g_variant_new_int64 (a->i);
  case AXON_ATTR_FLOAT:
    return g_variant_new_double (a->f);
  case AXON_ATTR_STRING:
    return g_variant_new_bytestring (a->s ? a->s : "");
  case AXON_ATTR_INTS:
    return pack_ints (a->ints, a->n);
  case AXON_ATTR_FLOATS:
    g_variant_builder_init (&b, G_VARIANT_TYPE ("ad"));
    for (guint i = 0; i < a->n; i++)
      g_variant_builder_add (&b, "d", (gdouble)a->floats[i]);
    return g_variant_builder_end (&b);
  case AXON_ATTR_STRINGS:
    return pack_strings (a->strings, a->n);
  case AXON_ATTR_GRAPH:
    return g_variant_new ("(v@ax)", axon_blob_writer_add_model (w, a->graph),
                          pack_ints (a->ints, a->n));
  default:
    return pack_attr_tensor (w, a->tensor);
  }
}

static GVariant *
pack_uses (AxonValue *const *values, guint n)
{
  GVariantBuilder b;
  g_variant_builder_init (&b, G_VARIANT_TYPE ("ai"));
  for (guint i = 0; i < n; i++)
    g_variant_builder_add (&b, "i", values[i] ? (gint)values[i]->index : -1);
  return g_variant_builder_end (&b);
}

/* @texts (nullable), sorted, so that equal models give equal blobs. */
static GVariant *
pack_texts (GHashTable *texts)
{
  GVariantBuilder b;
  g_autoptr (GList) keys =
      texts ? g_list_sort (g_hash_table_get_keys (texts), (GCompareFunc)g_strcmp0) : NULL;
  g_variant_builder_init (&b, G_VARIANT_TYPE ("a{ss}"));
  for (GList *l = keys; l != NULL; l = l->next) {
    const gchar *value = g_hash_table_lookup (texts, l->data);
    if (g_utf8_validate (l->data, -1, NULL) && g_utf8_validate (value, -1, NULL))
      g_variant_builder_add (&b, "{ss}", l->data, value);
  }
  return g_variant_builder_end (&b);
}

static GVariant *
pack_node (AxonBlobWriter *w, const AxonNode *node)
{
  GVariantBuilder attrs;
  GVariant *affinity = node->affinity ? g_variant_new_bytestring (node->affinity) : NULL;
  g_variant_builder_init (&attrs, G_VARIANT_TYPE ("a(ayv)"));
  for (guint i = 0; i < node->attrs->len; i++) {
    const AxonAttr *a = g_ptr_array_index (node->attrs, i);
    g_variant_builder_add (&attrs, "(^ayv)", a->name, pack_attr (w, a));
  }
  return g_variant_new (
      "(^ay^ayi^ay@ai@ai@aay@may@a{ss}a(ayv))", node->op->domain ? node->op->domain : "",
      node->op->name, node->opset, node->name ? node->name : "",
      pack_uses (node->inputs, node->n_inputs), pack_uses (node->outputs, node->n_outputs),
      pack_strings ((gchar **)node->origins->pdata, node->origins->len),
      g_variant_new_maybe (G_VARIANT_TYPE_BYTESTRING, affinity), pack_texts (node->info), &attrs);
}

GVariant *
axon_blob_writer_add_model (AxonBlobWriter *writer, AxonModel *model)
{
  g_autoptr (AxonModel) m = axon_model_clone (model); /* shares constants; gets indices */
  GVariantBuilder values, nodes;
  g_variant_builder_init (&values, G_VARIANT_TYPE ("a" VALUE_TYPE));
  g_variant_builder_init (&nodes, G_VARIANT_TYPE ("a" NODE_TYPE));
  for (guint i = 0; i < m->values->len; i++) {
    AxonValue *value = g_ptr_array_index (m->values, i);
    value->index = i;
    g_variant_builder_add_value (&values, pack_value (writer, value));
  }
  for (guint i = 0; i < m->nodes->len; i++)
    g_variant_builder_add_value (&nodes, pack_node (writer, g_ptr_array_index (m->nodes, i)));
  return g_variant_new ("(^ayb@a{ss}a" VALUE_TYPE "a" NODE_TYPE "@ai@ai)", m->name ? m->name : "",
                        m->quantized, pack_texts (m->metadata), &values, &nodes,
                        pack_uses ((AxonValue **)m->inputs->pdata, m->inputs->len),
                        pack_uses ((AxonValue **)m->outputs->pdata, m->outputs->len));
}
