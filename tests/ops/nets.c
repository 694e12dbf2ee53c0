/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random networks: convolutions of lines, pictures and volumes with what published models put
 * around them, as its layouts meet and are fused. */
#include "drawn.h"

#include <math.h>

#define N_NETS 100
#define MOST_PARTS 14
#define MOST_ELEMENTS 49152
#define MOST_WEIGHTS 36864
#define EPSILON 0.1f /* rounding of numbers that are nearly alike stays small */

static gint
count_axes (const AxonValue *x)
{
  return x->type.shape.rank - 2;
}

static gint64
count_channels (const AxonValue *x)
{
  return x->type.shape.dims[1];
}

static AxonValue *
draw_vector (Drawn *d, gint64 n)
{
  const AxonShape shape = AXON_SHAPE (n);
  return drawn_weights (d, &shape, 3);
}

static gint64
draw_channels (Drawn *d)
{
  static const gint64 usual[] = { 8, 16, 24, 32, 48, 64 };
  return drawn_below (d, 3) ? usual[drawn_below (d, G_N_ELEMENTS (usual))]
                            : 1 + drawn_below (d, 33);
}

/* 1, as many as channels, or a part of them. */
static gint64
draw_groups (Drawn *d, gint64 channels)
{
  static const gint64 parts[] = { 2, 4, 8, 3 };
  gint64 g = parts[drawn_below (d, G_N_ELEMENTS (parts))];
  gint way = drawn_below (d, 5);
  return way < 3 ? 1 : way == 3 ? channels : channels % g ? 1 : g;
}

typedef struct {
  gint64 kernel[3], strides[3], dilations[3], pads[6];
  gint64 places; /* of the window */
} Window;

/* Of a convolution, or of pooling, which reads something everywhere. */
static Window
draw_window (Drawn *d, gint axes, gboolean pools)
{
  static const gint64 sides[] = { 1, 1, 3, 3, 3, 2, 5, 7 };
  Window w = { .places = 1 };
  gint64 side = sides[drawn_below (d, axes == 3 ? 6 : G_N_ELEMENTS (sides))];
  gint64 stride = 1 + (drawn_below (d, 3) == 0), dilation = 1 + (drawn_below (d, 5) == 0);
  gint most; /* that is padded, and one */
  gboolean same = drawn_below (d, 3) > 0, alike = drawn_below (d, 5) > 0;
  for (gint i = 0; i < axes; i++) {
    w.kernel[i] = alike ? side : sides[drawn_below (d, 6)];
    w.strides[i] = stride;
    w.dilations[i] = pools ? 1 : dilation;
    most = pools ? MIN (3, (gint)w.kernel[i]) : 3;
    w.pads[i] = same ? (w.kernel[i] - 1) * w.dilations[i] / 2 : drawn_below (d, most);
    w.pads[axes + i] = same ? w.pads[i] : drawn_below (d, most);
    w.places *= w.kernel[i];
  }
  return w;
}

static void
set_window (AxonNode *n, const Window *w, gint axes)
{
  axon_node_set_ints (n, "kernel_shape", w->kernel, (guint)axes);
  axon_node_set_ints (n, "strides", w->strides, (guint)axes);
  axon_node_set_ints (n, "pads", w->pads, 2 * (guint)axes);
}

/* Convolution, its transpose where @turned. */
static AxonValue *
make_conv_of (Drawn *d, AxonValue *x, gboolean turned)
{
  gint axes = count_axes (x);
  gint64 from = count_channels (x), g = draw_groups (d, from);
  gint64 to = g == from ? from * (1 + (drawn_below (d, 6) == 0)) : draw_channels (d) / g * g;
  Window w = draw_window (d, axes, FALSE);
  AxonShape shape = { .rank = axes + 2 };
  AxonValue *bias = drawn_below (d, 2) ? draw_vector (d, to) : NULL;
  AxonNode *n;
  shape.dims[0] = turned ? from : to;
  shape.dims[1] = (turned ? to : from) / g;
  for (gint i = 0; i < axes; i++)
    shape.dims[2 + i] = w.kernel[i];
  if (to == 0 || axon_shape_get_numel (&shape) > MOST_WEIGHTS)
    return NULL;
  n = test_model_node (&d->t, turned ? "ConvTranspose" : "Conv", bias ? 3 : 2, x,
                       drawn_weights (d, &shape, from / g * w.places), bias);
  set_window (n, &w, axes);
  axon_node_set_ints (n, "dilations", w.dilations, (guint)axes);
  axon_node_set_int (n, "group", g);
  return drawn_keep (d, n);
}

