/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of axon-bench. */
#pragma once

#include "toolcommon.h"

/* What one input is given. */
typedef struct {
  AxonTensor *tensor;
  const gchar *values; /* where they come from, to be shown */
  gboolean chosen;     /* the model leaves dimensions free, and nobody said which */
} BenchInput;

typedef struct {
  GArray *inputs; /* BenchInput */
  gdouble first_ms;
} BenchInputs;

void bench_inputs_free (BenchInputs *inputs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchInputs, bench_inputs_free)

/* Inputs that the model runs with: of the sizes @shapes ("N,C,H,W", by position; or NULL), of
 * test_data_set_0 beside @path, else of usual sizes, the first that the graph takes. Runs @request,
 * which has them then. */
BenchInputs *bench_inputs_choose (AxonCompiledModel *compiled, AxonInferRequest *request,
                                  const gchar *path, gchar **shapes, GError **error);

/* What the device can do at most with the threads of one request; 0: unknown. Thousands of millions
 * of operations or bytes a second. */
typedef struct {
  gdouble f32, int8, memory;
  guint threads;
} BenchPeaks;

/* One thing that the device runs. */
typedef struct {
  gchar *name, *type, *impl;
  gdouble us, share;         /* median of the runs, and what part of all steps that is */
  gdouble operations, bytes; /* 0: unknown */
  gboolean of_bytes;         /* measured by the peak of int8 */
  gdouble fraction;          /* of the speed that the roofline allows; 0: unknown */
  gboolean slow;             /* worth a look */
  GArray *times;             /* of each run */
} BenchStep;

typedef struct {
  BenchPeaks peaks;
  GPtrArray *steps; /* BenchStep, in the order in which they run */
  gdouble us;
} BenchProfile;

/* Runs @request, whose model was compiled with PERF_COUNT, some times more. */
BenchProfile *bench_profile_new (AxonCompiledModel *compiled, AxonInferRequest *request,
                                 GError **error);
void bench_profile_free (BenchProfile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchProfile, bench_profile_free)

/* Thousands of millions of operations, or bytes, a second. */
gdouble bench_step_operations (const BenchStep *step);
gdouble bench_step_bytes (const BenchStep *step);

void bench_profile_print (const BenchProfile *profile);
/* "-" where it is not known, that is 0. @form: for printf */
gchar *bench_figure_or_dash (gdouble value, const gchar *form);
/* What the machine can do, as a line. NULL: unknown */
gchar *bench_peaks_describe (const BenchPeaks *peaks);
/* The graph that runs, with each step's figures. */
gboolean bench_profile_draw_graph (const BenchProfile *profile, AxonCompiledModel *compiled,
                                   const gchar *file, GError **error);
/* The time of each step, and where they lie below the roofline. @file: .svg or .png */
gboolean bench_profile_draw_chart (const BenchProfile *profile, const gchar *title,
                                   const gchar *file, GError **error);

/* What one run of the program measured, or a file of an earlier one tells. */
typedef enum {
  BENCH_LOAD,
  BENCH_COMPILE,
  BENCH_FIRST,
  BENCH_MEDIAN,
  BENCH_P95,
  BENCH_P99,
  BENCH_MIN,
  BENCH_MAX,
  BENCH_FPS,
  BENCH_RUNS,
  BENCH_CPU,
  BENCH_PEAK_MEMORY,
  BENCH_BASE_MEMORY,
  BENCH_N_FIGURES,
} BenchFigure;

typedef struct {
  const gchar *key;   /* of JSON */
  const gchar *title; /* for people, not translated yet */
  const gchar *unit;
  gint decimals;
  gint better; /* 1: more is better, -1: less; 0: neither */
} BenchFigureRow;
extern const BenchFigureRow bench_figures[BENCH_N_FIGURES];

typedef struct {
  gchar *name, *device;
  gdouble figures[BENCH_N_FIGURES];
  GArray *latencies; /* gdouble, milliseconds; ascending once measured; of a file, at most 1001 */
  JsonArray *inputs; /* as written, (nullable) */
  BenchProfile *profile; /* (nullable) */
} BenchRun;

BenchRun *bench_run_new (const gchar *name, const gchar *device);
void bench_run_free (BenchRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BenchRun, bench_run_free)

/* Sorts the latencies, and takes from them what is known of them. */
void bench_run_sum_up (BenchRun *run, gdouble seconds);
void bench_run_set_inputs (BenchRun *run, AxonCompiledModel *compiled, const BenchInputs *inputs);
/* "; x f32[1,4] random", and so on */
gchar *bench_run_describe_inputs (const BenchRun *run);
void bench_run_print_json (const BenchRun *run);
/* What bench_run_print_json () printed into @file. */
BenchRun *bench_run_load (const gchar *file, GError **error);

/* A page of HTML that needs nothing else: of one run, or of two beside each other. */
gboolean bench_report_write (BenchRun *const *runs, guint n, const gchar *file, GError **error);
/* Its charts, as SVG. */
void bench_plot_latency (GString *page, BenchRun *const *runs, guint n);
void bench_plot_steps (GString *page, BenchRun *const *runs, guint n);
void bench_plot_roofline (GString *page, BenchRun *const *runs, guint n);
void bench_plot_memory (GString *page, BenchRun *const *runs, guint n);

BenchProfile *bench_profile_new_empty (void);
BenchStep *bench_profile_add_step (BenchProfile *profile, const gchar *name, const gchar *type,
                                   const gchar *impl);
/* Shares, and parts of the roofline, once times and costs of all steps are known. */
void bench_profile_finish (BenchProfile *profile);
