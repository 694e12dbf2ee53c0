/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU's own passes, in order after the common ones. */
#pragma once

#include <axon/axon-plugin.h>

extern const AxonPass cpu_passes[];
extern const guint cpu_n_passes;

gboolean cpu_pass_half_to_float (AxonModel *model, GError **error);
gboolean cpu_pass_expand_einsum (AxonModel *model, GError **error);
gboolean cpu_pass_fuse_activation (AxonModel *model, GError **error);