static AxonValue *
make_activation (Drawn *d, AxonValue *x)
{
  static const gchar *const names[] = { "Relu", "LeakyRelu", "HardSwish", "Sigmoid",
                                        "Tanh", "Elu",       "Gelu",      "Mish",
                                        "Abs",  "PRelu",     "Softplus",  "HardSigmoid" };
  const AxonShape one = { 0 };
  gint i = drawn_below (d, G_N_ELEMENTS (names) + 2);
  if (i < (gint)G_N_ELEMENTS (names))
    return drawn_keep (
        d, test_model_activate (&d->t, x, names[i], count_channels (x), count_axes (x))->producer);
  if (i == G_N_ELEMENTS (names)) {
    AxonValue *gate = drawn_keep (d, test_model_node (&d->t, "Sigmoid", 1, x));
    return drawn_keep (d, test_model_node (&d->t, "Mul", 2, x, gate));
  }
  return drawn_keep (d, test_model_node (&d->t, "Clip", 2, x, drawn_weights (d, &one, 9)));
}

/* What convolutions are followed by. */
static AxonValue *
make_conv (Drawn *d, AxonValue *x)
{
  AxonValue *y = make_conv_of (d, x, drawn_below (d, 8) == 0);
  AxonValue *z = y && drawn_below (d, 3) ? make_activation (d, y) : NULL;
  return z ? z : y;
}

static AxonValue *
make_pool (Drawn *d, AxonValue *x)
{
  static const gchar *const pools[] = { "MaxPool", "AveragePool", "LpPool" };
  gint kind = drawn_below (d, 9);
  Window w = draw_window (d, count_axes (x), TRUE);
  AxonNode *n = test_model_node (&d->t, pools[kind == 8 ? 2 : kind % 2], 1, x);
  set_window (n, &w, count_axes (x));
  if (kind < 8)
    axon_node_set_int (n, "ceil_mode", drawn_below (d, 2));
  return drawn_keep (d, n);
}

/* With what was made before, or a number for each channel. */
static AxonValue *
make_pair (Drawn *d, AxonValue *x)
{
  static const gchar *const ops[] = { "Add", "Add", "Mul", "Sub", "Max", "Concat", "Concat" };
  const gchar *op = ops[drawn_below (d, G_N_ELEMENTS (ops))];
  AxonValue *other = x;
  AxonNode *n;
  for (guint i = 0; i < d->made->len; i++) {
    AxonValue *b = d->made->pdata[i];
    gboolean fits = axon_shape_equal (&x->type.shape, &b->type.shape) ||
                    g_str_equal (op, "Concat") ||
                    axon_shape_get_numel (&b->type.shape) == count_channels (x);
    other = fits && drawn_below (d, 2) ? b : other;
  }
  n = drawn_below (d, 2) ? test_model_node (&d->t, op, 2, x, other)
                         : test_model_node (&d->t, op, 2, other, x);
  if (g_str_equal (op, "Concat"))
    axon_node_set_int (n, "axis", drawn_below (d, 4) ? 1 : 2);
  return drawn_keep (d, n);
}

/* Squeeze and excite. */
static AxonValue *
make_gate (Drawn *d, AxonValue *x)
{
  static const gchar *const pools[] = { "GlobalAveragePool", "GlobalMaxPool" };
  static const gchar *const ends[] = { "Sigmoid", "HardSigmoid", "Tanh" };
  gint64 n = count_channels (x), few = MAX (n / 4, 1);
  AxonShape down = { x->type.shape.rank, { few, n, 1, 1, 1 } };
  AxonShape up = { x->type.shape.rank, { n, few, 1, 1, 1 } };
  AxonValue *y = drawn_keep (d, test_model_node (&d->t, pools[drawn_below (d, 4) == 0], 1, x));
  y = drawn_keep (d, test_model_node (&d->t, "Conv", 2, y, drawn_weights (d, &down, n)));
  y = drawn_keep (d, test_model_node (&d->t, "Relu", 1, y));
  y = drawn_keep (d, test_model_node (&d->t, "Conv", 2, y, drawn_weights (d, &up, few)));
  y = drawn_keep (d, test_model_node (&d->t, ends[drawn_below (d, 3)], 1, y));
  return drawn_keep (d, test_model_node (&d->t, "Mul", 2, x, y));
}

