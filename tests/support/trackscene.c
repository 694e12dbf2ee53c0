/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trackscene.h"
#include "track/gstnnassign.h"

#include <math.h>
#include <string.h>

#define ENOUGH 0.5 /* IoU */

typedef struct {
  gdouble x, y, dx, dy, width, height, phase;
} Thing;

static void
begin_thing (Thing *t, const SceneConfig *config, GRand *rand)
{
  gdouble angle = g_rand_double_range (rand, 0, 2 * G_PI);
  gdouble speed = g_rand_double_range (rand, config->speed / 4, config->speed);
  t->height = g_rand_double_range (rand, 60, 160);
  t->width = t->height * g_rand_double_range (rand, 0.4, 0.9);
  t->x = g_rand_double_range (rand, 0, SCENE_WIDTH - t->width);
  t->y = g_rand_double_range (rand, 0, SCENE_HEIGHT - t->height);
  t->dx = speed * cos (angle);
  t->dy = speed * sin (angle) / 2;
  t->phase = g_rand_double_range (rand, 0, 2 * G_PI);
}

/* Along a line that sways, back at the border. */
static GstNnBox
move_thing (Thing *t, guint frame)
{
  t->x += t->dx;
  t->y += t->dy;
  if (t->x < 0 || t->x + t->width > SCENE_WIDTH)
    t->dx = -t->dx;
  if (t->y < 0 || t->y + t->height > SCENE_HEIGHT)
    t->dy = -t->dy;
  return (GstNnBox){ t->x, t->y + 4 * sin (t->phase + frame * 0.1), t->width, t->height };
}

/* How much of it is behind things that are nearer, which stand lower. */
static gdouble
hidden_part (const GstNnBox *boxes, guint n, guint which)
{
  const GstNnBox *b = &boxes[which];
  gdouble most = 0;
  for (guint i = 0; i < n; i++) {
    gdouble w = MIN (b->x + b->width, boxes[i].x + boxes[i].width) - MAX (b->x, boxes[i].x);
    gdouble h = MIN (b->y + b->height, boxes[i].y + boxes[i].height) - MAX (b->y, boxes[i].y);
    if (i != which && w > 0 && h > 0 && boxes[i].y + boxes[i].height > b->y + b->height)
      most = MAX (most, w * h / (b->width * b->height));
  }
  return most;
}

static void
see_thing (Scene *scene, const SceneConfig *config, const SceneBox *there, gdouble hidden,
           GRand *rand)
{
  SceneBox s = *there;
  gdouble w = s.box.width * config->jitter, h = s.box.height * config->jitter;
  gdouble score = 0.95 - hidden + g_rand_double_range (rand, -0.1, 0.05);
  s.id = 0;
  s.score = CLAMP (score, 0.02, 1);
  s.box.x += g_rand_double_range (rand, -w, w);
  s.box.y += g_rand_double_range (rand, -h, h);
  s.box.width += g_rand_double_range (rand, -w, w);
  s.box.height += g_rand_double_range (rand, -h, h);
  if (g_rand_double (rand) >= config->miss && hidden < 0.8)
    g_array_append_val (scene->seen, s);
}

static void
invent_things (Scene *scene, const SceneConfig *config, guint frame, GRand *rand)
{
  for (gdouble n = config->invent; g_rand_double (rand) < n; n -= 1) {
    SceneBox s = { .frame = frame, .score = g_rand_double_range (rand, 0.1, 0.75) };
    s.box.width = g_rand_double_range (rand, 30, 120);
    s.box.height = g_rand_double_range (rand, 50, 160);
    s.box.x = g_rand_double_range (rand, 0, SCENE_WIDTH - s.box.width);
    s.box.y = g_rand_double_range (rand, 0, SCENE_HEIGHT - s.box.height);
    g_array_append_val (scene->seen, s);
  }
}

