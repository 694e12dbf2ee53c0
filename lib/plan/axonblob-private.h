/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/plugin/axonblob.h>

AxonOpSet *axon_blob_get_op_set (AxonBlob *blob);
