/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a model in parts consists of. Private to the files that make, run and store it. */
#pragma once

#include "hetero.h"

typedef enum { FROM_INPUT, FROM_PART, FROM_CONSTANT } SourceKind;

/* Where a value comes from. */
typedef struct {
  SourceKind kind;
  guint part, index;    /* index: of the model's input, or of the part's output */
  AxonTensor *constant; /* owned */
} Source;

typedef struct {
  gchar *device;
  AxonCompiledModel *compiled;
  AxonModel *model; /* kept where the device exports nothing */
  Source *inputs;   /* of each of the part's inputs */
} Part;

typedef struct {
  AxonCompiledModel parent_instance;
  AxonModel *ports; /* inputs, then results of parts, as inputs; outputs: what an export needs */
  guint n_inputs;
  GPtrArray *parts; /* Part */
  GArray *outputs;  /* Source */
} HeteroModel;

GType hetero_model_get_type (void);

/* heterorequest.c */
void hetero_request_init (AxonCompiledModel *compiled, AxonInferRequest *request);
gboolean hetero_request_start (AxonCompiledModel *compiled, AxonInferRequest *request,
                               GError **error);
void hetero_request_cancel (AxonCompiledModel *compiled, AxonInferRequest *request);

gchar *hetero_part_prefix (guint part); /* of names that tell of the part (transfer full) */

/* heteroruntime.c */
AxonModel *hetero_model_get_runtime_model (AxonCompiledModel *compiled, GError **error);

/* heteroblob.c */
GVariant *hetero_model_export (AxonCompiledModel *compiled, AxonBlobWriter *writer, GError **error);

/* heterocompile.c */
gboolean hetero_link_parts (HeteroModel *self, GError **error);
GVariant *hetero_part_config (AxonCore *core, const AxonConfig *config, const gchar *device,
                              guint n_parts);
