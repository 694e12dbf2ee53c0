/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Metadata that exporters write: Ultralytics (`names`, `task`, `imgsz`, `end2end`), OpenVINO's
 * Model API (keys `model_info NAME`), PaddleOCR's converters (`character`). What they wrote for
 * other readers is not an error where it makes no sense here; it says nothing. */
#include "axonmodeldescription-private.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  const gchar *key, *value;
} Pair;

static gboolean
say_all (AxonModelDescription *d, const AxonSpeaker *speaker, const Pair *pairs, guint n,
         GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!axon_model_description_say (d, speaker, pairs[i].key, pairs[i].value, error))
      return FALSE;
  return TRUE;
}

/* {0: 'person', 1: 'bicycle', ...} as Python prints it. */
static gchar **
parse_names (const gchar *text)
{
  g_autoptr (GRegex) regex = g_regex_new ("\\d+\\s*:\\s*(?:'([^']*)'|\"([^\"]*)\")", 0, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL)) {
    g_autofree gchar *single = g_match_info_fetch (match, 1);
    g_autofree gchar *twice = g_match_info_fetch (match, 2);
    g_strv_builder_add (builder, twice && *twice ? twice : single);
  }
  return g_strv_builder_end (builder);
}

/* Heads that suppress overlaps themselves give rows of what they chose. */
static const struct {
  const gchar *task, *resize, *decoder, *end2end;
} tasks[] = {
  { "detect", "letterbox", "yolov8", "yolov10" },
  { "segment", "letterbox", "yolov8-seg", "yolo26-seg" },
  { "pose", "letterbox", "yolov8-pose", "yolo26-pose" },
  { "obb", "letterbox", "yolov8-obb", "yolo26-obb" },
  { "classify", "crop", "classification", "classification" },
};

static gboolean
say_task (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model, GError **error)
{
  const gchar *task = axon_model_get_metadata (model, "task");
  const gchar *end2end = axon_model_get_metadata (model, "end2end");
  const gchar *args = axon_model_get_metadata (model, "args");
  const gchar *about = axon_model_get_metadata (model, "description");
  gboolean is_transformer = about != NULL && strstr (about, "RT-DETR") != NULL;
  gboolean ends =
      g_strcmp0 (end2end, "True") == 0 || (args && strstr (args, "'nms': True") != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++) {
    const gchar *decoder = is_transformer ? "rtdetr" : ends ? tasks[i].end2end : tasks[i].decoder;
    if (g_strcmp0 (task, tasks[i].task) != 0)
      continue;
    return axon_model_description_say (d, speaker, "resize",
                                       is_transformer ? "stretch" : tasks[i].resize, error) &&
           axon_model_description_say (d, speaker, "decoder", decoder, error);
  }
  return axon_model_description_say (d, speaker, "resize", "letterbox",
                                     error); /* YOLOv5's exports */
}

/* [height, width], where the model leaves it free. */
static gboolean
say_imgsz (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model, GError **error)
{
  const gchar *text = axon_model_get_metadata (model, "imgsz");
  gint height, width;
  gchar h[16], w[16];
  if (text == NULL || sscanf (text, "[%5d, %5d]", &height, &width) != 2 || height < 1 ||
      width < 1 || height > 16384 || width > 16384)
    return TRUE;
  g_snprintf (h, sizeof h, "%d", height);
  g_snprintf (w, sizeof w, "%d", width);
  return axon_model_description_say (d, speaker, "height", h, error) &&
         axon_model_description_say (d, speaker, "width", w, error);
}

/* YOLOv5's exports have `names` and `stride`, later ones a `task`. */
static gboolean
say_ultralytics (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model,
                 GError **error)
{
  static const Pair usual[] = {
    { "color", "rgb" }, { "mean", "0" }, { "scale", "255" }, { "pad-value", "114" }
  };
  const gchar *names = axon_model_get_metadata (model, "names");
  if (names == NULL || !g_utf8_validate (names, -1, NULL))
    return TRUE;
  axon_model_description_say_labels (d, speaker, parse_names (names));
  if (axon_model_get_metadata (model, "task") == NULL &&
      axon_model_get_metadata (model, "stride") == NULL)
    return TRUE;
  return say_task (d, speaker, model, error) && say_imgsz (d, speaker, model, error) &&
         say_all (d, speaker, usual, G_N_ELEMENTS (usual), error);
}

/* Numbers separated by spaces, as Model API writes lists. */
static gboolean
say_list (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *key, const gchar *text,
          GError **error)
{
  g_auto (GStrv) parts = g_strsplit_set (text, " ", -1);
  g_autofree gchar *list = g_strjoinv (",", parts);
  return axon_model_description_say (d, speaker, key, list, error);
}

