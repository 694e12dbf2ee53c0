/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* INFERENCE_TIMEOUT. */
#pragma once

#include "axoninferrequest-private.h"

/* Milliseconds; 0: the request is not watched. */
guint axon_watchdog_timeout (const AxonInferRequest *r);
/* A run is about to begin; begins on the device; is cancelled. */
void axon_watchdog_add (AxonInferRequest *r);
void axon_watchdog_enter (AxonInferRequest *r);
void axon_watchdog_hurry (AxonInferRequest *r);
/* FALSE: it was abandoned, and nobody wants its results. */
gboolean axon_watchdog_finish (AxonInferRequest *r);
/* The run's call returned. FALSE: it was abandoned, its end was told already. */
gboolean axon_watchdog_remove (AxonInferRequest *r);
gboolean axon_watchdog_check_alive (AxonInferRequest *r, GError **error);
