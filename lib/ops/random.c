/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random operators: RandomUniform, RandomNormal and their Like forms (1), Bernoulli (15),
 * Multinomial (7), Dropout (1 to 22; in training mode from 12). Results are those of GRand seeded
 * with the attribute "seed" (0 where it is left out), so a run can be repeated; uniform numbers and
 * Dropout's mask are NumPy's for that seed. */
#include "ops-private.h"

#include <math.h>
#include <string.h>

/* Type and shape of the input, unless an attribute says another type. */
static gboolean
infer_random_like (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  out[0].shape = in[0].shape;
  return axon_attr_dtype (node, "dtype", in[0].dtype, &out[0].dtype, error);
}

static gboolean
infer_random (const AxonNode *node, G_GNUC_UNUSED const AxonTypeInfo *in, AxonTypeInfo *out,
              GError **error)
{
  guint n;
  const gint64 *shape = axon_node_get_ints (node, "shape", &n);
  if (!axon_attr_dtype (node, "dtype", AXON_DTYPE_F32, &out[0].dtype, error))
    return FALSE;
  if (n > AXON_MAX_RANK)
    FAIL_FOR (SHAPE, UNSUPPORTED, "rank %u", n);
  out[0].shape.rank = (gint)n;
  for (guint i = 0; i < n; i++) {
    out[0].shape.dims[i] = shape[i];
    if (shape[i] < 0)
      FAIL (MODEL, "dimension %u is negative", i);
  }
  return TRUE;
}

static GRand *
seeded (const AxonNode *node)
{
  gfloat seed = (gfloat)axon_node_get_float (node, "seed");
  guint32 bits;
  memcpy (&bits, &seed, sizeof bits);
  return g_rand_new_with_seed (bits);
}

/* In [0, 1) with 53 bits, as NumPy's RandomState makes it of the same generator (MT19937). */
static gdouble
uniform (GRand *rand)
{
  guint32 high = g_rand_int (rand) >> 5, low = g_rand_int (rand) >> 6;
  return ((gdouble)high * 67108864 + (gdouble)low) / 9007199254740992;
}

static gdouble
normal (GRand *rand)
{
  gdouble u = 1 - uniform (rand), v = uniform (rand);
  return sqrt (-2 * log (u)) * cos (2 * G_PI * v); /* Box and Muller 1958 */
}

static gboolean
eval_random (const AxonNode *node, G_GNUC_UNUSED AxonTensor *const *in, AxonTensor *const *out,
             G_GNUC_UNUSED GError **error)
{
  g_autoptr (GRand) rand = seeded (node);
  gboolean gauss = g_str_has_prefix (node->op->name, "RandomNormal");
  gdouble a = axon_node_get_float (node, gauss ? "mean" : "low");
  gdouble b = axon_node_get_float (node, gauss ? "scale" : "high");
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      gauss ? a + b * normal (rand) : a + (b - a) * uniform (rand));
  return TRUE;
}

static gboolean
eval_bernoulli (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                G_GNUC_UNUSED GError **error)
{
  g_autoptr (GRand) rand = seeded (node);
  for (gsize i = 0; i < axon_tensor_get_numel (out[0]) && WANTED (i); i++)
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i,
                      uniform (rand) < axon_tensor_get_value (in[0], i));
  return TRUE;
}

static gboolean
infer_multinomial (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  gint64 n = axon_node_get_int (node, "sample_size");
  if (!axon_check_rank (in, 0, 2, 2, error) ||
      !axon_attr_dtype (node, "dtype", AXON_DTYPE_I32, &out[0].dtype, error))
    return FALSE;
  if (n < 0)
    FAIL (MODEL, "sample_size is negative");
  if (in[0].shape.rank == 2)
    out[0].shape = AXON_SHAPE (in[0].shape.dims[0], n);
  return TRUE;
}

/* Rows hold unnormalised log-probabilities. */
static gboolean
eval_multinomial (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out,
                  GError **error)
{
  g_autoptr (GRand) rand = seeded (node);
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  gint64 n = axon_tensor_get_dim (in[0], 1), samples = axon_tensor_get_dim (out[0], 1);
  for (gsize i = 0; n > 0 && i < axon_tensor_get_numel (out[0]); i++) {
    const gdouble *row = x + (gint64)i / samples * n;
    gdouble sum = 0, at;
    gint64 k = 0;
    for (gint64 c = 0; c < n; c++)
      sum += exp (row[c]);
    at = uniform (rand) * sum - exp (row[0]);
    while (k + 1 < n && at >= 0)
      at -= exp (row[++k]);
    axon_dtype_store (axon_tensor_get_dtype (out[0]), axon_tensor_get_data (out[0]), i, (gdouble)k);
  }
  return TRUE;
}

static gboolean
is_training (AxonTensor *training)
{
  return training != NULL && axon_tensor_get_numel (training) > 0 &&
         axon_tensor_get_value (training, 0) != 0;
}

