/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cast of numbers, as they lie: between the pairs of types that graphs ask for. */
#include "kernels.h"
#include "../cpuisa.h"
#include "../cpupool.h"
#include "../onednn/cpudnn.h"

#include <math.h>

/* Elements that are worth a thread. */
#define PARALLEL 32768

typedef void (*CastFunc) (const CpuHalf *half, gpointer y, gconstpointer x, gint64 n);

static void
widen (const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)
{
  half->to_floats (y, x, n);
}

static void
narrow (const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)
{
  half->from_floats (y, x, n);
}

/* Whole numbers that are too large lose their upper bits. */
#define CAST(name, from_type, to_type)                                                             \
  static void name (G_GNUC_UNUSED const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)      \
  {                                                                                                \
    to_type *restrict to = y;                                                                      \
    const from_type *restrict from = x;                                                            \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i] = (to_type)from[i];                                                                    \
  }
CAST (u8_to_f32, guint8, gfloat)
CAST (i8_to_f32, gint8, gfloat)
CAST (i32_to_f32, gint32, gfloat)
CAST (i64_to_f32, gint64, gfloat)
CAST (i32_to_i64, gint32, gint64)
CAST (i64_to_i32, gint64, gint32)
CAST (u8_to_i64, guint8, gint64)
CAST (u8_to_i32, guint8, gint32)
CAST (i32_to_u8, gint32, guint8)
CAST (i64_to_u8, gint64, guint8)
CAST (f32_to_f64, gfloat, gdouble)
CAST (f64_to_f32, gdouble, gfloat)
#undef CAST

/* What is no number is true. */
#define CAST_TRUTH(name, from_type)                                                                \
  static void name (G_GNUC_UNUSED const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)      \
  {                                                                                                \
    guint8 *restrict to = y;                                                                       \
    const from_type *restrict from = x;                                                            \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i] = from[i] != 0;                                                                        \
  }
CAST_TRUTH (f32_to_bool, gfloat)
CAST_TRUTH (u8_to_bool, guint8)
CAST_TRUTH (i32_to_bool, gint32)
CAST_TRUTH (i64_to_bool, gint64)
#undef CAST_TRUTH

/* Towards zero; what is too large becomes the limit, and what is no number 0. */
#define CAST_FLOATS(name, to_type, low, high)                                                      \
  static void name (G_GNUC_UNUSED const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)      \
  {                                                                                                \
    to_type *restrict to = y;                                                                      \
    const gfloat *restrict from = x;                                                               \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i] = from[i] >= (gfloat)(high) ? (high)                                                   \
              : from[i] > (gfloat)(low) ? (to_type)from[i]                                         \
              : isnan (from[i])         ? 0                                                        \
                                        : (low);                                                           \
  }
CAST_FLOATS (f32_to_i32, gint32, G_MININT32, G_MAXINT32)
CAST_FLOATS (f32_to_i64, gint64, G_MININT64, G_MAXINT64)
CAST_FLOATS (f32_to_i8, gint8, G_MININT8, G_MAXINT8)
#undef CAST_FLOATS

/* The same of bytes, in what the compiler makes vectors of. */
static void
f32_to_u8 (G_GNUC_UNUSED const CpuHalf *half, gpointer y, gconstpointer x, gint64 n)
{
  guint8 *restrict to = y;
  const gfloat *restrict from = x;
  for (gint64 i = 0; i < n; i++) {
    gfloat v = from[i] > 0 ? from[i] : 0;
    v = v < G_MAXUINT8 ? v : G_MAXUINT8;
    to[i] = (guint8)(gint32)v;
  }
}

