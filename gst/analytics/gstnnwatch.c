/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnwatch.h"

#include "gstnnheat.h"
#include "record/gstnnrecord.h"

/* A track and a rule. */
typedef struct {
  gboolean inside, dwelt; /* zones */
  GstClockTime since;
  gint side;       /* lines: -1 left, 1 right, 0 not known yet */
  GstNnPoint last; /* where it was on that side */
} State;

typedef struct {
  guint64 id;
  gchar *label;
  GstClockTime seen;
  State *states; /* as many as rules */
} Track;

/* What was counted for a rule. */
typedef struct {
  guint64 count, count_back; /* tracks in the zone; crossings */
  guint untracked;           /* objects in the zone, on this frame */
  gboolean crowded;
  GstClockTime crowd_seen;   /* when there were so many last */
  GstNnShape *shape;         /* with these counts; or NULL */
  GstNnAttribute *attribute; /* of who is in the zone */
} Total;

struct _GstNnWatch {
  GstNnRules *rules;
  Total *totals;
  GHashTable *tracks; /* by id */
  GstNnHeat *heat;
  GstClockTime last;
  /* of the frame that is seen */
  GstNnSceneMeta *scene;
  gdouble aspect;
};

static void
track_free (gpointer data)
{
  Track *track = data;
  g_free (track->label);
  g_free (track->states);
  g_free (track);
}

static guint
n_rules (const GstNnWatch *w)
{
  return w->rules ? w->rules->rules->len : 0;
}

static const GstNnRule *
rule_at (const GstNnWatch *w, guint i)
{
  return g_ptr_array_index (w->rules->rules, i);
}

static void
total_clear (Total *total)
{
  g_clear_pointer (&total->shape, gst_nn_shape_unref);
  g_clear_pointer (&total->attribute, gst_nn_attribute_unref);
}

static void
clear_totals (GstNnWatch *w)
{
  for (guint i = 0; i < n_rules (w); i++)
    total_clear (&w->totals[i]);
  g_clear_pointer (&w->totals, g_free);
}

GstNnWatch *
gst_nn_watch_new (void)
{
  GstNnWatch *w = g_new0 (GstNnWatch, 1);
  w->tracks = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, track_free);
  w->last = GST_CLOCK_TIME_NONE;
  return w;
}

void
gst_nn_watch_free (GstNnWatch *w)
{
  clear_totals (w);
  g_clear_pointer (&w->rules, gst_nn_rules_unref);
  g_clear_pointer (&w->heat, gst_nn_heat_free);
  g_hash_table_unref (w->tracks);
  g_free (w);
}

/* The rule of the same name and kind; -1: there was none. */
static gint
find_former (const GstNnWatch *w, const GstNnRule *rule)
{
  for (guint i = 0; i < n_rules (w); i++)
    if (g_str_equal (rule_at (w, i)->name, rule->name) && rule_at (w, i)->is_zone == rule->is_zone)
      return (gint)i;
  return -1;
}

static void
move_states (GstNnWatch *w, const gint *former, guint n)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, w->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Track *track = value;
    State *states = g_new0 (State, n);
    for (guint i = 0; i < n; i++)
      if (former[i] >= 0)
        states[i] = track->states[former[i]];
    g_free (track->states);
    track->states = states;
  }
}

void
gst_nn_watch_set_rules (GstNnWatch *w, GstNnRules *rules)
{
  guint n = rules->rules->len;
  g_autofree gint *former = g_new (gint, n);
  Total *totals = g_new0 (Total, n);
  gboolean other_heat = w->rules == NULL || rules->heat_columns != w->rules->heat_columns ||
                        rules->heat_rows != w->rules->heat_rows ||
                        rules->half_life != w->rules->half_life;
  for (guint i = 0; i < n; i++) {
    const GstNnRule *rule = g_ptr_array_index (rules->rules, i);
    former[i] = find_former (w, rule);
    if (former[i] >= 0) {
      totals[i].count = w->totals[former[i]].count;
      totals[i].count_back = w->totals[former[i]].count_back;
      totals[i].crowded = w->totals[former[i]].crowded;
      totals[i].crowd_seen = w->totals[former[i]].crowd_seen;
    }
    totals[i].attribute =
        gst_nn_attribute_new (GST_NN_RECORD_ZONE, rule->name, (gint)i, 1, "nnanalytics");
  }
  move_states (w, former, n);
  clear_totals (w);
  g_clear_pointer (&w->rules, gst_nn_rules_unref);
  w->rules = gst_nn_rules_ref (rules);
  w->totals = totals;
  if (other_heat)
    g_clear_pointer (&w->heat, gst_nn_heat_free);
  if (other_heat && rules->heat_columns > 0)
    w->heat = gst_nn_heat_new (rules->heat_columns, rules->heat_rows, rules->half_life);
}

