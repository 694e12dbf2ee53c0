/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libFuzzer's mutations of models as models: one field of one message is changed, dropped, repeated
 * or taken from elsewhere, so that most of what comes out is still read. */
#include "fuzz.h"

#include "onnx.pb-c.h"

#include <stdio.h>
#include <string.h>

#define MAX_MESSAGES 2000
#define ROOM 64 /* bytes that a string or bytes may grow by at once */

size_t LLVMFuzzerMutate (guint8 *data, size_t n, size_t max);
size_t LLVMFuzzerCustomMutator (guint8 *data, size_t n, size_t max, guint seed);

/* Everything of one mutation lives as long as it: fields may point to the same. */
static void *
arena_alloc (void *arena, size_t size)
{
  gpointer block = g_malloc (size);
  g_ptr_array_add (arena, block);
  return block;
}

static void
arena_free (G_GNUC_UNUSED void *arena, G_GNUC_UNUSED void *block)
{
}

typedef struct {
  Onnx__Model *model;
  GPtrArray *arena, *messages;
  GRand *rand;
} Mutation;

static guint
pick (Mutation *m, guint n)
{
  return (guint)g_rand_int_range (m->rand, 0, (gint32)MAX (n, 1));
}

static gpointer
field_of (ProtobufCMessage *message, const ProtobufCFieldDescriptor *f)
{
  return (guint8 *)message + f->offset;
}

static size_t *
count_of (ProtobufCMessage *message, const ProtobufCFieldDescriptor *f)
{
  return (size_t *)(gpointer)((guint8 *)message + f->quantifier_offset);
}

static void
collect (Mutation *m, ProtobufCMessage *message)
{
  if (message == NULL || m->messages->len >= MAX_MESSAGES)
    return;
  g_ptr_array_add (m->messages, message);
  for (guint i = 0; i < message->descriptor->n_fields; i++) {
    const ProtobufCFieldDescriptor *f = &message->descriptor->fields[i];
    gpointer value = field_of (message, f);
    if (f->type != PROTOBUF_C_TYPE_MESSAGE)
      continue;
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
      collect (m, *(ProtobufCMessage **)value);
    else
      for (size_t k = 0; k < *count_of (message, f); k++)
        collect (m, (*(ProtobufCMessage ***)value)[k]);
  }
}

static size_t
size_of (ProtobufCType type)
{
  switch (type) {
  case PROTOBUF_C_TYPE_INT64:
  case PROTOBUF_C_TYPE_UINT64:
  case PROTOBUF_C_TYPE_DOUBLE:
  case PROTOBUF_C_TYPE_STRING:
  case PROTOBUF_C_TYPE_MESSAGE:
    return 8;
  case PROTOBUF_C_TYPE_BYTES:
    return sizeof (ProtobufCBinaryData);
  default:
    return 4;
  }
}

/* A message must not become part of itself. */
static ProtobufCMessage *
copy_of (Mutation *m, ProtobufCMessage *message)
{
  ProtobufCAllocator allocator = { arena_alloc, arena_free, m->arena };
  size_t n = message ? protobuf_c_message_get_packed_size (message) : 0;
  guint8 *bytes = arena_alloc (m->arena, n + 1);
  if (message == NULL)
    return NULL;
  protobuf_c_message_pack (message, bytes);
  return protobuf_c_message_unpack (message->descriptor, &allocator, n, bytes);
}

/* The same field of another message of the same kind: names are taken from other nodes. */
static void
take_from_elsewhere (Mutation *m, const ProtobufCFieldDescriptor *f, gpointer value)
{
  for (guint tries = 0; tries < 32; tries++) {
    ProtobufCMessage *from = g_ptr_array_index (m->messages, pick (m, m->messages->len));
    const ProtobufCFieldDescriptor *g =
        &from->descriptor->fields[pick (m, from->descriptor->n_fields)];
    gpointer there = field_of (from, g);
    if (from->descriptor->n_fields == 0 || g->type != f->type || g->descriptor != f->descriptor)
      continue;
    if (g->label == PROTOBUF_C_LABEL_REPEATED) {
      size_t n = *count_of (from, g);
      if (n == 0)
        continue;
      there = *(guint8 **)there + pick (m, (guint)n) * size_of (g->type);
    }
    if ((f->type == PROTOBUF_C_TYPE_MESSAGE || f->type == PROTOBUF_C_TYPE_STRING) &&
        *(gpointer *)there == NULL)
      continue;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
      *(ProtobufCMessage **)value = copy_of (m, *(ProtobufCMessage **)there);
    else
      memcpy (value, there, size_of (f->type));
    return;
  }
}

