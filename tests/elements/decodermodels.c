/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shapes of published models. */
#include "decoders.h"

#include <string.h>

#define N_LABELS 1001

const DecodedModel decoded_models[] = {
  { "yolov8", 640, 640, 0, "1x84x8400", NULL },
  { "yolov8", 640, 640, 80, "1x84x8400", NULL },
  { "yolov8", 640, 640, 80, "1x8400x84", NULL },
  { "yolov8", 640, 640, 0, "1x8400x84", NULL },
  { "yolov8", 640, 640, 3, "1x8400x7", NULL },
  { "yolov8", 320, 320, 80, "1x84x2100", NULL },
  { "yolov8", 640, 384, 80, "1x84x5040", NULL },
  { "yolov8", 1024, 1024, 0, "1x20x21504", NULL },
  { "yolox", 640, 640, 0, "1x8400x85", NULL },
  { "yolox", 416, 416, 80, "1x3549x85", NULL },
  { "yolox", 640, 640, 2, "1x8400x7", NULL },
  { "yolov5", 640, 640, 80, "1x25200x85", NULL },
  { "yolov5", 640, 640, 1, "1x25200x6", NULL },
  { "yolov5", 1280, 1280, 80, "1x102000x85", NULL },
  { "yolov5", 640, 640, 80, "1x25200x85 1x3x80x80x85 1x3x40x40x85 1x3x20x20x85", NULL },
  { "yolov8-pose", 640, 640, 0, "1x56x8400", NULL },
  { "yolov8-pose", 640, 640, 1, "1x56x8400", NULL },
  { "yolov8-pose", 640, 640, 1, "1x20x8400", NULL },
  { "yolov8", 640, 640, 52, "1x56x8400", NULL },
  { "yolov8-obb", 1024, 1024, 15, "1x20x21504", NULL },
  { "yolov8-seg", 640, 640, 80, "1x116x8400 1x32x160x160", NULL },
  { "yolov5-seg", 640, 640, 80, "1x25200x117 1x32x160x160", NULL },
  { "yolov10", 640, 640, 80, "1x300x6", NULL },
  { "yolo26-seg", 640, 640, 80, "1x300x38 1x32x160x160", NULL },
  { "yolo26-pose", 640, 640, 1, "1x300x57", NULL },
  { "yolo26-obb", 1024, 1024, 15, "1x300x7", NULL },
  { "rtdetr", 640, 640, 80, "1x300x84", NULL },
  { "rtdetr", 640, 640, 80, "1x300x80 1x300x4", NULL },
  { "rtdetr", 560, 560, 91, "1x300x4 1x300x91", "dets labels" },
  { "detr", 800, 800, 0, "1x100x92 1x100x4", NULL },
  { "detr", 800, 800, 91, "1x100x92 1x100x4", "logits pred_boxes" },
  { "boxes-scores", 320, 240, 0, "1x4420x2 1x4420x4", NULL },
  { "boxes-scores", 640, 480, 2, "1x17640x2 1x17640x4", NULL },
  { "boxes-scores", 300, 300, 21, "1x3000x21 1x3000x4", NULL },
  { "boxes-scores", 416, 416, 80, "1x10647x1x4 1x10647x80", NULL },
  { "yolov3", 416, 416, 80, "1x255x13x13 1x255x26x26 1x255x52x52", NULL },
  { "yolov3", 416, 416, 80, "1x13x13x255 1x26x26x255", NULL },
  { "yolov3", 416, 416, 80, "1x52x52x3x85 1x26x26x3x85 1x13x13x3x85", NULL },
  { "nanodet", 320, 320, 80, "1x2125x112", NULL },
  { "nanodet", 320, 320, 0, "1x2100x112", NULL },
  { "nanodet", 416, 416, 0, "1x3598x112", NULL },
  { "picodet", 320, 320, 80,
    "1x1600x80 1x400x80 1x100x80 1x25x80 1x1600x32 1x400x32 1x100x32 1x25x32", NULL },
  { "fastestdet", 352, 352, 80, "1x85x22x22", NULL },
  { "fastestdet", 352, 352, 0, "1x85x22x22", NULL },
  { "centernet", 512, 512, 80, "1x80x128x128 1x2x128x128 1x2x128x128", NULL },
  { "centernet", 512, 512, 80, "1x2x128x128 1x80x128x128 1x2x128x128", "reg hm wh" },
  { "ssd", 300, 300, 21, "1x7668 1x40257 1x2x7668", NULL },
  { "ssd", 300, 300, 21, "1x1917x4 1x1917x21 1x2x7668", NULL },
  { "detection-output", 300, 300, 91, "1x1x100x7", NULL },
  { "detections", 300, 300, 91, "1x100x4 1x100 1x100 1", NULL },
  { "detections", 320, 320, 91, "200x4 200 200", "boxes scores labels" },
  { "detections", 320, 320, 91, "0x4 0 0", "boxes scores labels" },
  { "detections", 640, 640, 80, "1x1 1x100x4 1x100 1x100", NULL },
  { "detections", 640, 640, 80, "1x100x5 1x100", "dets labels" },
  { "nms-graph", 640, 640, 80, "17x7", NULL },
  { "nms-graph", 640, 640, 80, "0x7", NULL },
  { "nms-graph", 320, 320, 80, "1x11x84", NULL },
  { "nms-graph", 320, 320, 80, "1x0x84", NULL },
  { "nms-graph", 416, 416, 80, "1x10647x4 1x80x10647 17x3", NULL },
  { "blazeface", 128, 128, 1, "1x896x16 1x896x1", NULL },
  { "blazeface", 256, 256, 1, "1x896x16 1x896x1", NULL },
  { "blazeface", 192, 192, 1, "1x2304x16 1x2304x1", NULL },
  { "blazeface", 192, 192, 1, "1x2016x18 1x2016x1", NULL },
  { "blazeface", 256, 256, 1, "1x2944x18 1x2944x1", NULL },
  { "blazeface", 224, 224, 1, "1x2254x12 1x2254x1", NULL },
  { "scrfd", 256, 192, 1, "1536x1 384x1 96x1 1536x4 384x4 96x4 1536x10 384x10 96x10", NULL },
  { "scrfd", 640, 640, 1, "1x12800x1 1x3200x1 1x800x1 1x12800x4 1x3200x4 1x800x4", NULL },
  { "yunet", 320, 320, 1,
    "1x1600x1 1x400x1 1x100x1 1x1600x1 1x400x1 1x100x1 1x1600x4 1x400x4 1x100x4 1x1600x10 "
    "1x400x10 1x100x10",
    NULL },
  { "retinaface", 640, 640, 1, "1x16800x4 1x16800x2 1x16800x10", NULL },
  { "retinaface", 640, 608, 1, "1x15960x2 1x15960x10 1x15960x4", NULL },
  { "movenet", 192, 192, 0, "1x1x17x3", NULL },
  { "movenet", 256, 256, 0, "1x6x56", NULL },
  { "-", 192, 256, 0, "1x17x384 1x17x512", NULL }, /* places along two axes */
  { "-", 224, 224, 1000, "1x1000", NULL },         /* classifiers */
  { "-", 224, 224, 0, "1x6", NULL },
  { "-", 224, 224, 7, "1x7", NULL },
  { "-", 224, 224, 84, "1x84", NULL },
  { "-", 62, 62, 0, "1x2x1x1 1x1x1x1", NULL }, /* age and gender */
  { "-", 257, 257, 21, "1x21x257x257", NULL }, /* classes of pixels */
  { "-", 320, 320, 0, "1x2x320x320", NULL },
  { "-", 256, 192, 0, "1x17x64x48", NULL },         /* heat maps of joints */
  { "-", 192, 192, 0, "1x1x1x1404 1x1x1x1", NULL }, /* meshes */
  { "-", 128, 256, 0, "1x512", NULL },              /* embeddings */
  { "-", 320, 48, 0, "1x40x97", NULL },             /* text */
  { "-", 640, 640, 0, "1x1x640x640", NULL },
  { "-", 224, 224, 0, "1x3x672x672", NULL }, /* pictures */
  { "-", 24, 24, 0, "1x4 1x2", NULL },       /* stages that refine a crop */
  { "-", 48, 48, 0, "1x4 1x10 1x2", NULL },
};

