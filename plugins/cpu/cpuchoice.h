/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How convolutions and products of floats are computed, where that was measured or asked for: notes
 * on the nodes of a model. Anybody may have written them, so a kernel that does not take the node
 * is as if nothing were said. See docs/design/tuning.md. */
#pragma once

#include "cpuplan.h"

/* What the note of @node says; CPU_BY_RULE: nothing that is known. */
CpuChoice cpu_choice_of (const AxonNode *node);
/* CPU_BY_RULE takes the note away. */
void cpu_choice_note (AxonNode *node, CpuChoice choice);
const gchar *cpu_choice_get_text (CpuChoice choice);
/* TRUE if @family computes nodes as @choice says. */
gboolean cpu_choice_names (CpuChoice choice, const gchar *family);
/* TRUE if there is a choice for @node, and nobody has made it. */
gboolean cpu_choice_is_open (const AxonNode *node);

/* Where oneDNN wants blocks of channels: whether the graph is channels last nevertheless. FALSE:
 * no node says. */
gboolean cpu_choice_of_layout (const AxonModel *model, gboolean *channels_last);
const gchar *cpu_choice_get_layout (gboolean channels_last);

/* Where notes were measured: @processor, its level of instructions, oneDNN, @n_threads (g_free). */
gchar *cpu_choice_place (const gchar *processor, guint n_threads);
/* Takes the notes away that were measured elsewhere than at @place. TRUE: some were here. */
gboolean cpu_choices_check (AxonModel *model, const gchar *place);
