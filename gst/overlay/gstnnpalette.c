/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gstnnpalette.h"

/* Colours that colour-blind people tell apart, too (Okabe and Ito, "Color universal design", 2008),
 * with wine for black (Tol, "Colour schemes", 2021); then the same darker, and lighter: nobody
 * tells 24 hues apart, but those of one hue differ in lightness. They begin with other hues, so
 * that classes whose numbers are eight apart do not look alike. */
static const guint32 hues[] = { 0x009e73, 0xd55e00, 0x56b4e9, 0xf0e442,
                                0xcc79a7, 0xe69f00, 0x0072b2, 0x882255 };
#define N_HUES G_N_ELEMENTS (hues)
/* Cividis, which looks the same to colour-blind people (Nunez et al., 2018). */
static const guint32 ramp[GST_NN_PALETTE_STEPS] = { 0x00224e, 0x002c6a, 0x1e3870, 0x34456d,
                                                    0x45516d, 0x545c6e, 0x626870, 0x707574,
                                                    0x7e8178, 0x8d8e78, 0x9e9b75, 0xafa870,
                                                    0xc1b668, 0xd4c45c, 0xe8d44c, 0xfee838 };

/* @towards: black or white, by 9/20 of the way. */
static guint32
shade (guint32 rgb, guint32 towards)
{
  guint32 mixed = 0;
  for (guint shift = 0; shift < 24; shift += 8)
    mixed |= ((rgb >> shift & 255) * 11 + (towards >> shift & 255) * 9) / 20 << shift;
  return mixed;
}

/* The square is near to sRGB's transfer; 0.18 is where black and white are equally far in contrast
 * (WCAG 2, relative luminance). */
static gboolean
is_dark (guint32 rgb)
{
  guint r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255;
  return 2126 * r * r + 7152 * g * g + 722 * b * b < 255u * 255u * 1800u;
}

void
gst_nn_palette_init (GstNnPalette *palette, const GstVideoInfo *info)
{
  GstNnPaint *paints = palette->classes;
  const guint n = sizeof *palette / sizeof *paints;
  guint32 rgb[sizeof *palette / sizeof *paints];
  GstNnColor colors[G_N_ELEMENTS (rgb)];
  for (guint i = 0; i < N_HUES; i++) {
    rgb[i] = hues[i];
    rgb[N_HUES + i] = shade (hues[(i + 1) % N_HUES], 0);
    rgb[2 * N_HUES + i] = shade (hues[(i + 3) % N_HUES], 0xffffff);
  }
  memcpy (rgb + GST_NN_PALETTE_CLASSES, ramp, sizeof ramp);
  rgb[n - 2] = 0;
  rgb[n - 1] = 0xffffff;
  gst_nn_plane_colors (info, rgb, n, colors);
  for (guint i = 0; i < n; i++)
    paints[i] = (GstNnPaint){ rgb[i], colors[i], is_dark (rgb[i]) };
}

const GstNnPaint *
gst_nn_palette_get (const GstNnPalette *palette, gint class_id, const gchar *label)
{
  guint index = class_id >= 0 ? (guint)class_id : label != NULL ? g_str_hash (label) : 0;
  return &palette->classes[index % GST_NN_PALETTE_CLASSES];
}

const GstNnPaint *
gst_nn_palette_ink (const GstNnPalette *palette, const GstNnPaint *ground)
{
  return ground->is_dark ? &palette->white : &palette->black;
}

void
gst_nn_paints_of_coverage (GstNnPaints *paints, const GstNnPaint *paint)
{
  for (guint i = 0; i < 256; i++)
    paints->of[i] = i >= 128 ? paint : NULL;
  paints->of_coverage = TRUE;
}

void
gst_nn_paints_of_classes (GstNnPaints *paints, const GstNnPalette *palette)
{
  for (guint i = 0; i < 256; i++)
    paints->of[i] = i > 0 ? &palette->classes[i % GST_NN_PALETTE_CLASSES] : NULL;
  paints->of_coverage = FALSE;
}

void
gst_nn_paints_of_values (GstNnPaints *paints, const GstNnPalette *palette, gboolean from_zero)
{
  for (guint i = 0; i < 256; i++)
    paints->of[i] = i > 0 || from_zero ? &palette->steps[i * GST_NN_PALETTE_STEPS / 256] : NULL;
  paints->of_coverage = FALSE;
}
