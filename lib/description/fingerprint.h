/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axonmodel.h>

/* Whether @model looks as @row of @table says. */
gboolean axon_fingerprint_fits (GKeyFile *table, const gchar *row, AxonModel *model);
