/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nndecode's frames: which decoder reads the outputs, what they mean, and what is done where there
 * are none. */
#include "decoders/gstnnfloats.h"
#include "decoders/gstnnresults.h"
#include "gstnndecode.h"
#include "gstnnelement.h"

#define GST_CAT_DEFAULT gst_nn_decode_debug

#define DEFAULT_THRESHOLD 0.5
#define DEFAULT_IOU_THRESHOLD 0.45

/* A decoder that somebody named and that does not exist or does not fit is an error, shapes that no
 * decoder knows a warning, until there were others that one does. */
static gboolean
complain (GstNnDecode *self, const gchar *name, gboolean is_new)
{
  g_autofree gchar *known = gst_nn_decoder_list ();
  g_autofree gchar *outputs = gst_nn_decoder_choice_to_string (&self->choice);
  if (name == NULL) {
    if (is_new)
      GST_ELEMENT_WARNING (
          self, STREAM, DECODE,
          (_ ("no decoder knows %s: frames pass without results; decoders: %s"), outputs, known),
          (NULL));
    return TRUE;
  }
  if (gst_nn_decoder_find (name) == NULL)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
                       (_ ("there is no decoder \"%s\"; there are %s"), name, known), (NULL));
  else
    GST_ELEMENT_ERROR (self, STREAM, DECODE,
                       (_ ("decoder %s cannot decode %s: it reads %s; decoders: %s"), name, outputs,
                        _ (gst_nn_decoder_find (name)->blurb), known),
                       (NULL));
  gst_nn_decoder_choice_clear (&self->choice);
  return FALSE;
}

/* What the library concluded may be newer than these elements, and a guess may be wrong. */
static gboolean
is_guess (GstNnDecode *self, const GstNnDescription *described)
{
  gboolean doubtful = FALSE;
  g_autofree gchar *said = NULL;
  if (self->override->decoder != NULL || described == NULL || described->decoder == NULL ||
      g_str_equal (described->decoder, GST_NN_NO_DECODER))
    return FALSE;
  said = gst_nn_description_get (described, "decoder", NULL, &doubtful);
  return doubtful || gst_nn_decoder_find (described->decoder) == NULL;
}

static gboolean
choose_decoder (GstNnDecode *self, const GstNnDecodeInput *in, const GstNnDescription *described)
{
  const gchar *name = self->override->decoder ? self->override->decoder
                      : described             ? described->decoder
                                              : NULL;
  const GstNnDecoder *before = self->choice.decoder;
  gboolean is_new = self->choice.shapes == NULL || before != NULL;
  gboolean may_differ = is_guess (self, described);
  const GstNnDecoder *decoder = gst_nn_decoder_choose (&self->choice, in, name, may_differ);
  if (decoder == NULL)
    return complain (self, may_differ || g_strcmp0 (name, GST_NN_NO_DECODER) == 0 ? NULL : name,
                     is_new);
  if (decoder != before)
    GST_DEBUG_OBJECT (self, "decoder %s for %u outputs of an input of %dx%d, %s", decoder->name,
                      in->tensors->len, in->width, in->height,
                      self->override->decoder ? "as the property says"
                      : name != NULL && decoder == gst_nn_decoder_find (name)
                          ? "as the model's description says"
                          : "by their shapes");
  return TRUE;
}

/* What the properties say, else the description. */
static void
describe_outputs (GstNnDecode *self, GstNnDecodeInput *in)
{
  const GstNnDescription *first = self->override;
  const GstNnDescription *second = in->description ? in->description : first;
  const GstNnDescription *anchors = first->n_anchors > 0 ? first : second;
  const GstNnDescription *strides = first->n_strides > 0 ? first : second;
  gchar **labels = first->labels ? first->labels : second->labels;
  in->labels = (const gchar *const *)labels;
  in->n_labels = labels != NULL ? g_strv_length (labels) : 0;
  in->activation = first->activation ? first->activation : second->activation;
  in->anchors = anchors->anchors;
  in->n_anchors = anchors->n_anchors;
  in->strides = strides->strides;
  in->n_strides = strides->n_strides;
  in->gallery = self->gallery;
}

/* The property, else what the description says, else what is usual. Less than 0: not said. */
static gdouble
first_said (GstNnDecode *self, const gdouble *property, gdouble described, gdouble usual)
{
  gdouble said;
  GST_OBJECT_LOCK (self);
  said = *property;
  GST_OBJECT_UNLOCK (self);
  return said >= 0 ? said : described >= 0 ? described : usual;
}

