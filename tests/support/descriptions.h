/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shared by tests of model descriptions: a model, and the files beside it, from texts. */
#pragma once

#include "axontest.h"

#include <gst/nn/nn.h>

/* What each source says; NULL: nothing. Lines of key=value where no other syntax is given. */
typedef struct {
  const gchar *folder;     /* of the model, below a temporary one */
  const gchar *model;      /* its file's name; NULL: model.onnx */
  const gchar *property;   /* set before anything is loaded */
  const gchar *modelinfo;  /* model.onnx.modelinfo */
  const gchar *proc;       /* model.json */
  const gchar *names;      /* names.txt, beside the model */
  const gchar *short_info; /* model.modelinfo */
  const gchar *nvinfer;    /* config_infer_primary.txt, of DeepStream */
  const gchar *labels;     /* model.labels */
  const gchar *shared;     /* labels.txt */
  const gchar *metadata;   /* of the model itself */
} Sources;

/* NULL: one of them is wrong. */
GstNnDescription *describe (const Sources *sources, GError **error);
/* Fails unless they are refused with an error that says so. */
void refused (const Sources *sources, const gchar *says);
/* Fails unless they are right. */
GstNnDescription *accepted (const Sources *sources);

/* A model-proc with these parameters of its input, and these labels. */
#define MODEL_PROC(params, labels)                                                                 \
  "{\"json_schema_version\":\"2.2.0\",\"input_preproc\":[{\"params\":" params                      \
  "}],\"output_postproc\":[{\"labels\":" labels "}]}"
