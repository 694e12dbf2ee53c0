/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Compiled model of device ONNXIFI: a graph of the vendor's. */
#pragma once

#include "onnxifisession.h"

AxonCompiledModel *onnxifi_model_new (AxonPlugin *plugin, const OnnxifiDevice *device,
                                      const gchar *name, AxonModel *model, const AxonConfig *config,
                                      GError **error);
/* Why a value cannot be a port of a vendor's graph (transfer full); NULL: it can. */
gchar *onnxifi_refuse_value (const AxonValue *value);
