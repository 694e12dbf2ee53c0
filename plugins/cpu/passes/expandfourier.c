/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DFT and STFT of floats become products with a constant matrix, which for the lengths that models
 * have are faster than anything that is not a library of its own: a window and a mirrored spectrum
 * are in the matrix, and the frames of an STFT are gathered. */
#include "cpupasses.h"
#include "../cpuplan.h"

#include <math.h>

#define LARGEST (1 << 22) /* elements of a matrix: 16 MB */

/* From @have elements of @parts numbers (real, or real and imaginary) to @made of @parts_made. */
typedef struct {
  gint64 length, have, made;
  gint64 parts, parts_made;
  gboolean inverse, mirrored; /* mirrored: what is given is half of a spectrum */
  const AxonTensor *window;   /* nullable */
} Transform;

typedef struct {
  gdouble re, im;
} Complex;

/* e^(2 pi j k / n), exact where it is on an axis. */
static Complex
root_of_one (gint64 k, gint64 n)
{
  static const Complex axes[] = { { 1, 0 }, { 0, 1 }, { -1, 0 }, { 0, -1 } };
  gdouble angle = 2 * G_PI * (gdouble)k / (gdouble)n;
  return 4 * k % n == 0 ? axes[4 * k / n] : (Complex){ cos (angle), sin (angle) };
}

/* What element @i of 1 (@part 0) or j adds to the @k-th of the result. */
static Complex
share_of (const Transform *t, const Complex *roots, gint64 i, gint64 k, gint64 part)
{
  gint64 n = t->length, mirror = n - i;
  gdouble sign = t->inverse ? 1 : -1;
  Complex r = roots[k * i % n],
          sum = part == 0 ? (Complex){ r.re, sign * r.im } : (Complex){ -sign * r.im, r.re };
  if (t->mirrored && i > 0 && mirror >= t->have) {
    r = roots[k * mirror % n];
    sum.re += part == 0 ? r.re : sign * r.im;
    sum.im += part == 0 ? sign * r.im : -r.re;
  }
  return sum;
}

/* A row for each number that is given; elements beyond the length count for nothing. */
static AxonTensor *
make_matrix (const Transform *t, GError **error)
{
  const AxonShape shape = AXON_SHAPE (t->have * t->parts, t->made * t->parts_made);
  AxonTensor *matrix = axon_tensor_new (AXON_DTYPE_F32, &shape, error);
  g_autofree Complex *roots = matrix != NULL ? g_new (Complex, t->length) : NULL;
  gfloat *to;
  if (matrix == NULL)
    return NULL;
  to = axon_tensor_get_data (matrix);
  for (gint64 k = 0; k < t->length; k++)
    roots[k] = root_of_one (k, t->length);
  for (gint64 i = 0; i < t->have; i++) {
    gdouble scale = t->inverse ? 1 / (gdouble)t->length : 1;
    if (t->window != NULL)
      scale *= axon_tensor_get_value (t->window, (gsize)i);
    for (gint64 part = 0; part < t->parts; part++)
      for (gint64 k = 0; k < t->made; k++) {
        Complex share = i < t->length ? share_of (t, roots, i, k, part) : (Complex){ 0, 0 };
        *to++ = (gfloat)(share.re * scale);
        if (t->parts_made == 2)
          *to++ = (gfloat)(share.im * scale);
      }
  }
  return matrix;
}

static gboolean
is_possible (const Transform *t)
{
  return t->length > 0 && t->have > 0 && t->made > 0 && t->parts > 0 &&
         (t->window == NULL || (gint64)axon_tensor_get_numel (t->window) == t->have) &&
         t->have * t->parts <= LARGEST && t->made * t->parts_made <= LARGEST &&
         t->have * t->parts * t->made * t->parts_made <= LARGEST && t->length <= LARGEST;
}

/* @x as rows of what is transformed, times the matrix. */
static AxonValue *
multiply (AxonModel *model, const AxonNode *like, AxonValue *x, const Transform *t,
          AxonTensor *matrix)
{
  const gint64 rows[] = { -1, t->have * t->parts };
  AxonValue *in[] = { cpu_pass_reshape (model, like, x, rows, 2),
                      axon_model_add_constant (model, NULL, matrix) };
  return cpu_pass_apply (model, like, "MatMul", in, 2);
}

