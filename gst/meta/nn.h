/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata of neural-network results on buffers, for applications. */
#pragma once

#include "gstnndescription.h"
#include "gstnnresultmeta.h"
#include "gstnntensormeta.h"
