/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the targets share. A target is one file with LLVMFuzzerTestOneInput(): clang's libFuzzer
 * calls it with what it makes up (tests/fuzz.sh), fuzz-NAME with the files of corpus/NAME. Any
 * CRITICAL ends the process; what a model may take is AXON_MAX_MEMORY, 128 MiB unless said. */
#pragma once

#include <axon/axon.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const guint8 *data, gsize n);

/* Calls that fail say why, in UTF-8; others say nothing. */
void fuzz_check (gboolean ok, const GError *error);
/* Threads that are about to end hold what LeakSanitizer takes for lost: until there are as few as
 * before, or it takes too long. */
void fuzz_await_threads (void);

/* Path of a file in memory with such bytes, until fuzz_close (). */
gchar *fuzz_open (gconstpointer data, gsize n, const gchar *ending);
void fuzz_close (gchar *path);

/* Bytes that decide something; 0 after the last. */
typedef struct {
  const guint8 *data;
  gsize n;
} FuzzBytes;

guint8 fuzz_byte (FuzzBytes *bytes);
/* The rest up to the next newline, which is taken, too. */
gchar *fuzz_line (FuzzBytes *bytes);

/* A tensor of an input's declared shape, 2 for unknown dimensions; NULL where it is large or none.
 */
AxonTensor *fuzz_input (AxonModel *model, guint index);
/* All outputs of one run, AxonTensor; NULL with an error. */
GPtrArray *fuzz_run (AxonCompiledModel *compiled, GPtrArray *inputs, GError **error);
