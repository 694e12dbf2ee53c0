/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measuring kernels: every variant of a model's convolutions runs on the device, on whatever is in
 * its memory, and the fastest of each node stays. */
#pragma once

#include "gpuprogram.h"

/* TRUE for what an export may say. */
gboolean gpu_is_variant (gint variant);

/* Node name -> variant, added to @best. @make gives a plan with the options. */
typedef GpuPlan *(*GpuMakePlan) (const GpuOptions *options, gpointer user_data, GError **error);
gboolean gpu_tune (GpuStore *store, GpuMakePlan make, gpointer user_data, GHashTable *best,
                   GError **error);