/* FALSE: input @index is there and no constant; @value stays where it is not there. */
static gboolean
read_int (const AxonNode *node, guint index, gint64 *value)
{
  const AxonTensor *t = cpu_node_constant (node, index);
  if (axon_node_get_input (node, index) == NULL)
    return TRUE;
  if (t == NULL || axon_tensor_get_numel (t) != 1)
    return FALSE;
  *value = (gint64)axon_tensor_get_value (t, 0);
  return TRUE;
}

static gboolean
expand_dft (AxonModel *model, AxonNode *node, GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gboolean onesided = axon_node_get_int (node, "onesided") != 0;
  gint rank = x->rank;
  gint64 axis = -2, dims[AXON_MAX_RANK];
  g_autoptr (AxonTensor) matrix = NULL;
  AxonValue *value;
  Transform t = { .inverse = axon_node_get_int (node, "inverse") != 0,
                  .parts = x->dims[rank - 1],
                  .parts_made = y->dims[rank - 1] };
  if (axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    axis = axon_node_get_int (node, "axis");
  else if (!read_int (node, 2, &axis))
    return FALSE;
  axis += axis < 0 ? rank : 0;
  t.mirrored = onesided && t.inverse;
  t.length = t.mirrored ? 2 * (x->dims[axis] - 1) : x->dims[axis];
  t.have = x->dims[axis];
  t.made = y->dims[axis];
  if (!read_int (node, 1, &t.length) || !is_possible (&t) ||
      (t.mirrored && t.have > t.length / 2 + 1))
    return FALSE;
  matrix = make_matrix (&t, error);
  if (matrix == NULL)
    return FALSE;
  for (gint d = 0; d < rank; d++)
    dims[d] = y->dims[d == axis ? rank - 2 : d == rank - 2 ? axis : d];
  value = cpu_pass_exchange (model, node, node->inputs[0], (gint)axis, rank);
  value = cpu_pass_reshape (model, node, multiply (model, node, value, &t, matrix), dims, rank);
  cpu_pass_replace_reshaped (model, node, cpu_pass_exchange (model, node, value, (gint)axis, rank));
  return TRUE;
}

/* Of each frame the places of what it is made of. */
static AxonTensor *
make_places (gint64 frames, gint64 step, gint64 length, GError **error)
{
  const AxonShape shape = AXON_SHAPE (frames, length);
  AxonTensor *places = axon_tensor_new (AXON_DTYPE_I64, &shape, error);
  gint64 *to = places != NULL ? axon_tensor_get_data (places) : NULL;
  for (gint64 i = 0; to != NULL && i < frames * length; i++)
    to[i] = i / length * step + i % length;
  return places;
}

static gboolean
expand_stft (AxonModel *model, AxonNode *node, GError **error)
{
  const AxonShape *x = &node->inputs[0]->type.shape, *y = &node->outputs[0]->type.shape;
  gint64 step = 0;
  Transform t = { .made = y->dims[2],
                  .parts = x->rank == 3 ? x->dims[2] : 1,
                  .parts_made = 2,
                  .window = cpu_node_constant (node, 2) };
  g_autoptr (AxonTensor) matrix = NULL;
  g_autoptr (AxonTensor) places = NULL;
  AxonValue *in[2], *frames;
  if (t.window == NULL && axon_node_get_input (node, 2) != NULL)
    return FALSE;
  t.length = t.window != NULL ? (gint64)axon_tensor_get_numel (t.window) : 0;
  if (!read_int (node, 1, &step) || !read_int (node, 3, &t.length))
    return FALSE;
  t.have = t.length;
  if (!is_possible (&t) || y->dims[1] * t.length > LARGEST)
    return FALSE;
  if ((matrix = make_matrix (&t, error)) == NULL ||
      (places = make_places (y->dims[1], step, t.length, error)) == NULL)
    return FALSE;
  in[0] = node->inputs[0];
  in[1] = axon_model_add_constant (model, NULL, places);
  frames = cpu_pass_apply (model, node, "Gather", in, G_N_ELEMENTS (in));
  axon_node_set_int (frames->producer, "axis", 1);
  cpu_pass_replace_reshaped (model, node, multiply (model, node, frames, &t, matrix));
  return TRUE;
}

static gboolean
expand (AxonModel *model, AxonNode *node, GError **error)
{
  if (axon_node_is (node, "DFT"))
    return cpu_pass_is_planned (node) && expand_dft (model, node, error);
  return axon_node_is (node, "STFT") && cpu_pass_is_planned (node) &&
         expand_stft (model, node, error);
}

gboolean
cpu_pass_expand_fourier (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, expand, error);
}
