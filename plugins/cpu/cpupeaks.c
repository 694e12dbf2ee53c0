/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpupeaks.h"
#include "cpuisa.h"
#include "cpulimits.h"

#define MOVED (8 << 20)    /* floats of each side: more than caches hold */
#define SHARE (MOVED / 64) /* those moved between two looks at the clock */
#define TURNS 20000        /* likewise */
/* The best window counts: others may use the machine, for some milliseconds at a time. */
#define WINDOW (3 * G_TIME_SPAN_MILLISECOND)
#define WINDOWS 24

typedef struct {
  const CpuPeak *peak;
  gfloat *x, *y;
  gint64 at;
} Probe;

/* Each does a bit, and returns how many operations or bytes that was. */
static gdouble
work_floats (Probe *p)
{
  volatile gfloat kept = p->peak->floats (TURNS);
  (void)kept;
  return p->peak->float_operations * TURNS;
}

static gdouble
work_bytes (Probe *p)
{
  volatile gint32 kept = p->peak->bytes (TURNS);
  (void)kept;
  return p->peak->byte_operations * TURNS;
}

static gdouble
work_memory (Probe *p)
{
  p->peak->move (p->y + p->at, p->x + p->at, SHARE);
  p->at = (p->at + SHARE) % MOVED;
  return 2.0 * SHARE * sizeof *p->x;
}

typedef struct {
  gdouble (*work) (Probe *p);
  gint *ready; /* threads that are; all begin together */
  gint n;
  gdouble rates[WINDOWS]; /* a microsecond */
} Job;

static void
fill_windows (Job *job, Probe *p)
{
  gint64 begin = g_get_monotonic_time (), last = begin, now = begin;
  for (guint w = 0; w < WINDOWS; w++, last = now) {
    gdouble done = 0;
    while (now < begin + (w + 1) * WINDOW) {
      done += job->work (p);
      now = g_get_monotonic_time ();
    }
    job->rates[w] = now > last ? done / (gdouble)(now - last) : 0;
  }
}

static gpointer
run_job (gpointer data)
{
  Job *job = data;
  Probe p = { .peak = cpu_isa_get ()->vector->peak };
  if (job->work == work_memory) {
    p.x = g_new0 (gfloat, MOVED);
    p.y = g_new0 (gfloat, MOVED);
    for (gint64 i = 0; i < MOVED; i += SHARE)
      job->work (&p); /* the system gives pages when they are written */
  }
  g_atomic_int_inc (job->ready);
  while (g_atomic_int_get (job->ready) < job->n)
    g_thread_yield ();
  fill_windows (job, &p);
  g_free (p.x);
  g_free (p.y);
  return NULL;
}

/* Thousands of millions a second, of @n threads together. */
static gdouble
measure (gint n, gdouble (*work) (Probe *p))
{
  g_autofree GThread **threads = g_new (GThread *, n);
  g_autofree Job *jobs = g_new0 (Job, n);
  gdouble best = 0;
  gint ready = 0;
  for (gint i = 0; i < n; i++) {
    jobs[i] = (Job){ .work = work, .ready = &ready, .n = n };
    threads[i] = g_thread_try_new ("axon-peak", run_job, &jobs[i], NULL);
    if (threads[i] == NULL) /* measured with fewer */
      g_atomic_int_inc (&ready);
  }
  for (gint i = 0; i < n; i++)
    g_clear_pointer (&threads[i], g_thread_join);
  for (guint w = 0; w < WINDOWS; w++) {
    gdouble sum = 0;
    for (gint i = 0; i < n; i++)
      sum += jobs[i].rates[w];
    best = MAX (best, sum / 1000);
  }
  return best;
}

GVariant *
cpu_peaks_measure (void)
{
  static const struct {
    const gchar *name;
    gdouble (*work) (Probe *p);
  } kinds[] = { { "f32", work_floats }, { "int8", work_bytes }, { "memory", work_memory } };
  CpuLimits limits;
  GVariantBuilder b;
  cpu_limits_init (&limits, "", "ANY_CORE", TRUE);
  g_variant_builder_init (&b, G_VARIANT_TYPE_STRING_ARRAY);
  for (gint n = 1; n <= (gint)limits.n; n = n < (gint)limits.n ? (gint)limits.n : n + 1)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++) {
      gchar number[G_ASCII_DTOSTR_BUF_SIZE];
      g_ascii_formatd (number, sizeof number, "%.2f", measure (n, kinds[k].work));
      g_variant_builder_add_value (
          &b, g_variant_new_take_string (g_strdup_printf ("%s:%d=%s", kinds[k].name, n, number)));
    }
  return g_variant_builder_end (&b);
}
