/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnntrackmemory.h"

#define FORGET 1024 /* frames after which a track that was not seen is over */

struct _GstNnTrackMemory {
  GHashTable *tracks; /* track id -> Said */
  guint64 n_frames;
};

typedef struct {
  GstBuffer *buffer;  /* its result meta says it of its frame, whose box is the object's */
  guint64 kept, seen; /* frames */
} Said;

static void
said_free (gpointer data)
{
  Said *said = data;
  gst_buffer_unref (said->buffer);
  g_free (said);
}

GstNnTrackMemory *
gst_nn_track_memory_new (void)
{
  GstNnTrackMemory *m = g_new0 (GstNnTrackMemory, 1);
  m->tracks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, said_free);
  return m;
}

void
gst_nn_track_memory_free (GstNnTrackMemory *m)
{
  g_hash_table_unref (m->tracks);
  g_free (m);
}

void
gst_nn_track_memory_clear (GstNnTrackMemory *m)
{
  g_hash_table_remove_all (m->tracks);
}

/* To where the object is, in the size that was inferred. */
static void
move_to (GstNnResultMeta *said, const GstNnResultMeta *result, const GstNnObject *o)
{
  gdouble x, y, width, height;
  gdouble sx = (gdouble)said->width / MAX (result->width, 1);
  gdouble sy = (gdouble)said->height / MAX (result->height, 1);
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  gst_nn_object_move (gst_nn_result_meta_get_frame (said), x * sx, y * sy, width * sx, height * sy);
}

void
gst_nn_track_memory_keep (GstNnTrackMemory *m, GstNnResultMeta *result, guint object_id,
                          GstBuffer *buffer)
{
  GstNnResultMeta *said = gst_buffer_get_nn_result_meta (buffer);
  const GstNnObject *o = gst_nn_result_meta_find_object (result, object_id);
  guint64 track = o ? gst_nn_object_get_track_id (o) : 0;
  GstNnObject *frame = gst_nn_result_meta_get_frame (said), *inside;
  gdouble x, y, width, height;
  Said *kept;
  if (track == 0) {
    gst_buffer_unref (buffer);
    return;
  }
  while ((inside = gst_nn_result_meta_get_object (said, 0)) != NULL)
    gst_nn_result_meta_remove_object (said, gst_nn_object_get_id (inside));
  gst_nn_object_get_box (o, &x, &y, &width, &height);
  gst_nn_object_set_box (frame, x * said->width / MAX (result->width, 1),
                         y * said->height / MAX (result->height, 1),
                         width * said->width / MAX (result->width, 1),
                         height * said->height / MAX (result->height, 1));
  kept = g_new0 (Said, 1);
  kept->buffer = buffer;
  kept->kept = kept->seen = m->n_frames;
  g_hash_table_replace (m->tracks, g_memdup2 (&track, sizeof track), kept);
}

static gboolean
is_over (G_GNUC_UNUSED gpointer id, gpointer said, gpointer memory)
{
  return ((const GstNnTrackMemory *)memory)->n_frames - ((const Said *)said)->seen > FORGET;
}

void
gst_nn_track_memory_recall (GstNnTrackMemory *m, GstNnResultMeta *result)
{
  GstNnObject *o;
  if (g_hash_table_size (m->tracks) == 0)
    return;
  for (guint i = 0; (o = gst_nn_result_meta_get_object (result, i)) != NULL; i++) {
    guint64 track = gst_nn_object_get_track_id (o);
    Said *said = track ? g_hash_table_lookup (m->tracks, &track) : NULL;
    if (said == NULL)
      continue;
    said->seen = m->n_frames;
    if (said->kept == m->n_frames)
      continue;
    move_to (gst_buffer_get_nn_result_meta (said->buffer), result, o);
    gst_nn_result_meta_append_inside (result, gst_nn_object_get_id (o),
                                      gst_buffer_get_nn_result_meta (said->buffer));
  }
  if (++m->n_frames % FORGET == 0)
    g_hash_table_foreach_remove (m->tracks, is_over, m);
}
