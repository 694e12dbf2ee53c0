/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory of large tensors that come and go with every run, as outputs do that leave with frames:
 * the system would map and clear it anew each time. What is idle goes with the pool's owner; what
 * is in use then, with its tensor. Any thread. */
#pragma once

#include <axon/axontensor.h>

typedef struct _AxonTensorPool AxonTensorPool;

AxonTensorPool *axon_tensor_pool_new (void);
void axon_tensor_pool_close (AxonTensorPool *pool);
/* A tensor in host memory, elements undefined; NULL with @error. */
AxonTensor *axon_tensor_pool_take (AxonTensorPool *pool, AxonDType dtype, const AxonShape *shape,
                                   GError **error);
