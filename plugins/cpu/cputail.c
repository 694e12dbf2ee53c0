/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plans for the shapes that come, in a cache that all tails of a compiled model share. Where every
 * row is computed by itself there are plans for few numbers of rows, and the number that comes is
 * filled up. A better plan is made when what was lost for want of it is as much as it costs. */
#include "cputail.h"

#include "cpupacked.h"
#include "cpurows.h"

#undef G_LOG_DOMAIN
#define G_LOG_DOMAIN "Axon-CPU"

#define N_SEEN 64

/* Shapes for which no plan was there, and the microseconds that this has cost. */
typedef struct {
  guint hash;
  gdouble lost;
} Seen;

struct _CpuTail {
  gatomicrefcount ref_count;
  AxonModel *model;
  CpuContext context;
  gint row_input, row_axis; /* the only free dimension; -1: there are none or several */
  GMutex lock;
  gboolean mixes;       /* lock: rows depend on each other */
  gboolean refused;     /* lock: no plan can be made of what the reference kernels run */
  gdouble making;       /* lock: microseconds that making the last plan took */
  gdouble interpreting; /* lock: and that the reference kernels took last */
  Seen seen[N_SEEN];    /* lock: the oldest are forgotten */
  guint next;
};

static void
find_rows (CpuTail *self)
{
  guint n = 0;
  for (guint i = 0; i < self->model->inputs->len; i++) {
    const AxonShape *shape = &((AxonValue *)g_ptr_array_index (self->model->inputs, i))->type.shape;
    n += shape->rank < 0 ? 2 : 0;
    for (gint d = 0; d < shape->rank; d++)
      if (shape->dims[d] < 0) {
        self->row_input = (gint)i;
        self->row_axis = d;
        n++;
      }
  }
  self->mixes = n != 1;
}

CpuTail *
cpu_tail_new (AxonModel *model, const CpuContext *context)
{
  CpuTail *self = g_new0 (CpuTail, 1);
  g_atomic_ref_count_init (&self->ref_count);
  g_mutex_init (&self->lock);
  self->model = g_object_ref (model);
  self->context = *context;
  self->context.packed = cpu_packed_new (model);
  self->context.depth++;
  self->context.tuning = NULL; /* a frame waits for its plans */
  for (guint i = 0; i < model->values->len; i++)
    ((AxonValue *)g_ptr_array_index (model->values, i))->index = i;
  find_rows (self);
  return self;
}

void
cpu_tail_unref (gpointer data)
{
  CpuTail *self = data;
  if (!g_atomic_ref_count_dec (&self->ref_count))
    return;
  cpu_packed_free (self->context.packed);
  g_mutex_clear (&self->lock);
  g_object_unref (self->model);
  g_free (self);
}

static guint
hash_of (const CpuTail *self, const AxonShape *shapes)
{
  guint hash = 5381;
  for (guint i = 0; i < self->model->inputs->len; i++)
    for (gint d = 0; d < shapes[i].rank; d++)
      hash = hash * 33 + (guint)shapes[i].dims[d];
  return hash;
}

/* lock held */
static Seen *
seen_of (CpuTail *self, const AxonShape *shapes)
{
  guint hash = hash_of (self, shapes);
  Seen *seen;
  for (guint i = 0; i < N_SEEN; i++)
    if (self->seen[i].hash == hash)
      return &self->seen[i];
  seen = &self->seen[self->next++ % N_SEEN];
  *seen = (Seen){ .hash = hash };
  return seen;
}

static void
note_loss (CpuTail *self, const AxonShape *shapes, gdouble microseconds)
{
  g_mutex_lock (&self->lock);
  seen_of (self, shapes)->lost += microseconds;
  g_mutex_unlock (&self->lock);
}

/* TRUE if a plan of its own would have paid for @shapes, were there one. @more: what this run would
 * lose. */
static gboolean
is_worth (CpuTail *self, const AxonShape *shapes, gdouble more)
{
  gdouble lost;
  gboolean worth;
  g_mutex_lock (&self->lock);
  lost = seen_of (self, shapes)->lost + more;
  worth = !self->refused && lost > 0 && lost >= self->making;
  g_mutex_unlock (&self->lock);
  return worth;
}

static CpuEntry *
find (CpuTail *self, const AxonShape *shapes)
{
  const CpuKey key = { self, shapes };
  return axon_plan_cache_find (self->context.tails, &key);
}

