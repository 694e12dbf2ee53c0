/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnselect.h"

static guint
hash_text (const gchar *text)
{
  return text ? g_str_hash (text) : 0;
}

static guint
hash_attributes (const GstNnObject *o)
{
  guint hash = hash_text (gst_nn_object_get_text (o));
  const GstNnAttribute *a;
  for (guint i = 0; (a = gst_nn_object_get_attribute (o, i)) != NULL; i++)
    hash += (hash_text (gst_nn_attribute_get_value (a)) ^
             (guint)gst_nn_attribute_get_class_id (a) * 2654435761u) *
            (31 + hash_text (gst_nn_attribute_get_name (a)));
  return hash;
}

/* What is there, whatever its order and wherever it is. */
static guint
hash_results (GstNnResultMeta *meta, const GstNnRecordInfo *info, guint *n)
{
  guint hash = meta ? hash_attributes (gst_nn_result_meta_get_frame (meta)) : 0;
  const GstNnObject *o;
  for (guint i = 0; meta && (o = gst_nn_result_meta_get_object (meta, i)) != NULL; i++) {
    guint64 track = gst_nn_object_get_track_id (o);
    guint one;
    if (!gst_nn_record_wants (info, o))
      continue;
    one = hash_text (gst_nn_object_get_label (o)) + hash_attributes (o) +
          (guint)gst_nn_object_get_class_id (o) * 40503u + (guint)(track ^ (track >> 32)) + 1;
    hash += one * 2654435761u;
    *n += 1;
  }
  return hash;
}

static gboolean
is_empty (GstNnResultMeta *meta, const GstNnRecordInfo *info, guint n_wanted)
{
  gboolean filtered = info->labels != NULL || info->zones != NULL;
  return meta == NULL || (n_wanted == 0 && (filtered || gst_nn_result_meta_is_empty (meta)));
}

gboolean
gst_nn_select (GstNnSelectState *state, const GstNnSelectSettings *settings, GstNnResultMeta *meta,
               const GstNnRecordInfo *info)
{
  guint n = 0, hash = hash_results (meta, info, &n);
  gboolean happened = info->scene != NULL && info->scene->events->len > 0;
  gboolean empty = is_empty (meta, info, n);
  GstClockTime now = info->running_time;
  gboolean early = settings->min_interval != 0 && GST_CLOCK_TIME_IS_VALID (now) &&
                   GST_CLOCK_TIME_IS_VALID (state->next) && now < state->next;
  if (empty)
    hash = 0;
  if (!happened) {
    if (early || (settings->on_change && hash == state->last))
      return FALSE;
    if (empty && !settings->empty && !settings->on_change)
      return FALSE;
  }
  state->last = hash;
  if (GST_CLOCK_TIME_IS_VALID (now) && !early)
    state->next = now + settings->min_interval;
  return TRUE;
}
