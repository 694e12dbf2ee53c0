/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A graph put into a blob. */
#include "axonblobmodel-private.h"

#include <string.h>

#define ALIGNMENT 8 /* not that of constants, which are looked for in the model's file */

static void
put_count (GString *out, guint n)
{
  axon_blob_put_int (out, (gint32)n);
}

static void
put_counted (GString *out, gconstpointer values, guint n, gsize size)
{
  put_count (out, n);
  axon_blob_put_numbers (out, values, n, size);
}

static void
put_texts (GString *out, gchar *const *texts, guint n)
{
  put_count (out, n);
  for (guint i = 0; i < n; i++)
    axon_blob_put_text (out, texts[i]);
}

static void
put_shape (GString *out, const AxonShape *shape)
{
  axon_blob_put_int (out, shape->rank);
  axon_blob_put_numbers (out, shape->dims, (gsize)MAX (shape->rank, 0), sizeof *shape->dims);
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

static void
put_tensor (AxonBlobWriter *w, GString *out, AxonTensor *tensor)
{
  gboolean text = axon_tensor_get_dtype (tensor) == AXON_DTYPE_STRING;
  g_autoptr (GBytes) bytes = text ? pack_text (tensor) : axon_tensor_get_bytes (tensor);
  guint64 place[] = { axon_blob_writer_add (w, bytes, AXON_BLOB_ITEM_ALIGNMENT),
                      g_bytes_get_size (bytes) };
  axon_blob_put_numbers (out, place, G_N_ELEMENTS (place), sizeof *place);
}

static void
put_value (AxonBlobWriter *w, GString *out, const AxonValue *value)
{
  axon_blob_put_text (out, value->name);
  axon_blob_put_text (out, value->layout);
  axon_blob_put_int (out, (gint32)value->type.dtype);
  put_shape (out, &value->type.shape);
  put_texts (out, value->symbols, value->symbols ? g_strv_length (value->symbols) : 0);
  axon_blob_put_byte (out, value->type.value != NULL);
  if (value->type.value != NULL)
    put_tensor (w, out, value->type.value);
}

static void put_graph (AxonBlobWriter *w, GString *out, AxonModel *model);

static void
put_attr (AxonBlobWriter *w, GString *out, const AxonAttr *a)
{
  axon_blob_put_text (out, a->name);
  axon_blob_put_byte (out, (guint8)a->type);
  if (a->type == AXON_ATTR_INT) {
    axon_blob_put_numbers (out, &a->i, 1, sizeof a->i);
  } else if (a->type == AXON_ATTR_FLOAT) {
    axon_blob_put_numbers (out, &a->f, 1, sizeof a->f);
  } else if (a->type == AXON_ATTR_STRING) {
    axon_blob_put_text (out, a->s);
  } else if (a->type == AXON_ATTR_INTS) {
    put_counted (out, a->ints, a->n, sizeof *a->ints);
  } else if (a->type == AXON_ATTR_FLOATS) {
    put_counted (out, a->floats, a->n, sizeof *a->floats);
  } else if (a->type == AXON_ATTR_STRINGS) {
    put_texts (out, a->strings, a->n);
  } else if (a->type == AXON_ATTR_GRAPH) {
    put_graph (w, out, a->graph);
    put_counted (out, a->ints, a->n, sizeof *a->ints);
  } else {
    axon_blob_put_int (out, (gint32)axon_tensor_get_dtype (a->tensor));
    put_shape (out, axon_tensor_get_shape (a->tensor));
    put_tensor (w, out, a->tensor);
  }
}

static void
put_uses (GString *out, AxonValue *const *values, guint n)
{
  put_count (out, n);
  for (guint i = 0; i < n; i++)
    axon_blob_put_int (out, values[i] ? (gint32)values[i]->index : -1);
}

/* @notes (nullable), sorted, so that equal models give equal blobs; none that is not UTF-8. */
static void
put_notes (GString *out, GHashTable *notes)
{
  g_autoptr (GList) keys =
      notes ? g_list_sort (g_hash_table_get_keys (notes), (GCompareFunc)g_strcmp0) : NULL;
  GString *kept = g_string_new (NULL);
  guint n = 0;
  for (GList *l = keys; l != NULL; l = l->next) {
    const gchar *text = g_hash_table_lookup (notes, l->data);
    if (!g_utf8_validate (l->data, -1, NULL) || !g_utf8_validate (text, -1, NULL))
      continue;
    axon_blob_put_text (kept, l->data);
    axon_blob_put_text (kept, text);
    n++;
  }
  put_count (out, n);
  g_string_append_len (out, kept->str, (gssize)kept->len);
  g_string_free (kept, TRUE);
}

static void
put_node (AxonBlobWriter *w, GString *out, const AxonNode *node)
{
  axon_blob_put_text (out, node->op->domain);
  axon_blob_put_text (out, node->op->name);
  axon_blob_put_int (out, node->opset);
  axon_blob_put_text (out, node->name);
  put_uses (out, node->inputs, node->n_inputs);
  put_uses (out, node->outputs, node->n_outputs);
  put_texts (out, (gchar **)node->origins->pdata, node->origins->len);
  axon_blob_put_byte (out, node->affinity != NULL);
  if (node->affinity != NULL)
    axon_blob_put_text (out, node->affinity);
  put_notes (out, node->info);
  put_count (out, node->attrs->len);
  for (guint i = 0; i < node->attrs->len; i++)
    put_attr (w, out, g_ptr_array_index (node->attrs, i));
}

static void
put_graph (AxonBlobWriter *w, GString *out, AxonModel *model)
{
  g_autoptr (AxonModel) m = axon_model_clone (model); /* shares constants; gets indices */
  axon_blob_put_text (out, m->name);
  axon_blob_put_byte (out, m->quantized != FALSE);
  put_notes (out, m->metadata);
  put_count (out, m->values->len);
  for (guint i = 0; i < m->values->len; i++) {
    AxonValue *value = g_ptr_array_index (m->values, i);
    value->index = i;
    put_value (w, out, value);
  }
  put_count (out, m->nodes->len);
  for (guint i = 0; i < m->nodes->len; i++)
    put_node (w, out, g_ptr_array_index (m->nodes, i));
  put_uses (out, (AxonValue **)m->inputs->pdata, m->inputs->len);
  put_uses (out, (AxonValue **)m->outputs->pdata, m->outputs->len);
}

GVariant *
axon_blob_writer_add_model (AxonBlobWriter *writer, AxonModel *model)
{
  GString *out = g_string_new (NULL);
  g_autoptr (GBytes) bytes = NULL;
  put_graph (writer, out, model);
  bytes = g_string_free_to_bytes (out);
  return g_variant_new (MODEL_TYPE, MODEL_MARK, axon_blob_writer_add (writer, bytes, ALIGNMENT),
                        (guint64)g_bytes_get_size (bytes));
}