/* NULL: none could be made. Takes over @kinds. */
static CpuEntry *
make (CpuTail *self, const AxonShape *shapes, gint *kinds)
{
  const CpuCompile call = { NULL, NULL, NULL };
  const CpuKey key = { self, shapes };
  g_autoptr (GError) error = NULL;
  gint64 start = g_get_monotonic_time ();
  CpuEntry *entry = cpu_entry_new_for (self->model, shapes, &self->context, &call, &error);
  if (entry == NULL) {
    g_debug ("%s: no plan: %s", axon_model_get_name (self->model), error->message);
    g_free (kinds);
    return NULL;
  }
  g_atomic_ref_count_inc (&self->ref_count);
  entry->graph = self;
  entry->release = cpu_tail_unref;
  entry->kinds = kinds;
  start = g_get_monotonic_time () - start;
  g_mutex_lock (&self->lock);
  self->making = (gdouble)start;
  g_mutex_unlock (&self->lock);
  g_debug ("%s: a plan for new shapes after %" G_GINT64_FORMAT " us",
           axon_model_get_name (self->model), start);
  return axon_plan_cache_add (self->context.tails, entry, &key);
}

/* NULL: rows depend on each other. */
static CpuEntry *
make_rows (CpuTail *self, const AxonShape *shapes)
{
  gint *kinds = g_new (gint, self->model->outputs->len + 1);
  if (cpu_rows_are_independent (self->model, (guint)self->row_input, self->row_axis, shapes, kinds))
    return make (self, shapes, kinds);
  g_free (kinds);
  g_mutex_lock (&self->lock);
  self->mixes = TRUE;
  g_mutex_unlock (&self->lock);
  return NULL;
}

/* Numbers of rows that have plans: the powers of two, and eight steps between two of them. */
static gint64
round_up (gint64 n, gint64 steps)
{
  gint64 power = 1;
  while (power < n)
    power *= 2;
  power = MAX (power / 2 / steps, 1);
  return (n + power - 1) / power * power;
}

/* @shapes get as many rows as the plan has; NULL: rows depend on each other. @fine: the number of
 * rows that would have done, where there are more. */
static CpuEntry *
entry_for_rows (CpuTail *self, AxonShape *shapes, gint64 *fine)
{
  gint64 *rows = &shapes[self->row_input].dims[self->row_axis];
  gint64 coarse = round_up (*rows, 1);
  CpuEntry *entry;
  *rows = round_up (*rows, 8);
  *fine = *rows;
  entry = find (self, shapes);
  if (entry == NULL && *rows < coarse && is_worth (self, shapes, 0))
    entry = make_rows (self, shapes);
  if (entry != NULL)
    return entry;
  *rows = coarse;
  entry = find (self, shapes);
  return entry ? entry : make_rows (self, shapes);
}

static gboolean
resize_all (const gint *kinds, AxonTensor *const *from, AxonTensor **to, guint n, gint64 rows,
            GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (kinds[i] < 0 || axon_tensor_get_shape (from[i])->dims[kinds[i]] == rows)
      to[i] = axon_tensor_ref (from[i]);
    else if ((to[i] = cpu_rows_resize (from[i], kinds[i], rows, error)) == NULL)
      return FALSE;
  }
  return TRUE;
}

static void
release_all (AxonTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], axon_tensor_unref);
}

/* On as many rows as the plan has. */
static gboolean
run_filled (CpuTail *self, CpuEntry *entry, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
            GError **error)
{
  guint n_in = self->model->inputs->len, n_out = self->model->outputs->len;
  gint64 rows = axon_tensor_get_shape (in[self->row_input])->dims[self->row_axis];
  gint64 planned = entry->shapes[self->row_input].dims[self->row_axis];
  g_autofree gint *kinds = g_new (gint, n_in + 1);
  g_autofree AxonTensor **wide_in = g_new0 (AxonTensor *, n_in + 1);
  g_autofree AxonTensor **wide_out = g_new0 (AxonTensor *, n_out + 1);
  gboolean ok;
  for (guint i = 0; i < n_in; i++)
    kinds[i] = i == (guint)self->row_input ? self->row_axis : CPU_ROWS_NONE;
  ok = resize_all (kinds, in, wide_in, n_in, planned, error) &&
       cpu_entry_run (entry, run, wide_in, wide_out, error) &&
       resize_all (entry->kinds, wide_out, out, n_out, rows, error);
  release_all (wide_in, n_in);
  release_all (wide_out, n_out);
  return ok;
}

