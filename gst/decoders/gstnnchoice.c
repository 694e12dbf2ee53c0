/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnchoice.h"

#include <glib/gi18n-lib.h>

void
gst_nn_decoder_choice_clear (GstNnDecoderChoice *choice)
{
  g_clear_pointer (&choice->shapes, g_array_unref);
  g_clear_pointer (&choice->description, gst_nn_description_unref);
  *choice = (GstNnDecoderChoice){ 0 };
}

static gboolean
is_same_model (const GstNnDecoderChoice *choice, const GstNnDecodeInput *in)
{
  return choice->shapes != NULL && choice->shapes->len == in->tensors->len &&
         choice->width == in->width && choice->height == in->height &&
         choice->n_labels == in->n_labels && choice->description == in->description;
}

gboolean
gst_nn_decoder_choice_holds (const GstNnDecoderChoice *choice, const GstNnDecodeInput *in)
{
  if (!is_same_model (choice, in))
    return FALSE;
  for (guint i = 0; i < in->tensors->len; i++)
    if (!axon_shape_equal (&g_array_index (choice->shapes, AxonShape, i), gst_nn_shape_at (in, i)))
      return FALSE;
  return TRUE;
}

/* Only sizes are other than they were: a model that counts what it found. */
static gboolean
may_stay (const GstNnDecoderChoice *choice, const GstNnDecodeInput *in)
{
  if (choice->decoder == NULL || !is_same_model (choice, in))
    return FALSE;
  for (guint i = 0; i < in->tensors->len; i++)
    if (g_array_index (choice->shapes, AxonShape, i).rank != gst_nn_shape_at (in, i)->rank)
      return FALSE;
  return choice->decoder->fits (in);
}

static void
note_input (GstNnDecoderChoice *choice, const GstNnDecodeInput *in)
{
  GstNnDescription *description = (GstNnDescription *)in->description;
  if (choice->shapes == NULL)
    choice->shapes = g_array_new (FALSE, FALSE, sizeof (AxonShape));
  g_array_set_size (choice->shapes, 0);
  for (guint i = 0; i < in->tensors->len; i++)
    g_array_append_vals (choice->shapes, gst_nn_shape_at (in, i), 1);
  choice->width = in->width;
  choice->height = in->height;
  choice->n_labels = in->n_labels;
  choice->gallery_length = in->gallery ? gst_nn_gallery_get_length (in->gallery) : 0;
  if (choice->description == description)
    return;
  g_clear_pointer (&choice->description, gst_nn_description_unref);
  choice->description = description ? gst_nn_description_ref (description) : NULL;
}

const GstNnDecoder *
gst_nn_decoder_choose (GstNnDecoderChoice *choice, const GstNnDecodeInput *in, const gchar *name,
                       gboolean is_guess)
{
  const GstNnDecoder *decoder = name ? gst_nn_decoder_find (name) : NULL;
  if (decoder != NULL && !decoder->fits (in))
    decoder = NULL;
  if (decoder == NULL && (name == NULL || is_guess))
    decoder = may_stay (choice, in) ? choice->decoder : gst_nn_decoder_probe (in);
  note_input (choice, in);
  choice->decoder = decoder;
  return decoder;
}

gchar *
gst_nn_decoder_choice_to_string (const GstNnDecoderChoice *choice)
{
  g_autoptr (GString) shapes = g_string_new (NULL);
  for (guint i = 0; i < choice->shapes->len; i++) {
    g_autofree gchar *s = axon_shape_to_string (&g_array_index (choice->shapes, AxonShape, i));
    g_string_append_printf (shapes, "%s%s", i > 0 ? " " : "", s);
  }
  if (choice->gallery_length > 0)
    return g_strdup_printf (_ ("outputs %s of an input of %dx%d, %u labels, with a gallery of "
                               "vectors of %zu numbers"),
                            shapes->str, choice->width, choice->height, choice->n_labels,
                            choice->gallery_length);
  return g_strdup_printf (_ ("outputs %s of an input of %dx%d, %u labels"), shapes->str,
                          choice->width, choice->height, choice->n_labels);
}
