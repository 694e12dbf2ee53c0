/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cputune.h"

#include "cpuchoice.h"
#include "onednn/cpudnn.h"

#include <axon/axon-cpu.h>
#include <string.h>
#include <time.h>

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-CPU"

/* Of measuring, for a compiled model: of trying, and with the last comparison. */
#define TRYING (15 * G_TIME_SPAN_SECOND)
#define LIMIT (20 * G_TIME_SPAN_SECOND)
/* Two plans run in turn, so that both meet the same neighbours on the machine. The least counts. */
#define ENOUGH (100 * G_TIME_SPAN_MILLISECOND)
#define ENOUGH_AT_LAST (300 * G_TIME_SPAN_MILLISECOND)
#define LEAST_TURNS 3
#define MOST_TURNS 40
#define MARGIN 0.97      /* of what the rule's kernel takes */
#define LAST_MARGIN 0.99 /* of what the rule's plan takes */

#define SKIPPED G_MAXUINT

/* A plan that is measured. Nodes are numbers in the model's list; one more stands for what writes
 * the outputs. Times are microseconds. */
typedef struct {
  CpuPlan *plan;
  CpuInstance *instance;
  guint *nodes;         /* by step; SKIPPED */
  gchar **kernels;      /* by node */
  gdouble *now, *least; /* by node */
  gdouble total;        /* the least of a run */
} Runner;

typedef struct {
  const CpuContext *context;
  const CpuCompile *call;
  AxonModel *model;
  AxonTensor **in, **out;
  GArray *open;    /* guint: nodes that there is a choice for */
  CpuChoice *best; /* by index in open */
  gdouble *gain;   /* what it saves */
  gint64 end;
  guint n_plans; /* that were tried */
} Tune;

/* What all plans of a graph are compared by: two layouts, each choice for every second node, and
 * all that were faster. */
#define N_PLANS (2 + 2 * (CPU_N_CHOICES - 1))

static AxonNode *
node_at (const Tune *t, guint node)
{
  return g_ptr_array_index (t->model->nodes, node);
}

static AxonNode *
open_node (const Tune *t, guint k)
{
  return node_at (t, g_array_index (t->open, guint, k));
}

/* Steps of the reference kernels and of extensions do what users wrote, and pictures come with a
 * request. */
static gboolean
is_skipped (const Tune *t, guint node, const AxonProfilingInfo *step)
{
  return g_str_equal (step->exec_type, "reference") || g_str_equal (step->exec_type, "extension") ||
         (node < t->model->nodes->len && (node_at (t, node)->op->flags & AXON_OP_ANY_INPUT_SIZE));
}

static void
list_steps (const Tune *t, Runner *r)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < t->model->nodes->len; i++)
    g_hash_table_insert (numbers, node_at (t, i)->name, GUINT_TO_POINTER (i));
  for (guint i = 0; i < r->plan->info->len; i++) {
    const AxonProfilingInfo *step = &g_array_index (r->plan->info, AxonProfilingInfo, i);
    gpointer number = GUINT_TO_POINTER (t->model->nodes->len);
    gchar *before;
    guint node;
    g_hash_table_lookup_extended (numbers, step->node_name, NULL, &number);
    node = GPOINTER_TO_UINT (number);
    before = r->kernels[node];
    r->kernels[node] = g_strjoin ("+", step->exec_type, before, NULL);
    g_free (before);
    r->nodes[i] = is_skipped (t, node, step) ? SKIPPED : node;
  }
}

static void
runner_free (Runner *r)
{
  g_clear_pointer (&r->instance, cpu_instance_free);
  g_clear_pointer (&r->plan, cpu_plan_free);
  g_strfreev (r->kernels);
  g_free (r->nodes);
  g_free (r->now);
  g_free (r->least);
  g_free (r);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Runner, runner_free)

