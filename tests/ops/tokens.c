/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random networks of tokens: attention of heads and what transformers put around it, as operators
 * or written out as older operator sets have to. */
#include "drawn.h"

#include <math.h>

#define N_NETS 100
#define MOST_PARTS 8
#define MOST_ELEMENTS 32768
#define EPSILON 0.1f /* rounding of numbers that are nearly alike stays small */

static gint64
width_of (const AxonValue *x)
{
  return x->type.shape.dims[2];
}

static AxonValue *
apply (Drawn *d, const gchar *op, AxonValue *x)
{
  return drawn_keep (d, test_model_node (&d->t, op, 1, x));
}

static AxonValue *
pair (Drawn *d, const gchar *op, AxonValue *a, AxonValue *b)
{
  return drawn_keep (d, test_model_node (&d->t, op, 2, a, b));
}

/* The other way round in half of all cases, where that is the same. */
static AxonValue *
either_pair (Drawn *d, const gchar *op, AxonValue *a, AxonValue *b)
{
  return drawn_below (d, 2) ? pair (d, op, a, b) : pair (d, op, b, a);
}

static AxonValue *
number (Drawn *d, gfloat value)
{
  const AxonShape shapes[] = { { 0 }, AXON_SHAPE (1) };
  return test_model_constant (&d->t, &shapes[drawn_below (d, 2)], &value);
}

/* Of the last dimension, with a one before it or none. */
static AxonValue *
draw_row (Drawn *d, gint64 n)
{
  const AxonShape shapes[] = { AXON_SHAPE (n), AXON_SHAPE (1, n), AXON_SHAPE (1, 1, n) };
  return drawn_weights (d, &shapes[drawn_below (d, 4) ? 0 : drawn_below (d, 3)], 3);
}

/* A product by weights, with a row of bias or none. */
static AxonValue *
make_linear (Drawn *d, AxonValue *x, gint64 to)
{
  const AxonShape w = AXON_SHAPE (width_of (x), to);
  AxonValue *y = pair (d, "MatMul", x, drawn_weights (d, &w, width_of (x)));
  return drawn_below (d, 4) ? either_pair (d, "Add", y, draw_row (d, to)) : y;
}

static AxonValue *
make_mean (Drawn *d, AxonValue *x)
{
  const gint64 axis = drawn_below (d, 2) ? -1 : 2;
  return pair (d, "ReduceMean", x, test_model_ints (&d->t, &axis, 1));
}

static AxonValue *
square (Drawn *d, AxonValue *x)
{
  return drawn_below (d, 2) ? pair (d, "Mul", x, x) : pair (d, "Pow", x, number (d, 2));
}

/* By its mean and deviation, or by the root of its mean square. */
static AxonValue *
make_written_norm (Drawn *d, AxonValue *x)
{
  gboolean centred = drawn_below (d, 3) > 0, twice = drawn_below (d, 3) == 0;
  AxonValue *mean = centred ? make_mean (d, x) : NULL;
  AxonValue *from = centred ? pair (d, "Sub", x, mean) : x;
  AxonValue *again = centred && twice ? pair (d, "Sub", x, mean) : from;
  AxonValue *y = either_pair (d, "Add", make_mean (d, square (d, from)), number (d, EPSILON));
  y = apply (d, "Sqrt", y);
  y = drawn_below (d, 3) ? pair (d, "Div", again, y)
                         : either_pair (d, "Mul", apply (d, "Reciprocal", y), again);
  y = drawn_below (d, 4) ? either_pair (d, "Mul", y, draw_row (d, width_of (x))) : y;
  return drawn_below (d, 4) ? either_pair (d, "Add", y, draw_row (d, width_of (x))) : y;
}

static AxonValue *
make_norm (Drawn *d, AxonValue *x)
{
  AxonNode *n;
  if (drawn_below (d, 2))
    return make_written_norm (d, x);
  n = test_model_node (&d->t, "LayerNormalization", 2, x,
                       drawn_weights (d, &AXON_SHAPE (width_of (x)), 3));
  axon_node_set_float (n, "epsilon", EPSILON);
  return drawn_keep (d, n);
}

/* x * 0.5 * (1 + y), whatever is multiplied first. */
static AxonValue *
finish_gelu (Drawn *d, AxonValue *x, AxonValue *y)
{
  gint order = drawn_below (d, 3);
  y = either_pair (d, "Add", y, number (d, 1));
  if (order == 0)
    return either_pair (d, "Mul", either_pair (d, "Mul", x, y), number (d, 0.5f));
  if (order == 1)
    return either_pair (d, "Mul", x, either_pair (d, "Mul", y, number (d, 0.5f)));
  return either_pair (d, "Mul", either_pair (d, "Mul", x, number (d, 0.5f)), y);
}

