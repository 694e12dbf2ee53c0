/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a device plugin's author includes besides <axon/axon.h>. */
#pragma once

#include <gmodule.h>

#include "builtins/axonbuiltins.h"
#include "eval/axoneval.h"
#include "model/axongraph.h"
#include "ops/axonopset.h"
#include "ops/axonwindow.h"
#include "passes/axonpass.h"
#include "passes/axonquant.h"
#include "plan/axonpartition.h"
#include "plan/axonplan.h"
#include "plan/axonblob.h"
#include "runtime/core/axondevices.h"
#include "runtime/core/axonextension.h"
#include "runtime/core/axonplugin.h"
#include "runtime/core/axonspread.h"
#include "runtime/infer/axoninferrequest.h"
#include "runtime/infer/axonscheduler.h"