Scene
scene_new (const SceneConfig *config)
{
  Scene scene = { g_array_new (FALSE, TRUE, sizeof (SceneBox)),
                  g_array_new (FALSE, TRUE, sizeof (SceneBox)) };
  GRand *rand = g_rand_new_with_seed (config->seed);
  g_autofree Thing *things = g_new0 (Thing, config->n_things);
  g_autofree GstNnBox *boxes = g_new0 (GstNnBox, config->n_things);
  for (guint i = 0; i < config->n_things; i++)
    begin_thing (&things[i], config, rand);
  for (guint f = 0; f < config->n_frames; f++) {
    for (guint i = 0; i < config->n_things; i++)
      boxes[i] = move_thing (&things[i], f);
    for (guint i = 0; i < config->n_things; i++) {
      SceneBox there = { .frame = f, .id = i + 1, .score = 1, .box = boxes[i] };
      gdouble hidden = hidden_part (boxes, config->n_things, i);
      g_array_append_val (scene.truth, there);
      see_thing (&scene, config, &there, hidden, rand);
    }
    invent_things (&scene, config, f, rand);
  }
  g_rand_free (rand);
  return scene;
}

void
scene_clear (Scene *scene)
{
  g_array_unref (scene->truth);
  g_array_unref (scene->seen);
}

/* What is judged: boxes by frame, and tables by thing and track. */
typedef struct {
  const SceneBox *truth, *tracks;
  guint n_truth, n_tracks; /* boxes in all */
  guint n_frames, n_things, n_ids;
  guint *first_truth, *first_track; /* by frame, and one more */
  GstNnAssignment *assignment;
} Judge;

static guint *
index_frames (const SceneBox *boxes, guint n, guint n_frames, guint *n_ids)
{
  guint *first = g_new0 (guint, n_frames + 1), i = 0;
  *n_ids = 1;
  for (guint f = 0; f <= n_frames; f++) {
    while (i < n && boxes[i].frame < f)
      i++;
    first[f] = i;
  }
  for (i = 0; i < n; i++)
    *n_ids = MAX (*n_ids, boxes[i].id + 1);
  return first;
}

/* How many boxes each thing or track has. */
static guint *
count_boxes (const SceneBox *boxes, guint n, guint n_ids)
{
  guint *counts = g_new0 (guint, n_ids);
  for (guint i = 0; i < n; i++)
    counts[boxes[i].id]++;
  return counts;
}

/* On how many frames each thing and each track overlap so much. */
static guint *
count_overlaps (const Judge *j, gdouble enough)
{
  guint *counts = g_new0 (guint, j->n_things * j->n_ids);
  for (guint f = 0; f < j->n_frames; f++)
    for (guint a = j->first_truth[f]; a < j->first_truth[f + 1]; a++)
      for (guint b = j->first_track[f]; b < j->first_track[f + 1]; b++)
        if (gst_nn_box_get_iou (&j->truth[a].box, &j->tracks[b].box) >= enough)
          counts[j->truth[a].id * j->n_ids + j->tracks[b].id]++;
  return counts;
}

/* A pair that was one on the frame before stays one, as CLEAR MOT has it. */
static void
judge_clear (Judge *j, SceneQuality *q)
{
  g_autofree guint *last = g_new0 (guint, j->n_things);
  guint n_matched = 0, n_switches = 0;
  for (guint f = 0; f < j->n_frames; f++) {
    guint a0 = j->first_truth[f], b0 = j->first_track[f];
    guint n = j->first_truth[f + 1] - a0, m = j->first_track[f + 1] - b0;
    gdouble *costs = gst_nn_assignment_begin (j->assignment, n, m);
    const gint *columns;
    for (guint a = a0; a < a0 + n; a++)
      for (guint b = b0; b < b0 + m; b++) {
        gdouble iou = gst_nn_box_get_iou (&j->truth[a].box, &j->tracks[b].box);
        gdouble stays = last[j->truth[a].id] == j->tracks[b].id;
        *costs++ = iou < ENOUGH ? G_MAXDOUBLE : stays > 0 ? -100 - iou : 1 - iou;
      }
    columns = gst_nn_assignment_solve (j->assignment, 1);
    for (guint i = 0; i < n; i++) {
      guint *before = &last[j->truth[a0 + i].id], id;
      if (columns[i] < 0)
        continue;
      id = j->tracks[b0 + (guint)columns[i]].id;
      n_switches += *before != 0 && *before != id;
      *before = id;
      n_matched++;
    }
  }
  q->n_switches = n_switches;
  q->mota =
      1 - (gdouble)(j->n_truth - n_matched + j->n_tracks - n_matched + n_switches) / j->n_truth;
}

