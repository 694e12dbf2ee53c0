/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* protobuf-c recurses without a limit and allocates what the bytes ask for: this file stands before
 * it. Iterative, no state, any thread. */
#include "axonwire-private.h"
#include <axon/plugin/axonwork.h>

#include "config.h"
#include <glib/gi18n-lib.h>

#include <stdlib.h>

#define MAX_DEPTH 64
#define CAP_BASE (64 * 1024 * 1024)
#define CAP_PER_BYTE 4
#define HEADER 16          /* keeps malloc's alignment */
#define LEAST_COUNTED 4096 /* bytes of a block that is counted in the budget: weights and lists */

typedef enum {
  MSG_NONE,
  MSG_MODEL,
  MSG_GRAPH,
  MSG_NODE,
  MSG_ATTRIBUTE,
  MSG_TENSOR,
  MSG_VALUE_INFO,
  MSG_TYPE,
  MSG_TYPE_TENSOR,
  MSG_TYPE_HOLDER,
  MSG_SHAPE,
  MSG_SPARSE,
  MSG_FUNCTION,
  MSG_SEQUENCE,
  MSG_OPTIONAL,
  MSG_LEAF,
} MessageType;

/* Which field of which message holds a message. */
static const struct {
  MessageType in;
  guint field;
  MessageType is;
} nesting[] = {
  { MSG_MODEL, 7, MSG_GRAPH },       { MSG_MODEL, 8, MSG_LEAF },
  { MSG_MODEL, 14, MSG_LEAF },       { MSG_GRAPH, 1, MSG_NODE },
  { MSG_GRAPH, 5, MSG_TENSOR },      { MSG_GRAPH, 11, MSG_VALUE_INFO },
  { MSG_GRAPH, 12, MSG_VALUE_INFO }, { MSG_NODE, 5, MSG_ATTRIBUTE },
  { MSG_ATTRIBUTE, 5, MSG_TENSOR },  { MSG_ATTRIBUTE, 6, MSG_GRAPH },
  { MSG_TENSOR, 13, MSG_LEAF },      { MSG_VALUE_INFO, 2, MSG_TYPE },
  { MSG_TYPE, 1, MSG_TYPE_TENSOR },  { MSG_TYPE_TENSOR, 2, MSG_SHAPE },
  { MSG_SHAPE, 1, MSG_LEAF },        { MSG_TYPE, 4, MSG_TYPE_HOLDER },
  { MSG_TYPE, 9, MSG_TYPE_HOLDER },  { MSG_TYPE_HOLDER, 1, MSG_TYPE },
  { MSG_MODEL, 25, MSG_FUNCTION },   { MSG_FUNCTION, 7, MSG_NODE },
  { MSG_FUNCTION, 9, MSG_LEAF },     { MSG_FUNCTION, 11, MSG_ATTRIBUTE },
  { MSG_GRAPH, 15, MSG_SPARSE },     { MSG_ATTRIBUTE, 10, MSG_TENSOR },
  { MSG_ATTRIBUTE, 11, MSG_GRAPH },  { MSG_ATTRIBUTE, 22, MSG_SPARSE },
  { MSG_SPARSE, 1, MSG_TENSOR },     { MSG_SPARSE, 2, MSG_TENSOR },
  { MSG_SEQUENCE, 3, MSG_TENSOR },   { MSG_SEQUENCE, 5, MSG_SEQUENCE },
  { MSG_SEQUENCE, 7, MSG_OPTIONAL }, { MSG_OPTIONAL, 3, MSG_TENSOR },
  { MSG_OPTIONAL, 5, MSG_SEQUENCE }, { MSG_OPTIONAL, 7, MSG_OPTIONAL },
};

static const MessageType roots[] = { [AXON_WIRE_MODEL] = MSG_MODEL,
                                     [AXON_WIRE_TENSOR] = MSG_TENSOR,
                                     [AXON_WIRE_SEQUENCE] = MSG_SEQUENCE,
                                     [AXON_WIRE_OPTIONAL] = MSG_OPTIONAL };

static MessageType
nested_type (MessageType in, guint64 field)
{
  for (guint i = 0; i < G_N_ELEMENTS (nesting); i++)
    if (nesting[i].in == in && nesting[i].field == field)
      return nesting[i].is;
  return MSG_NONE;
}

