/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decoders turn raw outputs into what they mean. Candidates for objects are boxes in pixels of the
 * model's input, whose overlaps are suppressed; what is said of those that remain, and of the whole
 * picture, is written into the tree, in pixels of the frame. A decoder is a file that defines
 * gst_nn_decoder_NAME, and a row of the list in gst/meson.build. */
#pragma once

#include "config.h"
#include "gstnngallery.h"
#include <gst/nn/nn.h>

typedef struct {
  GPtrArray *tensors;         /* AxonTensor, f32 */
  GPtrArray *raw;             /* the same as they came; NULL: not known */
  const gchar *const *names;  /* of the outputs; NULL: not known */
  const gchar *const *labels; /* of the classes; NULL: not known */
  guint n_labels;             /* 0: not known */
  const gchar *model_name;    /* or NULL */
  gint width, height;         /* of the model's input; 1: not known, places are fractions of it */
  gdouble threshold;
  guint top_k;                 /* most classes of one picture */
  const GstNnGallery *gallery; /* what embeddings are compared with, or NULL */
  gdouble to_frame[6];         /* pixel (x, y) of the input lies at (ax + by + c, dx + ey + f) */
  const GstNnDescription *description; /* of the model, or NULL */
  /* What the description says where a model has anchors: widths and heights in pixels of the input,
   * finest grid first; pixels between cells; what outputs lack: "none", "sigmoid" or "softmax". */
  const gfloat *anchors;
  guint n_anchors; /* numbers; 0: the family's own */
  const guint *strides;
  guint n_strides;
  const gchar *activation; /* NULL: not said, the family's own */
} GstNnDecodeInput;

/* Most objects of a frame, and most candidates that are compared: the best. */
#define GST_NN_MAX_OBJECTS 10000

/* A candidate, in pixels of the input. */
typedef struct {
  gdouble x, y, width, height; /* the upright box, also of what is rotated */
  gdouble score;
  gint class_id;
  gint64 row; /* where a decoder finds again what else belongs to it */
  gboolean is_rotated;
  gdouble rotated_width, rotated_height, angle; /* about the box's centre, radians, clockwise */
} GstNnDetection;

typedef struct {
  const gchar *name;
  const gchar *blurb; /* what it reads, to be translated */
  /* TRUE if it can decode outputs of such shapes. Asked when the shapes change. */
  gboolean (*fits) (const GstNnDecodeInput *in);
  /* TRUE if nothing but this family has such shapes, where that is less than what fits. NULL: they
   * are the same. */
  gboolean (*recognises) (const GstNnDecodeInput *in);
  /* Adds GstNnDetection. Every frame; the shapes fit. NULL: finds no objects. */
  void (*decode) (const GstNnDecodeInput *in, GArray *objects);
  /* Says more of an object that remained: keypoints, a mask. Or NULL. */
  void (*detail) (const GstNnDecodeInput *in, const GstNnDetection *found, GstNnObject *object);
  /* Says what the model says of the whole picture: of the frame, or of the object that the picture
   * was cut out for. Or NULL. */
  void (*whole) (const GstNnDecodeInput *in, GstNnObject *target);
  gboolean is_final; /* the model suppressed overlaps itself */
  gdouble
      threshold; /* as published, where neither a property nor the description says it; 0: 0.5 */
} GstNnDecoder;

/* Names of a later model whose outputs are the same are known, too. */
const GstNnDecoder *gst_nn_decoder_find (const gchar *name);
/* The first of the list that recognises its shapes, or NULL. */
const GstNnDecoder *gst_nn_decoder_probe (const GstNnDecodeInput *in);
/* Names of all, for people. */
gchar *gst_nn_decoder_list (void);
/* What a description says of outputs that no decoder knows, whatever their shapes. */
#define GST_NN_NO_DECODER "none"
/* The names that gst_nn_decoder_find() knows, GST_NN_NO_DECODER, and "auto", which is 0. */
GType gst_nn_decoder_name_get_type (void);

/* Keeps the best of overlapping objects of the same class; sorts best first. */
void gst_nn_suppress (GArray *objects, gdouble iou_threshold, guint max_objects);
/* Sorts best first and keeps so many. */
void gst_nn_keep_best (GArray *objects, guint max_objects);

/* For `recognises`: only by its name. */
gboolean gst_nn_by_name_only (const GstNnDecodeInput *in);

