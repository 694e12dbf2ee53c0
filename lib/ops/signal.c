/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DFT (17: axis by attribute, 20: by input) and STFT (17), by the definition: O(n^2). */
#include "ops-private.h"

#include <math.h>

typedef struct {
  gint axis;
  gint64 length;  /* of the transform */
  gboolean known; /* length and axis */
  gboolean onesided, inverse;
} Dft;

/* Input: [..., signal, ..., 1 or 2], the last dimension real or complex. */
static gboolean
read_dft (const AxonNode *node, const AxonTypeInfo *in, Dft *dft, GError **error)
{
  const AxonShape *x = &in[0].shape;
  gint64 axis = axon_node_get_int (node, "axis");
  *dft = (Dft){ .known = TRUE,
                .onesided = axon_node_get_int (node, "onesided") != 0,
                .inverse = axon_node_get_int (node, "inverse") != 0 };
  if (!axon_node_has_form (node, AXON_FORM_ATTRIBUTES))
    dft->known = axon_scalar_int (node, in, 2, -2, &axis);
  if (!dft->known)
    return TRUE;
  if (!axon_check_axis (axis, x->rank, &dft->axis, error))
    return FALSE;
  if (dft->axis == x->rank - 1)
    FAIL (MODEL, "axis %d is the one of real and imaginary parts", dft->axis);
  dft->length = x->dims[dft->axis];
  if (dft->onesided && dft->inverse && dft->length > 0) /* half a spectrum, ends included */
    dft->length = 2 * (dft->length - 1);
  dft->known = axon_scalar_int (node, in, 1, dft->length, &dft->length);
  if (dft->known && axon_is_given (node, in, 1) && dft->length < 1)
    FAIL (MODEL, "dft_length is %" G_GINT64_FORMAT, dft->length);
  return TRUE;
}

static gboolean
infer_dft (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape;
  gboolean real_output;
  Dft dft;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 2, AXON_MAX_RANK, error))
    return FALSE;
  if (x->rank < 2)
    return TRUE;
  if (x->dims[x->rank - 1] >= 0 && x->dims[x->rank - 1] != 1 && x->dims[x->rank - 1] != 2)
    FAIL (MODEL, "the last dimension must be 1 (real) or 2 (complex)");
  if (!read_dft (node, in, &dft, error))
    return FALSE;
  out[0].shape = *x;
  real_output = dft.onesided && dft.inverse;
  out[0].shape.dims[x->rank - 1] = real_output ? 1 : 2;
  if (!dft.known)
    for (gint d = 0; d + 1 < x->rank; d++)
      out[0].shape.dims[d] = -1;
  else
    out[0].shape.dims[dft.axis] = dft.length < 0                 ? -1
                                  : dft.onesided && !dft.inverse ? dft.length / 2 + 1
                                                                 : dft.length;
  return TRUE;
}

typedef struct {
  gdouble re, im;
} Complex;

/* e^(-+ 2 pi j i / n) */
static void
fill_roots (Complex *roots, gint64 n, gboolean inverse)
{
  for (gint64 i = 0; i < n && WANTED (i); i++) {
    gdouble angle = (inverse ? 2 : -2) * G_PI * (gdouble)i / (gdouble)n;
    roots[i] = (Complex){ cos (angle), sin (angle) };
  }
}

/* The @k-th of @n: sum of x[i] times root k * i, @have of them given and the rest 0. */
static Complex
transform (const Complex *x, const Complex *roots, gint64 have, gint64 n, gint64 k,
           gboolean inverse)
{
  Complex sum = { 0, 0 };
  gint64 at = 0;
  for (gint64 i = 0; i < MIN (have, n) && WANTED (i); i++) {
    Complex r = roots[at];
    sum.re += x[i].re * r.re - x[i].im * r.im;
    sum.im += x[i].re * r.im + x[i].im * r.re;
    at += k;
    at -= at >= n ? n : 0;
  }
  if (inverse) {
    sum.re /= (gdouble)n;
    sum.im /= (gdouble)n;
  }
  return sum;
}

/* An inverse one-sided transform gets half of a spectrum whose other half mirrors it. */
static gint64
mirror_spectrum (Complex *x, gint64 have, gint64 n)
{
  for (gint64 i = have; i < n; i++)
    x[i] = n - i < have ? (Complex){ x[n - i].re, -x[n - i].im } : (Complex){ 0, 0 };
  return n;
}

static gboolean
eval_dft (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *ys = axon_tensor_get_shape (out[0]);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  gint64 parts = xs->dims[xs->rank - 1], parts_out = ys->dims[ys->rank - 1], n_out;
  AxonTypeInfo infos[3];
  AxonLines lines;
  Dft dft;
  axon_infos_of (node, in, infos);
  if (!read_dft (node, infos, &dft, error))
    return FALSE;
  lines = axon_lines (xs, dft.axis);
  n_out = ys->dims[dft.axis];
  AXON_AUTO_SCRATCH Complex *line =
      axon_scratch_new0 ((gsize)MAX (lines.n, dft.length) + 1, sizeof (Complex), error);
  AXON_AUTO_SCRATCH Complex *roots =
      axon_scratch_new ((gsize)MAX (dft.length, 0) + 1, sizeof (Complex), error);
  if (*error != NULL)
    return FALSE;
  fill_roots (roots, dft.length, dft.inverse);
  gint64 inner = lines.inner / parts;
  for (gint64 l = 0; l < lines.outer * inner; l++) {
    gint64 o = l / inner, i = l % inner, have = lines.n;
    for (gint64 k = 0; k < lines.n; k++) {
      const gdouble *at = x + ((o * lines.n + k) * inner + i) * parts;
      line[k] = (Complex){ at[0], parts == 2 ? at[1] : 0 };
    }
    if (dft.onesided && dft.inverse)
      have = mirror_spectrum (line, MIN (have, dft.length / 2 + 1), dft.length);
    for (gint64 k = 0; k < n_out && !axon_work_is_cancelled (); k++) {
      Complex value = transform (line, roots, have, dft.length, k, dft.inverse);
      gdouble *at = y + ((o * n_out + k) * inner + i) * parts_out;
      at[0] = value.re;
      if (parts_out == 2)
        at[1] = value.im;
    }
  }
  axon_store_doubles (out[0], y);
  return TRUE;
}

