/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* PoCL, the driver that tests run on, aborts the process when its kernel cache is damaged: it gets
 * a folder of its own, which is emptied when a process died while it wrote there. */
#pragma once

void gpu_pocl_prepare (void);
/* Around what writes to the cache; counts, any thread. */
void gpu_pocl_begin (void);
void gpu_pocl_end (void);