static void
change_string (Mutation *m, gchar **value)
{
  gsize n = *value ? strlen (*value) : 0;
  gchar *text = arena_alloc (m->arena, n + ROOM + 1);
  memcpy (text, *value ? *value : "", n);
  text[LLVMFuzzerMutate ((guint8 *)text, n, n + ROOM)] = '\0';
  *value = text;
}

static void
change_bytes (Mutation *m, ProtobufCBinaryData *value)
{
  guint8 *data = arena_alloc (m->arena, value->len + ROOM);
  if (value->len > 0)
    memcpy (data, value->data, value->len);
  value->len = LLVMFuzzerMutate (data, value->len, value->len + ROOM);
  value->data = data;
}

static void
change_number (Mutation *m, const ProtobufCFieldDescriptor *f, gpointer value)
{
  static const gint64 odd[] = {
    0, 1, -1, 2, 3, 7, 8, 16, 64, 127, 255, 1024, G_MAXINT32, G_MININT32, G_MAXINT64, G_MININT64
  };
  gint64 v = odd[pick (m, G_N_ELEMENTS (odd))];
  gfloat real = pick (m, 2) ? (gfloat)v : (gfloat)g_rand_double_range (m->rand, -4, 4);
  if (f->type == PROTOBUF_C_TYPE_FLOAT)
    memcpy (value, &real, sizeof real);
  else if (pick (m, 3) == 0)
    LLVMFuzzerMutate (value, size_of (f->type), size_of (f->type));
  else
    memcpy (value, &v, size_of (f->type));
}

static void
change_value (Mutation *m, const ProtobufCFieldDescriptor *f, gpointer value)
{
  if (f->type == PROTOBUF_C_TYPE_MESSAGE || (f->type == PROTOBUF_C_TYPE_STRING && pick (m, 4) > 0))
    take_from_elsewhere (m, f, value);
  else if (f->type == PROTOBUF_C_TYPE_STRING)
    change_string (m, value);
  else if (f->type == PROTOBUF_C_TYPE_BYTES)
    change_bytes (m, value);
  else
    change_number (m, f, value);
}

/* One more, one less, or one changed. */
static void
change_list (Mutation *m, ProtobufCMessage *message, const ProtobufCFieldDescriptor *f)
{
  size_t *n = count_of (message, f), size = size_of (f->type);
  guint8 **list = field_of (message, f), *grown = arena_alloc (m->arena, (*n + 1) * size);
  guint action = *n == 0 ? 0 : pick (m, 4), at = pick (m, (guint)*n);
  if (*n > 0)
    memcpy (grown, *list, *n * size);
  *list = grown;
  if (action == 0) {
    guint8 *added = grown + *n * size;
    memset (added, 0, size);
    if (*n > 0)
      memcpy (added, grown + at * size, size);
    else if (f->type == PROTOBUF_C_TYPE_STRING)
      *(const gchar **)(gpointer)added = "";
    take_from_elsewhere (m, f, added);
    *n += f->type != PROTOBUF_C_TYPE_MESSAGE || *(gpointer *)(gpointer)added != NULL;
  } else if (action == 1) {
    memmove (grown + at * size, grown + (at + 1) * size, (*n - at - 1) * size);
    (*n)--;
  } else {
    change_value (m, f, grown + at * size);
  }
}

static void
import_domain (Mutation *m, gchar *domain)
{
  gsize n = m->model->n_opset_import;
  Onnx__OperatorSetId **sets = arena_alloc (m->arena, (n + 1) * sizeof *sets);
  for (gsize i = 0; i < n; i++)
    if (g_strcmp0 (m->model->opset_import[i]->domain, domain) == 0)
      return;
  if (n > 0)
    memcpy (sets, m->model->opset_import, n * sizeof *sets);
  sets[n] = arena_alloc (m->arena, sizeof **sets);
  *sets[n] = (Onnx__OperatorSetId)ONNX__OPERATOR_SET_ID__INIT;
  sets[n]->domain = domain;
  sets[n]->has_version = TRUE;
  sets[n]->version = 1;
  m->model->opset_import = sets;
  m->model->n_opset_import = n + 1;
}

