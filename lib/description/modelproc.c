/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DL Streamer's model-proc 2.x: `<model without .onnx>.json`. Any other JSON file says nothing.
 * Members that we read have the type that DL Streamer documents, or are an error. */
#include "axonmodeldescription-private.h"

#include <json-glib/json-glib.h>

#define MAX_DEPTH 64

/* json-glib reads by recursion. Strings aside, brackets tell how deep; comments, which JSON has
 * not, could hide quotes. */
static gboolean
check_depth (const gchar *text, gsize n, GError **error)
{
  gboolean in_string = FALSE;
  guint depth = 0;
  for (gsize i = 0; i < n; i++) {
    gchar c = text[i];
    if (in_string) {
      i += c == '\\';
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{')
      depth++;
    else if ((c == ']' || c == '}') && depth > 0)
      depth--;
    if (depth > MAX_DEPTH || c == '/' || c == '#' || c == '\'') {
      g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT,
                   _ ("expected JSON without comments, nested at most %d deep; byte %zu is not"),
                   MAX_DEPTH, i);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
wrong_type (const gchar *name, const gchar *expected, GError **error)
{
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("\"%s\": expected %s"), name, expected);
  return FALSE;
}

static gboolean
is_string (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
}

static gboolean
is_number (JsonNode *node)
{
  return JSON_NODE_HOLDS_VALUE (node) && (json_node_get_value_type (node) == G_TYPE_INT64 ||
                                          json_node_get_value_type (node) == G_TYPE_DOUBLE);
}

/* Leaves @text alone where there is no such member. */
static gboolean
get_string (JsonObject *object, const gchar *name, const gchar **text, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  if (node == NULL)
    return TRUE;
  if (!is_string (node))
    return wrong_type (name, _ ("a string"), error);
  *text = json_node_get_string (node);
  return TRUE;
}

/* *@n is what there is room for, then how many there are; 0: no such member. */
static gboolean
get_numbers (JsonObject *object, const gchar *name, gdouble *out, guint *n, GError **error)
{
  JsonNode *node = json_object_get_member (object, name);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  guint length = array ? json_array_get_length (array) : 0;
  if (node == NULL) {
    *n = 0;
    return TRUE;
  }
  if (array == NULL || length < 1 || length > *n)
    return wrong_type (name, _ ("an array of numbers, one for each channel"), error);
  for (guint i = 0; i < length; i++) {
    if (!is_number (json_array_get_element (array, i)))
      return wrong_type (name, _ ("an array of numbers"), error);
    out[i] = json_array_get_double_element (array, i);
  }
  *n = length;
  return TRUE;
}

/* The first object of an array; *@out is NULL where there is none. */
static gboolean
get_first_object (JsonObject *root, const gchar *name, JsonObject **out, GError **error)
{
  JsonNode *node = json_object_get_member (root, name);
  JsonArray *array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  *out = NULL;
  if (node == NULL || (array != NULL && json_array_get_length (array) == 0))
    return TRUE;
  if (array == NULL || !JSON_NODE_HOLDS_OBJECT (json_array_get_element (array, 0)))
    return wrong_type (name, _ ("an array of objects"), error);
  *out = json_array_get_object_element (array, 0);
  return TRUE;
}

/* DL Streamer scales 0..255 to "range", then subtracts "mean" and divides by "std", both in units
 * of the range. Ours are in units of bytes. */
static gboolean
say_normalisation (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *params,
                   GError **error)
{
  gdouble range[2] = { 0, 255 }, mean[4] = { 0 }, std[4] = { 1, 1, 1, 1 }, factor;
  guint n_range = 2, n_mean = 4, n_std = 4;
  if (!get_numbers (params, "range", range, &n_range, error) ||
      !get_numbers (params, "mean", mean, &n_mean, error) ||
      !get_numbers (params, "std", std, &n_std, error))
    return FALSE;
  if (n_range == 1 || range[0] == range[1])
    return wrong_type ("range", _ ("two numbers that differ"), error);
  factor = 255 / (range[1] - range[0]);
  if (n_mean == 0 && range[0] != 0)
    n_mean = 1;
  if (n_std == 0 && factor != 1)
    n_std = 1;
  for (guint i = 0; i < 4; i++) {
    mean[i] = (mean[i] - range[0]) * factor;
    std[i] *= factor;
  }
  return axon_model_description_say_numbers (d, speaker, "mean", mean, n_mean, error) &&
         axon_model_description_say_numbers (d, speaker, "scale", std, n_std, error);
}

/* "resize" and "crop" together say how much of the frame is seen, "padding" what is around it. */
static gboolean
say_geometry (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *params,
              GError **error)
{
  const gchar *resize = "no", *crop = NULL;
  JsonNode *padding = json_object_get_member (params, "padding");
  gdouble fill[4];
  guint n_fill = 4;
  if (!get_string (params, "resize", &resize, error) || !get_string (params, "crop", &crop, error))
    return FALSE;
  if (padding != NULL && !JSON_NODE_HOLDS_OBJECT (padding))
    return wrong_type ("padding", _ ("an object"), error);
  if (padding != NULL &&
      (!get_numbers (json_node_get_object (padding), "field_value", fill, &n_fill, error) ||
       (n_fill > 0 &&
        !axon_model_description_say_numbers (d, speaker, "pad-value", fill, 1, error))))
    return FALSE;
  return axon_model_description_say (d, speaker, "resize",
                                     g_strcmp0 (crop, "central") == 0            ? "crop"
                                     : g_str_has_prefix (resize, "aspect-ratio") ? "letterbox"
                                                                                 : "stretch",
                                     error);
}

static gboolean
say_input (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *in, GError **error)
{
  JsonNode *node = json_object_get_member (in, "params");
  const gchar *color = "BGR";
  JsonObject *params;
  if (node == NULL)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return wrong_type ("params", _ ("an object"), error);
  params = json_node_get_object (node);
  return get_string (params, "color_space", &color, error) &&
         axon_model_description_say (d, speaker, "color",
                                     g_ascii_strcasecmp (color, "GRAYSCALE") ? color : "gray",
                                     error) &&
         say_geometry (d, speaker, params, error) && say_normalisation (d, speaker, params, error);
}

static gboolean
say_thresholds (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *out,
                GError **error)
{
  static const struct {
    const gchar *name, *key;
  } same[] = {
    { "confidence_threshold", "threshold" },
    { "iou_threshold", "iou-threshold" },
    { "nms_threshold", "iou-threshold" },
  };
  for (guint i = 0; i < G_N_ELEMENTS (same); i++) {
    JsonNode *node = json_object_get_member (out, same[i].name);
    gdouble value;
    if (node == NULL)
      continue;
    if (!is_number (node))
      return wrong_type (same[i].name, _ ("a number"), error);
    value = json_node_get_double (node);
    if (!axon_model_description_say_numbers (d, speaker, same[i].key, &value, 1, error))
      return FALSE;
  }
  return TRUE;
}

/* Converters that do what a decoder does; others say nothing. */
static gboolean
say_converter (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *out, GError **error)
{
  static const struct {
    const gchar *converter, *decoder;
  } same[] = {
    { "label", "classification" },
    { "keypoints_hrnet", "heatmap-pose" },
    { "semantic_mask", "segmentation" },
    { "yolo_v3", "yolov3" },
    { "yolo_v5", "yolov5" },
    { "yolo_v7", "yolov5" },
    { "yolo_v8", "yolov8" },
    { "yolo_v8_obb", "yolov8-obb" },
    { "yolo_v8_seg", "yolov8-seg" },
    { "yolo_v10", "yolov10" },
    { "yolo_x", "yolox" },
  };
  const gchar *converter = "", *method = "";
  gdouble anchors[64];
  guint n_anchors = G_N_ELEMENTS (anchors);
  if (!get_string (out, "converter", &converter, error) ||
      !get_string (out, "method", &method, error) ||
      !get_numbers (out, "anchors", anchors, &n_anchors, error) ||
      !axon_model_description_say_numbers (d, speaker, "anchors", anchors, n_anchors, error))
    return FALSE;
  if (g_str_equal (method, "softmax") &&
      !axon_model_description_say (d, speaker, "activation", "softmax", error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    if (g_str_equal (converter, same[i].converter))
      return axon_model_description_say (d, speaker, "decoder", same[i].decoder, error);
  return TRUE;
}

/* A list, or the name of a file. */
static gboolean
say_output (AxonModelDescription *d, const AxonSpeaker *speaker, JsonObject *out, GError **error)
{
  JsonNode *node = json_object_get_member (out, "labels");
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *labels;
  if (node == NULL)
    return TRUE;
  if (is_string (node))
    return axon_model_description_say (d, speaker, "labels-file", json_node_get_string (node),
                                       error);
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return wrong_type ("labels", _ ("an array of strings, or a file name"), error);
  labels = json_node_get_array (node);
  for (guint i = 0; i < json_array_get_length (labels); i++) {
    JsonNode *label = json_array_get_element (labels, i);
    if (!is_string (label))
      return wrong_type ("labels", _ ("an array of strings, or a file name"), error);
    g_strv_builder_add (builder, json_node_get_string (label));
  }
  if (json_array_get_length (labels) > 0)
    axon_model_description_say_labels (d, speaker, g_strv_builder_end (builder));
  return TRUE;
}

static gboolean
say_file (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *text, gsize n,
          GError **error)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  JsonNode *node;
  JsonObject *root, *in, *out;
  if (!check_depth (text, n, error) || !json_parser_load_from_data (parser, text, (gssize)n, error))
    return FALSE;
  node = json_parser_get_root (parser);
  root = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  if (root == NULL || !json_object_has_member (root, "json_schema_version")) {
    g_debug ("%s is no model-proc: no member json_schema_version", speaker->name);
    return TRUE;
  }
  return get_first_object (root, "input_preproc", &in, error) &&
         get_first_object (root, "output_postproc", &out, error) &&
         (in == NULL || say_input (d, speaker, in, error)) &&
         (out == NULL ||
          (say_converter (d, speaker, out, error) && say_thresholds (d, speaker, out, error) &&
           say_output (d, speaker, out, error)));
}

gboolean
axon_load_model_proc (AxonModelDescription *d, const gchar *model_path,
                      G_GNUC_UNUSED AxonModel *model, GError **error)
{
  g_autofree gchar *path = axon_path_beside (model_path, ".json");
  g_autofree gchar *directory = g_path_get_dirname (model_path);
  AxonSpeaker speaker = { .name = path, .directory = directory, .names_files = TRUE };
  g_autofree gchar *text = NULL;
  gsize n = 0;
  if (!axon_read_optional_file (path, &text, &n, error))
    return FALSE;
  if (text == NULL || say_file (d, &speaker, text, n, error))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}
