/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* axon-run's options of pictures. */
#include "run-private.h"

static void
complain (GString *problems, const gchar *option, const gchar *given, const gchar *expected)
{
  g_string_append_printf (problems, "\n  --%s=%s: %s", option, given, expected);
}

/* Where @given stands in @names, and 0 where it is not given or wrong. */
static guint
parse_choice (GString *problems, const gchar *option, const gchar *given, const gchar *const *names)
{
  g_autofree gchar *list = g_strjoinv (", ", (GStrv)names), *expected = NULL;
  for (guint i = 0; given != NULL && names[i] != NULL; i++)
    if (g_str_equal (names[i], given))
      return i;
  if (given != NULL) {
    expected = g_strdup_printf (_ ("expected one of %s"), list);
    complain (problems, option, given, expected);
  }
  return 0;
}

/* How many @values there are: one, or one per channel. */
static guint
parse_floats (GString *problems, const gchar *option, const gchar *given, gfloat *values)
{
  g_auto (GStrv) parts = g_strsplit (given ? given : "", ",", 5);
  guint n = g_strv_length (parts);
  gboolean ok = given == NULL || n == 1 || n == 3;
  for (guint i = 0; ok && i < n; i++) {
    gchar *end;
    values[i] = (gfloat)g_ascii_strtod (parts[i], &end);
    ok = end != parts[i] && *end == '\0';
  }
  if (!ok)
    complain (problems, option, given,
              _ ("expected one number or three, such as 123.7,116.3,103.5"));
  return ok ? n : 0;
}

static void
parse_size (GString *problems, const gchar *given, AxonPreprocess *pp)
{
  AxonShape size = { 0 };
  if (given == NULL)
    return;
  if (axon_shape_from_string (given, &size, NULL) && size.rank == 2 && size.dims[0] > 0 &&
      size.dims[1] > 0)
    axon_preprocess_set_size (pp, (gint)size.dims[0], (gint)size.dims[1]);
  else
    complain (problems, "size", given, _ ("expected width and height, such as 640x480"));
}

AxonPreprocess *
run_preprocess_new (const RunPictureOptions *options, GError **error)
{
  static const gchar *const fits[] = { "stretch", "letterbox", "top-left", "crop", NULL };
  static const gchar *const colors[] = { "rgb", "bgr", "gray", NULL };
  g_autoptr (AxonPreprocess) pp = axon_preprocess_new ();
  g_autoptr (GString) problems = g_string_new (NULL);
  gfloat values[5];
  if (options->color != NULL)
    axon_preprocess_set_color (pp,
                               colors[parse_choice (problems, "color", options->color, colors)]);
  parse_size (problems, options->size, pp);
  axon_preprocess_set_fit (pp, (AxonImageFit)parse_choice (problems, "fit", options->fit, fits),
                           options->pad);
  if (options->crop_fraction > 0 && options->crop_fraction <= 1) {
    axon_preprocess_set_crop_fraction (pp, options->crop_fraction);
  } else {
    gchar number[G_ASCII_DTOSTR_BUF_SIZE];
    complain (problems, "crop-fraction",
              g_ascii_dtostr (number, sizeof number, options->crop_fraction),
              _ ("expected a number above 0, up to 1"));
  }
  axon_preprocess_set_mean (pp, values, parse_floats (problems, "mean", options->mean, values));
  axon_preprocess_set_scale (pp, values, parse_floats (problems, "scale", options->scale, values));
  if (problems->len == 0)
    return g_steal_pointer (&pp);
  g_set_error (error, AXON_ERROR, AXON_ERROR_ARGUMENT, _ ("options of the picture:%s"),
               problems->str);
  return NULL;
}
