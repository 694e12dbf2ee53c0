/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Operators that follow indices. Every index is checked on the device; a wrong one ends the run
 * with an error, and nothing outside of the tensor is touched. */
#pragma once

#include "kernels.h"

#include "config.h"
#include <glib/gi18n-lib.h>

#define GPU_WRONG_INDEX _ ("an index is out of range")

/* As kernels say it; NULL: not one that they read. */
const gchar *gpu_index_type (const AxonNode *node, gchar **why);

/* Sizes and steps of the axes that an index of @length numbers speaks of, from @first on. */
void gpu_set_axes (const AxonShape *shape, gint first, gint64 length, gint32 *size, gint32 *step);