void
gst_nn_watch_reset (GstNnWatch *w)
{
  g_hash_table_remove_all (w->tracks);
  w->last = GST_CLOCK_TIME_NONE;
  for (guint i = 0; i < n_rules (w); i++)
    if (rule_at (w, i)->is_zone) {
      w->totals[i].count = 0;
      w->totals[i].crowded = FALSE;
      g_clear_pointer (&w->totals[i].shape, gst_nn_shape_unref);
    }
}

static GstStructure *
tell (GstNnWatch *w, const gchar *type, const GstNnRule *rule, const Track *track)
{
  GstStructure *event = gst_structure_new ("nn-event", "type", G_TYPE_STRING, type, "where",
                                           G_TYPE_STRING, rule->name, NULL);
  if (track != NULL)
    gst_structure_set (event, "track", G_TYPE_UINT64, track->id, NULL);
  if (track != NULL && track->label != NULL)
    gst_structure_set (event, "label", G_TYPE_STRING, track->label, NULL);
  g_ptr_array_add (w->scene->events, event);
  return event;
}

static void
count_changes (Total *total, guint64 *count, gint by)
{
  *count += (guint64)by; /* -1, too */
  g_clear_pointer (&total->shape, gst_nn_shape_unref);
}

static gdouble
seconds (GstClockTime from, GstClockTime to)
{
  return to > from ? (gdouble)(to - from) / (gdouble)GST_SECOND : 0;
}

static void
leave (GstNnWatch *w, guint i, Track *track, GstClockTime time, gboolean lost)
{
  State *state = &track->states[i];
  GstStructure *event = tell (w, "leave", rule_at (w, i), track);
  gst_structure_set (event, "seconds", G_TYPE_DOUBLE, seconds (state->since, time), "lost",
                     G_TYPE_BOOLEAN, lost, NULL);
  state->inside = FALSE;
  count_changes (&w->totals[i], &w->totals[i].count, -1);
}

static void
see_in_zone (GstNnWatch *w, guint i, Track *track, GstNnPoint p, GstClockTime time)
{
  const GstNnRule *rule = rule_at (w, i);
  State *state = &track->states[i];
  gdouble depth = gst_nn_place_in_zone (rule, w->aspect, p);
  if (!state->inside && depth > 0) {
    state->inside = TRUE;
    state->dwelt = FALSE;
    state->since = time;
    count_changes (&w->totals[i], &w->totals[i].count, 1);
    tell (w, "enter", rule, track);
  } else if (state->inside && depth < -w->rules->margin) {
    leave (w, i, track, time, FALSE);
  }
  if (state->inside && !state->dwelt && rule->dwell != 0 && time >= state->since + rule->dwell) {
    state->dwelt = TRUE;
    gst_structure_set (tell (w, "dwell", rule, track), "seconds", G_TYPE_DOUBLE,
                       seconds (state->since, time), NULL);
  }
}

static void
see_by_line (GstNnWatch *w, guint i, Track *track, GstNnPoint p)
{
  const GstNnRule *rule = rule_at (w, i);
  Total *total = &w->totals[i];
  State *state = &track->states[i];
  gdouble distance = gst_nn_place_by_line (rule, w->aspect, p);
  gint side = distance > w->rules->margin ? 1 : distance < -w->rules->margin ? -1 : 0;
  if (side == 0)
    return;
  if (state->side == -side && gst_nn_place_crosses (rule, w->aspect, state->last, p)) {
    count_changes (total, side > 0 ? &total->count : &total->count_back, 1);
    gst_structure_set (tell (w, "cross", rule, track), "direction", G_TYPE_STRING,
                       side > 0 ? "forward" : "back", NULL);
  }
  state->side = side;
  state->last = p;
}

static gboolean
counts_here (const GstNnRule *rule, const gchar *label)
{
  return rule->labels == NULL ||
         (label != NULL && g_strv_contains ((const gchar *const *)rule->labels, label));
}

static void
see_track (GstNnWatch *w, GstNnObject *o, GstNnPoint p, GstClockTime time)
{
  guint64 id = gst_nn_object_get_track_id (o);
  const gchar *label = gst_nn_object_get_label (o);
  Track *track = g_hash_table_lookup (w->tracks, &id);
  if (track == NULL) {
    track = g_new0 (Track, 1);
    track->id = id;
    track->label = g_strdup (label);
    track->states = g_new0 (State, n_rules (w));
    g_hash_table_insert (w->tracks, &track->id, track);
  }
  track->seen = time;
  for (guint i = 0; i < n_rules (w); i++) {
    if (!counts_here (rule_at (w, i), track->label))
      continue;
    if (!rule_at (w, i)->is_zone)
      see_by_line (w, i, track, p);
    else
      see_in_zone (w, i, track, p, time);
    if (track->states[i].inside)
      gst_nn_object_add_attribute (o, w->totals[i].attribute);
  }
}

