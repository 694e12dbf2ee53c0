/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Around every call of a device that compiles or imports: its memory, its time, whether it is still
 * wanted. */
#pragma once

#include "axoncompile-private.h"
#include "../../base/axonwork-private.h"

typedef struct {
  AxonWork work;
  const AxonWork *before;
  GCancellable *cancellable; /* what the device is to ask */
  GCancellable *given;       /* nullable: the caller's */
  gulong handler;
  gint64 deadline;              /* monotonic, 0: none */
  gint max_time;                /* ms */
  guint timeout, outer_timeout; /* ms of a run; of the model that this one is a part of */
  guint outer_max_time;
  GThread *timer; /* nullable */
  GMutex lock;
  GCond changed;
  gboolean is_done, is_late; /* lock */
} AxonGuard;

void axon_guard_enter (AxonGuard *guard, const AxonTarget *target, GCancellable *cancellable);

/* Returns @compiled, or NULL with @error where it came too late. */
AxonCompiledModel *axon_guard_leave (AxonGuard *guard, AxonCompiledModel *compiled, GError **error);