/* With the kernels that notes ask for. NULL: there is no memory for it, or it was cancelled. */
static Runner *
runner_new (Tune *t)
{
  const CpuCompile quiet = { t->call->cancellable, NULL, NULL };
  guint n = t->model->nodes->len + 1;
  g_autoptr (Runner) r = g_new0 (Runner, 1);
  if (t->call->progress != NULL)
    t->call->progress (0.1 + 0.9 * t->n_plans++ / (N_PLANS + 1), "measuring kernels",
                       t->call->user_data);
  r->plan = cpu_plan_new (t->model, t->context->extensions, &t->context->options,
                          t->context->packed, &quiet, NULL);
  r->instance = r->plan ? cpu_instance_new (r->plan, NULL) : NULL;
  if (r->instance == NULL)
    return NULL;
  memset (r->instance->arena, 0, r->plan->arena_size); /* what is skipped writes nothing */
  for (guint i = 0; i < t->model->inputs->len; i++)
    r->instance->inputs[i] = t->in[i] ? axon_tensor_get_data (t->in[i]) : NULL;
  for (guint i = 0; i < t->model->outputs->len; i++)
    r->instance->outputs[i] = axon_tensor_get_data (t->out[i]);
  r->nodes = g_new (guint, r->plan->steps->len + 1);
  r->kernels = g_new0 (gchar *, n + 1);
  for (guint i = 0; i < n; i++)
    r->kernels[i] = g_strdup ("");
  r->now = g_new (gdouble, n);
  r->least = g_new (gdouble, n);
  list_steps (t, r);
  return g_steal_pointer (&r);
}

static gboolean
is_over (const Tune *t)
{
  return g_cancellable_is_cancelled (t->call->cancellable) || g_get_monotonic_time () > t->end;
}

/* Of one thread that of the processor, which others who use the machine are no part of. */
static gdouble
clock_now (const Tune *t)
{
  struct timespec now;
  clock_gettime (t->context->options.n_threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC,
                 &now);
  return (gdouble)now.tv_sec * 1e6 + (gdouble)now.tv_nsec / 1e3;
}

/* FALSE: it was given up. What fails on noise goes on with whatever is in memory. */
static gboolean
run_once (const Tune *t, Runner *r)
{
  guint n = t->model->nodes->len + 1;
  gdouble sum = 0, begin;
  memset (r->now, 0, n * sizeof *r->now);
  for (guint i = 0; i < r->plan->steps->len; i++) {
    const CpuStep *step = g_ptr_array_index (r->plan->steps, i);
    if (r->nodes[i] == SKIPPED)
      continue;
    if (is_over (t))
      return FALSE;
    begin = clock_now (t);
    step->run (step, r->instance);
    r->now[r->nodes[i]] += clock_now (t) - begin;
    g_clear_error (&r->instance->failure);
  }
  for (guint i = 0; i < n; i++) {
    r->least[i] = MIN (r->least[i], r->now[i]);
    sum += r->now[i];
  }
  r->total = MIN (r->total, sum);
  return TRUE;
}

static void
forget (const Tune *t, Runner *r)
{
  r->total = G_MAXDOUBLE;
  for (guint i = 0; i <= t->model->nodes->len; i++)
    r->least[i] = G_MAXDOUBLE;
}

/* FALSE: there was no time for it. */
static gboolean
run_in_turn (const Tune *t, Runner *a, Runner *b, gint64 enough)
{
  gint64 end = g_get_monotonic_time () + enough;
  guint n = 0;
  forget (t, a);
  forget (t, b);
  while (n < MOST_TURNS && (n < LEAST_TURNS || g_get_monotonic_time () < end) && run_once (t, a) &&
         run_once (t, b))
    n++;
  return n >= LEAST_TURNS;
}

static gboolean
is_same (const Runner *a, const Runner *b, guint node)
{
  return g_str_equal (a->kernels[node], b->kernels[node]);
}

/* What node @k of the open ones takes more with @other than with @base. The next open node is as it
 * was, so where its steps are others, they change layouts, which counts. */
