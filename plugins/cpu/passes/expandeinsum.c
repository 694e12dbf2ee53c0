/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Einsum of two operands, in which every label of one stands in the other or in the result, becomes
 * a matrix product between Transpose and Reshape. Others keep their reference kernel. */
#include "cpupasses.h"

#include <string.h>

#define LABELS (2 * AXON_MAX_RANK)

/* Labels, each once. */
typedef struct {
  gint n;
  gchar label[LABELS];
} Labels;

typedef struct {
  Labels a, b, y;
  gint64 size[128]; /* by label */
  Labels batch, rows, columns, sums;
} Product;

static gint
find (const Labels *l, gchar label)
{
  gint at = 0;
  while (at < l->n && l->label[at] != label)
    at++;
  return at < l->n ? at : -1;
}

/* FALSE: a label stands twice, or there are too many. */
static gboolean
append (Labels *l, gchar label)
{
  if (l->n == LABELS || find (l, label) >= 0)
    return FALSE;
  l->label[l->n++] = label;
  return TRUE;
}

/* Reads labels up to @end. */
static gboolean
read_labels (Labels *l, const gchar *text, const gchar *end)
{
  for (; text < end; text++)
    if (*text != ' ' && (!g_ascii_isalpha (*text) || !append (l, *text)))
      return FALSE;
  return TRUE;
}

/* Without an arrow: what stands once, by the alphabet. */
static gboolean
imply_result (Product *p)
{
  gboolean ok = TRUE;
  for (gchar c = 'A'; ok && c <= 'z'; c++)
    if ((find (&p->a, c) >= 0) != (find (&p->b, c) >= 0))
      ok = append (&p->y, c);
  return ok;
}

static gboolean
read_equation (Product *p, const gchar *text)
{
  const gchar *comma = strchr (text, ','), *arrow = strstr (text, "->");
  const gchar *end = arrow ? arrow : text + strlen (text);
  return comma != NULL && comma < end && read_labels (&p->a, text, comma) &&
         read_labels (&p->b, comma + 1, end) &&
         (arrow ? read_labels (&p->y, arrow + 2, arrow + strlen (arrow)) : imply_result (p));
}

/* FALSE: sizes are unknown, or a label has two. */
static gboolean
read_sizes (Product *p, const Labels *l, const AxonShape *shape)
{
  if (l->n != shape->rank || axon_shape_get_numel (shape) < 1)
    return FALSE;
  for (gint d = 0; d < l->n; d++) {
    gint64 *size = &p->size[(gint)l->label[d]];
    if (*size != 0 && *size != shape->dims[d])
      return FALSE;
    *size = shape->dims[d];
  }
  return TRUE;
}

static gboolean
sort_labels (Product *p)
{
  gboolean ok = TRUE;
  for (gint i = 0; ok && i < p->a.n; i++) {
    gchar c = p->a.label[i];
    gboolean in_b = find (&p->b, c) >= 0, in_y = find (&p->y, c) >= 0;
    ok = (in_b || in_y) && append (in_b && in_y ? &p->batch : in_b ? &p->sums : &p->rows, c);
  }
  for (gint i = 0; ok && i < p->b.n; i++)
    if (find (&p->a, p->b.label[i]) < 0)
      ok = find (&p->y, p->b.label[i]) >= 0 && append (&p->columns, p->b.label[i]);
  return ok && p->y.n == p->batch.n + p->rows.n + p->columns.n;
}

static gboolean
product_init (Product *p, const AxonNode *node)
{
  *p = (Product){ 0 };
  return axon_node_is (node, "Einsum") && node->n_inputs == 2 &&
         node->inputs[0]->type.dtype == AXON_DTYPE_F32 &&
         axon_shape_is_static (&node->inputs[0]->type.shape) &&
         axon_shape_is_static (&node->inputs[1]->type.shape) &&
         read_equation (p, axon_node_get_string (node, "equation")) &&
         read_sizes (p, &p->a, &node->inputs[0]->type.shape) &&
         read_sizes (p, &p->b, &node->inputs[1]->type.shape) && sort_labels (p) &&
         p->y.n <= AXON_MAX_RANK;
}

static Labels
join (const Labels *a, const Labels *b, const Labels *c)
{
  Labels all = *a;
  for (gint i = 0; i < b->n; i++)
    append (&all, b->label[i]);
  for (gint i = 0; i < c->n; i++)
    append (&all, c->label[i]);
  return all;
}

static gint64
size_of (const Product *p, const Labels *l)
{
  gint64 n = 1;
  for (gint i = 0; i < l->n; i++)
    n *= p->size[(gint)l->label[i]];
  return n;
}

static AxonValue *
apply (AxonModel *model, const AxonNode *like, const gchar *name, AxonValue *a, AxonValue *b)
{
  AxonValue *in[] = { a, b };
  return cpu_pass_apply (model, like, name, in, b ? 2 : 1);
}

/* @x, of dimensions @from, with dimensions @to. */
static AxonValue *
transpose (AxonModel *model, const AxonNode *like, AxonValue *x, const Labels *from,
           const Labels *to)
{
  gint64 perm[LABELS];
  gboolean moves = FALSE;
  for (gint i = 0; i < to->n; i++) {
    perm[i] = find (from, to->label[i]);
    moves = moves || perm[i] != i;
  }
  if (!moves)
    return x;
  x = apply (model, like, "Transpose", x, NULL);
  axon_node_set_ints (x->producer, "perm", perm, (guint)to->n);
  return x;
}

/* An operand as an array of matrices. */
static AxonValue *
matrices (AxonModel *model, const AxonNode *node, const Product *p, guint index, const Labels *rows,
          const Labels *columns)
{
  Labels wanted = join (&p->batch, rows, columns);
  gint64 dims[] = { size_of (p, &p->batch), size_of (p, rows), size_of (p, columns) };
  AxonValue *x = transpose (model, node, node->inputs[index], index ? &p->b : &p->a, &wanted);
  return cpu_pass_reshape (model, node, x, dims, G_N_ELEMENTS (dims));
}

static void
expand (AxonModel *model, AxonNode *node, const Product *p)
{
  Labels made = join (&p->batch, &p->rows, &p->columns);
  AxonValue *a = matrices (model, node, p, 0, &p->rows, &p->sums);
  AxonValue *b = matrices (model, node, p, 1, &p->sums, &p->columns);
  AxonValue *y = apply (model, node, "MatMul", a, b);
  gint64 dims[LABELS], wanted[LABELS];
  for (gint i = 0; i < made.n; i++)
    dims[i] = p->size[(gint)made.label[i]];
  for (gint i = 0; i < p->y.n; i++)
    wanted[i] = p->size[(gint)p->y.label[i]];
  y = transpose (model, node, cpu_pass_reshape (model, node, y, dims, made.n), &made, &p->y);
  AxonValue *in[] = { y, cpu_pass_add_ints (model, wanted, (guint)p->y.n) };
  cpu_pass_replace (model, node, "Reshape", in, G_N_ELEMENTS (in));
}

static gboolean
rewrite (AxonModel *model, AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Product p;
  if (!product_init (&p, node))
    return FALSE;
  expand (model, node, &p);
  return TRUE;
}

gboolean
cpu_pass_expand_einsum (AxonModel *model, GError **error)
{
  return cpu_pass_rewrite (model, rewrite, error);
}