static gboolean
run_rows (CpuTail *self, CpuRun *run, AxonTensor *const *in, AxonShape *shapes, AxonTensor **out,
          gboolean *done, GError **error)
{
  gint64 start, fine, *rows = &shapes[self->row_input].dims[self->row_axis], wanted = *rows;
  CpuEntry *entry = entry_for_rows (self, shapes, &fine);
  gdouble share;
  gboolean ok;
  *done = entry != NULL;
  if (entry == NULL) {
    *rows = wanted;
    return FALSE;
  }
  share = (gdouble)(*rows - fine) / (gdouble)*rows;
  start = g_get_monotonic_time ();
  ok = run_filled (self, entry, run, in, out, error);
  *rows = fine;
  if (ok && share > 0)
    note_loss (self, shapes, share * (gdouble)(g_get_monotonic_time () - start));
  cpu_entry_unref (entry);
  return ok;
}

static gboolean
interpret (CpuTail *self, CpuRun *run, AxonTensor *const *in, const AxonShape *shapes,
           AxonTensor **out, gboolean refused, GError **error)
{
  gint64 start = g_get_monotonic_time ();
  if (!cpu_interpret (self->model, run, in, out, error))
    return FALSE;
  start = MAX (g_get_monotonic_time () - start, 1);
  note_loss (self, shapes, (gdouble)start);
  g_mutex_lock (&self->lock);
  self->interpreting = (gdouble)start;
  self->refused |= refused;
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* A plan for exactly these shapes, or none: what is lost without one is what the reference kernels
 * take, which is not known before they have run. */
static gboolean
run_exact (CpuTail *self, CpuRun *run, AxonTensor *const *in, const AxonShape *shapes,
           AxonTensor **out, GError **error)
{
  CpuEntry *entry = find (self, shapes);
  gboolean worth = FALSE, ok;
  gdouble interpreting;
  if (entry == NULL) {
    g_mutex_lock (&self->lock);
    interpreting = self->interpreting;
    g_mutex_unlock (&self->lock);
    worth = is_worth (self, shapes, interpreting);
  }
  if (worth)
    entry = make (self, shapes, NULL);
  if (entry == NULL)
    return interpret (self, run, in, shapes, out, worth, error);
  ok = cpu_entry_run (entry, run, in, out, error);
  cpu_entry_unref (entry);
  return ok;
}

/* FALSE: types are not what they were said to be. */
static gboolean
read_shapes (const CpuTail *self, AxonTensor *const *in, AxonShape *shapes)
{
  for (guint i = 0; i < self->model->inputs->len; i++) {
    const AxonValue *value = g_ptr_array_index (self->model->inputs, i);
    const AxonShape *known = &value->type.shape;
    shapes[i] = *axon_tensor_get_shape (in[i]);
    if (value->type.dtype != axon_tensor_get_dtype (in[i]) ||
        (known->rank >= 0 && known->rank != shapes[i].rank))
      return FALSE;
  }
  return TRUE;
}

gboolean
cpu_tail_run (CpuTail *self, CpuRun *run, AxonTensor *const *in, AxonTensor **out, GError **error)
{
  g_autofree AxonShape *shapes = g_new (AxonShape, self->model->inputs->len + 1);
  gboolean mixes, done, ok;
  if (!read_shapes (self, in, shapes))
    return cpu_interpret (self->model, run, in, out, error);
  g_mutex_lock (&self->lock);
  mixes = self->mixes;
  g_mutex_unlock (&self->lock);
  if (!mixes && shapes[self->row_input].dims[self->row_axis] > 0) {
    ok = run_rows (self, run, in, shapes, out, &done, error);
    if (done)
      return ok;
  }
  return run_exact (self, run, in, shapes, out, error);
}

static gboolean
after_node (const AxonNode *node, G_GNUC_UNUSED guint index, gdouble microseconds,
            gpointer user_data, GError **error)
{
  CpuRun *run = user_data;
  AxonProfilingInfo info = { node->name ? node->name : "", node->op->name, "reference" };
  if (run->times != NULL) {
    g_array_append_val (run->info, info);
    g_array_append_val (run->times, microseconds);
  }
  return axon_infer_request_goes_on (run->request, error);
}

gboolean
cpu_interpret (AxonModel *model, CpuRun *run, AxonTensor *const *in, AxonTensor **out,
               GError **error)
{
  return axon_eval_model (model, in, out, after_node, run, error);
}
