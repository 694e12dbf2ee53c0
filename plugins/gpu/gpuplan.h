/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The GPU plan: kernels to enqueue one after another, over buffers of the device.
 *
 * Every value is dense and row-major. A plan is immutable once built and shared by all streams; a
 * GpuInstance (gpuinstance.h) is what one run needs of its own. Builders (kernels/) add steps, and
 * text to the one program of the plan. Shapes are no part of the text: they are numbers in one
 * buffer, the parameters, so that equal kernels of different layers are one kernel. */
#pragma once

#include "gpudevice.h"

#include <axon/axon.h>
#include <axon/axon-plugin.h>

typedef struct _GpuPlan GpuPlan;
typedef struct _GpuExpr GpuExpr; /* gpuelement.c */

typedef enum {
  GPU_ARENA,
  GPU_CONSTANT,
  GPU_INPUT,
  GPU_OUTPUT,
  GPU_PREPARED, /* made of constants, once */
  GPU_PARAMS,   /* numbers of the plan */
  GPU_FRAME,    /* numbers of a frame, see gpuframe.h */
  GPU_STATUS,   /* one int: 0, or which complaint a kernel has */
} GpuPlace;

typedef struct _GpuBuffer GpuBuffer;

struct _GpuBuffer {
  GpuPlace place;
  gsize n_bytes, offset; /* offset: in the arena; while planning that of a part in its parent */
  GpuBuffer *parent;     /* while planning: it is a part of that one */
  guint index;           /* of the input, output, constant or prepared one */
  guint id;              /* among the plan's buffers */
  gboolean any_size;     /* an input that every run may bring in another size */
  guint first, last;     /* steps; G_MAXUINT: none */
};

typedef struct {
  AxonDType dtype;
  AxonShape shape;
  GpuBuffer *buffer;
} GpuTensor;

/* An argument of a kernel: a buffer, or a number. */
typedef struct {
  GpuBuffer *buffer;
  gint32 number;
} GpuArg;

/* A kernel whose text is written when the plan is whole: what follows it element by element may
 * still become part of it. */
typedef struct {
  const gchar *family;
  GPtrArray *words; /* gchar, in pairs */
  gchar *put;       /* how a result is stored, and nothing is fused; NULL: as it is */
  GString *fused;   /* a function of the result, and of more buffers; empty: none */
  GString *more;    /* parameters of those, each begins with a comma */
  GString *names;   /* the same as arguments */
  const GpuTensor *result;
} GpuDraft;

/* Every kernel takes: the parameters; where its own begin; items along x; then args. Behind every
 * other buffer it takes where the value begins in it, in bytes (gputext.c). */
#define GPU_PARAMS_ARGUMENT 1
typedef struct {
  gchar *kernel;
  GArray *args;                   /* GpuArg, all */
  gsize global[3];                /* items, x rounded up to whole groups; an empty step has 0 */
  gsize local[3];                 /* items of a group */
  GpuBuffer *copy_from, *copy_to; /* of a copy of elements in order; else NULL */
  gsize copy_from_offset, copy_to_offset, copy_bytes;
  GpuDraft *draft;        /* while building, or NULL */
  gboolean once;          /* when the program is made, not when it runs */
  GpuBuffer *makes;       /* of such a step: what it prepares */
  guint params, n_params; /* its numbers among the plan's */
  AxonProfilingInfo info;
} GpuStep;

#define GPU_GROUP 64 /* items of a group, along x, unless a step says more */

/* Variants of convolutions and products: pixels or columns of an item; and this bit: a group shares
 * tiles in local memory, in so many slices. */
#define GPU_IN_LOCAL 16
#define GPU_TILE_VARIANT(width, slices) (GPU_IN_LOCAL | (width) | (slices) << 8)
#define GPU_VARIANT_WIDTH(variant) ((variant)&15)
#define GPU_VARIANT_SLICES(variant) ((variant) >> 8)

/* What properties decide. */
typedef struct {
  gboolean winograd;
  gboolean half;  /* numbers are stored in half precision */
  gboolean tune;  /* kernels are measured when compiling */
  gboolean local; /* local memory is fast enough for tiles */
  gint variant;   /* of every kernel that has some, while they are measured; 0: as the others say */
  const GHashTable *tuned; /* node name -> variant that was fastest; may be NULL */
} GpuOptions;

struct _GpuPlan {
  const GpuDevice *device;
  GpuOptions options;
  AxonModel *model;
  GPtrArray *steps;     /* GpuStep, in order */
  GPtrArray *tensors;   /* GpuTensor, owned */
  GPtrArray *buffers;   /* GpuBuffer, owned */
  GPtrArray *constants; /* AxonTensor, by index of the buffer */
  guint n_prepared;
  GpuTensor **values; /* by value index */
  GpuExpr **pending;  /* by value index: not computed yet, see gpuelement.h */
  GArray *params;     /* gint32 */
  GString *source;
  GHashTable *kernels;   /* names in source */
  GPtrArray *frames;     /* GpuFrame */
  GPtrArray *complaints; /* what status 1, 2 ... mean */
  GpuTensor *params_tensor, *status_tensor;
  gsize arena_size;
  const AxonNode *node; /* while building */
};

/* TRUE if the node was taken. FALSE: @why (nullable, transfer full) may say what is missing. */
typedef gboolean (*GpuBuildFunc) (GpuPlan *plan, const AxonNode *node, gchar **why);

typedef struct {
  const gchar *domain, *name, *impl;
  GpuBuildFunc build;
} GpuKernel;

typedef struct {
  const GpuKernel *kernels;
  guint n_kernels;
} GpuFamily;

