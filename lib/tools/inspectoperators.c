/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The operator table as text, or as the page docs/operators.md. */
#include "inspect-private.h"

#include <string.h>

/* "domain:name" or "domain:name:opset" -> implementations of @device, joined; empty where there is
 * no such device. */
static GHashTable *
load_kernels (const gchar *device, const gchar *property)
{
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GVariant) value =
      axon_core_get_property (axon_core_get_default (), device, property, NULL);
  g_autofree const gchar **lines = value ? g_variant_get_strv (value, NULL) : NULL;
  for (guint i = 0; lines != NULL && lines[i] != NULL; i++) {
    g_auto (GStrv) parts = g_strsplit (lines[i], "=", 2);
    const gchar *known = g_hash_table_lookup (table, parts[0]);
    if (known == NULL)
      g_hash_table_insert (table, g_strdup (parts[0]), g_strdup (parts[1]));
    else if (strstr (known, parts[1]) == NULL)
      g_hash_table_insert (table, g_strdup (parts[0]), g_strconcat (known, ", ", parts[1], NULL));
  }
  return table;
}

/* Words of a line of the operator list: domain, name, opsets, types. */
static gchar **
split_line (const gchar *line)
{
  g_auto (GStrv) raw = g_strsplit (line, " ", -1);
  GPtrArray *words = g_ptr_array_new ();
  for (guint i = 0; raw[i] != NULL; i++)
    if (*raw[i] != '\0')
      g_ptr_array_add (words, g_strdup (raw[i]));
  g_ptr_array_add (words, NULL);
  return (gchar **)g_ptr_array_free (words, FALSE);
}

static gint
compare_rows (gconstpointer a, gconstpointer b)
{
  const gchar *const *x = *(const gchar *const *const *)a, *const *y =
                                                               *(const gchar *const *const *)b;
  gint order = strcmp (x[0], y[0]);
  return order ? order
         : strcmp (x[1], y[1])
             ? strcmp (x[1], y[1])
             : (gint)(g_ascii_strtoll (x[2], NULL, 10) - g_ascii_strtoll (y[2], NULL, 10));
}

static void
print_row (gchar **row, GHashTable *kernels, GHashTable *gpu)
{
  g_autofree gchar *name = g_strconcat (row[0], ":", row[1], NULL);
  g_auto (GStrv) ends = g_strsplit (row[2], "-", 2);
  g_autofree gchar *key = g_strconcat (name, ":", ends[0], NULL);
  const gchar *exception = g_hash_table_lookup (kernels, key);
  const gchar *own = exception ? exception : g_hash_table_lookup (kernels, name);
  const gchar *of_gpu = g_hash_table_lookup (gpu, name);
  g_print ("| %s%s%s | %s%s%s | %s | %s | %s |\n", g_str_equal (row[0], "ai.onnx") ? "" : row[0],
           g_str_equal (row[0], "ai.onnx") ? "" : ".", row[1], ends[0], *ends[1] ? " to " : " on",
           ends[1], row[3], own ? own : "reference", of_gpu ? of_gpu : "");
}

static void
print_markdown (gchar **lines)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify)g_strfreev);
  g_autoptr (GHashTable) kernels = load_kernels ("CPU", "CPU_OPERATOR_KERNELS");
  g_autoptr (GHashTable) gpu = load_kernels ("GPU", "GPU_OPERATOR_KERNELS");
  for (guint i = 0; lines[i] != NULL; i++)
    g_ptr_array_add (rows, split_line (lines[i]));
  g_ptr_array_sort (rows, compare_rows);
  g_print (
      "# Operators\n\n"
      "Made by `axon-inspect --operators --markdown`. Device TEMPLATE runs the reference kernel "
      "of every row;\ncolumn CPU says what device CPU runs: `onednn`, a kernel of its "
      "`own`, a `view` of memory, or the\nreference kernel. Where a type or an attribute does "
      "not suit a kernel, the next one in the column runs,\nand the reference kernel at last; "
      "`axon-bench --profile` names what ran. Column GPU names the kernel\nthat device GPU has, "
      "`generated` where it is written from the graph; where there is none, or it does not suit\na "
      "node, the device refuses the node and HETERO:GPU,CPU gives it to the CPU.\n\n"
      "| operator | opsets | types of input 0 | CPU | GPU |\n|---|---|---|---|---|\n");
  for (guint i = 0; i < rows->len; i++)
    print_row (g_ptr_array_index (rows, i), kernels, gpu);
}

static void
print_json (gchar **lines)
{
  g_autoptr (JsonBuilder) b = tool_json_new ();
  tool_json_begin_list (b, "operators");
  for (guint i = 0; lines[i] != NULL; i++) {
    g_auto (GStrv) row = split_line (lines[i]);
    g_auto (GStrv) ends = g_strsplit (row[2], "-", 2);
    json_builder_begin_object (b);
    tool_json_text (b, "domain", row[0]);
    tool_json_text (b, "name", row[1]);
    tool_json_whole (b, "since", g_ascii_strtoll (ends[0], NULL, 10));
    if (*ends[1])
      tool_json_whole (b, "until", g_ascii_strtoll (ends[1], NULL, 10));
    else
      tool_json_text (b, "until", NULL);
    tool_json_text (b, "types", row[3]);
    json_builder_end_object (b);
  }
  tool_json_end_list (b);
  tool_json_finish (b);
}

static void
print_text (gchar **lines)
{
  for (guint i = 0; lines[i] != NULL; i++)
    g_print ("%s\n", lines[i]);
}

int
inspect_operators (InspectForm form)
{
  static void (*const printers[]) (gchar **) = {
    [INSPECT_TEXT] = print_text,
    [INSPECT_MARKDOWN] = print_markdown,
    [INSPECT_JSON] = print_json,
  };
  g_auto (GStrv) lines = axon_core_list_operators (axon_core_get_default ());
  printers[form](lines);
  return TOOL_DONE;
}