static gdouble
threshold_of (GstNnDecode *self, const GstNnDescription *d)
{
  gdouble published = self->choice.decoder->threshold;
  return first_said (self, &self->threshold, d ? d->threshold : -1,
                     published > 0 ? published : DEFAULT_THRESHOLD);
}

static gdouble
iou_threshold_of (GstNnDecode *self, const GstNnDescription *d)
{
  return first_said (self, &self->iou_threshold, d ? d->iou_threshold : -1, DEFAULT_IOU_THRESHOLD);
}

/* Which keypoints of the frame, and of its objects from @first on, belong together, where that is
 * said by more than the decoder. */
static void
say_skeletons (GstNnDecode *self, const GstNnDescription *d, GstNnResultMeta *result, guint first)
{
  const gchar *name = self->override->skeleton ? self->override->skeleton : d ? d->skeleton : NULL;
  GstNnObject *o = gst_nn_result_meta_get_frame (result);
  for (guint i = first; name != NULL && o != NULL; i++) {
    if (gst_nn_object_get_n_keypoints (o) > 0)
      gst_nn_say_skeleton (o, name);
    o = gst_nn_result_meta_get_object (result, i);
  }
}

static gboolean
decode_floats (GstNnDecode *self, const GstNnTensorMeta *meta, GPtrArray *floats, GstClockTime pts,
               GstNnResultMeta *result)
{
  GstNnDecodeInput in = { 0 };
  guint max, first = gst_nn_result_meta_get_n_objects (result);
  GST_OBJECT_LOCK (self);
  in.top_k = self->top_k;
  max = self->max_objects;
  GST_OBJECT_UNLOCK (self);
  in.tensors = floats;
  in.raw = floats->len == meta->tensors->len ? meta->tensors : NULL;
  in.names = (const gchar *const *)meta->names;
  in.description = meta->description;
  in.model_name = meta->description ? meta->description->model_name : NULL;
  describe_outputs (self, &in);
  gst_nn_decode_input_place (&in, &meta->geometry, result->width, result->height);
  if (!gst_nn_decoder_choice_holds (&self->choice, &in) &&
      !choose_decoder (self, &in, meta->description))
    return FALSE;
  if (self->choice.decoder == NULL)
    return TRUE;
  in.threshold = self->used_threshold = threshold_of (self, in.description);
  gst_nn_decode_into (result, self->choice.decoder, &in, iou_threshold_of (self, in.description),
                      max, pts, self->candidates);
  say_skeletons (self, in.description, result, first);
  gst_nn_stats_count (self->stats, COUNT_DECODED);
  return TRUE;
}

/* What the outputs mean, into @result. FALSE: an error was posted. */
static gboolean
decode (GstNnDecode *self, const GstNnTensorMeta *meta, GstClockTime pts, GstNnResultMeta *result)
{
  GstNnFloats *memory = gst_nn_floats_take (meta->tensors);
  GPtrArray *floats = gst_nn_floats_convert (memory, meta->tensors);
  gboolean ok = decode_floats (self, meta, floats, pts, result);
  g_ptr_array_unref (floats);
  gst_nn_floats_give (memory);
  return ok;
}

/* For results of that inference. The picture's size, else that of the frame; unknown, places are
 * fractions of a frame of 1x1. */
static GstNnResultMeta *
add_results (GstNnDecode *self, GstBuffer *to, GstBuffer *frame, const GstNnTensorMeta *meta)
{
  const GstVideoMeta *video = gst_buffer_get_video_meta (frame);
  gint width = meta->width > 0 ? meta->width : video != NULL ? (gint)video->width : self->width;
  gint height = meta->height > 0 ? meta->height
                : video != NULL  ? (gint)video->height
                                 : self->height;
  return gst_buffer_add_nn_result_meta (to, MAX (width, 1), MAX (height, 1));
}

static void
note_tile (GstNnDecode *self, const GstNnTensorMeta *meta, GstNnResultMeta *result)
{
  const AxonImageGeometry *g = &meta->geometry;
  GstNnTile tile = { g->x, g->y, g->dst_width * g->scale_x, g->dst_height * g->scale_y,
                     gst_nn_result_meta_get_n_objects (result) };
  g_array_append_val (self->tiles, tile);
}

static void
count_results (GstNnDecode *self, GstNnResultMeta *result)
{
  if (!gst_nn_result_meta_is_empty (result))
    gst_nn_stats_count (self->stats, COUNT_WITH_RESULTS);
}

/* Of the frame, or of tiles that are one together. Results stay, for frames that were not inferred.
 */
