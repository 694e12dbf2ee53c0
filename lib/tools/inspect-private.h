/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of axon-inspect. */
#pragma once

#include "toolcommon.h"

int inspect_operators (gboolean markdown);