/* NULL: none. */
const GpuKernel *gpu_find_kernel (const AxonNode *node);

/* @refused: node -> reason, of all that have no kernel; a plan that has such cannot run. */
GpuPlan *gpu_plan_new (const GpuDevice *device, const GpuOptions *options, AxonModel *model,
                       GHashTable *refused, GCancellable *cancellable, GError **error);
void gpu_plan_fail (const GpuPlan *plan, GHashTable *refused, GError **error);
void gpu_plan_free (GpuPlan *plan);
AxonModel *gpu_plan_describe (const GpuPlan *plan);
gboolean gpu_plan_knows (const AxonNode *node);
GPtrArray *gpu_kernel_names (void); /* domain:name=implementation */
/* Ends a reason: an operand that has to be known is not. */
#define GPU_NOT_CONSTANT "not known before the run"
/* TRUE if @why is that something is not known: that may change with shapes and values of inputs. */
gboolean gpu_plan_is_dynamic (const gchar *why);

/* Building */
GpuTensor *gpu_plan_value (GpuPlan *plan, AxonValue *value);
GpuTensor *gpu_plan_input (GpuPlan *plan, const AxonNode *node, guint index);
GpuTensor *gpu_plan_output (GpuPlan *plan, const AxonNode *node, guint index);
GpuTensor *gpu_plan_scratch (GpuPlan *plan, AxonDType dtype, const AxonShape *shape);
/* For a step of constants: run once. */
GpuTensor *gpu_plan_prepared (GpuPlan *plan, AxonDType dtype, const AxonShape *shape);
/* n_bytes for each instance, which its host side fills. */
GpuTensor *gpu_plan_frame_numbers (GpuPlan *plan, gsize n_bytes);
/* The same elements in a buffer of its own, which may be written to afterwards. */
void gpu_copy (GpuPlan *plan, const GpuTensor *from, const GpuTensor *to);
void gpu_plan_alias (GpuPlan *plan, const AxonNode *node, guint index, GpuTensor *source);
/* Output @index is @tensor, a constant. */
void gpu_plan_constant (GpuPlan *plan, const AxonNode *node, guint index, AxonTensor *tensor);
/* A constant that the model does not have. */
GpuTensor *gpu_plan_constant_tensor (GpuPlan *plan, AxonTensor *tensor);
/* Output 0 of a node whose inputs are constants (transfer full); NULL: they are not. */
AxonTensor *gpu_plan_fold (const AxonNode *node);
/* Numbers that kernels read; returns where they begin. */
gint32 gpu_plan_params (GpuPlan *plan, const gint32 *values, guint n);

/* The kernel @name, made of the text @family with its @words@ replaced (pairs, ended by NULL; or
 * NULL); text that the program has already is not added again. */
void gpu_plan_template (GpuPlan *plan, const gchar *name, const gchar *family,
                        const gchar *const *words);
void gpu_plan_text (GpuPlan *plan, const gchar *name, const gchar *text);
/* Kernels as drivers get them (transfer full). */
gchar *gpu_text_place_buffers (const gchar *text);
/* @p: where the kernel's parameters begin. */
GpuStep *gpu_plan_step (GpuPlan *plan, const gchar *kernel, gint32 p, gint64 x, gint64 y, gint64 z);
/* A step of a kernel that is still a draft: @words (transfer full) lack FUSED, MORE, PUT and TY.
 * @put (nullable): how a result is stored, and then nothing is fused; NULL: as it is. */
GpuStep *gpu_plan_draft (GpuPlan *plan, const gchar *base, const gchar *family, GPtrArray *words,
                         const gchar *put, gint32 p, const gint64 *items);
/* The step that makes @tensor, if it is a draft that nothing was fused to. */
GpuStep *gpu_plan_find_draft (GpuPlan *plan, const GpuTensor *tensor);
/* @step becomes the last one, and writes @to instead. */
void gpu_plan_redirect (GpuPlan *plan, GpuStep *step, const GpuTensor *to);
void gpu_step_read (GpuPlan *plan, GpuStep *step, const GpuTensor *tensor); /* NULL: left out */
void gpu_step_write (GpuPlan *plan, GpuStep *step, const GpuTensor *tensor);
void gpu_step_number (GpuStep *step, gint64 number);
/* Two arguments: the status, and what a kernel writes there when @text is true. */
void gpu_step_complaint (GpuPlan *plan, GpuStep *step, const gchar *text);

void gpu_step_free (gpointer step);
/* Argument @index, which lies in @mem; of a number: NULL. Returns OpenCL's status. */
cl_int gpu_step_set_arg (const GpuStep *step, cl_kernel kernel, guint index, cl_mem mem);
/* Lifetimes and offsets, when all steps are there. */
void gpu_plan_memory (GpuPlan *plan);
/* The texts of drafts, when nothing more is fused to them. */
void gpu_plan_write_drafts (GpuPlan *plan);
/* Short, and different for different texts (transfer full). */
gchar *gpu_text_id (const gchar *text);

/* Types in kernel text: suffix, as stored, as computed; NULL: the device does not have it. */
const gchar *gpu_type_name (AxonDType dtype);
const gchar *gpu_type_stored (AxonDType dtype);
const gchar *gpu_type_computed (AxonDType dtype);
gboolean gpu_plan_has_type (const GpuPlan *plan, AxonDType dtype);
const AxonTensor *gpu_node_constant (const AxonNode *node, guint index);
gboolean gpu_node_constant_ints (const AxonNode *node, guint index, const gchar *attr,
                                 gint64 *values, guint *n);
