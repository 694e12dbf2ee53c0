/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Elements with the same model-instance-id have one model: it is read once, and compiled once for
 * each kind of stream, and they take turns (gstnninferturns.h). No number of requests is shared
 * out, so one that is paused, slow or gone holds nothing that another waits for; the device takes
 * what is started in the order of starting, and a batching one puts requests of several elements
 * together.
 *
 * Any thread. A share lives as long as a model that holds it, and what was compiled as long as a
 * model uses it. */
#pragma once

#include "infer/gstnninfermodel.h"
#include "infer/gstnninferturns.h"

typedef gboolean (*GstNnInferReadFunc) (GstNnInferModel *m, GError **error);
typedef AxonCompiledModel *(*GstNnInferCompileFunc) (gpointer user_data, GError **error);

/* Opens @m as its instance is, which @read opens if it is the first. */
gboolean gst_nn_infer_share_open (GstNnInferModel *m, GstNnInferReadFunc read, GError **error);
/* Whether somebody built the graph for streams like that of @m, which is prepared for video; and
 * that it was built. */
gboolean gst_nn_infer_share_is_known (const GstNnInferModel *m);
void gst_nn_infer_share_know (const GstNnInferModel *m);
/* What @compile makes of @m, or what it made of one like it that shares its instance. */
AxonCompiledModel *gst_nn_infer_share_compile (const GstNnInferModel *m, GCancellable *cancellable,
                                               GstNnInferCompileFunc compile, gpointer user_data,
                                               GError **error);
GstNnInferTurns *gst_nn_infer_share_get_turns (GstNnInferShare *share);