static gdouble
excess (const Tune *t, const Runner *base, const Runner *other, guint k, gdouble *before)
{
  guint end =
      k + 2 < t->open->len ? g_array_index (t->open, guint, k + 2) : t->model->nodes->len + 1;
  gdouble more = 0;
  *before = 0;
  for (guint n = g_array_index (t->open, guint, k); n < end; n++)
    if (!is_same (base, other, n)) {
      *before += base->least[n];
      more += other->least[n] - base->least[n];
    }
  return more;
}

/* Every second node, so that each has neighbours that are as they were. */
static void
note_every_second (const Tune *t, guint first, CpuChoice choice)
{
  for (guint k = first; k < t->open->len; k += 2)
    cpu_choice_note (open_node (t, k), choice);
}

static gboolean
is_tried (const Tune *t, const Runner *base, const Runner *other, guint first)
{
  for (guint k = first; k < t->open->len; k += 2)
    if (!is_same (base, other, g_array_index (t->open, guint, k)))
      return TRUE;
  return FALSE;
}

static void
try_choice (Tune *t, Runner *base, CpuChoice choice, guint first)
{
  g_autoptr (Runner) other = NULL;
  if (is_over (t))
    return;
  note_every_second (t, first, choice);
  other = runner_new (t);
  note_every_second (t, first, CPU_BY_RULE);
  if (other == NULL || !is_tried (t, base, other, first) || !run_in_turn (t, base, other, ENOUGH))
    return;
  for (guint k = first; k < t->open->len; k += 2) {
    gdouble before, gain = -excess (t, base, other, k, &before);
    if (is_same (base, other, g_array_index (t->open, guint, k)) || gain <= (1 - MARGIN) * before ||
        gain <= t->gain[k])
      continue;
    t->best[k] = choice;
    t->gain[k] = gain;
  }
}

/* Of @base and a plan by the notes as they are; the other one is freed. NULL: it is @base. */
static Runner *
choose_faster (Tune *t, Runner *base, gdouble margin)
{
  g_autoptr (Runner) other = is_over (t) ? NULL : runner_new (t);
  if (other == NULL || !run_in_turn (t, base, other, ENOUGH_AT_LAST) ||
      other->total >= margin * base->total)
    return NULL;
  g_debug ("%s: %.0f us instead of %.0f", axon_model_get_name (t->model), other->total,
           base->total);
  runner_free (base);
  return g_steal_pointer (&other);
}

static Runner *
choose_layout (Tune *t, Runner *base)
{
  AxonNode *first = open_node (t, 0);
  Runner *other;
  gboolean channels_last;
  if (cpu_dnn_is_channels_last () || !cpu_dnn_has_kernels () || t->context->options.xnnpack ||
      cpu_choice_of_layout (t->model, &channels_last))
    return base;
  axon_node_set_info (first, AXON_CPU_LAYOUT, cpu_choice_get_layout (!base->plan->channels_last));
  other = choose_faster (t, base, MARGIN);
  if (other == NULL)
    axon_node_set_info (first, AXON_CPU_LAYOUT, NULL);
  return other ? other : base;
}

static Runner *
choose_kernels (Tune *t, Runner *base)
{
  Runner *other;
  for (guint choice = CPU_BY_RULE + 1; choice < CPU_N_CHOICES; choice++)
    for (guint first = 0; first < 2; first++)
      try_choice (t, base, (CpuChoice)choice, first);
  for (guint k = 0; k < t->open->len; k++)
    cpu_choice_note (open_node (t, k), t->best[k]);
  t->end = t->context->tuning->begin + LIMIT;
  other = choose_faster (t, base, LAST_MARGIN);
  for (guint k = 0; other == NULL && k < t->open->len; k++)
    cpu_choice_note (open_node (t, k), CPU_BY_RULE);
  return other ? other : base;
}

