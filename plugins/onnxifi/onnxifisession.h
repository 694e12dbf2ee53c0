/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An initialised backend. What is not safe for threads is called from one thread of its own. */
#pragma once

#include "onnxifilibrary.h"

typedef struct _OnnxifiSession OnnxifiSession;

typedef void (*OnnxifiTask) (gpointer data);

/* @keep: what keeps @device alive. */
OnnxifiSession *onnxifi_session_new (const OnnxifiDevice *device, GObject *keep,
                                     const AxonConfig *config, GError **error);
void onnxifi_session_free (OnnxifiSession *session);
onnxBackend onnxifi_session_get_backend (const OnnxifiSession *session);
const OnnxifiDevice *onnxifi_session_get_device (const OnnxifiSession *session);
/* TRUE: any thread may call, several at once. */
gboolean onnxifi_session_is_thread_safe (const OnnxifiSession *session);
/* Runs @task where the backend may be called, and returns when it did. */
void onnxifi_session_call (OnnxifiSession *session, OnnxifiTask task, gpointer data);
