/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Models that are drawn from a seed: the device gives what the reference gives. One that fails is
 * shrunk to the nodes that make it fail, and written as .onnx. */
#pragma once

#include "axontest.h"

/* A model under construction. */
typedef struct {
  TestModel t;
  GRand *rand;
  GPtrArray *made; /* AxonValue: what is worked on; the last is the result */
  gint64 most_elements;
} Drawn;

typedef struct {
  gint64 most_elements;                        /* of a value */
  void (*draw_shape) (Drawn *d, AxonShape *x); /* of what comes in */
  void (*add) (Drawn *d);                      /* a value to those made */
  void (*end) (Drawn *d);                      /* the result, behind all of them (nullable) */
} DrawnKind;

gint drawn_below (Drawn *d, gint n);
/* What @n makes, if its row judges that it fits and it is not large; else NULL, and @n is gone. So
 * is one that lacks an input, as what was not kept before. */
AxonValue *drawn_keep (Drawn *d, AxonNode *n);

AxonValue *drawn_pick (Drawn *d); /* of what was made, usually the latest */
/* Random constants; sums of @sums products stay as large as what comes in. */
AxonValue *drawn_weights (Drawn *d, const AxonShape *shape, gint64 sums);
AxonValue *drawn_reshape (Drawn *d, AxonValue *x, const gint64 *dims, guint rank);
AxonValue *drawn_transpose (Drawn *d, AxonValue *x, const gint64 *perm, guint rank);

/* NULL: it does not fit. */
typedef AxonValue *(*DrawnMaker) (Drawn *d, AxonValue *x);

/* What one of @n makers makes of something, if any of some tries gives anything. */
void drawn_add (Drawn *d, const DrawnMaker *makers, gint n);

/* What is added @n times, by @seed. */
AxonModel *drawn_model (const DrawnKind *kind, guint32 seed, gint n, AxonTensor **x);

/* AXON_TEST_SEED=N repeats one. */
void drawn_models_agree (const DrawnKind *kind, guint n_models, gint n);

typedef gchar *(*DrawnFails) (AxonModel *model, AxonTensor *x); /* why, or NULL */

/* The shortest beginning of @seed's model that fails, less the nodes that it fails without. */
AxonModel *drawn_shrink (const DrawnKind *kind, guint32 seed, gint n, DrawnFails fails);
gchar *drawn_write (AxonModel *small, guint32 seed); /* its path */