static AxonValue *
make_function (Drawn *d, AxonValue *x)
{
  static const gchar *const names[] = { "Relu", "Gelu", "Sigmoid", "Tanh", "HardSwish" };
  gint i = drawn_below (d, G_N_ELEMENTS (names) + 4);
  AxonValue *y;
  if (i < (gint)G_N_ELEMENTS (names))
    return apply (d, names[i], x);
  if (i == G_N_ELEMENTS (names)) /* as QuickGelu */
    return either_pair (d, "Mul", x,
                        apply (d, "Sigmoid", either_pair (d, "Mul", x, number (d, 1.702f))));
  if (i == G_N_ELEMENTS (names) + 1) {
    y = pair (d, "Pow", x, number (d, 3));
    y = either_pair (d, "Add", x, either_pair (d, "Mul", y, number (d, 0.044715f)));
    return finish_gelu (d, x, apply (d, "Tanh", either_pair (d, "Mul", y, number (d, 0.7978846f))));
  }
  y = drawn_below (d, 2) ? pair (d, "Div", x, number (d, 1.4142135f))
                         : either_pair (d, "Mul", x, number (d, 0.70710678f));
  return finish_gelu (d, x, apply (d, "Erf", y));
}

static AxonValue *
add_residual (Drawn *d, AxonValue *x, AxonValue *y)
{
  return drawn_below (d, 4) ? either_pair (d, "Add", x, y) : y;
}

static AxonValue *
make_layers (Drawn *d, AxonValue *x)
{
  gint64 n = width_of (x);
  AxonValue *y = drawn_below (d, 3) ? make_norm (d, x) : x;
  y = y ? make_linear (d, y, n * (1 + drawn_below (d, 4)) + drawn_below (d, 3)) : NULL;
  y = y ? make_function (d, y) : NULL;
  y = y ? make_linear (d, y, n) : NULL;
  return add_residual (d, x, y);
}

/* [frames, tokens, n] as [frames, heads, tokens, n / heads], or with the last two exchanged. */
static AxonValue *
split_heads (Drawn *d, AxonValue *x, gint64 heads, gboolean turned)
{
  static const gint64 perms[][4] = { { 0, 2, 1, 3 }, { 0, 2, 3, 1 } };
  const AxonShape *s = &x->type.shape;
  const gint64 apart[] = { s->dims[0], s->dims[1], heads, s->dims[2] / heads };
  return drawn_transpose (d, drawn_reshape (d, x, apart, 4), perms[turned ? 1 : 0], 4);
}

static AxonValue *
draw_scores (Drawn *d, AxonValue *q, AxonValue *k, gint64 size)
{
  gfloat scale = 1 / sqrtf ((gfloat)size);
  gint way = drawn_below (d, 3);
  AxonValue *y;
  if (way == 0)
    q = either_pair (d, "Mul", q, number (d, scale));
  y = pair (d, "MatMul", q, k);
  if (way == 1)
    y = either_pair (d, "Mul", y, number (d, scale));
  if (way == 2)
    y = pair (d, "Div", y, number (d, 1 / scale));
  if (y != NULL && drawn_below (d, 3) == 0) {
    const gint64 *dims = y->type.shape.dims;
    const AxonShape masks[] = { AXON_SHAPE (dims[2], dims[3]),
                                AXON_SHAPE (dims[1], dims[2], dims[3]),
                                AXON_SHAPE (1, 1, 1, dims[3]) };
    y = either_pair (d, "Add", y, drawn_weights (d, &masks[drawn_below (d, 3)], 3));
  }
  return apply (d, "Softmax", y);
}

