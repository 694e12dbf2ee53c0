/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <axon/axondtype.h>

/* As axon_dtype_load() and axon_dtype_store() of each of @n elements; @x and @y are apart. */
void axon_dtype_convert (AxonDType from, gconstpointer x, AxonDType to, gpointer y, gsize n);
