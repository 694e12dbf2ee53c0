/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks for sysprof: compile, query, import, infer. Without a running profiler a mark costs one
 * clock read and one branch; without the library it costs nothing. */
#pragma once

#include "config.h"
#include <glib.h>

#ifdef HAVE_SYSPROF
#include <sysprof-capture.h>
#define AXON_TRACE_BEGIN(var) gint64 var = SYSPROF_CAPTURE_CURRENT_TIME
#define AXON_TRACE_END(var, name, detail)                                                          \
  sysprof_collector_mark (var, SYSPROF_CAPTURE_CURRENT_TIME - var, "axon", name, detail)
#else
#define AXON_TRACE_BEGIN(var)                                                                      \
  G_STMT_START                                                                                     \
  {                                                                                                \
  }                                                                                                \
  G_STMT_END
#define AXON_TRACE_END(var, name, detail)                                                          \
  G_STMT_START                                                                                     \
  {                                                                                                \
  }                                                                                                \
  G_STMT_END
#endif