static gboolean
decode_whole (GstNnDecode *self, GstBuffer *buffer, GstClockTime pts)
{
  const GstNnTensorMeta *first = g_ptr_array_index (self->parts, 0);
  GstNnResultMeta *result;
  gst_clear_buffer (&self->held);
  self->held = gst_buffer_new ();
  GST_BUFFER_PTS (self->held) = pts;
  result = add_results (self, self->held, buffer, first);
  g_array_set_size (self->tiles, 0);
  for (guint i = 0; i < self->parts->len; i++) {
    const GstNnTensorMeta *meta = g_ptr_array_index (self->parts, i);
    note_tile (self, meta, result);
    if (!decode (self, meta, pts, result))
      return FALSE;
  }
  if (self->choice.decoder == NULL) {
    gst_clear_buffer (&self->held);
    return TRUE;
  }
  if (self->parts->len > 1)
    gst_nn_tiles_merge (result, self->tiles, iou_threshold_of (self, first->description));
  count_results (self, result);
  gst_nn_results_attach (buffer, 0, self->held);
  return TRUE;
}

/* Of objects. What is said of one that has a track stays for its other frames. */
static gboolean
decode_objects (GstNnDecode *self, GstBuffer *buffer, GstClockTime pts)
{
  for (guint i = 0; i < self->parts->len; i++) {
    const GstNnTensorMeta *meta = g_ptr_array_index (self->parts, i);
    g_autoptr (GstBuffer) said = gst_buffer_new ();
    GstNnResultMeta *result = add_results (self, said, buffer, meta);
    if (!decode (self, meta, pts, result))
      return FALSE;
    if (self->choice.decoder == NULL)
      continue;
    count_results (self, result);
    gst_nn_results_attach (buffer, meta->object_id, said);
    gst_nn_track_memory_keep (self->memory, gst_buffer_get_nn_result_meta (buffer), meta->object_id,
                              g_steal_pointer (&said));
  }
  return TRUE;
}

/* The outputs of one model on one frame, which are on the buffer last. */
static void
find_parts (GstNnDecode *self, GstBuffer *buffer)
{
  const GstNnTensorMeta *last = gst_buffer_get_nn_tensor_meta (buffer);
  gpointer state = NULL;
  GstMeta *meta;
  g_ptr_array_set_size (self->parts, 0);
  if (last == NULL || last->tensors->len == 0)
    return;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_NN_TENSOR_META_API_TYPE))) {
    const GstNnTensorMeta *m = (const GstNnTensorMeta *)meta;
    if (m->tensors->len > 0 && m->description == last->description && m->pts == last->pts)
      g_ptr_array_add (self->parts, meta);
  }
}

static gboolean
is_fresh (GstNnDecode *self, GstBuffer *buffer)
{
  GstClockTime most, then, now = GST_BUFFER_PTS (buffer);
  GST_OBJECT_LOCK (self);
  most = self->hold_time;
  GST_OBJECT_UNLOCK (self);
  if (self->held == NULL || most == 0)
    return FALSE;
  then = GST_BUFFER_PTS (self->held);
  return GST_CLOCK_TIME_IS_VALID (now) && GST_CLOCK_TIME_IS_VALID (then) && now >= then &&
         now - then <= most;
}

/* A frame that was not inferred. */
static void
reuse_results (GstNnDecode *self, GstBuffer *buffer)
{
  if (!is_fresh (self, buffer))
    return;
  gst_nn_results_attach (buffer, 0, self->held);
  gst_nn_stats_count (self->stats, COUNT_REUSED);
}

static gboolean
use_results (GstNnDecode *self, GstBuffer *buffer)
{
  const GstNnTensorMeta *last = g_ptr_array_index (self->parts, self->parts->len - 1);
  GstClockTime pts = GST_CLOCK_TIME_IS_VALID (last->pts) ? last->pts : GST_BUFFER_PTS (buffer);
  gint64 begin = g_get_monotonic_time ();
  if (!(last->object_id != 0 ? decode_objects : decode_whole) (self, buffer, pts))
    return FALSE;
  gst_nn_stats_time (self->stats, TIME_DECODING, g_get_monotonic_time () - begin);
  GST_LOG_OBJECT (self, "decoded %u inferences on %" GST_PTR_FORMAT, self->parts->len, buffer);
  return TRUE;
}

gboolean
gst_nn_decode_frame (GstNnDecode *self, GstBuffer *buffer)
{
  find_parts (self, buffer);
  if (self->parts->len > 0)
    return use_results (self, buffer);
  reuse_results (self, buffer);
  return TRUE;
}
