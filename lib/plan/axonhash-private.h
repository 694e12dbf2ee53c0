/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* xxHash, with the vectors that the processor has where the library can choose. */
#pragma once

#include "config.h"
#include <xxhash.h>

#ifdef HAVE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif
