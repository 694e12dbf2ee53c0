/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of axon-inspect. */
#pragma once

#include "toolcommon.h"

int inspect_operators (gboolean markdown);
/* Nothing for a model that takes no pictures. FALSE: what describes it is wrong. */
gboolean inspect_description (AxonModel *model, const gchar *path, GError **error);
int inspect_presets (void);