static const struct {
  AxonDType from, to;
  CastFunc func;
} casts[] = {
  { AXON_DTYPE_F16, AXON_DTYPE_F32, widen },
  { AXON_DTYPE_F32, AXON_DTYPE_F16, narrow },
  { AXON_DTYPE_BOOL, AXON_DTYPE_F32, u8_to_f32 },
  { AXON_DTYPE_U8, AXON_DTYPE_F32, u8_to_f32 },
  { AXON_DTYPE_I8, AXON_DTYPE_F32, i8_to_f32 },
  { AXON_DTYPE_I32, AXON_DTYPE_F32, i32_to_f32 },
  { AXON_DTYPE_I64, AXON_DTYPE_F32, i64_to_f32 },
  { AXON_DTYPE_F32, AXON_DTYPE_I32, f32_to_i32 },
  { AXON_DTYPE_F32, AXON_DTYPE_I64, f32_to_i64 },
  { AXON_DTYPE_I32, AXON_DTYPE_I64, i32_to_i64 },
  { AXON_DTYPE_I64, AXON_DTYPE_I32, i64_to_i32 },
  { AXON_DTYPE_BOOL, AXON_DTYPE_I64, u8_to_i64 },
  { AXON_DTYPE_U8, AXON_DTYPE_I64, u8_to_i64 },
  { AXON_DTYPE_F32, AXON_DTYPE_U8, f32_to_u8 },
  { AXON_DTYPE_F32, AXON_DTYPE_I8, f32_to_i8 },
  { AXON_DTYPE_F32, AXON_DTYPE_BOOL, f32_to_bool },
  { AXON_DTYPE_F32, AXON_DTYPE_F64, f32_to_f64 },
  { AXON_DTYPE_F64, AXON_DTYPE_F32, f64_to_f32 },
  { AXON_DTYPE_BOOL, AXON_DTYPE_I32, u8_to_i32 },
  { AXON_DTYPE_U8, AXON_DTYPE_I32, u8_to_i32 },
  { AXON_DTYPE_I32, AXON_DTYPE_U8, i32_to_u8 },
  { AXON_DTYPE_I64, AXON_DTYPE_U8, i64_to_u8 },
  { AXON_DTYPE_U8, AXON_DTYPE_BOOL, u8_to_bool },
  { AXON_DTYPE_I32, AXON_DTYPE_BOOL, i32_to_bool },
  { AXON_DTYPE_I64, AXON_DTYPE_BOOL, i64_to_bool },
};

typedef struct {
  CastFunc func;
  const CpuHalf *half;
  gsize from, to; /* bytes of an element */
} Cast;

/* Of one run. */
typedef struct {
  const Cast *plan;
  const guint8 *x;
  guint8 *y;
} CastRun;

static void
cast_elements (gpointer data, gint64 first, gint64 end)
{
  const CastRun *run = data;
  const Cast *p = run->plan;
  p->func (p->half, run->y + (gsize)first * p->to, run->x + (gsize)first * p->from, end - first);
}

static void
run_cast (const CpuStep *step, const CpuInstance *instance)
{
  CastRun run = { step->data, cpu_tensor_data (instance, step->in[0]),
                  cpu_tensor_data (instance, step->out[0]) };
  cpu_parallel_ranges (axon_shape_get_numel (&step->out[0]->shape), PARALLEL, cast_elements, &run);
}

static gboolean
build_cast (CpuPlan *plan, const AxonNode *node, G_GNUC_UNUSED GError **error)
{
  AxonDType from = node->inputs[0]->type.dtype, to = node->outputs[0]->type.dtype;
  Cast cast = { .half = cpu_isa_get ()->vector->half,
                .from = axon_dtype_get_size (from),
                .to = axon_dtype_get_size (to) };
  g_autoptr (CpuMd) md = NULL;
  CpuTensor *x, *y;
  for (guint i = 0; i < G_N_ELEMENTS (casts); i++)
    if (casts[i].from == from && casts[i].to == to)
      cast.func = casts[i].func;
  if (cast.func == NULL)
    return FALSE;
  x = cpu_dense_input (plan, node, 0, to, &md);
  y = cpu_plan_output (plan, node, 0, md);
  cpu_plan_add_step (plan, run_cast, g_memdup2 (&cast, sizeof cast), g_free, "own", &x, 1, &y, 1);
  return TRUE;
}

const CpuKernel cpu_cast_kernels[] = {
  { .name = "Cast", .impl = "own", .build = build_cast },
  { .name = "CastLike", .impl = "own", .build = build_cast },
  { 0 },
};
