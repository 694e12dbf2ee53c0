/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What other rooms of the library do with tensors. */
#pragma once

#include <axon/axontensor.h>

AxonTensor *axon_tensor_new_borrowing (AxonDType dtype, const AxonShape *shape, GError **error);
AxonTensor *axon_tensor_adopt (AxonTensor *borrowing, GError **error);
void axon_tensor_copy_boxes (const AxonTensor *from, AxonTensor *to);
AxonTensor *axon_tensor_map_remote (AxonTensor *tensor);
