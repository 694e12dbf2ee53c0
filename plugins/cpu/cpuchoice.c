/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpuchoice.h"

#include "cpuisa.h"
#include "onednn/cpudnn.h"

#include <axon/axon-cpu.h>

static const struct {
  const gchar *text, *families[2];
} rows[CPU_N_CHOICES] = {
  [CPU_OWN] = { "own", { "float_conv", "float_matmul" } },
  [CPU_COLUMNS] = { "columns", { "columns", NULL } },
  [CPU_DOTS] = { "dots", { "dots", NULL } },
  [CPU_PLANES] = { "planes", { "planes", NULL } },
  [CPU_WINOGRAD_2x2] = { "winograd-2x2", { "winograd", NULL } },
  [CPU_WINOGRAD_4x4] = { "winograd-4x4", { "winograd", NULL } },
  [CPU_ONEDNN] = { "onednn", { "dnn_conv", "dnn_matmul" } },
};

static const gchar *const layouts[] = { "blocks", "channels-last" };

static const gchar *
note_of (const AxonNode *node, const gchar *key)
{
  return node->info ? g_hash_table_lookup (node->info, key) : NULL;
}

CpuChoice
cpu_choice_of (const AxonNode *node)
{
  const gchar *text = note_of (node, AXON_CPU_KERNEL);
  for (guint i = CPU_BY_RULE + 1; text != NULL && i < CPU_N_CHOICES; i++)
    if (g_str_equal (rows[i].text, text))
      return (CpuChoice)i;
  return CPU_BY_RULE;
}

const gchar *
cpu_choice_get_text (CpuChoice choice)
{
  return rows[choice].text;
}

void
cpu_choice_note (AxonNode *node, CpuChoice choice)
{
  axon_node_set_info (node, AXON_CPU_KERNEL, rows[choice].text);
}

gboolean
cpu_choice_names (CpuChoice choice, const gchar *family)
{
  return choice == CPU_BY_RULE || g_strcmp0 (rows[choice].families[0], family) == 0 ||
         g_strcmp0 (rows[choice].families[1], family) == 0;
}

gboolean
cpu_choice_is_open (const AxonNode *node)
{
  static const gchar *const names[] = { "Conv", "ConvTranspose", "MatMul", "Gemm", NULL };
  const AxonTensor *weights = node->op->domain == NULL ? cpu_node_constant (node, 1) : NULL;
  return weights != NULL && axon_tensor_get_dtype (weights) == AXON_DTYPE_F32 &&
         g_strv_contains (names, node->op->name) && cpu_choice_of (node) == CPU_BY_RULE;
}

gboolean
cpu_choice_of_layout (const AxonModel *model, gboolean *channels_last)
{
  for (guint i = 0; i < model->nodes->len; i++) {
    const gchar *text = note_of (g_ptr_array_index (model->nodes, i), AXON_CPU_LAYOUT);
    for (guint k = 0; text != NULL && k < G_N_ELEMENTS (layouts); k++)
      if (g_str_equal (layouts[k], text)) {
        *channels_last = k == 1;
        return TRUE;
      }
  }
  return FALSE;
}

const gchar *
cpu_choice_get_layout (gboolean channels_last)
{
  return layouts[channels_last ? 1 : 0];
}

gchar *
cpu_choice_place (const gchar *processor, guint n_threads)
{
  return g_strdup_printf ("%s, %s, oneDNN %s %s, threads: %u", processor, cpu_isa_get ()->name,
                          cpu_dnn_get_version (), cpu_dnn_get_isa (), n_threads);
}

gboolean
cpu_choices_check (AxonModel *model, const gchar *place)
{
  const gchar *measured = axon_model_get_metadata (model, AXON_CPU_TUNE_KERNELS);
  if (measured == NULL || g_str_equal (measured, place))
    return measured != NULL;
  axon_model_set_metadata (model, AXON_CPU_TUNE_KERNELS, NULL);
  for (guint i = 0; i < model->nodes->len; i++) {
    AxonNode *node = g_ptr_array_index (model->nodes, i);
    axon_node_set_info (node, AXON_CPU_KERNEL, NULL);
    axon_node_set_info (node, AXON_CPU_LAYOUT, NULL);
  }
  return FALSE;
}