/* Lines of domain, name, opsets, types */
static void
change_operator (Mutation *m, Onnx__Node *node)
{
  static gchar **operators;
  gchar domain[64] = "", name[64] = "";
  if (operators == NULL)
    operators = axon_core_list_operators (axon_core_get_default ());
  if (sscanf (operators[pick (m, g_strv_length (operators))], "%63s %63s", domain, name) != 2)
    return;
  node->op_type = strcpy (arena_alloc (m->arena, sizeof name), name);
  node->domain = strcpy (arena_alloc (m->arena, sizeof domain), domain);
  if (strcmp (domain, "ai.onnx") == 0)
    node->domain = NULL;
  else
    import_domain (m, node->domain);
}

/* What inference finds out is not said. */
static void
forget_output_shapes (Mutation *m)
{
  Onnx__Graph *graph = m->model->graph;
  for (gsize i = 0; graph != NULL && i < graph->n_output; i++)
    if (graph->output[i]->type != NULL && graph->output[i]->type->tensor_type != NULL)
      graph->output[i]->type->tensor_type->shape = NULL;
}

/* All dimensions of one size get another: what fits together stays so. */
static void
change_size_everywhere (Mutation *m, gint64 from)
{
  static const gint64 sizes[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 64 };
  gint64 to = sizes[pick (m, G_N_ELEMENTS (sizes))];
  for (guint i = 0; i < m->messages->len; i++) {
    Onnx__Dimension *d = g_ptr_array_index (m->messages, i);
    if (d->base.descriptor == &onnx__dimension__descriptor && d->dim_value == from)
      d->dim_value = to;
  }
}

static void
change_type_everywhere (Mutation *m, gint32 from)
{
  gint32 to = 1 + (gint32)pick (m, 16);
  for (guint i = 0; i < m->messages->len; i++) {
    Onnx__TypeTensor *t = g_ptr_array_index (m->messages, i);
    if (t->base.descriptor == &onnx__type_tensor__descriptor && t->elem_type == from)
      t->elem_type = to;
  }
}

/* %FALSE: @message is nothing that others have to agree with. */
static gboolean
change_everywhere (Mutation *m, ProtobufCMessage *message)
{
  if (message->descriptor == &onnx__dimension__descriptor)
    change_size_everywhere (m, ((Onnx__Dimension *)message)->dim_value);
  else if (message->descriptor == &onnx__type_tensor__descriptor)
    change_type_everywhere (m, ((Onnx__TypeTensor *)message)->elem_type);
  else
    return FALSE;
  forget_output_shapes (m);
  return TRUE;
}

static void
mutate (Mutation *m)
{
  ProtobufCMessage *message = g_ptr_array_index (m->messages, pick (m, m->messages->len));
  const ProtobufCFieldDescriptor *f;
  if (message->descriptor->n_fields == 0)
    return;
  f = &message->descriptor->fields[pick (m, message->descriptor->n_fields)];
  if (pick (m, 2) == 0 && change_everywhere (m, message))
    return;
  if (message->descriptor == &onnx__node__descriptor && pick (m, 8) == 0) {
    change_operator (m, (Onnx__Node *)message);
    forget_output_shapes (m);
  } else if (f->label == PROTOBUF_C_LABEL_REPEATED) {
    change_list (m, message, f);
  } else {
    if (f->quantifier_offset != 0)
      *(protobuf_c_boolean *)(gpointer)((guint8 *)message + f->quantifier_offset) = TRUE;
    change_value (m, f, field_of (message, f));
  }
}

size_t
LLVMFuzzerCustomMutator (guint8 *data, size_t n, size_t max, guint seed)
{
  g_autoptr (GPtrArray) arena = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) messages = g_ptr_array_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  ProtobufCAllocator allocator = { arena_alloc, arena_free, arena };
  Mutation m = { NULL, arena, messages, rand };
  if (pick (&m, 8) > 0)
    m.model = onnx__model__unpack (&allocator, n, data);
  if (m.model == NULL)
    return LLVMFuzzerMutate (data, n, max);
  collect (&m, &m.model->base);
  for (guint left = 1 + pick (&m, 3); left > 0; left--)
    mutate (&m);
  if (protobuf_c_message_get_packed_size (&m.model->base) > max)
    return LLVMFuzzerMutate (data, n, max);
  return protobuf_c_message_pack (&m.model->base, data);
}
