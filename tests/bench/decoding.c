/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Microseconds of decoding one frame, as nndecode does it: from f32 outputs to the result tree.
 * Twenty objects, each found by ten candidates; all others score next to nothing, and in a second
 * column everything reaches the threshold. */
#include "../elements/decoders.h"

#include <string.h>

#define N_ROUNDS 300
#define N_OBJECTS 20
#define N_NEIGHBOURS 10

/* Where the numbers of candidate i stand: at + i * row + k * column. */
typedef struct {
  const gchar *decoder;
  gint side;
  gint64 n, columns;
  gint64 row, column;
  gint64 first_class, objectness; /* -1: none */
  AxonShape shapes[2];
} Head;

static const Head heads[] = {
  { "yolov8", 640, 8400, 84, 1, 8400, 4, -1, { { 3, { 1, 84, 8400 } } } },
  { "yolov8", 640, 8400, 84, 84, 1, 4, -1, { { 3, { 1, 8400, 84 } } } },
  { "yolov8-seg",
    640,
    8400,
    116,
    1,
    8400,
    4,
    -1,
    { { 3, { 1, 116, 8400 } }, { 4, { 1, 32, 160, 160 } } } },
  { "yolox", 640, 8400, 85, 85, 1, 5, 4, { { 3, { 1, 8400, 85 } } } },
  { "yolov6", 640, 8400, 85, 85, 1, 5, 4, { { 3, { 1, 8400, 85 } } } },
  { "yolov5", 640, 25200, 85, 85, 1, 5, 4, { { 3, { 1, 25200, 85 } } } },
  { "yolov10", 640, 300, 6, 6, 1, 4, -1, { { 3, { 1, 300, 6 } } } },
};

static void
set_candidate (const Head *h, gfloat *v, gint64 i, gfloat score)
{
  gint object = (gint)(i / N_NEIGHBOURS) % N_OBJECTS;
  gfloat box[4] = { 60 + 25 * (gfloat)object, 60 + 20 * (gfloat)object, 50, 50 };
  for (gint k = 0; k < 4; k++)
    v[i * h->row + k * h->column] = box[k] + (k < 2 ? (gfloat)(i % N_NEIGHBOURS) : 0);
  if (h->columns == 6) { /* corners, score, class */
    for (gint k = 2; k < 4; k++)
      v[i * h->row + k * h->column] += box[k - 2];
    v[i * h->row + 5 * h->column] = (gfloat)(object % 80);
  }
  if (h->objectness >= 0)
    v[i * h->row + h->objectness * h->column] = score;
  v[i * h->row + (h->first_class + (h->columns > 6 ? object : 0)) * h->column] =
      h->objectness >= 0 ? 1 : score;
}

static void
load (Decoded *d, const Head *h, gboolean is_all)
{
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_F32, &h->shapes[0], NULL);
  gfloat *v = axon_tensor_get_data (t);
  for (gint64 i = 0; i < h->n * h->columns; i++)
    v[i] = (gfloat)(i * 7919 % 1000) * 1e-5f;
  for (gint64 i = 0; i < h->n; i++)
    if (is_all || i % (h->n / (N_OBJECTS * N_NEIGHBOURS)) == 0)
      set_candidate (h, v, i, 0.6f + (gfloat)(i * 613 % 300) * 1e-3f);
  decoded_init (d, AXON_IMAGE_FIT_LETTERBOX, h->side, h->side, 1280, 720);
  decoded_add (d, t, NULL);
  if (h->shapes[1].rank == 0)
    return;
  t = axon_tensor_new (AXON_DTYPE_F32, &h->shapes[1], NULL);
  memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
  decoded_add (d, t, NULL);
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return (gint)(*(const gint64 *)a - *(const gint64 *)b);
}

/* The median; outputs are in the cache of no core but by chance, as after an inference. */
static gint64
measure (const Head *h, gboolean is_all, guint *n_objects)
{
  g_auto (Decoded) d = { 0 };
  g_autofree gint64 *times = g_new (gint64, N_ROUNDS);
  load (&d, h, is_all);
  for (guint i = 0; i < N_ROUNDS; i++) {
    gint64 begin = g_get_monotonic_time ();
    decoded_run (&d, gst_nn_decoder_find (h->decoder), 0.45, 100);
    times[i] = g_get_monotonic_time () - begin;
  }
  *n_objects = gst_nn_result_meta_get_n_objects (d.result);
  qsort (times, N_ROUNDS, sizeof *times, compare);
  return times[N_ROUNDS / 2];
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  g_print ("| decoder | output | objects | us | all candidates, us |\n|---|---|---|---|---|\n");
  for (guint i = 0; i < G_N_ELEMENTS (heads); i++) {
    g_autofree gchar *shape = axon_shape_to_string (&heads[i].shapes[0]);
    guint n, most;
    gint64 few = measure (&heads[i], FALSE, &n), all = measure (&heads[i], TRUE, &most);
    g_print ("| %s | %s | %u | %" G_GINT64_FORMAT " | %" G_GINT64_FORMAT " |\n", heads[i].decoder,
             shape, n, few, all);
  }
  return 0;
}
