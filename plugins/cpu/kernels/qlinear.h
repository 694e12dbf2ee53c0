/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* com.microsoft's operators on bytes: what their builders share. */
#pragma once

#include "../cpuplan.h"
#include "../vector/quantize.h"

/* What becomes of each byte. */
typedef struct {
  gboolean same;          /* every byte is kept */
  CpuRescaleFunc rescale; /* NULL, or it makes the same of every byte by @by */
  CpuRescale by;
  guint8 to[256];
} CpuByteTable;

/* The reference kernel's answers for every byte as input @data of the operator with inputs @in and
 * its attributes of @node; the tensor lies along @axis of @rank dimensions. */
gboolean cpu_byte_table_init (CpuByteTable *table, const AxonNode *node, AxonTensor **in,
                              guint n_in, guint data, gint rank, gint axis);

/* Where factor and offset, rounded, make the same of every byte, the table is not looked up. */
void cpu_byte_table_rescale (CpuByteTable *table, gboolean is_signed, gfloat factor, gfloat offset);

/* A table for some rows (CpuBlockFunc); @user is a CpuByteRun. */
typedef struct {
  const CpuByteTable *table;
  guint8 *y;
  const guint8 *x;
} CpuByteRun;
void cpu_byte_table_rows (gpointer user, const gint64 *at, const gint64 *step, gint64 n,
                          const gint64 *next, gint64 count);