/* One track for each thing, over the whole scene. */
static void
judge_identities (Judge *j, SceneQuality *q)
{
  g_autofree guint *overlaps = count_overlaps (j, ENOUGH);
  gdouble *costs = gst_nn_assignment_begin (j->assignment, j->n_things, j->n_ids);
  const gint *columns;
  guint n_right = 0;
  for (guint i = 0; i < j->n_things * j->n_ids; i++)
    costs[i] = -(gdouble)overlaps[i];
  columns = gst_nn_assignment_solve (j->assignment, 0);
  for (guint i = 0; i < j->n_things; i++)
    n_right += columns[i] >= 0 ? overlaps[i * j->n_ids + (guint)columns[i]] : 0;
  q->idf1 = 2.0 * n_right / (j->n_truth + j->n_tracks);
}

/* Pairs of a frame, those preferred that go together on the whole; counts them. */
static guint
match_at (Judge *j, gdouble alpha, const gdouble *together, guint *pairs)
{
  guint n_pairs = 0;
  for (guint f = 0; f < j->n_frames; f++) {
    guint a0 = j->first_truth[f], b0 = j->first_track[f];
    guint n = j->first_truth[f + 1] - a0, m = j->first_track[f + 1] - b0;
    gdouble *costs = gst_nn_assignment_begin (j->assignment, n, m);
    const gint *columns;
    for (guint a = a0; a < a0 + n; a++)
      for (guint b = b0; b < b0 + m; b++) {
        gdouble iou = gst_nn_box_get_iou (&j->truth[a].box, &j->tracks[b].box);
        gdouble fits = together[j->truth[a].id * j->n_ids + j->tracks[b].id];
        *costs++ = iou < alpha ? G_MAXDOUBLE : -1 - fits * iou;
      }
    columns = gst_nn_assignment_solve (j->assignment, 0);
    for (guint i = 0; i < n; i++)
      if (columns[i] >= 0) {
        pairs[j->truth[a0 + i].id * j->n_ids + j->tracks[b0 + (guint)columns[i]].id]++;
        n_pairs++;
      }
  }
  return n_pairs;
}

static void
judge_hota (Judge *j, SceneQuality *q)
{
  g_autofree guint *things = count_boxes (j->truth, j->n_truth, j->n_things);
  g_autofree guint *ids = count_boxes (j->tracks, j->n_tracks, j->n_ids);
  g_autofree guint *overlaps = count_overlaps (j, ENOUGH);
  g_autofree gdouble *together = g_new0 (gdouble, j->n_things * j->n_ids);
  guint steps = 19;
  for (guint i = 0; i < j->n_things * j->n_ids; i++)
    together[i] =
        (gdouble)overlaps[i] / MAX (things[i / j->n_ids] + ids[i % j->n_ids] - overlaps[i], 1);
  for (guint s = 1; s <= steps; s++) {
    g_autofree guint *pairs = g_new0 (guint, j->n_things * j->n_ids);
    guint n = match_at (j, 0.05 * s, together, pairs);
    gdouble association = 0;
    for (guint i = 0; i < j->n_things * j->n_ids; i++)
      if (pairs[i] > 0)
        association +=
            (gdouble)pairs[i] * pairs[i] / (things[i / j->n_ids] + ids[i % j->n_ids] - pairs[i]);
    /* sqrt (DetA * AssA); AssA is a mean over n, which DetA counts */
    q->hota += sqrt (association / (j->n_truth + j->n_tracks - n)) / steps;
  }
}

SceneQuality
scene_judge (const GArray *truth, const GArray *tracks, guint n_frames)
{
  SceneQuality q = { 0 };
  Judge j = { .truth = (const SceneBox *)(gpointer)truth->data,
              .tracks = (const SceneBox *)(gpointer)tracks->data,
              .n_truth = truth->len,
              .n_tracks = tracks->len,
              .n_frames = n_frames };
  j.assignment = gst_nn_assignment_new ();
  j.first_truth = index_frames (j.truth, j.n_truth, n_frames, &j.n_things);
  j.first_track = index_frames (j.tracks, j.n_tracks, n_frames, &j.n_ids);
  judge_clear (&j, &q);
  judge_identities (&j, &q);
  judge_hota (&j, &q);
  gst_nn_assignment_free (j.assignment);
  g_free (j.first_truth);
  g_free (j.first_track);
  return q;
}
