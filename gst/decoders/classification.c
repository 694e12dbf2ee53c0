/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classes of the whole picture: of one output, or of several heads, each an attribute named after
 * its output; a head of a single number (an age) is that number. Scores: the description's
 * activation, or else softmax where they are not between 0 and 1 yet. Sigmoid is for models of
 * several classes at once. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

static gboolean
fits (const GstNnDecodeInput *in)
{
  gint64 most = 0;
  for (guint i = 0; i < in->tensors->len; i++) {
    gint64 n = gst_nn_count_row (in, i);
    if (n == 0)
      return FALSE;
    most = MAX (most, n);
  }
  return most > 1;
}

static gboolean
recognises (const GstNnDecodeInput *in)
{
  return in->tensors->len == 1;
}

static void
as_they_are (const gfloat *v, gint64 n, gdouble *scores)
{
  for (gint64 i = 0; i < n; i++)
    scores[i] = (gdouble)v[i];
}

static void
sigmoid (const gfloat *v, gint64 n, gdouble *scores)
{
  for (gint64 i = 0; i < n; i++)
    scores[i] = 1 / (1 + exp (-(gdouble)v[i]));
}

static void
softmax (const gfloat *v, gint64 n, gdouble *scores)
{
  gdouble top = (gdouble)v[gst_nn_best_class (v, n, 1)], sum = 0;
  for (gint64 i = 0; i < n; i++) {
    scores[i] = exp ((gdouble)v[i] - top);
    sum += scores[i];
  }
  for (gint64 i = 0; i < n; i++)
    scores[i] /= sum;
}

static const struct {
  const gchar *name;
  void (*apply) (const gfloat *v, gint64 n, gdouble *scores);
} activations[] = { { "none", as_they_are }, { "sigmoid", sigmoid }, { "softmax", softmax } };

static void
as_scores (const GstNnDecodeInput *in, const gfloat *v, gint64 n, gdouble *scores)
{
  for (guint i = 0; in->activation != NULL && i < G_N_ELEMENTS (activations); i++)
    if (g_str_equal (activations[i].name, in->activation)) {
      activations[i].apply (v, n, scores);
      return;
    }
  (gst_nn_are_shares (v, n) ? as_they_are : softmax) (v, n, scores);
}

/* Labels are those of the head that has as many classes, or of all heads in turn. */
static const gchar *
label_of (const GstNnDecodeInput *in, guint head, gint64 class_id)
{
  gint64 n = gst_nn_count_row (in, head), before = 0, all = 0;
  for (guint i = 0; i < in->tensors->len; i++) {
    gint64 count = gst_nn_count_row (in, i);
    before += i < head && count > 1 ? count : 0;
    all += count > 1 ? count : 0;
  }
  if (all == n || n == in->n_labels)
    return gst_nn_label_at (in, (gint)class_id);
  return all == in->n_labels ? gst_nn_label_at (in, (gint)(before + class_id)) : NULL;
}

static void
say (const GstNnDecodeInput *in, GstNnObject *target, const gchar *name, const gchar *value,
     gint64 class_id, gdouble score)
{
  g_autoptr (GstNnAttribute) attribute =
      gst_nn_attribute_new (name, value, (gint)class_id, score, in->model_name);
  gst_nn_object_add_attribute (target, attribute);
}

static void
say_number (const GstNnDecodeInput *in, GstNnObject *target, const gchar *name, gdouble number)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  if (isfinite (number))
    say (in, target, name, g_ascii_formatd (text, sizeof text, "%.4g", number), -1, 1);
}

/* The best ones. */
static void
say_head (const GstNnDecodeInput *in, GstNnObject *target, guint head)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, head));
  gint64 n = gst_nn_count_row (in, head);
  g_autofree gdouble *scores = g_new (gdouble, n);
  const gchar *name =
      in->tensors->len > 1 && in->names != NULL ? in->names[head] : "classification";
  if (n == 1) {
    say_number (in, target, name, (gdouble)v[0]);
    return;
  }
  as_scores (in, v, n, scores);
  for (guint rank = 0; rank < MIN (in->top_k, n); rank++) {
    gint64 best = 0;
    for (gint64 i = 1; i < n; i++)
      if (scores[i] > scores[best] || isnan (scores[best]))
        best = i;
    if (!(scores[best] >= in->threshold))
      return;
    say (in, target, name, label_of (in, head, best), best, scores[best]);
    scores[best] = -1;
  }
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  for (guint i = 0; i < in->tensors->len; i++)
    say_head (in, target, i);
}

const GstNnDecoder gst_nn_decoder_classification = {
  .name = "classification",
  .blurb = N_ ("one score per class; of several heads, each says an attribute"),
  .fits = fits,
  .recognises = recognises,
  .whole = whole,
  .threshold = 0.1,
};
