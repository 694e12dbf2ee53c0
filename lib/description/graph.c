/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the graph itself shows: a picture of one channel; bytes as input; first nodes that subtract
 * and divide, so that nobody else needs to; last nodes that make scores of outputs. */
#include "axonmodeldescription-private.h"

#include <axon/plugin/axongraph.h>
#include <axon/plugin/axonop.h>

#include <math.h>
#include <string.h>

static const AxonSpeaker speaker = { .name = AXON_SOURCE_GRAPH };

/* y = a * x + b of the first channel, so far. */
typedef struct {
  gdouble a, b;
  guint n;             /* nodes that did something */
  gboolean is_learned; /* a BatchNormalization did */
} Affine;

static gboolean
constant_at (const AxonNode *node, guint index, gdouble *value)
{
  const AxonTensor *t =
      index < node->n_inputs && node->inputs[index] ? node->inputs[index]->type.value : NULL;
  if (t == NULL || axon_tensor_get_numel (t) < 1 || axon_tensor_get_numel (t) > 4)
    return FALSE;
  *value = axon_tensor_get_value (t, 0);
  return isfinite (*value);
}

static gboolean
apply_add (Affine *f, const AxonNode *node, guint data)
{
  gdouble c;
  if (!constant_at (node, 1 - data, &c))
    return FALSE;
  f->b += c;
  return TRUE;
}

static gboolean
apply_sub (Affine *f, const AxonNode *node, guint data)
{
  gdouble c;
  if (data != 0 || !constant_at (node, 1, &c))
    return FALSE;
  f->b -= c;
  return TRUE;
}

static gboolean
apply_mul (Affine *f, const AxonNode *node, guint data)
{
  gdouble c;
  if (!constant_at (node, 1 - data, &c))
    return FALSE;
  f->a *= c;
  f->b *= c;
  return TRUE;
}

static gboolean
apply_div (Affine *f, const AxonNode *node, guint data)
{
  gdouble c;
  if (data != 0 || !constant_at (node, 1, &c) || c == 0)
    return FALSE;
  f->a /= c;
  f->b /= c;
  return TRUE;
}

/* (x - mean) / sqrt (variance + epsilon) * scale + bias; epsilon is small beside a picture's. */
static gboolean
apply_normalization (Affine *f, const AxonNode *node, guint data)
{
  gdouble scale, bias, mean, variance;
  if (data != 0 || !constant_at (node, 1, &scale) || !constant_at (node, 2, &bias) ||
      !constant_at (node, 3, &mean) || !constant_at (node, 4, &variance) || variance < 0)
    return FALSE;
  scale /= sqrt (variance + 1e-5);
  f->is_learned = TRUE;
  f->a *= scale;
  f->b = (f->b - mean) * scale + bias;
  return TRUE;
}

/* Those without a function move values and change none. */
static const struct {
  const gchar *op;
  gboolean (*apply) (Affine *f, const AxonNode *node, guint data);
} steps[] = {
  { "Add", apply_add },
  { "Sub", apply_sub },
  { "Mul", apply_mul },
  { "Div", apply_div },
  { "BatchNormalization", apply_normalization },
  { "Cast", NULL },
  { "Identity", NULL },
  { "Transpose", NULL },
  { "Unsqueeze", NULL },
};

/* The node's first output; NULL: it is none of the steps. */
static const AxonValue *
follow (Affine *f, const AxonNode *node, const AxonValue *from)
{
  guint data = node->n_inputs > 0 && node->inputs[0] == from ? 0 : 1;
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    if (!g_str_equal (steps[i].op, node->op->name) || node->n_outputs < 1)
      continue;
    if (steps[i].apply == NULL)
      return node->outputs[0];
    if (data > 1 || !steps[i].apply (f, node, data))
      return NULL;
    f->n++;
    return node->outputs[0];
  }
  return NULL;
}

#define MAX_STEPS 8

static Affine
normalisation_of (const AxonValue *input)
{
  Affine f = { .a = 1 };
  const AxonValue *v = input;
  for (guint i = 0; i < MAX_STEPS && v != NULL && v->users->len == 1; i++)
    v = follow (&f, g_ptr_array_index (v->users, 0), v);
  return f;
}

/* Networks want numbers of the order of one, or bytes less their mean. A graph that makes such of 0
 * to 255 takes bytes; one that makes such of 0 to 1 wants them divided before. A normalisation that
 * was learned tells only the former: what it was trained on may have been normalised already. */
static gboolean
say_normalisation (AxonModelDescription *d, const AxonValue *input, GError **error)
{
  Affine f = normalisation_of (input);
  gdouble unit = fabs (f.a), middle = fabs (f.b + f.a / 2);
  gboolean takes_bytes = input->type.dtype == AXON_DTYPE_U8;
  if (f.n == 0 && !takes_bytes)
    return TRUE;
  if (!takes_bytes && unit * 255 > 12 && unit < 0.9) /* neither: a layer, not a normalisation */
    return TRUE;
  takes_bytes = takes_bytes || unit * 255 <= 12 || middle > 6;
  if (f.is_learned && !takes_bytes)
    return TRUE;
  return axon_model_description_say (d, &speaker, "mean", "0", error) &&
         axon_model_description_say (d, &speaker, "scale", takes_bytes ? "1" : "255", error);
}

/* One channel, first or last, and sides that may be a picture's. */
static gboolean
say_channels (AxonModelDescription *d, const AxonShape *s, GError **error)
{
  gboolean is_gray =
      s->rank == 4 && (s->dims[1] == 1 || s->dims[3] == 1) && s->dims[1] != 3 && s->dims[3] != 3;
  return !is_gray || axon_model_description_say (d, &speaker, "color", "gray", error);
}

/* Scores that were made so lack nothing. */
static gboolean
say_activation (AxonModelDescription *d, AxonModel *model, GError **error)
{
  const AxonValue *out = model->outputs->len == 1 ? g_ptr_array_index (model->outputs, 0) : NULL;
  const gchar *last = out != NULL && out->producer != NULL ? out->producer->op->name : "";
  if (!g_str_equal (last, "Softmax") && !g_str_equal (last, "Sigmoid"))
    return TRUE;
  return axon_model_description_say (d, &speaker, "activation", "none", error);
}

gboolean
axon_load_graph (AxonModelDescription *d, G_GNUC_UNUSED const gchar *model_path, AxonModel *model,
                 GError **error)
{
  const AxonValue *input = model->inputs->len > 0 ? g_ptr_array_index (model->inputs, 0) : NULL;
  if (input == NULL || model->nodes->len == 0)
    return TRUE;
  return say_channels (d, &input->type.shape, error) && say_normalisation (d, input, error) &&
         say_activation (d, model, error);
}
