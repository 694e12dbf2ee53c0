/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "axonblob.h"

AxonOpSet *axon_blob_get_op_set (AxonBlob *blob);
