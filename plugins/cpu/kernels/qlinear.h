/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* com.microsoft's operators on bytes: what their builders share. */
#pragma once

#include "../cpuplan.h"

/* What becomes of each byte. */
typedef struct {
  gboolean same; /* every byte is kept */
  guint8 to[256];
} CpuByteTable;

/* The reference kernel's answers for every byte as input @data of the operator with inputs @in and
 * its attributes of @node; the tensor lies along @axis of @rank dimensions. */
gboolean cpu_byte_table_init (CpuByteTable *table, const AxonNode *node, AxonTensor **in,
                              guint n_in, guint data, gint rank, gint axis);

/* A table for each row; @user is a CpuByteRun. */
typedef struct {
  const CpuByteTable *table;
  guint8 *y;
  const guint8 *x;
} CpuByteRun;
void cpu_byte_table_row (gpointer user, const gint64 *at, const gint64 *step, gint64 n);