/* For decoders. Scores are compared with the threshold before anything else is computed. */
const AxonTensor *gst_nn_tensor_at (const GstNnDecodeInput *in, guint index);
const AxonShape *gst_nn_shape_at (const GstNnDecodeInput *in, guint index);
/* Numbers of an output that is a row of them: all dimensions but one are 1; 0: it is none. */
gint64 gst_nn_count_row (const GstNnDecodeInput *in, guint index);
/* The output that is the longest row, or -1. */
gint gst_nn_longest_row (const GstNnDecodeInput *in);
const gfloat *gst_nn_data_at (const GstNnDecodeInput *in, guint index);
/* [1,rows,columns], leading ones aside. */
gboolean gst_nn_is_table (const AxonShape *shape, gint64 *rows, gint64 *columns);
/* [1,channels,rows,columns]. */
gboolean gst_nn_is_map (const AxonShape *shape, gint64 *channels, gint64 *rows, gint64 *columns);
/* The table of @columns columns and, but for 0, @rows rows; -1: there is none. */
gint gst_nn_find_table (const GstNnDecodeInput *in, gint64 rows, gint64 columns);
/* Whether the name of an output contains @part, in whatever case. */
gboolean gst_nn_is_called (const GstNnDecodeInput *in, guint index, const gchar *part);
/* Index of the largest of @n scores, @stride apart; what is no number is smallest. */
gint64 gst_nn_best_class (const gfloat *scores, gint64 n, gint64 stride);
gdouble gst_nn_sigmoid (gdouble logit);
/* Whether none of them is below 0 or above 1, as behind a sigmoid or softmax. */
gboolean gst_nn_are_shares (const gfloat *values, gint64 n);
/* What exp (logit - @top) is divided by for its share; @top is the largest. */
gdouble gst_nn_softmax_sum (const gfloat *logits, gint64 n, gdouble *top);
/* Cells of the grid at a stride, and of those at strides 8, 16 and 32. */
gint64 gst_nn_grid_cells (gint width, gint height, gint stride);
gint64 gst_nn_count_cells (gint width, gint height);
/* Nothing where a number is none, or the box is empty; else the candidate, to say more of. It is
 * valid until the next one is added. Of more than GST_NN_MAX_OBJECTS the best stay. */
GstNnDetection *gst_nn_add_object (GArray *objects, gdouble x, gdouble y, gdouble width,
                                   gdouble height, gdouble score, gint class_id);
/* Distances of the edges from a point as distributions over GST_NN_N_BINS strides, left first. */
#define GST_NN_N_BINS 8
GstNnDetection *gst_nn_add_distances (GArray *objects, gdouble x, gdouble y, gint stride,
                                      const gfloat *bins, gdouble score, gint class_id);
/* About its centre, turned by @angle. */
GstNnDetection *gst_nn_add_rotated (GArray *objects, const gdouble center[2], gdouble width,
                                    gdouble height, gdouble angle, gdouble score, gint class_id);
/* Name of a class, or NULL. */
const gchar *gst_nn_label_at (const GstNnDecodeInput *in, gint class_id);
/* A place in the input, on the frame. */
void gst_nn_to_frame (const GstNnDecodeInput *in, gdouble *x, gdouble *y);
/* Adds what lies at a place in the input; a place that is not finite is none, with score 0. */
void gst_nn_say_keypoint (const GstNnDecodeInput *in, GstNnObject *object, gdouble x, gdouble y,
                          gdouble score);
/* @values are @columns x @rows bytes (transfer full) over that part of the input. */
void gst_nn_say_mask (const GstNnDecodeInput *in, GstNnObject *object, GstNnMaskKind kind,
                      guint columns, guint rows, guint8 *values, const gdouble area[4]);
/* The same for numbers: 0 stands for @minimum, 255 for @maximum. */
void gst_nn_say_values (const GstNnDecodeInput *in, GstNnObject *object, guint columns, guint rows,
                        guint8 *values, const gdouble area[4], gdouble minimum, gdouble maximum);
/* Adds the attribute @name with the label of a class; @label NULL: that of the description. */
void gst_nn_say_class (const GstNnDecodeInput *in, GstNnObject *object, const gchar *name,
                       gint class_id, const gchar *label, gdouble score);
/* Says which of an object's keypoints belong together, where it has as many as the skeleton. */
void gst_nn_say_skeleton (GstNnObject *object, const gchar *name);
/* The names of skeletons, and "auto", which is 0. */
GType gst_nn_skeleton_name_get_type (void);
