/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text by connectionist temporal classification, read greedily: at each step the best class, what
 * repeats once, without blanks (Graves et al., 2006; CRNN, Shi et al., 2017; CTCLabelDecode of
 * github.com/PaddlePaddle/PaddleOCR, whose score this is: the mean of what was kept). The labels
 * are the dictionary. Classes that it lacks are the blank, which is first, and the space, which is
 * last; where it has all, the blank is the label "blank" or, first or last, "-" (LPRNet), else the
 * first. */
#include "gstnndecoder.h"

#include <glib/gi18n-lib.h>
#include <math.h>

typedef struct {
  gint64 steps, classes, step, stride; /* numbers from one step and one class to the next */
  gint64 blank, first;                 /* the class of the first label */
} Head;

static gboolean
has_classes (const GstNnDecodeInput *in, gint64 n)
{
  return in->labels != NULL && in->n_labels > 0 && n >= in->n_labels &&
         n <= (gint64)in->n_labels + 2;
}

static gint64
find_blank (const GstNnDecodeInput *in, gint64 classes)
{
  for (gint64 i = 0; classes == in->n_labels && i < classes; i++) {
    gboolean is_end = i == 0 || i == classes - 1;
    if (g_str_equal (in->labels[i], "blank") || g_str_equal (in->labels[i], "<blank>") ||
        (is_end && g_str_equal (in->labels[i], "-")))
      return i;
  }
  return 0;
}

/* [1,T,C] or [T,1,C], and [1,C,T] where only that fits the labels. */
static gboolean
find_head (const GstNnDecodeInput *in, Head *head)
{
  gint64 rows = 1, columns;
  const AxonShape *s;
  if (in->tensors->len != 1)
    return FALSE;
  s = gst_nn_shape_at (in, 0);
  columns = s->rank >= 2 ? s->dims[s->rank - 1] : 0;
  for (gint i = 0, large = 0; i < s->rank - 1; i++) {
    large += s->dims[i] != 1;
    rows = s->dims[i] != 1 ? s->dims[i] : rows;
    if (large > 1)
      return FALSE;
  }
  if (rows < 1 || (!has_classes (in, columns) && !has_classes (in, rows)))
    return FALSE;
  *head = has_classes (in, columns) ? (Head){ rows, columns, columns, 1, 0, 0 }
                                    : (Head){ columns, rows, 1, columns, 0, 0 };
  head->blank = find_blank (in, head->classes);
  head->first = head->classes > in->n_labels ? 1 : 0;
  return head->steps > 0;
}

static gboolean
fits (const GstNnDecodeInput *in)
{
  Head head;
  return find_head (in, &head);
}

/* The probability of class @best: what is none yet becomes one by softmax. */
static gdouble
probability (const gfloat *v, const Head *head, gint64 best)
{
  gdouble top = (gdouble)v[best * head->stride], sum = 0, powers = 0;
  gboolean is_one = TRUE;
  for (gint64 k = 0; k < head->classes; k++) {
    gdouble p = (gdouble)v[k * head->stride];
    is_one = is_one && p >= 0;
    sum += p;
    powers += exp (p - top);
  }
  return is_one && fabs (sum - 1) < 0.01 ? top : 1 / powers;
}

/* A line of spaces in a dictionary is read as an empty label. */
static const gchar *
text_of (const GstNnDecodeInput *in, const Head *head, gint64 class_id)
{
  const gchar *label = gst_nn_label_at (in, (gint)(class_id - head->first));
  return label == NULL || *label == '\0' ? " " : label;
}

static void
whole (const GstNnDecodeInput *in, GstNnObject *target)
{
  const gfloat *v = axon_tensor_get_data (gst_nn_tensor_at (in, 0));
  g_autoptr (GString) text = g_string_new (NULL);
  gdouble sum = 0;
  gint64 last;
  guint n = 0;
  Head head;
  if (!find_head (in, &head))
    return;
  last = head.blank;
  for (gint64 t = 0; t < head.steps; t++, v += head.step) {
    gint64 best = gst_nn_best_class (v, head.classes, head.stride);
    if (best != head.blank && best != last) {
      g_string_append (text, text_of (in, &head, best));
      sum += probability (v, &head, best);
      n++;
    }
    last = best;
  }
  if (n > 0 && sum / n >= in->threshold) /* not NaN */
    gst_nn_object_set_text (target, text->str, sum / n);
}

const GstNnDecoder gst_nn_decoder_ctc = {
  .name = "ctc",
  .blurb = N_ ("scores of characters for each step [1,T,C]; the labels are the dictionary"),
  .fits = fits,
  .recognises = gst_nn_by_name_only,
  .whole = whole,
};
