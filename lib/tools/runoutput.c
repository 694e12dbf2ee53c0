/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The outputs of a run: as text, as JSON, as files. */
#include "run-private.h"

#include <math.h>

#define FEW 8
#define MANY 100000

static void add_tensor (JsonBuilder *b, const gchar *name, const AxonTensor *tensor, gsize most);

static void
add_value (JsonBuilder *b, const AxonTensor *tensor, gsize i, gsize most)
{
  AxonDType type = axon_tensor_get_dtype (tensor);
  gdouble value;
  if (type == AXON_DTYPE_STRING) {
    json_builder_add_string_value (b, axon_tensor_get_string (tensor, i));
  } else if (axon_dtype_is_boxed (type)) {
    add_tensor (b, NULL, axon_tensor_get_item (tensor, i), most);
  } else {
    value = axon_tensor_get_value (tensor, i);
    if (type == AXON_DTYPE_BOOL)
      json_builder_add_boolean_value (b, value != 0);
    else if (!axon_dtype_is_float (type))
      json_builder_add_int_value (b, (gint64)value);
    else if (isfinite (value))
      json_builder_add_double_value (b, value);
    else
      json_builder_add_null_value (b);
  }
}

/* @tensor: NULL in an optional that has nothing */
static void
add_tensor (JsonBuilder *b, const gchar *name, const AxonTensor *tensor, gsize most)
{
  gsize n;
  if (tensor == NULL) {
    json_builder_add_null_value (b);
    return;
  }
  n = axon_tensor_get_numel (tensor);
  json_builder_begin_object (b);
  tool_json_port (b, name, axon_tensor_get_dtype (tensor), axon_tensor_get_shape (tensor));
  tool_json_whole (b, "elements", (gint64)n);
  json_builder_set_member_name (b, "values");
  json_builder_begin_array (b);
  for (gsize i = 0; i < MIN (n, most); i++)
    add_value (b, tensor, i, most);
  json_builder_end_array (b);
  json_builder_end_object (b);
}

static gboolean
save (AxonTensor *tensor, const gchar *folder, guint i, GError **error)
{
  g_autofree gchar *base = g_strdup_printf ("output_%u.npy", i);
  g_autofree gchar *path = g_build_filename (folder, base, NULL);
  g_mkdir_with_parents (folder, 0777);
  return axon_tensor_save_npy (tensor, path, error);
}

gboolean
run_show_outputs (AxonModel *model, GPtrArray *outputs, gboolean all, const gchar *folder,
                  JsonBuilder *json, GError **error)
{
  gboolean ok = TRUE;
  tool_json_begin_list (json, "outputs");
  for (guint i = 0; i < outputs->len && ok; i++) {
    AxonTensor *tensor = g_ptr_array_index (outputs, i);
    const gchar *name = axon_model_get_output_name (model, i);
    g_autofree gchar *text = json ? NULL : axon_tensor_to_string (tensor, all ? MANY : FEW);
    if (json != NULL)
      add_tensor (json, name, tensor, all ? G_MAXSIZE : FEW);
    else
      g_print ("%s %s\n", name, text);
    ok = folder == NULL || save (tensor, folder, i, error);
  }
  tool_json_end_list (json);
  return ok;
}
