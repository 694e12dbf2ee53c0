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
/* The graph that runs, with each step's figures. */
gboolean bench_profile_draw_graph (const BenchProfile *profile, AxonCompiledModel *compiled,
                                   const gchar *file, GError **error);
/* The time of each step, and where they lie below the roofline. @file: .svg or .png */
gboolean bench_profile_draw_chart (const BenchProfile *profile, const gchar *title,
                                   const gchar *file, GError **error);
