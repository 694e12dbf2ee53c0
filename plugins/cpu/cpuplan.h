/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU plan: a flat array of steps over one planned arena.
 *
 * CpuPlan is immutable once built and shared by all streams. CpuInstance is one stream's view of
 * it: arena and oneDNN memory handles, made when the stream first runs the plan. Only builders
 * (kernels/ and onednn/) add steps. */
#pragma once

#include <axon/axon.h>
#include <axon/axon-plugin.h>

typedef struct _CpuMd CpuMd; /* a oneDNN memory descriptor: layout that is not row-major */
typedef struct _CpuPlan CpuPlan;
typedef struct _CpuStep CpuStep;
typedef struct _CpuInstance CpuInstance;
typedef struct _CpuPacked CpuPacked; /* cpupacked.h */
typedef struct _CpuLater CpuLater;   /* cpulater.h */

typedef enum { CPU_ARENA, CPU_CONSTANT, CPU_INPUT, CPU_OUTPUT } CpuPlace;

/* Memory that tensors stand on. */
typedef struct {
  CpuPlace place;
  gsize n_bytes, offset; /* offset: in the arena */
  guint index;           /* of the input or output */
  gpointer data;         /* constants; owned if owned is set */
  AxonTensor *tensor;    /* constants that belong to the model */
  guint first, last;     /* steps */
  guint pending;         /* uses that are still to be built */
} CpuBuffer;

/* One representation of a value: type, shape, layout, memory. */
typedef struct {
  AxonDType dtype;
  AxonShape shape;
  CpuMd *md; /* NULL: dense row-major */
  CpuBuffer *buffer;
  gsize offset; /* bytes into the buffer */
} CpuTensor;

/* Where tensors lie while a step runs. */
typedef void (*CpuStepFunc) (const CpuStep *step, const CpuInstance *instance);

struct _CpuStep {
  CpuStepFunc run;
  gpointer data; /* the kernel's own, immutable */
  GDestroyNotify destroy;
  CpuTensor **in, **out;
  guint n_in, n_out;
  guint index;
  /* What a stream keeps for the step, made when it first runs the plan (nullable). */
  gpointer (*new_instance) (const CpuStep *step, const CpuInstance *instance);
  void (*free_instance) (const CpuStep *step, gpointer data);
};

struct _CpuInstance {
  const CpuPlan *plan;
  guint8 *arena;
  gpointer *step_data; /* per step: of its new_instance */
  gpointer *inputs;    /* of the current run */
  gpointer *outputs;
  AxonInferRequest *request;
  GError *failure; /* of the current run */
  GError **error;  /* &failure, for steps, which see a const instance */
};

/* Which tiles convolutions after Winograd may have (docs/design/winograd.md). */
typedef struct {
  gboolean enabled;
  gint most;   /* pixels of a side, 2 or 4 */
  gint all;    /* > 0: of this size wherever there can be, faster or not */
  gsize bytes; /* that transformed weights may take */
} CpuWinogradLimits;

/* What a plan is made for. */
typedef struct {
  guint n_threads;
  guint n_helpers; /* of who makes it, at most */
  CpuWinogradLimits winograd;
  AxonDType products; /* that products of floats may be computed in: f32, or f16 or bf16, for which
                         there are kernels then */
  gboolean xnnpack;   /* its kernels are asked before our own: xnnpack/ */
} CpuPlanOptions;

/* How a convolution or a product of floats is computed: cpuchoice.h. */
typedef enum {
  CPU_BY_RULE,
  CPU_OWN,
  CPU_COLUMNS,
  CPU_DOTS,
  CPU_PLANES,
  CPU_WINOGRAD_2x2,
  CPU_WINOGRAD_4x4,
  CPU_ONEDNN,
  CPU_N_CHOICES
} CpuChoice;

struct _CpuPlan {
  AxonModel *model;
  GPtrArray *extensions; /* AxonExtension */
  GPtrArray *steps;      /* CpuStep */
  GPtrArray *tensors;    /* CpuTensor, owned */
  GPtrArray *buffers;    /* CpuBuffer, owned */
  GPtrArray **reps;      /* by value index: CpuTensor, first is what the producer wrote */
  GArray *info;          /* AxonProfilingInfo per step */
  gsize arena_size;
  AxonBudget *budget;
  gsize n_reserved;      /* of it, for packed weights */
  gboolean lacks_memory; /* what a node that was built asked for */
  guint n_threads;
  CpuWinogradLimits winograd; /* bytes: that are left */
  AxonDType products;         /* see CpuPlanOptions */
  gboolean channels_last;     /* convolutions of floats: see kernels/convchoice.c */
  gboolean xnnpack;           /* see CpuPlanOptions */
  CpuPacked *packed;          /* nullable; while building */
  CpuLater *later;            /* while building, as the next */
  GPtrArray *packings;        /* nullable; of onednn/pack.c, for tasks of later */
  GStrv disabled; /* families of kernels that are left out, while building, as the next */
  const AxonNode *node;
  CpuChoice choice; /* of it; but for CPU_BY_RULE the builder that is asked sets its rule aside */
  const struct _CpuKernel *row;
};

/* Builders: TRUE if the node was taken. FALSE without error: the next row of the table is asked. */
typedef gboolean (*CpuBuildFunc) (CpuPlan *plan, const AxonNode *node, GError **error);

