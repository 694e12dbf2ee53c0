/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* ScatterElements (once Scatter) and ScatterND over row-major memory: data is copied, then updates
 * apply in order. What threads share out are the places that no two updates of different threads
 * can meet at: lines along the axis, or columns of the slices. */
#include "indices.h"
#include "kernels.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <string.h>

#define PARALLEL 16384

/* @n elements of @y take updates. */
typedef void (*PutFunc) (gpointer y, gconstpointer u, gint64 n);

#define PUT(name, type, expr)                                                                      \
  static void name (gpointer to, gconstpointer from, gint64 n)                                     \
  {                                                                                                \
    type *y = to;                                                                                  \
    const type *x = from;                                                                          \
    for (gint64 i = 0; i < n; i++) {                                                               \
      type a = y[i], b = x[i];                                                                     \
      (void)a;                                                                                     \
      y[i] = expr;                                                                                 \
    }                                                                                              \
  }
PUT (put_guint8, guint8, b)
PUT (put_guint16, guint16, b)
PUT (put_guint32, guint32, b)
PUT (put_guint64, guint64, b)
PUT (put_add, gfloat, a + b)
PUT (put_mul, gfloat, a *b)
PUT (put_max, gfloat, MAX (a, b))
PUT (put_min, gfloat, MIN (a, b))
#undef PUT

/* By size of an element. */
static const PutFunc replace[] = {
  [1] = put_guint8, [2] = put_guint16, [4] = put_guint32, [8] = put_guint64
};

static const struct {
  const gchar *name;
  PutFunc put;
} reductions[] = { { "add", put_add }, { "mul", put_mul }, { "max", put_max }, { "min", put_min } };

typedef struct {
  const AxonNode *node;
  PutFunc put;
  gsize size;
  gsize n_bytes; /* of data */
  gint64 units, least;
  AxonShape x, u;
  gint axis;
  gint64 strides[AXON_MAX_RANK];
  gint64 row, tuple, n; /* ScatterND: elements of a slice, indices of a tuple, tuples */
} Scatter;

typedef struct {
  const Scatter *plan;
  CpuIndices index;
  const guint8 *u;
  guint8 *y;
} ScatterRun;

/* A unit: all updates of one line along the axis. */
static void
scatter_lines (gpointer data, gint64 first, gint64 end)
{
  const ScatterRun *run = data;
  const Scatter *s = run->plan;
  gint64 inner = 1, n = s->u.dims[s->axis];
  for (gint d = s->axis + 1; d < s->u.rank; d++)
    inner *= s->u.dims[d];
  for (gint64 line = first; line < end; line++) {
    gint64 at = 0, rest = line, from = line / inner * inner * n + line % inner;
    for (gint d = s->u.rank - 1; d >= 0; d--) {
      if (d == s->axis)
        continue;
      at += rest % s->u.dims[d] * s->strides[d];
      rest /= s->u.dims[d];
    }
    for (gint64 i = 0; i < n; i++, from += inner) {
      gint64 k = cpu_index_at (&run->index, from, s->x.dims[s->axis]);
      gsize to = (gsize)(at + k * s->strides[s->axis]);
      s->put (run->y + to * s->size, run->u + (gsize)from * s->size, 1);
    }
  }
}

/* A unit: one element of every slice. */
static void
scatter_columns (gpointer data, gint64 first, gint64 end)
{
  const ScatterRun *run = data;
  const Scatter *s = run->plan;
  for (gint64 t = 0; t < s->n; t++) {
    gint64 at = 0;
    for (gint64 d = 0; d < s->tuple; d++)
      at = at * s->x.dims[d] + cpu_index_at (&run->index, t * s->tuple + d, s->x.dims[d]);
    s->put (run->y + (gsize)(at * s->row + first) * s->size,
            run->u + (gsize)(t * s->row + first) * s->size, end - first);
  }
}