/* Frames of @length, @step apart. FALSE: not known yet. */
static gboolean
read_frames (const AxonNode *node, const AxonTypeInfo *in, gint64 *step, gint64 *length)
{
  gint64 window = axon_is_given (node, in, 2) ? axon_shape_get_numel (&in[2].shape) : -1;
  return axon_scalar_int (node, in, 1, 0, step) && axon_scalar_int (node, in, 3, window, length);
}

static gboolean
infer_stft (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  const AxonShape *x = &in[0].shape;
  gboolean onesided = axon_node_get_int (node, "onesided") != 0;
  gint64 step, length;
  out[0].dtype = in[0].dtype;
  if (!axon_check_rank (in, 0, 2, 3, error))
    return FALSE;
  if (x->rank < 0)
    return TRUE;
  if (x->rank == 3 && x->dims[2] >= 0 && x->dims[2] != 1 && x->dims[2] != 2)
    FAIL (MODEL, "the signal must be real or complex, got %" G_GINT64_FORMAT " numbers",
          x->dims[2]);
  out[0].shape = AXON_SHAPE (x->dims[0], -1, -1, 2);
  if (!read_frames (node, in, &step, &length) || x->dims[1] < 0 || length < 0)
    return TRUE;
  if (step < 1 || length < 1 || length > x->dims[1] ||
      (axon_is_given (node, in, 2) && axon_shape_is_static (&in[2].shape) &&
       axon_shape_get_numel (&in[2].shape) != length))
    FAIL (MODEL,
          "frames of %" G_GINT64_FORMAT " every %" G_GINT64_FORMAT
          " fit neither the signal of %" G_GINT64_FORMAT " nor the window",
          length, step, x->dims[1]);
  out[0].shape.dims[1] = (x->dims[1] - length) / step + 1;
  out[0].shape.dims[2] = onesided ? length / 2 + 1 : length;
  return TRUE;
}

static gboolean
eval_stft (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  const AxonShape *xs = axon_tensor_get_shape (in[0]), *ys = axon_tensor_get_shape (out[0]);
  gint64 parts = xs->rank == 3 ? xs->dims[2] : 1, step, length, at = 0;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  AXON_AUTO_SCRATCH gdouble *y =
      axon_scratch_new (axon_tensor_get_numel (out[0]) + 1, sizeof (gdouble), error);
  if (*error != NULL)
    return FALSE;
  AxonTensor *window = axon_operand (node, in, 2);
  AxonTypeInfo infos[4];
  axon_infos_of (node, in, infos);
  read_frames (node, infos, &step, &length);
  AXON_AUTO_SCRATCH Complex *frame = axon_scratch_new ((gsize)length + 1, sizeof (Complex), error);
  AXON_AUTO_SCRATCH Complex *roots = axon_scratch_new ((gsize)length + 1, sizeof (Complex), error);
  if (*error != NULL)
    return FALSE;
  fill_roots (roots, length, FALSE);
  for (gint64 b = 0; b < ys->dims[0]; b++)
    for (gint64 f = 0; f < ys->dims[1]; f++) {
      for (gint64 i = 0; i < length; i++) {
        const gdouble *v = x + (b * xs->dims[1] + f * step + i) * parts;
        gdouble w = window ? axon_tensor_get_value (window, (gsize)i) : 1;
        frame[i] = (Complex){ v[0] * w, parts == 2 ? v[1] * w : 0 };
      }
      for (gint64 k = 0; k < ys->dims[2] && !axon_work_is_cancelled (); k++) {
        Complex value = transform (frame, roots, length, length, k, FALSE);
        y[at++] = value.re;
        y[at++] = value.im;
      }
    }
  axon_store_doubles (out[0], y);
  return TRUE;
}

static const AxonOp rows[] = {
  {
      .name = "DFT",
      .since = 17,
      .until = 19,
      .form = AXON_FORM_ATTRIBUTES,
      .inputs = { 1, 2 },
      .operands = ".N",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("axis", 1), ATTR_I ("inverse", 0), ATTR_I ("onesided", 0)),
      .infer = infer_dft,
      .eval = eval_dft,
  },
  {
      .name = "DFT",
      .since = 20,
      .inputs = { 1, 3 },
      .operands = ".NN",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("inverse", 0), ATTR_I ("onesided", 0)),
      .infer = infer_dft,
      .eval = eval_dft,
  },
  {
      .name = "STFT",
      .since = 17,
      .inputs = { 2, 4 },
      .operands = ".NxN",
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("onesided", 1)),
      .infer = infer_stft,
      .eval = eval_stft,
  },
};

DEFINE_FAMILY (signal, rows)
