/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands behind handles: counted objects, found through a table, so that a handle that was
 * released, belongs to somebody else or never was one is known without following it. */
#pragma once

#include <glib.h>

typedef enum { OBJECT_BACKEND_ID = 1, OBJECT_BACKEND, OBJECT_EVENT, OBJECT_GRAPH } ObjectKind;

typedef struct _Object Object;

struct _Object {
  gatomicrefcount ref_count;
  void (*free) (gpointer object);
};

void object_init (gpointer object, void (*free_func) (gpointer));
gpointer object_ref (gpointer object);
void object_unref (gpointer object);

/* A handle for @object, with a reference of its own; never NULL. */
gpointer handle_new (ObjectKind kind, gpointer object);
/* A new reference; NULL: it is no handle of this kind, or not any more. */
gpointer handle_find (ObjectKind kind, gpointer handle);
/* The handle's reference; it is no handle from now on. */
gpointer handle_take (ObjectKind kind, gpointer handle);