/* Of the channels of pictures and lines. */
static AxonValue *
make_shuffle (Drawn *d, AxonValue *x)
{
  static const gint64 perm[] = { 0, 2, 1, 3, 4 };
  const AxonShape *s = &x->type.shape;
  gint64 groups = 2 + drawn_below (d, 3);
  gint64 apart[] = { s->dims[0], groups, s->dims[1] / groups, s->dims[2], s->dims[3] };
  if (s->rank > 4 || s->dims[1] % groups)
    return NULL;
  x = drawn_reshape (d, x, apart, (guint)s->rank + 1);
  x = drawn_transpose (d, x, perm, (guint)s->rank + 1);
  return drawn_reshape (d, x, s->dims, (guint)s->rank);
}

static AxonValue *
make_slice (Drawn *d, AxonValue *x)
{
  gint64 n = count_channels (x), half = n / 2, axis = drawn_below (d, 4) ? 1 : 2;
  gint64 dim = x->type.shape.dims[axis], start = drawn_below (d, 3) * (axis == 1 ? half / 2 : 1);
  gint64 end = drawn_below (d, 2) ? dim : MIN (start + MAX (half, 1), dim);
  gint64 step = 1 + (drawn_below (d, 5) == 0);
  return drawn_keep (d, test_model_node (&d->t, "Slice", 5, x, test_model_ints (&d->t, &start, 1),
                                         test_model_ints (&d->t, &end, 1),
                                         test_model_ints (&d->t, &axis, 1),
                                         test_model_ints (&d->t, &step, 1)));
}

static AxonValue *
make_resize (Drawn *d, AxonValue *x)
{
  static const gchar *const modes[] = { "nearest", "linear" };
  static const gfloat factors[] = { 2, 2, 1.5f, 3, 0.5f };
  gfloat f = factors[drawn_below (d, G_N_ELEMENTS (factors))];
  const gfloat scales[] = { 1, 1, f, f, f };
  const AxonShape n = AXON_SHAPE (x->type.shape.rank);
  AxonNode *node =
      test_model_node (&d->t, "Resize", 3, x, NULL, test_model_constant (&d->t, &n, scales));
  axon_node_set_string (node, "mode", modes[drawn_below (d, 2)]);
  if (drawn_below (d, 2))
    axon_node_set_string (node, "coordinate_transformation_mode", "asymmetric");
  return drawn_keep (d, node);
}

static AxonValue *
make_normal (Drawn *d, AxonValue *x)
{
  gint64 n = count_channels (x);
  AxonValue *scale = draw_vector (d, n), *shift = draw_vector (d, n), *variance;
  AxonNode *node;
  if (drawn_below (d, 3) == 0) {
    node = test_model_node (&d->t, "InstanceNormalization", 3, x, scale, shift);
    axon_node_set_float (node, "epsilon", EPSILON);
    return drawn_keep (d, node);
  }
  if (drawn_below (d, 4) == 0) {
    node = test_model_node (&d->t, "LRN", 1, x);
    axon_node_set_int (node, "size", 5);
    return drawn_keep (d, node);
  }
  variance = draw_vector (d, n);
  for (gint64 i = 0; i < n; i++)
    ((gfloat *)axon_tensor_get_data (variance->type.value))[i] = 0.5f + (gfloat)(i % 7) / 4;
  return drawn_keep (d, test_model_node (&d->t, "BatchNormalization", 5, x, scale, shift,
                                         draw_vector (d, n), variance));
}

/* Over channels or places. */
static AxonValue *
make_reduction (Drawn *d, AxonValue *x)
{
  static const gchar *const ops[] = { "ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2" };
  static const gint64 axes[] = { 1, 2, 3, 4 };
  gint kind = drawn_below (d, 4);
  AxonNode *n;
  if (kind == 0) {
    n = test_model_node (&d->t, drawn_below (d, 2) ? "Softmax" : "LogSoftmax", 1, x);
    axon_node_set_int (n, "axis", drawn_below (d, 2) ? 1 : -1);
    return drawn_keep (d, n);
  }
  n = test_model_node (&d->t, ops[drawn_below (d, G_N_ELEMENTS (ops))], 2, x,
                       kind == 1 ? test_model_ints (&d->t, axes, 1)
                                 : test_model_ints (&d->t, axes + 1, (guint)count_axes (x)));
  return drawn_keep (d, n);
}