/* Of what one product gives, or of what three give; of other tokens in some cases. */
static AxonValue *
make_attention (Drawn *d, AxonValue *x)
{
  static const gint64 back[] = { 0, 2, 1, 3 };
  const gint64 sizes[] = { 4, 8, 12, 16 };
  gint64 heads = 1 + drawn_below (d, 3), size = sizes[drawn_below (d, 4)], n = heads * size;
  const gint64 whole[] = { x->type.shape.dims[0], x->type.shape.dims[1], n };
  AxonValue *from = drawn_below (d, 2) ? make_norm (d, x) : x, *other = from, *in[3], *y;
  if (from == NULL)
    return NULL;
  if (drawn_below (d, 2)) {
    AxonValue *all = make_linear (d, from, 3 * n);
    for (gint64 i = 0; i < 3; i++) {
      const gint64 bounds[] = { i * n, (i + 1) * n, 2 };
      in[i] = drawn_keep (d, test_model_node (&d->t, "Slice", 4, all,
                                              test_model_ints (&d->t, bounds, 1),
                                              test_model_ints (&d->t, bounds + 1, 1),
                                              test_model_ints (&d->t, bounds + 2, 1)));
    }
  } else {
    AxonValue *b = d->made->pdata[drawn_below (d, (gint)d->made->len)];
    other = b->type.shape.dims[0] == whole[0] ? b : from;
    in[0] = make_linear (d, from, n);
    in[1] = make_linear (d, other, n);
    in[2] = make_linear (d, other, n);
  }
  if (in[0] == NULL || in[1] == NULL || in[2] == NULL)
    return NULL;
  y = draw_scores (d, split_heads (d, in[0], heads, FALSE), split_heads (d, in[1], heads, TRUE),
                   size);
  y = pair (d, "MatMul", y, split_heads (d, in[2], heads, FALSE));
  y = drawn_reshape (d, drawn_transpose (d, y, back, 4), whole, 3);
  return y ? add_residual (d, x, make_linear (d, y, width_of (x))) : NULL;
}

/* Windows of tokens become frames, or stay beside each other as before. */
static AxonValue *
make_windows (Drawn *d, AxonValue *x)
{
  static const gint64 perm[] = { 0, 2, 1, 3 };
  const AxonShape *s = &x->type.shape;
  gint64 n = 2 + drawn_below (d, 2);
  const gint64 apart[] = { s->dims[0], s->dims[1] / n, n, s->dims[2] };
  const gint64 frames[] = { s->dims[0] * n, s->dims[1] / n, s->dims[2] };
  if (s->dims[1] % n != 0 || s->dims[0] > 4)
    return NULL;
  x = drawn_transpose (d, drawn_reshape (d, x, apart, 4), perm, 4);
  return drawn_reshape (d, x, drawn_below (d, 2) ? frames : s->dims, 3);
}

/* Tokens before or behind others, every second one, or tokens and channels exchanged. */
static AxonValue *
make_move (Drawn *d, AxonValue *x)
{
  static const gint64 turned[] = { 0, 2, 1 };
  const gint64 start = drawn_below (d, 2), end = G_MAXINT32, axis = 1 + drawn_below (d, 2);
  const gint64 step = 1 + drawn_below (d, 2);
  const AxonShape token = AXON_SHAPE (x->type.shape.dims[0], 1, width_of (x));
  gint kind = drawn_below (d, 3);
  AxonNode *n;
  if (kind == 0)
    return drawn_transpose (d, x, turned, 3);
  if (kind == 1)
    return drawn_keep (d, test_model_node (&d->t, "Slice", 5, x, test_model_ints (&d->t, &start, 1),
                                           test_model_ints (&d->t, &end, 1),
                                           test_model_ints (&d->t, &axis, 1),
                                           test_model_ints (&d->t, &step, 1)));
  n = test_model_node (&d->t, "Concat", 2, drawn_weights (d, &token, 3), x);
  axon_node_set_int (n, "axis", 1);
  return drawn_keep (d, n);
}

/* With what was made before, or each channel by a number. */
static AxonValue *
make_pair (Drawn *d, AxonValue *x)
{
  static const gchar *const ops[] = { "Add", "Mul", "Sub" };
  AxonValue *other = draw_row (d, width_of (x));
  for (guint i = 0; i < d->made->len; i++) {
    AxonValue *b = d->made->pdata[i];
    if (axon_shape_equal (&x->type.shape, &b->type.shape) && drawn_below (d, 2))
      other = b;
  }
  return either_pair (d, ops[drawn_below (d, G_N_ELEMENTS (ops))], x, other);
}

static const DrawnMaker makers[] = {
  make_layers, make_layers,   make_attention, make_attention, make_norm,
  make_norm,   make_function, make_windows,   make_move,      make_pair,
};

static void
add_part (Drawn *d)
{
  drawn_add (d, makers, G_N_ELEMENTS (makers));
}

static void
draw_shape (Drawn *d, AxonShape *x)
{
  *x = AXON_SHAPE (1 + drawn_below (d, 3), 1 + drawn_below (d, 60), 4 + drawn_below (d, 45));
}

static const DrawnKind nets = { MOST_ELEMENTS, draw_shape, add_part, NULL };

static void
random_networks_of_tokens_agree (void)
{
  drawn_models_agree (&nets, N_NETS, MOST_PARTS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tokens/random_networks_of_tokens_agree", random_networks_of_tokens_agree);
  return g_test_run ();
}