static gboolean
infer_dropout (const AxonNode *node, const AxonTypeInfo *in, AxonTypeInfo *out, GError **error)
{
  if (axon_node_has_form (node, AXON_FORM_TEST_MODE) && axon_node_get_int (node, "is_test") == 0)
    FAIL (UNSUPPORTED, "training mode before opset 12");
  axon_infer_same (node, in, out, error);
  if (node->n_outputs > 1)
    out[1].dtype = axon_node_has_form (node, AXON_FORM_DATA_MASK) ? in[0].dtype : AXON_DTYPE_BOOL;
  return TRUE;
}

static gboolean
eval_dropout (const AxonNode *node, AxonTensor *const *in, AxonTensor *const *out, GError **error)
{
  AxonTensor *given = axon_operand (node, in, 1), *mask = node->n_outputs > 1 ? out[1] : NULL;
  gboolean training = is_training (axon_operand (node, in, 2));
  if (training && !axon_check_scalar (given, 1, error))
    return FALSE;
  gdouble ratio = !training ? 0 : given ? axon_tensor_get_value (given, 0) : 0.5;
  AXON_AUTO_SCRATCH gdouble *x = axon_load_doubles (in[0], error);
  if (*error != NULL)
    return FALSE;
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32)axon_node_get_int (node, "seed"));
  for (gsize i = 0; i < axon_tensor_get_numel (in[0]) && WANTED (i); i++) {
    gboolean stays = ratio <= 0 || uniform (rand) >= ratio;
    x[i] = !stays ? 0 : ratio > 0 ? x[i] / (1 - ratio) : x[i];
    if (mask != NULL)
      axon_dtype_store (axon_tensor_get_dtype (mask), axon_tensor_get_data (mask), i, stays);
  }
  axon_store_doubles (out[0], x);
  return TRUE;
}

#define LIKE_TYPES AXON_DTYPES_ALL
#define F AXON_DTYPES_FLOAT
#define UNIFORM ATTR_I ("dtype", 0), ATTR_F ("high", 1), ATTR_F ("low", 0), ATTR_F ("seed", 0)
#define NORMAL ATTR_I ("dtype", 0), ATTR_F ("mean", 0), ATTR_F ("scale", 1), ATTR_F ("seed", 0)

#define DROPOUT                                                                                    \
  .name = "Dropout", .outputs = { 1, 2 }, .types = F, .same_type_inputs = 1,                       \
  .infer = infer_dropout, .eval = eval_dropout

static const AxonOp rows[] = {
  {
      .name = "RandomUniform",
      .since = 1,
      .inputs = { 0, 0 },
      .outputs = { 1, 1 },
      .attrs = ATTRS (UNIFORM, REQUIRED ("shape", AXON_ATTR_INTS)),
      .infer = infer_random,
      .eval = eval_random,
  },
  {
      .name = "RandomNormal",
      .since = 1,
      .inputs = { 0, 0 },
      .outputs = { 1, 1 },
      .attrs = ATTRS (NORMAL, REQUIRED ("shape", AXON_ATTR_INTS)),
      .infer = infer_random,
      .eval = eval_random,
  },
  {
      .name = "RandomUniformLike",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = LIKE_TYPES,
      .same_type_inputs = 1,
      .attrs = ATTRS (UNIFORM),
      .infer = infer_random_like,
      .eval = eval_random,
  },
  {
      .name = "RandomNormalLike",
      .since = 1,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = LIKE_TYPES,
      .same_type_inputs = 1,
      .attrs = ATTRS (NORMAL),
      .infer = infer_random_like,
      .eval = eval_random,
  },
  {
      .name = "Bernoulli",
      .since = 15,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("dtype", 0), ATTR_F ("seed", 0)),
      .infer = infer_random_like,
      .eval = eval_bernoulli,
  },
  {
      .name = "Multinomial",
      .since = 7,
      .inputs = { 1, 1 },
      .outputs = { 1, 1 },
      .types = AXON_DTYPES_FLOAT,
      .same_type_inputs = 1,
      .attrs = ATTRS (ATTR_I ("dtype", 6), ATTR_I ("sample_size", 1), ATTR_F ("seed", 0)),
      .infer = infer_multinomial,
      .eval = eval_multinomial,
  },
  { DROPOUT, .since = 1, .until = 6,
    .form = AXON_FORM_ATTRIBUTES | AXON_FORM_TEST_MODE | AXON_FORM_DATA_MASK, .inputs = { 1, 1 },
    .attrs = ATTRS (ATTR_F ("ratio", 0.5), ATTR_I ("is_test", 0)) },
  { DROPOUT, .since = 7, .until = 9, .form = AXON_FORM_ATTRIBUTES | AXON_FORM_DATA_MASK,
    .inputs = { 1, 1 }, .attrs = ATTRS (ATTR_F ("ratio", 0.5)) },
  { DROPOUT, .since = 10, .until = 11, .form = AXON_FORM_ATTRIBUTES, .inputs = { 1, 1 },
    .attrs = ATTRS (ATTR_F ("ratio", 0.5)) },
  { DROPOUT, .since = 12, .inputs = { 1, 3 }, .operands = ".FZ",
    .attrs = ATTRS (ATTR_I ("seed", 0)) },
};

DEFINE_FAMILY (random, rows)