/* Places by channels, and a layer of those. */
static AxonValue *
make_tokens (Drawn *d, AxonValue *x)
{
  static const gint64 turned[] = { 0, 2, 1 };
  const AxonShape *s = &x->type.shape;
  const gint64 line[] = { s->dims[0], s->dims[1], -1 };
  gint64 to = draw_channels (d), last[] = { s->dims[0], to, s->dims[2], s->dims[3], s->dims[4] };
  const AxonShape w = AXON_SHAPE (s->dims[1], to);
  AxonValue *y = drawn_reshape (d, x, line, 3);
  y = drawn_transpose (d, y, turned, 3);
  if (drawn_below (d, 2)) {
    AxonNode *n = test_model_node (&d->t, "LayerNormalization", 2, y, draw_vector (d, s->dims[1]));
    axon_node_set_float (n, "epsilon", EPSILON);
    y = drawn_keep (d, n);
  }
  y = drawn_keep (d, test_model_node (&d->t, "MatMul", 2, y, drawn_weights (d, &w, s->dims[1])));
  y = drawn_keep (d, test_model_node (&d->t, "Add", 2, y, draw_vector (d, to)));
  y = drawn_keep (d, test_model_node (&d->t, "Gelu", 1, y));
  y = drawn_transpose (d, y, turned, 3);
  return drawn_below (d, 2) ? drawn_reshape (d, y, last, (guint)s->rank) : y;
}

static AxonValue *
make_pad (Drawn *d, AxonValue *x)
{
  static const gchar *const modes[] = { "constant", "edge", "reflect" };
  gint64 pads[2 * AXON_MAX_RANK] = { 0 };
  gint rank = x->type.shape.rank;
  AxonNode *n;
  for (gint i = 0; i < rank; i++)
    if (i > 1)
      pads[i] = drawn_below (d, 3), pads[rank + i] = drawn_below (d, 3);
  n = test_model_node (&d->t, "Pad", 2, x, test_model_ints (&d->t, pads, 2 * (guint)rank));
  axon_node_set_string (n, "mode", modes[drawn_below (d, 3)]);
  return drawn_keep (d, n);
}

/* Channels become places, or the other way round; or pictures lines. */
static AxonValue *
make_move (Drawn *d, AxonValue *x)
{
  static const gchar *const ops[] = { "DepthToSpace", "SpaceToDepth" };
  const gint64 line[] = { x->type.shape.dims[0], count_channels (x), -1 };
  gint kind = drawn_below (d, 5);
  AxonNode *n;
  if (kind == 4)
    return drawn_reshape (d, x, line, 3);
  n = test_model_node (&d->t, ops[kind / 2], 1, x);
  axon_node_set_int (n, "blocksize", 2);
  if (kind == 1)
    axon_node_set_string (n, "mode", "CRD");
  return drawn_keep (d, n);
}

static const DrawnMaker makers[] = {
  make_conv,   make_conv,   make_conv,      make_conv,   make_conv,    make_activation,
  make_pool,   make_pair,   make_pair,      make_gate,   make_shuffle, make_slice,
  make_resize, make_normal, make_reduction, make_tokens, make_pad,     make_move,
};

static void
add_part (Drawn *d)
{
  drawn_add (d, makers, G_N_ELEMENTS (makers));
}

static void
draw_shape (Drawn *d, AxonShape *x)
{
  static const gint sides[][2] = { { 20, 80 }, { 5, 24 }, { 3, 6 } };
  static const gint usual[] = { 2, 2, 2, 1, 3 };
  gint axes = usual[drawn_below (d, G_N_ELEMENTS (usual))];
  x->rank = 2 + axes;
  x->dims[0] = 1 + (drawn_below (d, 3) == 0);
  x->dims[1] = draw_channels (d);
  for (gint i = 0; i < axes; i++)
    x->dims[2 + i] = sides[axes - 1][0] + drawn_below (d, sides[axes - 1][1]);
}

/* Half of them: some of what was made, side by side, which is read once more at the end. */
static void
end_net (Drawn *d)
{
  AxonValue *all = NULL;
  gint n = drawn_below (d, 2) ? 1 + drawn_below (d, 3) : 0;
  for (gint i = 0; i < n; i++) {
    AxonValue *x = d->made->pdata[drawn_below (d, (gint)d->made->len)];
    const gint64 line[] = { x->type.shape.dims[0], 1, -1 };
    AxonNode *join;
    x = drawn_reshape (d, x, line, 3);
    if (all == NULL || x == NULL) {
      all = all ? all : x;
      continue;
    }
    join = test_model_node (&d->t, "Concat", 2, all, x);
    axon_node_set_int (join, "axis", 2);
    x = drawn_keep (d, join);
    all = x ? x : all;
  }
  if (all != NULL)
    g_ptr_array_add (d->made, all);
}

static const DrawnKind nets = { MOST_ELEMENTS, draw_shape, add_part, end_net };

static void
random_networks_agree (void)
{
  drawn_models_agree (&nets, N_NETS, MOST_PARTS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/nets/random_networks_agree", random_networks_agree);
  return g_test_run ();
}