/* What is inside of another object is seen with it. */
static void
see_untracked (GstNnWatch *w, GstNnObject *o, GstNnPoint p)
{
  for (guint i = 0; i < n_rules (w); i++) {
    const GstNnRule *rule = rule_at (w, i);
    if (!rule->is_zone || !counts_here (rule, gst_nn_object_get_label (o)) ||
        gst_nn_place_in_zone (rule, w->aspect, p) <= 0)
      continue;
    w->totals[i].untracked++;
    gst_nn_object_add_attribute (o, w->totals[i].attribute);
  }
}

static void
see_object (GstNnWatch *w, GstNnObject *o, const GstNnResultMeta *results, GstClockTime time)
{
  gdouble x, y, width, height, h = MAX (results->height, 1);
  GstNnPoint p;
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  p.x = (x + width / 2) / h;
  p.y = (y + height * (w->rules->by_center ? 0.5 : 1)) / h;
  if (gst_nn_object_get_track_id (o) != 0)
    see_track (w, o, p, time);
  else if (gst_nn_object_get_parent_id (o) == 0)
    see_untracked (w, o, p);
  else
    return;
  if (w->heat != NULL)
    gst_nn_heat_add (w->heat, p.x / w->aspect, p.y);
}

static void
forget_lost (GstNnWatch *w, GstClockTime time)
{
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init (&iter, w->tracks);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Track *track = value;
    if (time <= track->seen + w->rules->forget)
      continue;
    for (guint i = 0; i < n_rules (w); i++)
      if (track->states[i].inside)
        leave (w, i, track, track->seen, TRUE);
    g_hash_table_iter_remove (&iter);
  }
}

/* It is over when nobody has seen it for a while: a detector misses one of many now and then. */
static void
tell_of_crowd (GstNnWatch *w, guint i, GstClockTime time)
{
  const GstNnRule *rule = rule_at (w, i);
  Total *total = &w->totals[i];
  guint64 n = total->count + total->untracked;
  gboolean crowded = rule->crowd != 0 && n >= rule->crowd;
  if (crowded)
    total->crowd_seen = time;
  if (crowded == total->crowded || (!crowded && time < total->crowd_seen + w->rules->forget))
    return;
  total->crowded = crowded;
  gst_structure_set (tell (w, crowded ? "crowd" : "crowd-over", rule, NULL), "count", G_TYPE_UINT64,
                     n, NULL);
}

static void
add_shape (GstNnWatch *w, guint i)
{
  const GstNnRule *rule = rule_at (w, i);
  Total *total = &w->totals[i];
  guint64 n = total->count + total->untracked;
  if (total->shape == NULL || gst_nn_shape_get_count (total->shape) != n) {
    g_clear_pointer (&total->shape, gst_nn_shape_unref);
    total->shape = gst_nn_shape_new (rule->name, rule->is_zone, rule->coordinates, rule->n_points,
                                     n, total->count_back);
  }
  g_ptr_array_add (w->scene->shapes, gst_nn_shape_ref (total->shape));
}

void
gst_nn_watch_see (GstNnWatch *w, GstNnResultMeta *results, GstClockTime time, GstNnSceneMeta *scene)
{
  GstNnObject *o;
  if (w->rules == NULL)
    return;
  if (!GST_CLOCK_TIME_IS_VALID (time)) /* who is lost is forgotten without times, too */
    time = GST_CLOCK_TIME_IS_VALID (w->last) ? w->last + GST_SECOND / 30 : 0;
  w->last = time;
  w->scene = scene;
  if (results != NULL)
    w->aspect = (gdouble)MAX (results->width, 1) / MAX (results->height, 1);
  for (guint i = 0; i < n_rules (w); i++)
    w->totals[i].untracked = 0;
  for (guint i = 0; results && (o = gst_nn_result_meta_get_object (results, i)) != NULL; i++)
    see_object (w, o, results, time);
  forget_lost (w, time);
  for (guint i = 0; i < n_rules (w); i++) {
    tell_of_crowd (w, i, time);
    add_shape (w, i);
  }
  if (w->heat != NULL && results != NULL && scene->heat_map == NULL)
    scene->heat_map =
        gst_nn_mask_ref (gst_nn_heat_get (w->heat, time, results->width, results->height));
  w->scene = NULL;
}