/* A row; one without build ends a family's table. The first that builds a node wins. Builders read
 * kind and data of plan->row, so that a family's operators share one builder. */
typedef struct _CpuKernel {
  const gchar *domain, *name; /* name NULL: any operator */
  const gchar *impl;          /* what axon-inspect shows */
  CpuBuildFunc build;
  gint kind;          /* which of the family's algorithms */
  gconstpointer data; /* or what describes it */
} CpuKernel;

/* The tables of all families, without a name at the end; the reference kernel is last. */
typedef struct {
  const gchar *name;
  const CpuKernel *rows;
} CpuFamily;

extern const CpuFamily cpu_families[];

/* Those that AXON_CPU_DISABLE_KERNELS in the environment leaves out, to find out which one is
 * wrong. NULL with an error: a name of none. */
GStrv cpu_families_disabled (GError **error);

/* Building */
CpuTensor *cpu_plan_input (CpuPlan *plan, const AxonNode *node, guint index);
CpuTensor *cpu_plan_input_of (CpuPlan *plan, const AxonNode *node, guint index, AxonDType dtype,
                              const CpuMd *md);
CpuTensor *cpu_plan_input_as (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md);
/* @node is built: one use less of what it reads, however that lies. */
void cpu_plan_end_input (CpuPlan *plan, const AxonNode *node, guint index);
CpuTensor *cpu_plan_output (CpuPlan *plan, const AxonNode *node, guint index, const CpuMd *md);
CpuTensor *cpu_plan_alias (CpuPlan *plan, const AxonNode *node, guint index, CpuTensor *source,
                           const CpuMd *md);
CpuTensor *cpu_plan_scratch (CpuPlan *plan, AxonDType dtype, const AxonShape *shape,
                             const CpuMd *md);
CpuTensor *cpu_plan_scratch_bytes (CpuPlan *plan, gsize n_bytes);
gsize cpu_tensor_get_bytes (const CpuTensor *t); /* with what fills its layout */
CpuTensor *cpu_plan_constant (CpuPlan *plan, AxonDType dtype, const AxonShape *shape,
                              gpointer data);
CpuTensor *cpu_plan_constant_tensor (CpuPlan *plan, AxonTensor *tensor);
CpuTensor *cpu_plan_constant_md (CpuPlan *plan, AxonDType dtype, const AxonShape *shape,
                                 const CpuMd *md, gpointer data);
void cpu_plan_shift (CpuTensor *tensor, gsize n_bytes);
void cpu_plan_add_copy (CpuPlan *plan, CpuTensor *from, CpuTensor *to);
CpuTensor *cpu_plan_convert (CpuPlan *plan, CpuTensor *tensor, const CpuMd *md);
gboolean cpu_plan_is_last_use (CpuPlan *plan, const CpuTensor *tensor);
CpuStep *cpu_plan_add_step (CpuPlan *plan, CpuStepFunc run, gpointer data, GDestroyNotify destroy,
                            const gchar *impl, CpuTensor *const *in, guint n_in,
                            CpuTensor *const *out, guint n_out);
const AxonTensor *cpu_node_constant (const AxonNode *node, guint index);

/* Axes by attribute or by input 1, at most AXON_MAX_RANK. FALSE where they are not constant. */
gboolean cpu_node_axes (const AxonNode *node, gint64 *axes, guint *n);

/* The graph with what runs each node: the kinds of its steps joined by "+" (transfer full). */
AxonModel *cpu_plan_describe (const CpuPlan *plan);

/* Running */
static inline gpointer
cpu_tensor_data (const CpuInstance *instance, const CpuTensor *t)
{
  const CpuBuffer *b = t->buffer;
  guint8 *base = b->place == CPU_ARENA      ? instance->arena + b->offset
                 : b->place == CPU_CONSTANT ? b->data
                 : b->place == CPU_INPUT    ? instance->inputs[b->index]
                                            : instance->outputs[b->index];
  return base + t->offset;
}

/* What a compile call brings along. */
typedef struct {
  GCancellable *cancellable;
  AxonProgressFunc progress;
  gpointer user_data;
} CpuCompile;

/* @packed (nullable): what plans of the same graph share. */
CpuPlan *cpu_plan_new (AxonModel *model, GPtrArray *extensions, const CpuPlanOptions *options,
                       CpuPacked *packed, const CpuCompile *call, GError **error);
void cpu_plan_free (CpuPlan *plan);

/* cpumemory.c */
gboolean cpu_plan_reserve (CpuPlan *plan, const AxonNode *node, GError **error);
gboolean cpu_plan_check_memory (const CpuPlan *plan, GError **error);
/* FALSE: whatever the operator, only the reference kernel computes the row. */
gboolean cpu_knows_form (const AxonOp *op);
CpuInstance *cpu_instance_new (const CpuPlan *plan, GError **error);
void cpu_instance_free (CpuInstance *instance);
gboolean cpu_instance_run_on (CpuInstance *instance, AxonInferRequest *request,
                              AxonTensor *const *in, AxonTensor *const *out, gdouble *times,
                              GError **error);
gboolean cpu_instance_run (CpuInstance *instance, AxonInferRequest *request, gdouble *times,
                           GError **error);