const guint n_decoded_models = G_N_ELEMENTS (decoded_models);

static AxonShape
parse_shape (const gchar *text)
{
  g_auto (GStrv) dims = g_strsplit (text, "x", -1);
  AxonShape s = { .rank = (gint)g_strv_length (dims) };
  for (gint i = 0; i < s.rank; i++)
    s.dims[i] = g_ascii_strtoll (dims[i], NULL, 10);
  return s;
}

guint
decoded_parse_shapes (const gchar *text, AxonShape shapes[DECODED_TENSORS])
{
  g_auto (GStrv) parts = g_strsplit (text, " ", -1);
  guint n = g_strv_length (parts);
  for (guint i = 0; i < n; i++)
    shapes[i] = parse_shape (parts[i]);
  return n;
}

/* What they say matters to nobody here. */
static const gchar *const *
some_labels (void)
{
  static const gchar *labels[N_LABELS];
  for (guint i = 0; i < N_LABELS; i++)
    labels[i] = "a";
  return labels;
}

static AxonTensor *
new_zeros (const AxonShape *shape)
{
  AxonTensor *t = axon_tensor_new (AXON_DTYPE_F32, shape, NULL);
  memset (axon_tensor_get_data (t), 0, axon_tensor_get_n_bytes (t));
  return t;
}

void
decoded_load (Decoded *d, const DecodedModel *m, const AxonShape *shapes, guint n)
{
  decoded_load_with (d, m, shapes, n, new_zeros);
}

void
decoded_load_with (Decoded *d, const DecodedModel *m, const AxonShape *shapes, guint n,
                   AxonTensor *(*new_output) (const AxonShape *))
{
  g_auto (GStrv) names = m->names ? g_strsplit (m->names, " ", -1) : NULL;
  decoded_init (d, AXON_IMAGE_FIT_LETTERBOX, m->width, m->height, 640, 480);
  for (guint i = 0; i < n; i++)
    decoded_add (d, new_output (&shapes[i]), names ? names[i] : NULL);
  d->in.labels = some_labels ();
  d->in.n_labels = m->n_labels;
}
