/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Builders, and what they share. */
#pragma once

#include "../gpuplan.h"
#include "../gpuelement.h"
#include "../cl/params.h"

G_STATIC_ASSERT (GPU_MAX_RANK == AXON_MAX_RANK);

/* Adds a struct of params.h to the plan; returns where it begins. */
#define GPU_PARAMS_OF(plan, params)                                                                \
  gpu_plan_params (plan, (const gint32 *)(gconstpointer) & (params),                               \
                   (guint)(sizeof (params) / sizeof (gint32)))
/* A number of the graph as kernels take it, clamped. */
gint32 gpu_int (gint64 value);
void gpu_ints (const gint64 *values, gint n, gint32 *to);
/* FALSE: its places are none that fit an int, as kernels compute them. */
gboolean gpu_window_fits (const AxonWindow *w, gchar **why);
GpuWindow gpu_window (const AxonWindow *w);

/* A kernel made of @family for the type of @t: words N, T, C and S; @name gets the suffix of the
 * type. More words follow, in pairs, ended by NULL. Returns its name (transfer full). */
gchar *gpu_kernel_for (GpuPlan *plan, const gchar *name, const gchar *family, AxonDType dtype,
                       ...) G_GNUC_NULL_TERMINATED;

/* The same words for a draft (transfer full). */
GPtrArray *gpu_words_for (AxonDType dtype, ...) G_GNUC_NULL_TERMINATED;

/* Elements of any kind: unsigned integer of so many bytes. */
const gchar *gpu_size_type (AxonDType dtype);

/* What was measured, or is now, for the node; 0: nothing. */
gint gpu_wanted_variant (const GpuPlan *plan);

/* Kernels in local memory: a group makes 64 rows by 8 * width columns; each of its slices of 64
 * items takes a part of the depth. */
#define GPU_TILE_ROWS 64
#define GPU_TILE_DEPTH 8 /* that a slice takes at once */
typedef struct {
  gint width, slices;
} GpuTile;
/* For products of @batch; @steps: of GPU_TILE_DEPTH; @otherwise: microseconds that they take
 * without. FALSE: they are none for local memory. */
gboolean gpu_choose_tile (const GpuPlan *plan, gint64 rows, gint64 columns, gint64 steps,
                          gint64 batch, gdouble otherwise, GpuTile *tile);
gint64 gpu_tiles (gint64 columns, gint width);
/* Slices of a group that the device can have, at most @most. */
gint gpu_most_slices (const GpuPlan *plan, gint most);
/* A draft whose groups have @slices times GPU_GROUP items. */
void gpu_step_slice (GpuStep *step, gint slices);

/* Around an axis of a shape. */
typedef struct {
  gint64 outer, length, inner;
} GpuLines;

GpuLineParams gpu_line_params (const GpuLines *lines);
GpuLines gpu_lines (const AxonShape *shape, gint axis);
gint gpu_node_axis (const AxonNode *node, gint rank);
void gpu_strides (const AxonShape *shape, gint64 *strides);

/* to[y0 + sum k * ys] = from[x0 + sum k * xs] over all k below dims. */
void gpu_move (GpuPlan *plan, const GpuTensor *from, gint64 x0, const GpuTensor *to, gint64 y0,
               gint rank, const gint64 *dims, const gint64 *xs, const gint64 *ys);

/* y[n, rows, columns] = a[n, rows, depth] b[n, depth, columns]; @turned: a[n, depth, rows] */
void gpu_products (GpuPlan *plan, const GpuTensor *a, gboolean turned, const GpuTensor *b,
                   const GpuTensor *y, gint64 n, gint64 rows, gint64 depth, gint64 columns);
/* y[batch, outputs] = x[batch, inputs] w[outputs, inputs] turned, + bias[outputs] (nullable) */
void gpu_dense (GpuPlan *plan, const GpuTensor *x, GpuTensor *w, const GpuTensor *bias,
                const GpuTensor *y, gint64 batch);
gboolean gpu_add_winograd (GpuPlan *plan, const AxonNode *node, const AxonWindow *w);

/* A step with an item for each element of @y: parameters at @p, then buffers @in and @y. */
GpuStep *gpu_each_element (GpuPlan *plan, const gchar *name, gint32 p, GpuTensor *const *in,
                           guint n_in, GpuTensor *y);

/* TRUE for QLinearConv whose scales, zero points and weights are known. */
gboolean gpu_has_integer_conv (const AxonNode *node);

/* Views of the same elements. */
gboolean gpu_build_view (GpuPlan *plan, const AxonNode *node, gchar **why);
/* By the name of one of the operators Reduce*. */
void gpu_reduce (GpuPlan *plan, const gchar *reduction, const GpuTensor *x, const GpuTensor *y,
                 const gboolean *reduced);

/* Each family has a table of its operators; meson.build lists the families. */
#define GPU_DECLARE_FAMILY(name) extern const GpuFamily gpu_family_##name;
#define GPU_DEFINE_FAMILY(name, rows)                                                              \
  GPU_DECLARE_FAMILY (name)                                                                        \
  const GpuFamily gpu_family_##name = { rows, G_N_ELEMENTS (rows) };