static gboolean
read_varint (const guint8 *data, gsize end, gsize *at, guint64 *value)
{
  guint64 v = 0;
  for (guint shift = 0; shift < 64; shift += 7) {
    if (*at >= end)
      return FALSE;
    v |= (guint64)(data[*at] & 0x7f) << shift;
    if (!(data[(*at)++] & 0x80)) {
      *value = v;
      return TRUE;
    }
  }
  return FALSE;
}

static gboolean
scan_error (GError **error, gsize at, const gchar *what)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_MODEL,
               _ ("not a valid ONNX file: %s at byte %zu (truncated download, or another format?)"),
               what, at);
  return FALSE;
}

typedef struct {
  MessageType type;
  gsize end;
} Level;

/* Reads one field at *at; enters it where it holds a message. */
static gboolean
scan_field (const guint8 *data, gsize *at, Level *stack, guint *depth, GError **error)
{
  Level *level = &stack[*depth];
  gsize start = *at;
  guint64 key, length;
  MessageType inner;
  if (!read_varint (data, level->end, at, &key) || key >> 3 == 0)
    return scan_error (error, start, _ ("bad field key"));
  switch (key & 7) {
  case 0:
    return read_varint (data, level->end, at, &length) ||
           scan_error (error, start, _ ("bad number"));
  case 1:
  case 5:
    length = (key & 7) == 1 ? 8 : 4;
    break;
  case 2:
    if (!read_varint (data, level->end, at, &length))
      return scan_error (error, start, _ ("bad length"));
    break;
  default:
    return scan_error (error, start, _ ("unknown wire type"));
  }
  if (length > level->end - *at)
    return scan_error (error, start, _ ("field longer than its message"));
  inner = (key & 7) == 2 ? nested_type (level->type, key >> 3) : MSG_NONE;
  if (inner == MSG_NONE) {
    *at += length;
    return TRUE;
  }
  if (*depth + 1 == MAX_DEPTH)
    return scan_error (error, start, _ ("messages nested deeper than 64 levels"));
  stack[++*depth] = (Level){ inner, *at + length };
  return TRUE;
}

gboolean
axon_wire_scan (const guint8 *data, gsize n, AxonWireRoot root, GError **error)
{
  Level stack[MAX_DEPTH];
  guint depth = 0;
  gsize at = 0;
  stack[0] = (Level){ roots[root], n };
  while (at < n || depth > 0) {
    if (at == stack[depth].end)
      depth--;
    else if (!scan_field (data, &at, stack, &depth, error))
      return FALSE;
  }
  return TRUE;
}

typedef struct {
  gsize size;         /* with this */
  AxonBudget *budget; /* nullable; a reference */
} Block;

G_STATIC_ASSERT (sizeof (Block) <= HEADER);

static void *
capped_alloc (void *data, size_t size)
{
  AxonWireAllocator *self = data;
  AxonBudget *budget = size >= LEAST_COUNTED ? axon_work_get_budget () : NULL;
  Block *block;
  if (size > self->cap - self->used - MIN (HEADER, self->cap - self->used) ||
      (budget != NULL && !axon_budget_take (budget, size + HEADER, NULL)))
    return NULL;
  block = malloc (size + HEADER);
  if (block == NULL) {
    if (budget != NULL)
      axon_budget_give (budget, size + HEADER);
    return NULL;
  }
  *block = (Block){ size + HEADER, budget ? axon_budget_ref (budget) : NULL };
  self->used += size + HEADER;
  return (guint8 *)block + HEADER;
}

static void
capped_free (void *data, void *pointer)
{
  AxonWireAllocator *self = data;
  if (pointer == NULL)
    return;
  self->used -= ((Block *)((guint8 *)pointer - HEADER))->size;
  axon_wire_free (pointer);
}

void
axon_wire_free (gpointer data)
{
  Block *block = (Block *)((guint8 *)data - HEADER);
  Block copy = *block;
  free (block);
  if (copy.budget == NULL)
    return;
  axon_budget_give (copy.budget, copy.size);
  axon_budget_unref (copy.budget);
}

void
axon_wire_allocator_init (AxonWireAllocator *self, gsize file_size)
{
  self->allocator.alloc = capped_alloc;
  self->allocator.free = capped_free;
  self->allocator.allocator_data = self;
  self->used = 0;
  self->cap = CAP_BASE + CAP_PER_BYTE * file_size;
}