static void
run_scatter (const CpuStep *step, const CpuInstance *instance, CpuRangeFunc func)
{
  const Scatter *s = step->data;
  gint bad = FALSE;
  ScatterRun run = { s,
                     { cpu_tensor_data (instance, step->in[1]),
                       step->in[1]->dtype == AXON_DTYPE_I64, &bad },
                     cpu_tensor_data (instance, step->in[2]),
                     cpu_tensor_data (instance, step->out[0]) };
  memcpy (run.y, cpu_tensor_data (instance, step->in[0]), s->n_bytes);
  cpu_parallel_ranges (s->units, s->least, func, &run);
  if (bad)
    cpu_run_reference_kernel (s->node, step, instance);
}

static void
run_elements (const CpuStep *step, const CpuInstance *instance)
{
  run_scatter (step, instance, scatter_lines);
}

static void
run_slices (const CpuStep *step, const CpuInstance *instance)
{
  run_scatter (step, instance, scatter_columns);
}

static PutFunc
find_put (const AxonNode *node)
{
  const gchar *name = axon_node_get_string (node, "reduction");
  gsize size = axon_dtype_get_size (node->inputs[0]->type.dtype);
  if (name == NULL || g_str_equal (name, "none"))
    return size < G_N_ELEMENTS (replace) ? replace[size] : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (name, reductions[i].name) && node->inputs[0]->type.dtype == AXON_DTYPE_F32)
      return reductions[i].put;
  return NULL;
}

static gboolean
scatter_init (Scatter *s, const AxonNode *node)
{
  AxonDType dtype = node->inputs[1]->type.dtype;
  *s = (Scatter){ .node = node,
                  .put = find_put (node),
                  .size = axon_dtype_get_size (node->inputs[0]->type.dtype),
                  .x = node->inputs[0]->type.shape,
                  .u = node->inputs[2]->type.shape };
  s->n_bytes = (gsize)axon_shape_get_numel (&s->x) * s->size;
  return s->put != NULL && (dtype == AXON_DTYPE_I32 || dtype == AXON_DTYPE_I64) && s->n_bytes > 0 &&
         axon_shape_get_numel (&s->u) > 0;
}

static void
add_step (CpuPlan *plan, const AxonNode *node, CpuStepFunc run, const Scatter *s)
{
  CpuTensor *in[3], *out;
  for (guint i = 0; i < G_N_ELEMENTS (in); i++)
    in[i] = cpu_plan_input_as (plan, node, i, NULL);
  out = cpu_plan_output (plan, node, 0, NULL);
  cpu_plan_add_step (plan, run, g_memdup2 (s, sizeof *s), g_free, "own", in, 3, &out, 1);
}

static gboolean
build_elements (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  Scatter s;
  if (!scatter_init (&s, node))
    return FALSE;
  s.axis = (gint)axon_node_get_int (node, "axis");
  s.axis += s.axis < 0 ? s.x.rank : 0;
  cpu_md_get_strides (NULL, &s.x, s.strides);
  s.units = axon_shape_get_numel (&s.u) / s.u.dims[s.axis];
  s.least = PARALLEL / s.u.dims[s.axis] + 1;
  add_step (plan, node, run_elements, &s);
  return TRUE;
}

static gboolean
build_slices (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  const AxonShape *index = &node->inputs[1]->type.shape;
  Scatter s;
  if (!scatter_init (&s, node))
    return FALSE;
  s.tuple = index->dims[index->rank - 1];
  s.n = axon_shape_get_numel (index) / s.tuple;
  s.row = axon_shape_get_numel (&s.u) / s.n;
  s.units = s.row;
  s.least = MAX (PARALLEL / s.n, 64) + 1;
  add_step (plan, node, run_slices, &s);
  return TRUE;
}

const CpuKernel cpu_scatter_kernels[] = {
  { .name = "ScatterElements", .impl = "own", .build = build_elements },
  { .name = "Scatter", .impl = "own", .build = build_elements },
  { .name = "ScatterND", .impl = "own", .build = build_slices },
  { 0 },
};