/* Notes of the plan's model are for this plan; those of the model that it was made of are kept. */
static void
keep_notes (const Tune *t)
{
  static const gchar *const keys[] = { AXON_CPU_KERNEL, AXON_CPU_LAYOUT };
  for (guint k = 0; k < t->open->len; k++) {
    const AxonNode *node = open_node (t, k);
    for (guint i = 0; node->info != NULL && i < G_N_ELEMENTS (keys); i++) {
      const gchar *text = g_hash_table_lookup (node->info, keys[i]);
      if (text != NULL)
        axon_model_set_node_info (t->context->tuning->model, node->name, keys[i], text);
    }
  }
}

/* Numbers between -1 and 1; whole numbers are 0. NULL: there is no memory. */
static AxonTensor *
noise_for (const AxonValue *value)
{
  AxonTensor *tensor = axon_tensor_new (value->type.dtype, &value->type.shape, NULL);
  gsize n = tensor ? axon_tensor_get_numel (tensor) : 0;
  gfloat *data = n > 0 ? axon_tensor_get_data (tensor) : NULL;
  guint32 state = 1;
  if (n == 0)
    return tensor;
  memset (data, 0, axon_tensor_get_n_bytes (tensor));
  for (gsize i = 0; value->type.dtype == AXON_DTYPE_F32 && i < n; i++) {
    state = state * 1664525 + 1013904223;
    data[i] = (gfloat)(gint32)state / 0x1p31f;
  }
  return tensor;
}

/* FALSE: there is no memory. */
static gboolean
make_tensors (Tune *t)
{
  for (guint i = 0; i < t->model->inputs->len; i++)
    if (!axon_model_input_is_any_size (t->model, i) &&
        (t->in[i] = noise_for (g_ptr_array_index (t->model->inputs, i))) == NULL)
      return FALSE;
  for (guint i = 0; i < t->model->outputs->len; i++)
    if ((t->out[i] = noise_for (g_ptr_array_index (t->model->outputs, i))) == NULL)
      return FALSE;
  return TRUE;
}

static void
free_tensors (AxonTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], axon_tensor_unref);
  g_free (tensors);
}

/* NULL: nothing could be measured. */
static CpuPlan *
find_fastest (Tune *t)
{
  Runner *r = make_tensors (t) ? runner_new (t) : NULL;
  CpuPlan *plan;
  if (r == NULL)
    return NULL;
  r = choose_layout (t, r);
  r = choose_kernels (t, r);
  keep_notes (t);
  g_clear_pointer (&r->instance, cpu_instance_free);
  plan = g_steal_pointer (&r->plan);
  runner_free (r);
  return plan;
}

static void
list_open_nodes (Tune *t)
{
  t->open = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < t->model->nodes->len; i++)
    if (cpu_choice_is_open (node_at (t, i)))
      g_array_append_val (t->open, i);
  t->best = g_new0 (CpuChoice, t->open->len + 1);
  t->gain = g_new0 (gdouble, t->open->len + 1);
}

CpuPlan *
cpu_tune (AxonModel *model, const CpuContext *context, const CpuCompile *call, GError **error)
{
  Tune t = { .context = context,
             .call = call,
             .model = model,
             .in = g_new0 (AxonTensor *, model->inputs->len + 1),
             .out = g_new0 (AxonTensor *, model->outputs->len + 1) };
  CpuPlan *plan;
  if (context->tuning->begin == 0)
    context->tuning->begin = g_get_monotonic_time ();
  t.end = context->tuning->begin + TRYING;
  list_open_nodes (&t);
  plan = t.open->len > 0 ? find_fastest (&t) : NULL;
  free_tensors (t.in, model->inputs->len);
  free_tensors (t.out, model->outputs->len);
  g_array_unref (t.open);
  g_free (t.best);
  g_free (t.gain);
  if (g_cancellable_set_error_if_cancelled (call->cancellable, error)) {
    g_clear_pointer (&plan, cpu_plan_free);
    return NULL;
  }
  return plan ? plan
              : cpu_plan_new (model, context->extensions, &context->options, context->packed, call,
                              error);
}