static const gchar *
translate (const Pair *pairs, guint n, const gchar *text)
{
  for (guint i = 0; i < n; i++)
    if (g_ascii_strcasecmp (pairs[i].key, text) == 0)
      return pairs[i].value;
  return NULL;
}

/* Channels arrive as blue, green and red there, unless they are to be reversed. */
static gboolean
say_model_info (AxonModelDescription *d, const AxonSpeaker *speaker, const gchar *name,
                const gchar *text, GError **error)
{
  static const Pair fits[] = { { "standard", "stretch" },
                               { "fit_to_window", "top-left" },
                               { "fit_to_window_letterbox", "letterbox" },
                               { "crop", "crop" } };
  static const Pair types[] = { { "Classification", "classification" },
                                { "segmentation", "segmentation" },
                                { "YOLOv5", "yolov5" },
                                { "YOLOv8", "yolov8" },
                                { "YOLOX", "yolox" },
                                { "AnomalyDetection", "anomaly" } };
  static const Pair orders[] = {
    { "yes", "rgb" }, { "true", "rgb" }, { "no", "bgr" }, { "false", "bgr" }
  };
  const struct {
    const gchar *name, *key;
    const Pair *pairs;
    guint n;
  } rows[] = { { "resize_type", "resize", fits, G_N_ELEMENTS (fits) },
               { "model_type", "decoder", types, G_N_ELEMENTS (types) },
               { "reverse_input_channels", "color", orders, G_N_ELEMENTS (orders) } };
  static const Pair same[] = { { "pad_value", "pad-value" },
                               { "confidence_threshold", "threshold" },
                               { "iou_threshold", "iou-threshold" } };
  if (g_str_equal (name, "mean_values"))
    return say_list (d, speaker, "mean", text, error);
  if (g_str_equal (name, "scale_values"))
    return say_list (d, speaker, "scale", text, error);
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    if (g_str_equal (name, same[i].key))
      return axon_model_description_say (d, speaker, same[i].value, text, error);
  if (g_str_equal (name, "labels"))
    axon_model_description_say_labels (d, speaker, g_strsplit (text, " ", -1));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    const gchar *value =
        g_str_equal (name, rows[i].name) ? translate (rows[i].pairs, rows[i].n, text) : NULL;
    if (value != NULL && !axon_model_description_say (d, speaker, rows[i].key, value, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
say_openvino (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model, GError **error)
{
  g_auto (GStrv) keys = axon_model_get_metadata_keys (model);
  for (guint i = 0; keys[i] != NULL; i++) {
    const gchar *text = axon_model_get_metadata (model, keys[i]);
    if (g_str_has_prefix (keys[i], "model_info ") && g_utf8_validate (text, -1, NULL) &&
        !say_model_info (d, speaker, keys[i] + strlen ("model_info "), text, error)) {
      g_prefix_error (error, "%s: ", keys[i]);
      return FALSE;
    }
  }
  return TRUE;
}

/* The dictionary of text recognition: class 0 is CTC's blank, the last one the space. */
static gboolean
say_characters (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model,
                GError **error)
{
  static const Pair usual[] = { { "color", "bgr" },       { "mean", "127.5" },
                                { "scale", "127.5" },     { "resize", "top-left" },
                                { "pad-value", "127.5" }, { "max-width", "3200" },
                                { "width", "320" },       { "decoder", "ctc" } };
  const gchar *text = axon_model_get_metadata (model, "character");
  g_auto (GStrv) lines = NULL;
  gchar **labels;
  guint n;
  if (text == NULL || !g_utf8_validate (text, -1, NULL))
    return TRUE;
  lines = g_strsplit (text, "\n", -1);
  n = g_strv_length (lines);
  n -= n > 0 && *lines[n - 1] == '\0';
  labels = g_new0 (gchar *, n + 3);
  labels[0] = g_strdup ("");
  for (guint i = 0; i < n; i++)
    labels[i + 1] = g_strdup (lines[i]);
  labels[n + 1] = g_strdup (" ");
  axon_model_description_say_labels (d, speaker, labels);
  return say_all (d, speaker, usual, G_N_ELEMENTS (usual), error);
}

gboolean
axon_say_exporters (AxonModelDescription *d, const AxonSpeaker *speaker, AxonModel *model,
                    GError **error)
{
  return say_ultralytics (d, speaker, model, error) && say_openvino (d, speaker, model, error) &&
         say_characters (d, speaker, model, error);
}
