/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of axon-run. */
#pragma once

#include "toolcommon.h"

typedef struct {
  gdouble rtol;      /* of the expected element; < 0: by type */
  gdouble atol;      /* of the largest expected magnitude; < 0: by type */
  gboolean absolute; /* atol is absolute, as in the ONNX backend tests */
  gboolean quantized;
} RunTolerance;

/* As given; NULL where they are not. */
typedef struct {
  gchar *color, *fit, *mean, *scale, *size;
  gdouble pad, crop_fraction;
} RunPictureOptions;

typedef struct {
  gchar *device;
  GVariant *config; /* (nullable) */
  AxonPreprocess *preprocess;
  RunTolerance tolerance;
  gboolean quiet;
  JsonBuilder
      *json; /* an open object, which what is found goes to instead of being printed; or NULL */
} RunOptions;

/* Compares and describes what it found in @report. */
gboolean run_compare (const AxonTensor *expected, const AxonTensor *got,
                      const RunTolerance *tolerance, GString *report);

/* Reads input_i.pb and output_i.pb (i from 0) of a test_data_set folder. */
GPtrArray *run_load_tensors (AxonModel *model, const gchar *dir, gboolean input, GError **error);

/* Runs @model once on @inputs; returns the outputs. */
GPtrArray *run_model (AxonModel *model, GPtrArray *inputs, const RunOptions *options,
                      GError **error);

/* @all: every value, else the first. @folder: where to save them, or NULL. @json: as in RunOptions
 */
gboolean run_show_outputs (AxonModel *model, GPtrArray *outputs, gboolean all, const gchar *folder,
                           JsonBuilder *json, GError **error);

/* Runs and compares with the folder; prints figures. */
gboolean run_expect (AxonModel *model, const gchar *dir, const RunOptions *options, GError **error);

int run_suite (const gchar *dir, const RunOptions *options);

/* What is wrong with any of the options is one error. */
AxonPreprocess *run_preprocess_new (const RunPictureOptions *options, GError **error);

/* A picture as tensor for input @index of @model, by axon.ImageToTensor. */
AxonTensor *run_load_picture (AxonModel *model, guint index, const gchar *path,
                              AxonPreprocess *preprocess, GError **error);
