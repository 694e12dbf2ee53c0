/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The oneDNN room as the rest of the plugin sees it: no oneDNN type passes here. Files of this
 * folder are the only ones that include its header. */
#pragma once

#include "../cpuplan.h"

/* Channels of a block of the layout that oneDNN makes of rows where it wants blocks. */
#define CPU_DNN_BLOCK 8

/* Layouts */
gsize cpu_md_get_bytes (const CpuMd *md);
CpuMd *cpu_md_copy (const CpuMd *md);
void cpu_md_free (CpuMd *md);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CpuMd, cpu_md_free)
gboolean cpu_md_equal (const CpuMd *a, const CpuMd *b);
CpuMd *cpu_md_channel_blocks (AxonDType dtype, const AxonShape *shape, gint64 block);
/* Channels of a block of nCw8c, nChw16c and the like; 0 for other layouts. */
gint64 cpu_md_get_block (const CpuMd *md, AxonDType dtype, const AxonShape *shape);
CpuMd *cpu_md_channels_last (AxonDType dtype, const AxonShape *shape);
/* Row strides in elements; FALSE for blocked layouts. md NULL: row-major of @shape. */
gboolean cpu_md_get_strides (const CpuMd *md, const AxonShape *shape, gint64 *strides);
CpuMd *cpu_md_strided (AxonDType dtype, const AxonShape *shape, const gint64 *strides);
gboolean cpu_dnn_has_type (AxonDType dtype);

/* FALSE: it reaches so far that making its kernels takes long, or their arithmetic overflows. Where
 * a model has such a window, the reference kernel takes it. */
gboolean cpu_window_is_near (const AxonWindow *w);

/* The memory of @t from element @offset on, with another shape (NULL: its own) and layout, which it
 * takes over. */
CpuTensor *cpu_dnn_view (CpuPlan *plan, const CpuTensor *t, const AxonShape *shape, CpuMd *md,
                         gint64 offset);

/* Adds a conversion step from one layout or type to another. */
void cpu_dnn_add_reorder (CpuPlan *plan, CpuTensor *from, CpuTensor *to);

/* MatMul or Gemm that oneDNN multiplies, with activations (attribute axon.posts) and a row of bias
 * as input 2, MatMul's too. */
gboolean cpu_dnn_takes_posts (const AxonNode *node);
/* TRUE where @node has a post of the same algorithm with other arguments: oneDNN (2.6, with AVX2)
 * computes both with one's, without an error. */
gboolean cpu_dnn_confuses (const AxonNode *node, const gchar *op, gfloat alpha, gfloat beta);

/* Constant weights [inner, columns] for so many rows. */
typedef struct {
  gint64 rows, inner, columns;
  const gfloat *weights;
} CpuProduct;

/* Adds the memory of @y = that of @x times weights, plus @bias for each column, which it takes
 * over. */
void cpu_dnn_add_product (CpuPlan *plan, CpuTensor *x, const CpuProduct *product, gfloat *bias,
                          CpuTensor *y);

/* Caps what oneDNN uses: "SSE41", "AVX2", "AVX2_VNNI", "AVX512", "AVX512_VNNI", "AVX512_BF16";
 * NULL: no cap but oneDNN's own environment variable. FALSE: no such name, or oneDNN is in use
 * already. */
gboolean cpu_dnn_set_max_isa (const gchar *name);
/* What it uses, by such a name; "default" on other processors than x86. Asking is a use. */
const gchar *cpu_dnn_get_isa (void);
/* TRUE if products of u8 and s8 never saturate there: VNNI, AMX, or no x86. */
gboolean cpu_dnn_has_exact_int8 (void);

/* TRUE if it multiplies tiles of bf16 and bytes (AMX): several times as fast as floats. */
gboolean cpu_dnn_has_tiles (void);
/* TRUE if its convolutions of floats like their data channels last. */
gboolean cpu_dnn_is_channels_last (void);
/* FALSE where it has portable code only. */
gboolean cpu_dnn_has_kernels (void);
/* Lets it count threads, as it does for most that it makes: so that cpu_openmp_is_ours () knows
 * whom it asks, whatever is made first. */
void cpu_dnn_ask_for_threads (void);
/* Of the library that runs: "2.6.3" */
const gchar *cpu_dnn_get_version (void);

/* QLinearConv where oneDNN is exact, for the family of 8-bit convolutions. @tiles: by those only.
 */
gboolean cpu_dnn_build_qlinear_conv (CpuPlan *plan, const AxonNode *node, gboolean tiles);
